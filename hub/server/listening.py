"""Settings that granian lacks: for how long, and how much of, a response may wait for a client that does not read."""

import asyncio
import os
import socket
import stat
from functools import cache
from pathlib import Path

from django.conf import settings

UNTAKEN_FOR = (
    30_000  # milliseconds without a byte that is taken; then the kernel closes the connection
)
A_LITTLE = 1  # second
UNTAKEN_BYTES = 65_536  # of each connection; else the kernel keeps up to 4 MiB (tcp_wmem)


def bound_from_the_start() -> None:
    """Do so as soon as the event loop of this thread runs, which is when the server has begun to listen.

    Once more a little later: who connects in the first moment, many after a restart under load, is accepted by then.
    """
    loop = asyncio.get_event_loop()
    loop.call_soon(bound_what_is_not_taken)
    loop.call_later(A_LITTLE, bound_what_is_not_taken)


@cache
def bound_once() -> None:
    """Do so at the first request, if the server did not listen yet before."""
    bound_what_is_not_taken()


def bound_what_is_not_taken() -> None:
    """Set the limits on the listening socket of this process, and on connections; later ones inherit them (tcp(7)).

    Linux only, which doubles the bytes for its own structures (socket(7)).
    """
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        for each in Path("/proc/self/fd").iterdir():
            _bound(int(each.name))


def _bound(number: int) -> None:
    try:
        if not stat.S_ISSOCK(os.fstat(number).st_mode):
            return
        # No copy of it: if it is a file of SQLite by now, to close one would give up its locks.
        found = socket.socket(fileno=number)
    except OSError:  # closed since
        return
    try:
        if _is_for_clients(found):
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNTAKEN_FOR)
            found.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNTAKEN_BYTES)
    except OSError:  # its client has gone
        pass
    finally:
        found.detach()


def _is_for_clients(found: socket.socket) -> bool:
    """Whether the server listens there, or a client has connected to it; not a database or GitHub."""
    if found.family not in (socket.AF_INET, socket.AF_INET6):
        return False
    listens = found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    return bool(listens) or found.getsockname()[1] == settings.HUB_PORT
