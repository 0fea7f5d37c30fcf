"""Waiting for what other processes do; no longer than needed, and not for ever."""

import time
from collections.abc import Callable


def wait_until(true: Callable[[], object], seconds: float = 120) -> bool:
    """Whether it became true in time."""
    deadline = time.monotonic() + seconds
    while not (result := true()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(result)
