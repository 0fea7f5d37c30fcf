"""Limits how many things one key, such as an organization, may do at once in this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

from core.errors import ApiError

MOST = 4  # requests of one organization's members; the other threads serve everybody else


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


requests = AtOnce(
    MOST,
    "Your organization has too many requests in progress. Try again when they have been answered.",
)
