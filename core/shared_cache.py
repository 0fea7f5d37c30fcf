"""Django's cache in Redis, reached as rate limits reach it: any URL that they accept, within half a second.

Entries are JSON, signed with their key. Whoever else can write to Redis can delete them, and nothing more.
"""

from typing import Any

from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from django.core.signing import BadSignature, Signer

from core import rates
from core.rates import asking_redis


class Client(RedisCacheClient):
    """Django's client, with one pool of connections for all threads. Raises `core.rates.RedisAway`."""

    def __init__(self, servers: list[str], **options: Any) -> None:
        super().__init__(servers, serializer=_AsItIs(), **options)  # type: ignore[arg-type]

    def get_client(self, key: Any = None, *, write: bool = False) -> Any:
        """Connects on first use, and does not try again by itself."""
        return rates.redis_client(self._url)

    @property
    def _url(self) -> str:
        return self._servers[0]  # type: ignore[attr-defined]

    def add(self, key: Any, value: Any, timeout: Any) -> bool:
        """Store an entry unless there is one. Returns whether it was stored."""
        with asking_redis(self._url):
            return super().add(key, _signer(key).sign_object(value), timeout)

    def set(self, key: Any, value: Any, timeout: Any) -> None:
        """Store an entry."""
        with asking_redis(self._url):
            super().set(key, _signer(key).sign_object(value), timeout)

    def get(self, key: Any, default: Any) -> Any:
        """The entry; `default` if there is none that a Hub with this secret key has stored."""
        with asking_redis(self._url):
            stored = super().get(key, None)
        try:
            return default if stored is None else _signer(key).unsign_object(stored)
        except BadSignature:
            return default

    def delete(self, key: Any) -> bool:
        """Delete an entry. Returns whether there was one."""
        with asking_redis(self._url):
            return super().delete(key)


class Shared(RedisCache):
    """The cache. `LOCATION` is the URL."""

    get_many, set_many, incr = BaseCache.get_many, BaseCache.set_many, BaseCache.incr  # signed too

    def __init__(self, url: str, params: dict[str, Any]) -> None:
        super().__init__([url], params)
        self._class = Client


class _AsItIs:
    """Text, stored as it is: Django's own serializer runs what it reads."""

    def dumps(self, obj: str) -> str:
        return obj

    def loads(self, data: bytes) -> str:
        return data.decode(errors="replace")


def _signer(key: str) -> Signer:
    return Signer(salt=f"cache entry {key}")
