"""One request as bytes over a connection of its own, and what it was answered."""

import re
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from enum import Enum
from typing import NamedTuple

PATIENCE = 20  # seconds; who has not answered by then hangs
MOST_READ = 64 * 1024 * 1024  # bytes of one answer
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
STATUS = re.compile(rb"HTTP/1\.[01] (\d{3}) ")
CODE = re.compile(rb'"error": ?"(\w+)"')


class End(Enum):
    """What the client does after its last byte."""

    WAIT = "reads the answer"
    HALF = "sends the end of its stream, and reads"
    ABORT = "resets the connection"


class Verdict(NamedTuple):
    """What was answered: the status and the error code; 0 if the connection was closed without an answer."""

    status: int
    code: str = ""

    def __str__(self) -> str:
        return f"{self.status} {self.code}".strip() if self.status else "closed"


CLOSED = Verdict(0)


class Hangs(Exception):
    """Neither an answer nor the end of the connection came."""


def ask(ports: list[int], letter: bytes, end: End = End.WAIT) -> list[Verdict]:
    """The verdicts of all of these servers on the same bytes. Raises `Hangs`."""
    with _connections(ports) as connections:
        for each in connections:
            _send(each, letter, end)
        if end is End.ABORT:
            return []
        return [read(each) for each in connections]


def ask_at_once(ports: list[int], letters: list[bytes]) -> list[list[Verdict]]:
    """The verdicts on each of these letters, all of which are sent before any answer is read. Raises `Hangs`."""
    with ExitStack() as stack:
        waiting = []
        for letter in letters:
            waiting.append(stack.enter_context(_connections(ports)))
            for each in waiting[-1]:
                _send(each, letter, End.WAIT)
        return [[read(each) for each in connections] for connections in waiting]


@contextmanager
def _connections(ports: list[int]) -> Iterator[list[socket.socket]]:
    opened = [socket.create_connection(("127.0.0.1", each), timeout=PATIENCE) for each in ports]
    try:
        yield opened
    finally:
        for each in opened:
            each.close()


def _send(connection: socket.socket, letter: bytes, end: End) -> None:
    with suppress(ConnectionError):  # refused before all was sent: there may be an answer
        connection.sendall(letter)
        if end is End.HALF:
            connection.shutdown(socket.SHUT_WR)
    if end is End.ABORT:
        at_once = struct.pack("ii", 1, 0)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)


def read(connection: socket.socket) -> Verdict:
    """The verdict, once the server has closed the connection. Raises `Hangs`."""
    answer = bytearray()
    deadline = time.monotonic() + PATIENCE
    with suppress(ConnectionError):
        while piece := _piece(connection, deadline):
            answer += piece[: MOST_READ - len(answer)]
    return verdict_of(bytes(answer))


def _piece(connection: socket.socket, deadline: float) -> bytes:
    left = deadline - time.monotonic()
    if left <= 0:
        raise Hangs
    connection.settimeout(left)
    try:
        return connection.recv(1024 * 1024)
    except TimeoutError:
        raise Hangs from None


def verdict_of(answer: bytes) -> Verdict:
    """The verdict in the bytes of an answer."""
    answer = answer.removeprefix(CONTINUE)
    found = STATUS.match(answer)
    if found is None:
        return CLOSED
    status = int(found[1])
    code = CODE.search(answer) if status >= 400 else None
    return Verdict(status, code[1].decode() if code else "")
