"""What the clients have asked and what they were answered, in order."""

import json
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """One request. `status` is None where no answer came; `problem` says why, or what the answer said.

    `id` is the report that it is about; `words` are details that no other report has.
    """

    begun: float
    ended: float
    act: str
    status: int | None
    problem: str = ""
    id: str = ""
    page: str = ""
    words: str = ""


class Journal:
    """All entries, also in a file of JSON lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: list[Entry] = []
        self._file = path.open("w", encoding="utf-8")
        self._lock = threading.Lock()

    def note(self, entry: Entry) -> None:
        """Keep an entry."""
        with self._lock:
            self.entries.append(entry)
            self._write(entry._asdict())

    def say(self, event: str, **facts: Any) -> None:
        """Write down what is no request, such as a fault; only in the file."""
        with self._lock:
            self._write({"at": time.time(), "event": event, **facts})

    def about(self, report_id: str) -> list[str]:
        """The lines of the file that name a report, in order."""
        self._file.flush()
        with self.path.open(encoding="utf-8") as lines:
            return [line.rstrip() for line in lines if report_id in line]

    def close(self) -> None:
        """Write what is left."""
        self._file.close()

    def _write(self, facts: dict[str, Any]) -> None:
        self._file.write(json.dumps(facts) + "\n")
