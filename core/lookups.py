"""Addresses of the hosts that the operator has named, each looked up by a thread of its own.

The system's resolver takes five seconds for each server of `/etc/resolv.conf` that is silent, and may take half a
minute. An answer that comes too late for those who asked is there for the next ones. Over TCP it waits without end
for a server that says no more (glibc sets no time-out there), so a look-up that stands still is left to itself.
"""

import os
import socket
from concurrent.futures import Future
from threading import Lock, Thread
from time import monotonic
from typing import NamedTuple

FRESH = 10.0  # seconds for which the addresses of a host are kept, once they are there
# Seconds after which another look-up is begun, and as many more after each in a row.
STANDS_STILL = 60.0


class Found(NamedTuple):
    """The addresses of a host, and when they came, in seconds of `monotonic`."""

    addresses: list[str]
    at: float


class LookUp(Future[Found]):
    """A host that is being looked up. `before` is the look-up whose place it takes."""

    def __init__(self, before: "LookUp | None") -> None:
        super().__init__()
        self._in_a_row: int = 1 if before is None or before.done() else before._in_a_row + 1
        self._stands_still_at = monotonic() + STANDS_STILL * self._in_a_row

    def is_over(self) -> bool:
        """Whether the next who asks should begin another one."""
        if not self.done():
            return monotonic() > self._stands_still_at
        return self.exception() is not None or monotonic() > self.result().at + FRESH


_lock = Lock()
_begun: dict[tuple[int, str, int], LookUp] = {}


def addresses(host: str, port: int, *, timeout: float | None) -> list[str]:
    """The addresses of a host, in the system's order. Raises `TimeoutError`, or what the resolver raises."""
    return begin(host, port).result(timeout).addresses


def begin(host: str, port: int) -> LookUp:
    """Have a host looked up, unless that is being done or was done a moment ago. For few hosts: each is remembered."""
    key = os.getpid(), host, port  # a thread does not come along into a fork
    with _lock:
        found = _begun.get(key)
        if found is None or found.is_over():
            found = _begun[key] = LookUp(found)
            try:
                Thread(target=_look_up, args=(host, port, found), daemon=True).start()
            except RuntimeError as error:  # the machine has no more threads
                found.set_exception(OSError(str(error)))
        return found


def _look_up(host: str, port: int, found: LookUp) -> None:
    try:
        every = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(address[0]) for *_, address in every))
        found.set_result(Found(addresses, monotonic()))
    except Exception as error:
        found.set_exception(error)
