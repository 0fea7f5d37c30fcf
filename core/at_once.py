"""Limits how many things are done at once in this process: by one key, such as an organization, or by all."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, RLock

from core.errors import ApiError

MOST = 4  # requests of one person, with tokens and in the browser each
MOST_OF_MEMBERS = 8  # of all together who are no owners of their organization


class TooManyAtOnce(ApiError):
    """429: the key has as many requests in progress as it may have."""

    status_code = 429
    default_code = "rate_limited"


class AtOnce:
    """Allows at most `most` at once for each key; the next one is refused with `sentence`.

    Nothing is kept for a key that has none in progress.
    """

    def __init__(self, most: int, sentence: str) -> None:
        self._most, self._sentence = most, sentence
        self._under_way: dict[str, int] = {}
        self._counting = RLock()  # the garbage collector may end a block, at any moment

    @contextmanager
    def one(self, key: str) -> Iterator[None]:
        """Count one more for `key` while the block runs. Raises `TooManyAtOnce`."""
        with self._counting:
            under_way = self._under_way.get(key, 0)
            if under_way >= self._most:
                raise TooManyAtOnce(self._sentence, headers={"Retry-After": "1"})
            self._under_way[key] = under_way + 1
        try:
            yield
        finally:
            with self._counting:
                self._under_way[key] -= 1
                if not self._under_way[key]:
                    del self._under_way[key]


class OneByOne:
    """Lets blocks that compute for long run one after the other, whoever asks for them.

    All threads share one interpreter: beside many of these a report would wait for its turn there again and again.
    Whoever has waited for `patience` seconds goes on beside the others, so that one whose database is slow holds up
    nobody for longer.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._running = Lock()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Wait until no other block runs, `patience` seconds at most, and run this one."""
        is_alone = self._running.acquire(timeout=self._patience)
        try:
            yield
        finally:
            if is_alone:
                self._running.release()


long_answers = OneByOne(patience=1)
requests = AtOnce(
    MOST, "You have too many requests in progress. Try again when they have been answered."
)
members = AtOnce(
    MOST_OF_MEMBERS,
    "The members of your organization have too many requests in progress. Try again when they have been answered.",
)
