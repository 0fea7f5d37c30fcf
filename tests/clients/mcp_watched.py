"""The MCP server, watched: each way to a network is a line in the file that WATCH names.

It also speaks on standard output each time, where only the protocol may be heard. Its imports take
far longer than a test, so one process has made them, and forks for each test: see `mcp_enter.py`.
"""

import json
import os
import selectors
import signal
import socket
import sys
import traceback
from pathlib import Path

WAYS = ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname")
STREAMS = 3


def _write(line: str) -> None:
    with Path(os.environ["WATCH"]).open("a") as log:
        log.write(f"{line}\n")


def _watch(event: str, args: tuple[object, ...]) -> None:
    if event in WAYS:
        _write(event)
        print("noise", flush=True)


def fork_for_each(door: socket.socket) -> None:
    """Until standard input ends, and with it who has started this."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a child has ended
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    waiting = selectors.DefaultSelector()
    waiting.register(door, selectors.EVENT_READ)
    waiting.register(sys.stdin, selectors.EVENT_READ)
    while sys.stdin not in [key.fileobj for key, _ in waiting.select()]:
        caller, _ = door.accept()
        if os.fork() == 0:
            _serve(caller)
        caller.close()


def _serve(caller: socket.socket) -> None:
    """With the caller's streams, folder and environment; its exit status is the last thing sent."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    message, streams, _, _ = socket.recv_fds(caller, 1 << 20, STREAMS)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    folder, environment = json.loads(message)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    status = _run()
    caller.send(bytes([status]))
    os._exit(status)


def _run() -> int:
    sys.addaudithook(_watch)
    _write("ready")
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    import docfeedback_mcp.server  # noqa: F401 (here, so that no fork has to load it)
    from docfeedback_mcp.__main__ import main

    with socket.socket(socket.AF_UNIX) as door:
        door.bind(sys.argv.pop())
        door.listen()
        print("listening", flush=True)
        fork_for_each(door)
