"""A setting that granian lacks: how long a client may take to read a response."""

import os
import socket
import stat
from functools import cache
from pathlib import Path

UNTAKEN_FOR = (
    30_000  # milliseconds without a byte that is taken; then the kernel closes the connection
)


@cache
def bound_what_is_not_taken() -> None:
    """Set the limit on the listening socket of this process; connections inherit it (tcp(7)). Linux only."""
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        for each in Path("/proc/self/fd").iterdir():
            _bound(int(each.name))


def _bound(number: int) -> None:
    try:
        if not stat.S_ISSOCK(os.fstat(number).st_mode):
            return
    except OSError:  # closed since
        return
    with socket.socket(fileno=os.dup(number)) as found:
        is_ip = found.family in (socket.AF_INET, socket.AF_INET6)
        if is_ip and found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNTAKEN_FOR)
