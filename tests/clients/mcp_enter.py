"""A server of `mcp_watched.py`, with this process's streams, folder and environment."""

import json
import os
import socket
import sys
from pathlib import Path

with socket.socket(socket.AF_UNIX) as door:
    door.connect(sys.argv[1])
    here = json.dumps([str(Path.cwd()), dict(os.environ)]).encode()
    socket.send_fds(door, [here], [0, 1, 2])
    status = door.recv(1)
sys.exit(status[0] if status else 1)
