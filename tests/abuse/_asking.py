"""`PORT CONNECTIONS`, and a request as input: asks it again and again until it is ended."""

import selectors
import socket
import sys

PIECE = 256 * 1024  # bytes


def main(port: int, connections: int, request: bytes) -> None:
    """Ask again as soon as there is an answer, and connect again where a connection was closed."""
    lines = selectors.DefaultSelector()
    for _ in range(connections):
        _ask(lines, port, request)
    while True:
        for key, _ in lines.select():
            line = key.fileobj
            try:
                answer = line.recv(PIECE)
                if answer.startswith(b"HTTP/1.1 "):
                    line.sendall(request)
            except OSError:
                answer = b""
            if not answer:
                lines.unregister(line)
                line.close()
                _ask(lines, port, request)


def _ask(lines: selectors.BaseSelector, port: int, request: bytes) -> None:
    line = socket.create_connection(("127.0.0.1", port))
    line.sendall(request)
    lines.register(line, selectors.EVENT_READ)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.stdin.buffer.read())
