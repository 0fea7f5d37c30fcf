"""Rate limits: by address, by host, and in total."""

import logging
import math
import time
from fractions import Fraction
from functools import cache
from threading import Lock
from typing import Any, NamedTuple

from django.conf import settings
from limits import parse_many
from limits.storage import storage_from_string

from core.errors import ApiError
from core.windows import Window, Windows

log = logging.getLogger(__name__)

REDIS_TIMEOUT = 0.5  # seconds
REDIS_PAUSE = 5.0  # seconds in which a Redis that gave no answer is not asked again

# `Windows.wait`, counted for all processes: KEYS are lists of the times of hits, in milliseconds,
# the oldest first; ARGV are an amount and a duration for each. Every command takes constant time.
COUNT = """
local time = redis.call('TIME')
local now, wait = time[1] * 1000 + math.floor(time[2] / 1000), 0
for i, key in ipairs(KEYS) do
    if redis.call('LLEN', key) >= tonumber(ARGV[2 * i - 1]) then
        local oldest = tonumber(redis.call('LINDEX', key, 0) or now)
        wait = math.max(wait, oldest + ARGV[2 * i] - now)
    end
end
if wait > 0 then
    return wait
end
for i, key in ipairs(KEYS) do
    if redis.call('RPUSH', key, now) > tonumber(ARGV[2 * i - 1]) then
        redis.call('LPOP', key)
    end
    redis.call('PEXPIRE', key, ARGV[2 * i])
end
return 0
"""


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
    """Count one request against each of the limits. Raises as `check` does.

    What one of them refuses is counted in none, so no single address can use up a limit that it shares,
    and nothing is stored about those who are refused.
    """
    windows = [window for limit in limits for window in _windows_of(limit)]
    if (wait := _wait(windows)) > 0:
        raise RateLimited(max(1, math.ceil(wait)), what)


def prepare() -> None:
    """Create the Redis client before requests arrive; Redis itself need not answer yet."""
    if settings.REDIS_URL:
        try:
            _redis(settings.REDIS_URL)
        except Exception:
            _outage.begin()


def _windows_of(limit: Limit) -> list[Window]:
    key = "/".join(limit.key)
    return [
        Window(f"{key}/{amount}/{seconds}", amount, seconds)
        for amount, seconds in _amounts(limit.rate, limit.times)
    ]


@cache
def _amounts(rate: str, times: int | Fraction) -> list[tuple[int, int]]:
    """The limits of a rate, multiplied: how many, in how many seconds."""
    every = [(each.amount, each.get_expiry()) for each in parse_many(rate)]
    return [(max(int(amount * times), min(amount, 1)), seconds) for amount, seconds in every]


def _wait(windows: list[Window]) -> float:
    """Seconds to wait; 0 if there was room, and then this request is counted.

    Asks Redis; counts in this process if there is none, or for a while after it failed to answer.
    """
    if settings.REDIS_URL and _outage.may_ask():
        try:
            wait = _wait_in_redis(windows)
        except Exception:
            _outage.begin()
        else:
            _outage.end()
            return wait
    return _windows.wait(*windows)


def _wait_in_redis(windows: list[Window]) -> float:
    keys = [f"{{hub}}/{window.key}" for window in windows]  # braces: one slot of a cluster
    sizes = [number for each in windows for number in (each.amount, each.seconds * 1000)]
    return _redis(settings.REDIS_URL)(keys, sizes) / 1000


def _redis(url: str) -> Any:
    """`COUNT`, as a function of keys and arguments. Built under a lock, because `limits` imports `redis`."""
    with _building:
        return _script(url)


@cache
def _script(url: str) -> Any:
    """Connects on first use. Redis expires the keys."""
    patience = {"socket_timeout": REDIS_TIMEOUT, "socket_connect_timeout": REDIS_TIMEOUT}
    storage: Any = storage_from_string(url, **patience)
    return storage.storage.register_script(COUNT)


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
    _script.cache_clear()
