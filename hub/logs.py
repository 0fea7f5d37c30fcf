"""The log: one JSON object per line, without bodies, tokens or query strings."""

import json
import logging
import time
from datetime import UTC, datetime

LONGEST = 2000  # characters of a message, which may quote what a stranger sent
PAUSE = 60  # seconds between two lines about the same kind of mistake


class StrangersMistakes(logging.Filter):
    """Logs requests with a wrong `Host`, or forms without their token, as warnings, one a minute of each."""

    def __init__(self) -> None:
        super().__init__()
        self._next: dict[str, float] = {}  # by logger; Django has about ten of them

    def filter(self, record: logging.LogRecord) -> bool:
        """False for what was logged less than a minute ago."""
        if not record.name.startswith("django.security."):
            return True
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        record.exc_info = record.exc_text = None
        now = time.monotonic()
        if now < self._next.get(record.name, now):
            return False
        self._next[record.name] = now + PAUSE
        return True


class JSONLines(logging.Formatter):
    """Formats a record as one JSON object: time, level, logger, message, and the traceback of an error."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line of JSON."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage()[:LONGEST],
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)
