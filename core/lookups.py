"""Addresses of the hosts that the operator has named, each looked up by a thread of its own.

The system's resolver takes five seconds for each server of `/etc/resolv.conf` that is silent, and may take half a
minute. An answer that comes too late for those who asked is there for the next ones.
"""

import os
import socket
from concurrent.futures import Future
from threading import Lock, Thread
from time import monotonic

FRESH = 10.0  # seconds for which the addresses of a host are kept

_Key = tuple[int, str, int]
_lock = Lock()
_begun: dict[_Key, tuple[float, Future[list[str]]]] = {}


def addresses(host: str, port: int, *, timeout: float | None) -> list[str]:
    """The addresses of a host, in the system's order. Raises `TimeoutError`, or what the resolver raises."""
    return begin(host, port).result(timeout)


def begin(host: str, port: int) -> "Future[list[str]]":
    """Have a host looked up, unless that is being done or was done a moment ago. For few hosts: each is remembered."""
    key = os.getpid(), host, port  # a thread does not come along into a fork
    with _lock:
        begun, found = _begun.get(key, (0.0, None))
        if found is None or (found.done() and _is_over(found, begun)):
            found = Future()
            _begun[key] = monotonic(), found
            try:
                Thread(target=_look_up, args=(host, port, found), daemon=True).start()
            except RuntimeError as error:  # the machine has no more threads
                found.set_exception(OSError(str(error)))
        return found


def _is_over(found: "Future[list[str]]", begun: float) -> bool:
    return found.exception() is not None or monotonic() > begun + FRESH


def _look_up(host: str, port: int, found: "Future[list[str]]") -> None:
    try:
        every = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        found.set_result(list(dict.fromkeys(str(address[0]) for *_, address in every)))
    except Exception as error:
        found.set_exception(error)
