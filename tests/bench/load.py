"""The load generator: a fixed number of connections, each sending as soon as it has its answer.

One process, raw sockets, nothing but the standard library: about 10,000 requests a second on one
core. It runs in a process of its own, so that its CPU is not counted as anybody else's.
"""

import selectors
import socket
import time
from collections.abc import Iterable
from contextlib import ExitStack
from itertools import count
from typing import NamedTuple

PAGES, HOSTS, SENDERS = 500, 50, 2000  # different ones, in turn
PATIENCE = 60  # seconds for an answer
TAKEN = (b"200", b"201")

HEAD = (
    b"POST %(path)b HTTP/1.1\r\nHost: 127.0.0.1:%(port)d\r\nContent-Type: application/json\r\n"
    b"X-Forwarded-For: 10.%(wide)d.%(narrow)d.9\r\nContent-Length: %(length)d\r\n\r\n"
)


class Job(NamedTuple):
    """What to send, and for how long: for `seconds`, or until `most` requests were sent.

    `path` and `body` are templates with `%(n)d`, which is never the same twice, and `%(page)d` and
    `%(host)d`, which are. The numbers begin with `first`.
    """

    port: int
    path: str
    body: str
    connections: int
    first: int
    seconds: float = 3600.0
    most: int = 1_000_000_000


class Sent(NamedTuple):
    """What came of it: seconds in all, and those until each answer, in order."""

    seconds: float
    latencies: list[float]


class Refused(Exception):
    """An answer other than 200 or 201; the message has its beginning."""


def request(job: Job, n: int) -> bytes:
    """The `n`th request. Each sender stays below what one may send in a minute."""
    numbers = {b"n": n, b"page": n % PAGES, b"host": n % HOSTS}
    body = job.body.encode() % numbers
    sender = n % SENDERS
    return (
        HEAD
        % {
            b"path": job.path.encode() % numbers,
            b"port": job.port,
            b"wide": sender // 200,
            b"narrow": sender % 200,
            b"length": len(body),
        }
        + body
    )


def run(job: Job) -> Sent:
    """Send until it is over, and wait for the last answers. Raises `Refused`."""
    numbers = count(job.first)
    begun = time.perf_counter()
    end, last = begun + job.seconds, job.first + job.most
    latencies: list[float] = []
    with selectors.DefaultSelector() as waiting, ExitStack() as stack:
        for _ in range(min(job.connections, job.most)):
            each = _Connection(job, waiting)
            stack.callback(each.close)
            each.send(next(numbers))
        while waiting.get_map():
            for each in _ready(waiting):
                if not each.has_answer():
                    continue
                latencies.append(time.perf_counter() - each.sent_at)
                n = next(numbers)
                if n < last and time.perf_counter() < end:
                    each.send(n)
                else:
                    each.close()
    return Sent(time.perf_counter() - begun, latencies)


def _ready(waiting: selectors.BaseSelector) -> Iterable["_Connection"]:
    ready = waiting.select(PATIENCE)
    if not ready:
        raise Refused(f"No answer came within {PATIENCE} seconds.")
    return [key.data for key, _ in ready]


class _Connection:
    """One connection, kept alive, with one request at a time."""

    def __init__(self, job: Job, waiting: selectors.BaseSelector) -> None:
        self._job, self._waiting = job, waiting
        self._connect()

    def _connect(self) -> None:
        self._socket = socket.create_connection(("127.0.0.1", self._job.port), timeout=PATIENCE)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._waiting.register(self._socket, selectors.EVENT_READ, self)

    def send(self, n: int) -> None:
        self._received = b""
        data = request(self._job, n)
        self.sent_at = time.perf_counter()
        self._socket.sendall(data)

    def close(self) -> None:
        if self._socket.fileno() >= 0:
            self._waiting.unregister(self._socket)
            self._socket.close()

    def has_answer(self) -> bool:
        """Read what has come; whether the answer is complete. Raises `Refused`."""
        piece = self._socket.recv(65536)
        self._received += piece
        if not piece:
            raise Refused(f"The server closed the connection after {self._received[:500]!r}.")
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found or not _is_whole(head.lower(), body):
            return False
        if head[9:12] not in TAKEN:
            raise Refused(f"The server answered {self._received[:800]!r}.")
        if b"connection: close" in head.lower():
            self.close()
            self._connect()
        return True


def _is_whole(head: bytes, body: bytes) -> bool:
    _, named, rest = head.partition(b"content-length:")
    if named:
        return len(body) >= int(rest.partition(b"\r\n")[0])
    return body.endswith(b"0\r\n\r\n")
