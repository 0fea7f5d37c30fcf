"""Rate limits: by address, by host, and in total."""

import logging
import math
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from functools import cache
from threading import Lock
from typing import Any, NamedTuple

from django.conf import settings
from limits import parse_many

from core.errors import ApiError
from core.shared_windows import SharedWindows
from core.telling import Hits, Telling
from core.windows import Full, Window, Windows

log = logging.getLogger(__name__)

LONGEST_REASON = 300  # characters
UNTOLD = 1 / 8  # of a limit: what the processes of a server keep to themselves, all together
REDIS_PAUSE = 5.0  # seconds in which a Redis that gave no answer is not asked again


class RateLimited(ApiError):
    """429: too many of `what`; another one is accepted after `wait` whole seconds."""

    status_code = 429
    default_code = "rate_limited"

    def __init__(self, wait: int, what: str = "requests"):
        self.wait = wait
        seconds = "1 second" if wait == 1 else f"{wait} seconds"
        super().__init__(
            f"Too many {what}. Try again in {seconds}.",
            headers={"Retry-After": str(wait)},
        )


class RedisAway(Exception):
    """Redis does not answer, or did not a few seconds ago."""


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
    _refuse_for(_wait(_windows_of(limits)), what)


def check_locally(*limits: Limit, what: str = "requests") -> None:
    """As `check_all`, and hardly anybody waits for Redis: this process decides by what it knows.

    It tells the others what it has counted, and hears which limits are reached, every `telling.GATHER` seconds.
    Once its part of `UNTOLD` is not told yet, it asks first, as `check_all` does: so much is what the processes of
    one server may accept over a limit. What the others' counts refuse, this process has counted all the same.
    """
    windows = _windows_of(limits)
    _refuse_for(_full.look(*windows) or _windows.wait(*windows), what)
    if not settings.REDIS_URL:
        return
    if _telling.note(windows, UNTOLD / settings.HUB_PROCESSES):
        _refuse_for(_full.look(*windows), what)  # another thread may have heard just now
    else:
        _telling.tell()
        _refuse_for(_wait_for_all(windows) or 0, what)


def refuse_known(*limits: Limit, what: str = "requests") -> None:
    """Refuse at once what `check_locally` would refuse. Counts nothing."""
    _refuse_for(known_wait(*limits), what)


def known_wait(*limits: Limit) -> float:
    """Seconds until each of the limits has room, as far as this process knows; 0 if they have. Counts nothing."""
    windows = _windows_of(limits)
    return max(_full.look(*windows), _windows.look(*windows))


def prepare() -> None:
    """Create the Redis client before requests arrive; Redis itself need not answer yet."""
    if settings.REDIS_URL:
        try:
            _redis(settings.REDIS_URL)
        except Exception as error:
            _outage.begin(error)


@contextmanager
def asking_redis(url: str) -> Iterator[SharedWindows]:
    """Ask the Redis at `url` in this block. Raises `RedisAway` if it fails, and at once for a while after it failed.

    Then it has to do all that the Hub asks of it before it counts as available again.
    """
    was_away = _outage.is_on
    if not _outage.may_ask():
        raise RedisAway
    try:
        shared = _redis(url)
        with _renewed_after_errors(shared):
            if was_away:
                shared.try_all()
            yield shared
    except Exception as error:
        _outage.begin(error)
        raise RedisAway from error
    if was_away:
        _outage.end()


@contextmanager
def _renewed_after_errors(shared: SharedWindows) -> Iterator[None]:
    try:
        yield
    except Exception:
        shared.renew()
        raise


def redis_client(url: str) -> Any:
    """The client of the Redis at `url`: to be asked in `asking_redis`."""
    return _redis(url).client


def redis_is_away() -> bool:
    """Whether Redis did not answer when this process last asked it."""
    return bool(settings.REDIS_URL) and _outage.is_on


def _refuse_for(wait: float, what: str) -> None:
    if wait > 0:
        raise RateLimited(max(1, math.ceil(wait)), what)


def _windows_of(limits: Iterable[Limit]) -> list[Window]:
    return [
        Window(f"{'/'.join(limit.key)}/{amount}/{seconds}", amount, seconds)
        for limit in limits
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
    wait = _wait_for_all(windows) if settings.REDIS_URL else None
    return _windows.wait(*windows) if wait is None else wait


def _wait_for_all(windows: list[Window]) -> float | None:
    """The same by the counts of all processes; None if Redis does not answer."""
    with suppress(RedisAway), asking_redis(settings.REDIS_URL) as shared:
        waits = shared.waits(windows)
        _note_full(windows, waits)
        return max(waits)
    return None


def _tell(hits: Hits) -> None:
    with suppress(RedisAway), asking_redis(settings.REDIS_URL) as shared:
        _note_full(hits, shared.add(hits))


def _note_full(windows: Iterable[Window], waits: list[float]) -> None:
    _full.note((window, wait) for window, wait in zip(windows, waits, strict=True) if wait)


def _redis(url: str) -> SharedWindows:
    """Made under a lock, because `limits` imports `redis`."""
    with _building:
        if url not in _shared:
            _shared[url] = SharedWindows(url)
        return _shared[url]


def _close() -> None:
    """Close this thread's connections to Redis."""
    for each in list(_shared.values()):
        each.close()


class _Outage:
    """Whether Redis is unavailable: logged once when it begins and once when it ends.

    Meanwhile one request in `REDIS_PAUSE` seconds tries again; the others do not wait for it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._away = False
        self._next_try = 0.0

    @property
    def is_on(self) -> bool:
        return self._away

    def may_ask(self) -> bool:
        if not self._away:
            return True
        with self._lock:
            now = time.monotonic()
            if now < self._next_try:
                return False
            self._next_try = now + REDIS_PAUSE
            return True

    def begin(self, error: Exception) -> None:
        """Redis did not answer, and this is why."""
        with self._lock:
            self._next_try = time.monotonic() + REDIS_PAUSE
            known, self._away = self._away, True
        if not known:
            why = " ".join(str(error).split())[:LONGEST_REASON].rstrip(".") or type(error).__name__
            log.warning(
                "Redis is unavailable: rate limits are counted in this process only, and nobody can "
                "sign in from a terminal (%s)",
                why,
            )

    def end(self) -> None:
        if self._away:
            with self._lock:
                known, self._away = self._away, False
            if known:
                log.warning("Redis is available again")


_building = Lock()
_outage = _Outage()
_windows = Windows()
_full = Full()
_shared: dict[str, SharedWindows] = {}
_telling = Telling(_tell, _close)


def forget() -> None:
    """Reset all counters of this process."""
    global _outage, _windows, _full, _telling
    _telling.end()
    _close()
    _shared.clear()
    _outage, _windows, _full = _Outage(), Windows(), Full()
    _telling = Telling(_tell, _close)
