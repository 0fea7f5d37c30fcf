"""What the Hub answers and logs when it is overloaded."""

import logging
import time

from core.errors import ApiError

log = logging.getLogger(__name__)

QUIET = 60  # seconds without a refusal; then it is over


class Overloaded(ApiError):
    """503: the Hub is overloaded. `reason` is a sentence for the log."""

    status_code = 503
    default_code = "unavailable"
    default_detail = "The Hub is too busy. Nothing was saved; please try again."

    def __init__(self, reason: str) -> None:
        super().__init__(headers={"Retry-After": "5"})
        self.reason = reason


class Overload:
    """Whether requests are being refused: logged once when that begins, and once when it ends."""

    def __init__(self) -> None:
        self._refused = 0
        self._last = 0.0

    def refuse(self, error: Overloaded) -> None:
        """Note that a request was refused."""
        if not self._refused:
            log.warning("Requests are refused: %s", error.reason)
        self._refused += 1
        self._last = time.monotonic()

    def end(self) -> None:
        """Note that a request was accepted: it may be the first one after a while."""
        if self._refused and time.monotonic() - self._last > QUIET:
            log.warning("Requests are accepted again; %s were refused", self._refused)
            self._refused = 0
