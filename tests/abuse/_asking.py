"""`PORT CONNECTIONS`, and requests in JSON as input: asks them again and again until it is ended."""

import json
import selectors
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle, islice

from tests.hub_process import ROOT

PIECE = 256 * 1024  # bytes


@contextmanager
def asking(port: int, connections: int, requests: list[str]) -> Iterator[None]:
    """So many connections, of a process of their own, ask one of `requests` each while the block runs."""
    command = [sys.executable, "-m", __name__, str(port), str(connections)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, text=True)
    try:
        json.dump(requests, process.stdin)
        process.stdin.close()
        yield
    finally:
        process.terminate()
        process.wait(30)


def main(port: int, connections: int, requests: list[str]) -> None:
    """Ask again as soon as there is an answer, and connect again where a connection was closed."""
    lines = selectors.DefaultSelector()
    for request in islice(cycle(requests), connections):
        _ask(lines, port, request.encode())
    while True:
        for key, _ in lines.select():
            line = key.fileobj
            try:
                answer = line.recv(PIECE)
                if answer.startswith(b"HTTP/1.1 "):
                    line.sendall(key.data)
            except OSError:
                answer = b""
            if not answer:
                lines.unregister(line)
                line.close()
                _ask(lines, port, key.data)


def _ask(lines: selectors.BaseSelector, port: int, request: bytes) -> None:
    line = socket.create_connection(("127.0.0.1", port))
    line.sendall(request)
    lines.register(line, selectors.EVENT_READ, request)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), json.load(sys.stdin))
