"""Addresses of the hosts that the operator has named, each looked up by a thread of its own.

The system's resolver takes five seconds for each server of `/etc/resolv.conf` that is silent, and may take half a
minute. An answer that comes too late for those who asked is there for the next ones.
"""

import os
import socket
from concurrent.futures import Future
from threading import Lock, Thread
from time import monotonic
from typing import NamedTuple

FRESH = 10.0  # seconds for which the addresses of a host are kept, once they are there


class Found(NamedTuple):
    """The addresses of a host, and when they came, in seconds of `monotonic`."""

    addresses: list[str]
    at: float


_lock = Lock()
_begun: dict[tuple[int, str, int], Future[Found]] = {}


def addresses(host: str, port: int, *, timeout: float | None) -> list[str]:
    """The addresses of a host, in the system's order. Raises `TimeoutError`, or what the resolver raises."""
    return begin(host, port).result(timeout).addresses


def begin(host: str, port: int) -> Future[Found]:
    """Have a host looked up, unless that is being done or was done a moment ago. For few hosts: each is remembered."""
    key = os.getpid(), host, port  # a thread does not come along into a fork
    with _lock:
        found = _begun.get(key)
        if found is None or (found.done() and _is_over(found)):
            found = _begun[key] = Future()
            try:
                Thread(target=_look_up, args=(host, port, found), daemon=True).start()
            except RuntimeError as error:  # the machine has no more threads
                found.set_exception(OSError(str(error)))
        return found


def _is_over(found: Future[Found]) -> bool:
    return found.exception() is not None or monotonic() > found.result().at + FRESH


def _look_up(host: str, port: int, found: Future[Found]) -> None:
    try:
        every = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(address[0]) for *_, address in every))
        found.set_result(Found(addresses, monotonic()))
    except Exception as error:
        found.set_exception(error)
