"""The log: one line each, JSON or text, without bodies, tokens, addresses or query strings."""

import json
import logging
import re
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from multiprocessing.util import Finalize
from typing import Any

from core.watching import current, metrics

LONGEST = 2000  # characters of a message, which may quote what a stranger sent
INDENT = "    "
PAUSE = 60  # seconds between two lines about the same kind of mistake
UNREAD = 4 * 1024 * 1024  # characters of all lines of this process that wait for a reader of stderr
FOR_ALL = 0.75  # of these; the rest is for warnings and errors alone
GATHER = 0.1  # seconds in which lines are gathered, and written together
LAST = 2  # seconds for the last lines when a process ends
FORMS = "django.security.csrf"  # the logger that says why a form was refused
UNTRUSTED = " does not match any trusted origins."  # how Django ends what quotes a header

_AUTHORITY_ENDS = re.compile(r"[/?#\\\s]")
_HOST = re.compile(r"(?:[\w.-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")


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


class WithoutAddresses(logging.Filter):
    """Names the route in Django's lines about a request: the address itself can be a secret.

    So can the address of the page that a refused form came from, of which the origin is left.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """True; changes what the record says."""
        path = getattr(getattr(record, "request", None), "path", None)
        if path and isinstance(record.args, tuple):
            *others, last = record.args
            if last == path.encode("unicode_escape").decode():  # as Django writes it
                record.args = (*others, current.place(path))
        if record.name == FORMS and isinstance(record.args, tuple) and record.args:
            reason, *others = record.args
            record.args = (_of_a_form(str(reason)), *others)
        return True


def _of_a_form(reason: str) -> str:
    """Why Django refused a form, with no more of another page than its origin."""
    said, _, other = reason.partition(" - ")
    if not other.endswith(UNTRUSTED) or other == f"null{UNTRUSTED}":
        return reason
    scheme, _, rest = other.removesuffix(UNTRUSTED).partition("://")
    host = _AUTHORITY_ENDS.split(rest, maxsplit=1)[0].rpartition("@")[2]
    if scheme not in {"http", "https"} or not _HOST.fullmatch(host):
        return f"{said}."
    return f"{said} - {scheme}://{host}{UNTRUSTED}"


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    """What is known besides the message: the id of the request, and what the line is about."""
    facts = getattr(record, "facts", None)
    if facts is not None and "request" in facts:
        return facts
    request_id = current.request_id()
    return {"request": request_id, **(facts or {})} if request_id else facts or {}


class JSONLines(logging.Formatter):
    """Formats a record as one JSON object: time, level, logger, message, facts, the traceback of an error."""

    _write = json.JSONEncoder(separators=(", ", ": "), check_circular=False, default=str).encode

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line of JSON."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage()[:LONGEST],
            **_facts(record),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return self._write(line)


class TextLines(logging.Formatter):
    """Formats a record for people: time, level, logger, message and facts in one line; then the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line, in which what it quotes cannot begin another one."""
        time_of = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        message = json.dumps(record.getMessage()[:LONGEST], ensure_ascii=False)[1:-1]
        facts = "".join(f" {name}={value}" for name, value in _facts(record).items())
        line = _printable(f"{time_of} {record.levelname} {record.name}: {message}{facts}")
        return f"{line}\n{self._traceback(record.exc_info)}" if record.exc_info else line

    def _traceback(self, exc_info: Any) -> str:
        """Its lines, indented: none of them looks like a line of the log."""
        lines = self.formatException(exc_info).split("\n")
        return "\n".join(f"{INDENT}{_printable(line)}" for line in lines)


def _printable(text: str) -> str:
    """The text with all escaped that a terminal would not print, such as what ends or turns lines."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class Stderr(logging.StreamHandler):
    """Writes to stderr; after `write_behind` in a thread of its own, so that nobody waits for its reader.

    If nobody reads, `UNREAD` characters are kept, the last quarter of them for warnings and errors. Further lines
    are dropped and counted, and once there is room again, a line says how many.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lines: deque[str] = deque()
        self._size = self._dropped = 0
        self._any = threading.Event()
        self._hurry = threading.Event()
        self._written = threading.Event()
        self._written.set()
        self._behind = False

    def write_behind(self) -> None:
        """From now on a thread writes for this process. Call it after the last fork."""
        if not self._behind:
            threading.Thread(target=self._write_all, name="log", daemon=True).start()
            self._behind = True  # only now: without the thread nothing would ever be written
            Finalize(None, self._end, exitpriority=1)  # where a process ends that was forked

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record, or leave it to the thread."""
        if not self._behind:
            super().emit(record)
            return
        is_grave = record.levelno >= logging.WARNING
        try:
            self._keep(self.format(record), is_grave=is_grave)
        except Exception:
            self.handleError(record)
        if is_grave:
            self._hurry.set()

    def _keep(self, line: str, *, is_grave: bool = False) -> None:
        if self._size + len(line) > (UNREAD if is_grave else UNREAD * FOR_ALL):
            self._dropped += 1
            metrics.lines_dropped.up()
            return
        self._lines.append(line)
        self._size += len(line)
        if not self._any.is_set():
            self._any.set()

    def _write_all(self) -> None:
        while True:
            self._any.wait()
            self._hurry.wait(GATHER)
            self._write_some()

    def _write_some(self) -> None:
        """Write what is there. What waits here for a reader still counts as unread."""
        self._written.clear()
        with self._alone():
            self._any.clear()
            self._hurry.clear()
            lines, self._lines = self._lines, deque()
            dropped, self._dropped = self._dropped, 0
        lost = dropped + len(lines)  # if nothing can be written
        if dropped:
            lines.append(self.format(_of_dropped(dropped)))
        try:
            self.stream.write("".join(f"{line}\n" for line in lines))
            self.stream.flush()
        except Exception:  # such as a reader that has gone
            self._dropped += lost
        with self._alone():
            self._size = sum(map(len, self._lines))
        self._written.set()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else emits meanwhile."""
        self.acquire()
        try:
            yield
        finally:
            self.release()

    def _end(self) -> None:
        """Wait for the thread to write the last lines, `LAST` seconds at most."""
        until = time.monotonic() + LAST
        while (self._lines or not self._written.is_set()) and time.monotonic() < until:
            self._hurry.set()
            self._any.set()
            time.sleep(GATHER / 10)

    def close(self) -> None:
        """Write the last lines."""
        if self._behind:
            self._end()
        super().close()


def _of_dropped(number: int) -> logging.LogRecord:
    words = "%s lines were dropped: nobody read stderr for a while"
    return logging.LogRecord(__name__, logging.WARNING, __file__, 0, words, (number,), None)


@cache
def write_behind() -> None:
    """Let a thread write the log of this process, so that a slow reader of stderr stops nothing else.

    Nor is anything found out for each line that no line says (the logging cookbook, "Optimization").
    """
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None
    for handler in logging.getLogger().handlers:
        if isinstance(handler, Stderr):
            handler.write_behind()
