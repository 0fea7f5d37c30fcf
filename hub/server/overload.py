"""When the Hub has too much to do: what is answered, and what is said in the log."""

import logging
import time

from core.errors import ApiError

log = logging.getLogger(__name__)

QUIET = 60  # seconds without a refusal; then it is over


class Overloaded(ApiError):
    """`reason` is a sentence for the log."""

    status_code = 503
    default_code = "unavailable"
    default_detail = "The Hub has too much to do. Nothing was stored; send it again in a moment."

    def __init__(self, reason: str) -> None:
        super().__init__(headers={"Retry-After": "5"})
        self.reason = reason


class Overload:
    """Whether requests are refused: said once when that begins, and once when it is over."""

    def __init__(self) -> None:
        self._refused = 0
        self._last = 0.0

    def refuse(self, error: Overloaded) -> None:
        if not self._refused:
            log.warning("Requests are refused: %s", error.reason)
        self._refused += 1
        self._last = time.monotonic()

    def end(self) -> None:
        """To be called for a request that was not refused: it may be the first after a while."""
        if self._refused and time.monotonic() - self._last > QUIET:
            log.warning("Requests are taken again; %s were refused", self._refused)
            self._refused = 0
