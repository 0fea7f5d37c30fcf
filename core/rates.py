"""How often something may be asked for: by one address, about one host, and altogether."""

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
    """`what` came too often; there is room again after `wait` whole seconds."""

    status_code = 429
    default_code = "rate_limited"

    def __init__(self, wait: int, what: str = "requests"):
        seconds = "1 second" if wait == 1 else f"{wait} seconds"
        super().__init__(
            f"There were too many {what}. Try again in {seconds}.",
            headers={"Retry-After": str(wait)},
        )


class Limit(NamedTuple):
    """`rate` (such as `60/minute;400/hour`) for `key`, or `times` as much, or a part: at least 1."""

    rate: str
    key: tuple[str, ...]
    times: int | Fraction = 1


def check(rate: str, *key: str, what: str = "requests") -> None:
    """Count one request against `rate` (such as `60/minute;400/hour`) for `key`.

    Raises `TooMany`, with the whole seconds to wait, where it is one too many. Limits fail open:
    where Redis is away, this process counts for itself and says so in the log.
    """
    check_all(Limit(rate, key), what=what)


def check_all(*limits: Limit, what: str = "requests") -> None:
    """Count one request against each of the limits, which are given the widest first.

    What a narrow limit refuses is not counted in the wider ones, so that no address uses up what
    all may send. While a wide one is full, nothing is remembered of those that ask. Raises as
    `check` does.
    """
    for limit in limits[:-1]:
        for item in _items(limit.rate, limit.times):
            _refuse_for(_wait_here(item, limit.key, count=False), what)
    for limit in reversed(limits):
        for item in _items(limit.rate, limit.times):
            _refuse_for(_wait(item, limit.key), what)


def prepare() -> None:
    """Get ready to ask Redis, before there are requests that would wait for it; it need not answer."""
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
    """Seconds to wait; 0 where there was room, and then one more is counted.

    In Redis; in this process where there is none, or for a while after it gave no answer.
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
    """What asks Redis. Two threads at once may not build it: `limits` imports `redis` meanwhile."""
    with _building:
        return _limiter(url)


@cache
def _limiter(url: str) -> MovingWindowRateLimiter:
    """Connecting happens at the first use. Keys end there by themselves."""
    patience = {"socket_timeout": REDIS_TIMEOUT, "socket_connect_timeout": REDIS_TIMEOUT}
    return MovingWindowRateLimiter(storage_from_string(url, wrap_exceptions=True, **patience))


class _Outage:
    """Whether Redis gives no answer: said once when that begins, and once when it ends.

    Between, one request in `REDIS_PAUSE` seconds tries; the others do not wait for it.
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
        """To be called while the exception is handled, so that the log has it."""
        with self._lock:
            self._next_try = time.monotonic() + REDIS_PAUSE
            known, self._away = self._away, True
        if not known:
            log.exception("Redis is away: rate limits are counted in this process only")

    def end(self) -> None:
        if self._away:
            with self._lock:
                known, self._away = self._away, False
            if known:
                log.warning("Redis is back: rate limits are shared again")


_building = Lock()
_outage = _Outage()
_windows = Windows()


def forget() -> None:
    """Start counting anew, in this process."""
    global _outage, _windows
    _outage, _windows = _Outage(), Windows()
    _limiter.cache_clear()
