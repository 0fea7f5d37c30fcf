"""The log: one JSON object a line, without bodies, tokens or query strings."""

import json
import logging
from datetime import UTC, datetime


class JSONLines(logging.Formatter):
    """Formats a record as one JSON object: time, level, logger, message, and the traceback of an error."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)
