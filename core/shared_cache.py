"""Django's cache in Redis, reached as rate limits reach it: any URL that they accept, within half a second."""

from functools import cache
from typing import Any

from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from limits.storage import storage_from_string

from core.rates import REDIS_TIMEOUT


class Client(RedisCacheClient):
    """Django's client, with one pool of connections for all threads."""

    def get_client(self, key: Any = None, *, write: bool = False) -> Any:
        """Connects on first use, and does not try again by itself."""
        return _client(self._servers[0])  # type: ignore[attr-defined]


class Shared(RedisCache):
    """The cache. `LOCATION` is the URL."""

    def __init__(self, url: str, params: dict[str, Any]) -> None:
        super().__init__([url], params)
        self._class = Client


@cache
def _client(url: str) -> Any:
    patience = {"socket_timeout": REDIS_TIMEOUT, "socket_connect_timeout": REDIS_TIMEOUT}
    storage: Any = storage_from_string(url, **patience)
    return storage.storage
