"""How often something may be asked for: by one address, about one host, and altogether."""

import logging
import math
import time
from functools import cache

from django.conf import settings
from limits import RateLimitItem, parse_many
from limits.errors import StorageError
from limits.storage import MemoryStorage, storage_from_string
from limits.strategies import MovingWindowRateLimiter

from orgs.errors import ApiError

log = logging.getLogger(__name__)

REDIS_TIMEOUT = 0.5  # seconds
REDIS_PAUSE = 5.0  # seconds in which a Redis that gave no answer is not asked again

_redis_away_until = 0.0


class TooMany(ApiError):
    """`what` came too often; there is room again after `wait` whole seconds."""

    status_code = 429
    default_code = "rate_limited"

    def __init__(self, wait: int, what: str = "requests"):
        seconds = "1 second" if wait == 1 else f"{wait} seconds"
        super().__init__(
            f"There were too many {what}. Try again in {seconds}.",
            headers={"Retry-After": str(wait)},
        )


def check(rate: str, *key: str, what: str = "requests") -> None:
    """Count one request against `rate` (such as `60/minute;400/hour`) for `key`.

    Raises `TooMany`, with the whole seconds to wait, where it is one too many. Limits fail open:
    where Redis is away, this process counts for itself and says so in the log.
    """
    for item in parse_many(rate):
        if wait := _hit_somewhere(item, key):
            raise TooMany(wait, what)


def _hit_somewhere(item: RateLimitItem, key: tuple[str, ...]) -> int:
    """In Redis; in this process where there is none, or for a while after it gave no answer."""
    global _redis_away_until
    if time.monotonic() >= _redis_away_until:
        try:
            return _hit(_limiter(settings.REDIS_URL), item, key)
        except StorageError:
            log.exception("Redis is away: rate limits are counted in this process only")
            _redis_away_until = time.monotonic() + REDIS_PAUSE
    return _hit(_limiter(""), item, key)


def _hit(limiter: MovingWindowRateLimiter, item: RateLimitItem, key: tuple[str, ...]) -> int:
    """Seconds to wait; 0 where there was room."""
    if limiter.hit(item, *key):
        return 0
    reset = limiter.get_window_stats(item, *key).reset_time
    return max(1, math.ceil(reset - time.time()))


@cache
def _limiter(url: str) -> MovingWindowRateLimiter:
    """One for each storage; connecting happens at the first use."""
    if not url:
        return MovingWindowRateLimiter(MemoryStorage())
    patience = {"socket_timeout": REDIS_TIMEOUT, "socket_connect_timeout": REDIS_TIMEOUT}
    return MovingWindowRateLimiter(storage_from_string(url, wrap_exceptions=True, **patience))


def forget() -> None:
    """Start counting anew, in this process."""
    global _redis_away_until
    _redis_away_until = 0.0
    _limiter.cache_clear()
