"""Settings that granian lacks: for how long, and how much of, a response may wait for a client that does not read."""

import os
import socket
import stat
from functools import cache
from pathlib import Path

UNTAKEN_FOR = (
    30_000  # milliseconds without a byte that is taken; then the kernel closes the connection
)
UNTAKEN_BYTES = 65_536  # of each connection; else the kernel keeps up to 4 MiB (tcp_wmem)


@cache
def bound_what_is_not_taken() -> None:
    """Set the limits on the listening socket of this process; connections inherit them (tcp(7)). Linux only.

    Linux doubles the bytes for its own structures (socket(7)).
    """
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
            found.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNTAKEN_BYTES)
