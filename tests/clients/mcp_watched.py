"""The MCP server, watched: each way to a network is a line in the file that WATCH names.

It also speaks on standard output each time, where only the protocol may be heard.
"""

import os
import sys
from pathlib import Path

WAYS = ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname")


def _write(line: str) -> None:
    with Path(os.environ["WATCH"]).open("a") as log:
        log.write(f"{line}\n")


def _watch(event: str, args: tuple[object, ...]) -> None:
    if event in WAYS:
        _write(event)
        print("noise", flush=True)


if __name__ == "__main__":
    sys.addaudithook(_watch)
    from docfeedback_mcp.__main__ import main

    _write("ready")
    main()
