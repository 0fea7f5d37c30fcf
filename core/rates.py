"""Rate limits: by address, by host, and in total."""

import logging
import math
import time
from fractions import Fraction
from functools import cache
from threading import Lock
from typing import NamedTuple

from django.conf import settings
from limits import RateLimitItem, parse_many
from limits.storage import storage_from_string
from limits.strategies import MovingWindowRateLimiter

from core.errors import ApiError
from core.windows import Windows

log = logging.getLogger(__name__)

REDIS_TIMEOUT = 0.5  # seconds
REDIS_PAUSE = 5.0  # seconds in which a Redis that gave no answer is not asked again


class RateLimited(ApiError):
    """429: too many of `what`; another one is accepted after `wait` whole seconds."""

    status_code = 429
    default_code = "rate_limited"

    def __init__(self, wait: int, what: str = "requests"):
        seconds = "1 second" if wait == 1 else f"{wait} seconds"
        super().__init__(
            f"Too many {what}. Try again in {seconds}.",
            headers={"Retry-After": str(wait)},
        )


class Limit(NamedTuple):
    """`rate` (such as `60/minute;400/hour`) for `key`, multiplied by `times`, but at least 1."""

    rate: str
    key: tuple[str, ...]
    times: int | Fraction = 1


def check(rate: str, *key: str, what: str = "requests") -> None:
    """Count one request against `rate` (such as `60/minute;400/hour`) for `key`.

    Raises `RateLimited`, with the whole seconds to wait, if it is one too many. Limits fail open: while
    Redis is unavailable, this process counts on its own and says so in the log.
    """
    check_all(Limit(rate, key), what=what)


def check_all(*limits: Limit, what: str = "requests") -> None:
    """Count one request against each of the limits, which are given the widest first.

    What a narrow limit refuses is not counted in the wider ones, so no single address can use up a
    shared limit. While a wide limit is full, nothing is stored about those who are refused. Raises as
    `check` does.
    """
    for limit in limits[:-1]:
        for item in _items(limit.rate, limit.times):
            _refuse_for(_wait_here(item, limit.key, count=False), what)
    for limit in reversed(limits):
        for item in _items(limit.rate, limit.times):
            _refuse_for(_wait(item, limit.key), what)


def prepare() -> None:
    """Create the Redis client before requests arrive; Redis itself need not answer yet."""
    if settings.REDIS_URL:
        try:
            _redis(settings.REDIS_URL)
        except Exception:
            _outage.begin()


def _refuse_for(wait: float, what: str) -> None:
    if wait > 0:
        raise RateLimited(max(1, math.ceil(wait)), what)


@cache
def _items(rate: str, times: int | Fraction) -> list[RateLimitItem]:
    return [type(each)(_amount(each, times), each.multiples) for each in parse_many(rate)]


def _amount(item: RateLimitItem, times: int | Fraction) -> int:
    return max(int(item.amount * times), min(item.amount, 1))


def _wait(item: RateLimitItem, key: tuple[str, ...]) -> float:
    """Seconds to wait; 0 if there was room, and then this request is counted.

    Asks Redis; counts in this process if there is none, or for a while after it failed to answer.
    """
    if settings.REDIS_URL and _outage.may_ask():
        try:
            wait = _wait_in_redis(item, key)
        except Exception:
            _outage.begin()
        else:
            _outage.end()
            return wait
    return _wait_here(item, key)


def _wait_here(item: RateLimitItem, key: tuple[str, ...], *, count: bool = True) -> float:
    amount, seconds = item.amount, item.get_expiry()
    return _windows.wait(f"{'/'.join(key)}/{amount}/{seconds}", amount, seconds, count=count)


def _wait_in_redis(item: RateLimitItem, key: tuple[str, ...]) -> float:
    limiter = _redis(settings.REDIS_URL)
    if limiter.hit(item, *key):
        return 0.0
    return max(1.0, limiter.get_window_stats(item, *key).reset_time - time.time())


def _redis(url: str) -> MovingWindowRateLimiter:
    """The Redis limiter. Built under a lock, because `limits` imports `redis` while it is built."""
    with _building:
        return _limiter(url)


@cache
def _limiter(url: str) -> MovingWindowRateLimiter:
    """Connects on first use. Redis expires the keys."""
    patience = {"socket_timeout": REDIS_TIMEOUT, "socket_connect_timeout": REDIS_TIMEOUT}
    return MovingWindowRateLimiter(storage_from_string(url, wrap_exceptions=True, **patience))


class _Outage:
    """Whether Redis is unavailable: logged once when it begins and once when it ends.

    Meanwhile one request in `REDIS_PAUSE` seconds tries again; the others do not wait for it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._away = False
        self._next_try = 0.0

    def may_ask(self) -> bool:
        if not self._away:
            return True
        with self._lock:
            now = time.monotonic()
            if now < self._next_try:
                return False
            self._next_try = now + REDIS_PAUSE
            return True

    def begin(self) -> None:
        """Call this while handling the exception, so that the log includes it."""
        with self._lock:
            self._next_try = time.monotonic() + REDIS_PAUSE
            known, self._away = self._away, True
        if not known:
            log.exception("Redis is unavailable: rate limits are counted in this process only")

    def end(self) -> None:
        if self._away:
            with self._lock:
                known, self._away = self._away, False
            if known:
                log.warning("Redis is available again: rate limits are shared")


_building = Lock()
_outage = _Outage()
_windows = Windows()


def forget() -> None:
    """Reset all counters of this process."""
    global _outage, _windows
    _outage, _windows = _Outage(), Windows()
    _limiter.cache_clear()
