"""The log: one JSON object a line, without bodies, tokens or query strings."""

import json
import logging
from datetime import UTC, datetime

LONGEST = 2000  # characters of a message, which may quote what a stranger sent


class StrangersMistakes(logging.Filter):
    """A forged `Host` or too large a form is no error of ours: one line, and a warning."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("django.security."):
            record.levelno, record.levelname = logging.WARNING, "WARNING"
            record.exc_info = record.exc_text = None
        return True


class JSONLines(logging.Formatter):
    """Formats a record as one JSON object: time, level, logger, message, and the traceback of an error."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage()[:LONGEST],
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)
