"""The errors in the Hub's log, and which of them a fault explains."""

import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from tests.chaos.wall_clock import OFF
from tests.chaos.world import CLOCK, DATABASE, DISK, GITHUB, MAINTAIN, REDIS, SERVER, Away

AFTER = 15.0  # seconds: what was begun while something was away may end with an error after it
DATABASE_ERRORS = re.compile(
    r"The database cannot be reached|OperationalError|InterfaceError|PoolTimeout|AdminShutdown|database is locked|"
    r"idle-in-transaction timeout|"
    r"The database cannot be reached: |Service Unavailable: |"  # Django's line about a 503, which the journal has, too
    r"lock timeout|disk is full|disk I/O error|No space left|DiskFull|connection (is|was) (closed|lost)|"
    r"server closed the connection|couldn't get a connection|invalid socket"
)
REDIS_ERRORS = re.compile(r"[Rr]edis")
BAD_GATEWAY = re.compile(r"Bad Gateway: ")  # only members get a 502, and the journal has each
ENDED = re.compile(r"maintain exited with")
EXPLAINED = {  # by what was away
    DATABASE: (DATABASE_ERRORS, ENDED),  # maintain, where it is away when that begins
    DISK: (DATABASE_ERRORS,),
    REDIS: (REDIS_ERRORS,),
    SERVER: (ENDED,),
    MAINTAIN: (ENDED,),
    GITHUB: (),
    CLOCK: (),
}


class Line(NamedTuple):
    """A line of the log at level error, or something that is no line of the log."""

    at: float
    logger: str
    message: str
    traceback: str

    def __str__(self) -> str:
        last = self.traceback.strip().splitlines()[-1:] or [""]
        return f"{self.logger}: {self.message} {last[0]}".strip()


def errors(path: Path) -> Iterator[Line]:
    """Those of the file, in order."""
    at, raw = 0.0, []
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
            level, at = line["level"], datetime.fromisoformat(line["time"]).timestamp()
        except (ValueError, KeyError, TypeError):
            raw.append(text)
            continue
        yield from _traceback(at, raw)
        raw = []
        if level in ("error", "critical"):
            yield Line(at, line["logger"], line["message"], line.get("traceback", ""))
    yield from _traceback(at, raw)


def _traceback(at: float, raw: list[str]) -> Iterator[Line]:
    """What a process that ended with an exception has left between the lines of the log."""
    text = "\n".join(raw)
    if "Traceback (most recent call last)" in text:
        yield Line(at, "stderr", "ended with an exception", text)


def unexplained(lines: Iterable[Line], notes: list[Away]) -> list[Line]:
    """Those that nothing explains that was away at that time."""
    left = (each for each in lines if not BAD_GATEWAY.match(each.message))
    return [each for each in left if not _explains(each, notes)]


def _explains(line: Line, notes: list[Away]) -> bool:
    text = f"{line.message}\n{line.traceback}"
    return any(
        note.since <= at <= note.until + AFTER
        and any(pattern.search(text) for pattern in EXPLAINED.get(note.what, ()))
        for at in _when(line, notes)
        for note in notes
    )


def _when(line: Line, notes: list[Away]) -> Iterator[float]:
    """When it was written: at the time that it says, or while the clock that it says it by was off."""
    yield line.at
    for note in notes:
        if note.what == CLOCK:
            for at in (line.at - seconds for seconds in OFF.values()):
                if note.since <= at <= note.until + AFTER:
                    yield at
