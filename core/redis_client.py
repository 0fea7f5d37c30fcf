"""The client of the Redis at `REDIS_URL`, whose every step has a timeout.

`limits` makes it, for any URL that it knows; it and `redis` are loaded only where there is a Redis.
"""

import socket
from functools import cache
from time import monotonic
from typing import Any

from limits.storage import storage_from_string

from core import lookups

TIMEOUT = 0.5  # seconds, for each step
MOST = 2**20  # bytes of an answer


def client(url: str, timeout: float = TIMEOUT) -> Any:
    """Connects on first use, and tries nothing again by itself. Raises what `limits` and `redis` raise."""
    patience: dict[str, Any] = {"socket_timeout": timeout, "socket_connect_timeout": timeout}
    options = dict(patience)
    if url.startswith("redis+sentinel://"):
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        options["sentinel_kwargs"] = {**patience, "retry": Retry(NoBackoff(), 0)}
    storage: Any = storage_from_string(url, **options)
    sentinels = storage.sentinel.sentinels if hasattr(storage, "sentinel") else []
    for each in (storage.storage, *sentinels):
        pool = each.connection_pool
        pool.connection_class = _bounded(pool.connection_class)
    return storage.storage


@cache
def _bounded(kind: type) -> type:
    """The same kind of connection, of which no step takes longer, and no answer is larger, than may be."""
    from redis.connection import Connection

    if not issubclass(kind, Connection):  # a socket of the machine has no host
        return kind

    class Bounded(Connection):
        def _connect(self) -> socket.socket:
            return _Bounded.of(self._connect_in_time())

        def _connect_in_time(self) -> socket.socket:
            host, failed = self._host, OSError("The host has no address.")
            try:
                for address in lookups.addresses(
                    host, self.port, timeout=self.socket_connect_timeout
                ):
                    self._host = address
                    try:
                        return super()._connect()
                    except OSError as error:
                        failed = error
            finally:
                self._host = host  # which a certificate is compared with
            raise failed

    return Bounded if kind is Connection else type(kind.__name__, (kind, Bounded), {})


def plain() -> type:
    """The kind of its connections where they are neither encrypted nor a sentinel's."""
    from redis.connection import Connection

    return _bounded(Connection)


class _Bounded(socket.socket):
    """Its timeout is for an answer as a whole: that of a socket is for each part, however small."""

    _patience: float

    @classmethod
    def of(cls, plain: socket.socket) -> "_Bounded":
        """The same connection."""
        patience = plain.gettimeout()
        found = cls(plain.family, plain.type, plain.proto, fileno=plain.detach())
        found.settimeout(patience)
        found._patience = 2 * (TIMEOUT if patience is None else patience)
        found._begin()
        return found

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Send a question: the next parts are those of its answer."""
        self._begin()
        super().sendall(data, flags)

    def recv(self, size: int, flags: int = 0) -> bytes:
        """A part of an answer. Raises `TimeoutError`, and `OSError` after `MOST` bytes."""
        if self._is_waiting() and monotonic() > self._until:
            raise TimeoutError
        part = super().recv(size, flags)
        self._left -= len(part)
        if self._left < 0:
            raise OSError("The answer is too long.")
        return part

    def _is_waiting(self) -> bool:
        """Not where the pool only looks whether an idle connection was closed meanwhile."""
        return self.gettimeout() != 0

    def _begin(self) -> None:
        self._until, self._left = monotonic() + self._patience, MOST
