import errno
import io
import json
import logging
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.test import Client

from hub import logs
from hub.logs import LONGEST, JSONLines, Stderr, StrangersMistakes, TextLines
from tests import build
from tests.waiting import wait_until


@pytest.fixture
def written(monkeypatch) -> io.StringIO:
    """What goes to stderr."""
    stderr = next(h for h in logging.getLogger().handlers if isinstance(h.formatter, JSONLines))
    monkeypatch.setattr(stderr, "stream", io.StringIO())
    monkeypatch.setattr(stderr, "filters", [StrangersMistakes()])
    return stderr.stream


def test_a_line_is_one_json_object():
    record = logging.LogRecord("hub", logging.ERROR, "x.py", 1, "Broke: %s", ("a\nb",), None)

    line = JSONLines().format(record)

    assert "\n" not in line
    assert json.loads(line) | {"time": None} == {
        "time": None, "level": "error", "logger": "hub", "message": "Broke: a\nb"
    }  # fmt: skip


def test_a_traceback_goes_along():
    try:
        raise ZeroDivisionError
    except ZeroDivisionError as error:
        info = (type(error), error, error.__traceback__)
    record = logging.LogRecord("hub", logging.ERROR, "x.py", 1, "Broke", (), info)

    assert "ZeroDivisionError" in json.loads(JSONLines().format(record))["traceback"]


def test_a_forged_host_cannot_fill_the_log_or_raise_an_alarm(client, written):
    answer = client.get("/login/", headers={"Host": "evil.example" * 10_000})

    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert answer.status_code == 400
    assert "DisallowedHost" in lines[0]["logger"]
    assert {line["level"] for line in lines} == {"warning"}
    assert not any("traceback" in line for line in lines)
    assert all(len(line["message"]) <= LONGEST for line in lines)


def test_refused_reports_cannot_fill_the_log(db, client, settings, written):
    settings.HUB_REPORT_RATE = "1/minute"

    answers = [build.send(client) for _ in range(100)]

    assert [each.status_code for each in answers] == [201] + 99 * [429]
    assert not written.getvalue()


def test_forged_hosts_and_forms_cannot_fill_the_log(written):
    strict = Client(enforce_csrf_checks=True)
    for _ in range(50):
        strict.get("/login/", headers={"Host": "evil.example"})
        strict.post("/login/")

    assert len(written.getvalue().splitlines()) == 2


PAGE = "https://alice:k9@docs.acme.com:8443/private/page?token=k9Zebra&mail=alice@acme.com#x"
PATHS = ["/report/", "/login/"]  # the Hub's own line, and Django's


def refused(path: str, **headers: str) -> None:
    browser = Client(enforce_csrf_checks=True, headers=headers)
    assert browser.post(path, secure=True).status_code in {
        400,
        403,
    }  # a report shows its form again


def of_forms(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.name == "django.security.csrf"]


@pytest.mark.parametrize("path", PATHS)
def test_of_the_page_that_a_refused_form_came_from_the_log_has_only_the_origin(db, path, caplog):
    """The attack: a page's address can have a user name, a token or an address of mail in it."""
    refused(path, Referer=PAGE)

    said = (
        "Referer checking failed - https://docs.acme.com:8443 does not match any trusted origins."
    )
    assert of_forms(caplog) == [f"Forbidden ({said}): {path}"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("origin", "said"),
    [
        ("https://docs.acme.com", " - https://docs.acme.com does not match any trusted origins."),
        (PAGE, " - https://docs.acme.com:8443 does not match any trusted origins."),
        ("null", " - null does not match any trusted origins."),
        ("k9Zebra does not match any trusted origins.", "."),
        ("https:k9Zebra - https://k9", "."),
        ("https://alice:k9/Zebra@docs.acme.com", "."),
        ("http://[::1]:8000", " - http://[::1]:8000 does not match any trusted origins."),
    ],
)
def test_nor_does_it_have_more_of_an_origin(db, path, origin, said, caplog):
    refused(path, Origin=origin)

    assert of_forms(caplog) == [f"Forbidden (Origin checking failed{said}): {path}"]


def test_a_crash_of_a_page_is_in_the_log(written, monkeypatch):
    monkeypatch.setattr("hub.server.health.problem", lambda: 1 / 0)

    answer = Client(raise_request_exception=False).get("/readyz")

    [line] = [json.loads(line) for line in written.getvalue().splitlines()]
    assert answer.status_code == 500
    assert (line["logger"], line["level"]) == ("django.request", "error")
    assert "ZeroDivisionError" in line["traceback"]


def test_a_line_for_people_is_one_line_with_what_is_known():
    record = logging.LogRecord("hub", logging.INFO, "x.py", 1, "Broke: %s", ("a\nb\x1b[2J",), None)
    record.facts = {"report": "01J", "status": 201}

    line = TextLines().format(record)

    assert line.partition(" ")[2] == r"INFO hub: Broke: a\nb\u001b[2J report=01J status=201"


@pytest.mark.parametrize("char", ["\x85", "\u2028", "\u2029", "\x9b", "\x7f", "\u202e", "\ud800"])
def test_what_a_line_for_people_quotes_cannot_look_like_another_line(char):
    line = TextLines().format(record(f"at x{char}2026-01-01 ERROR hub: forged"))

    assert line.isprintable()
    assert char.encode("unicode_escape").decode() in line


def test_nor_can_the_message_of_an_error():
    try:
        raise ValueError("x\n2026-11-22T23:00:00.000+00:00 INFO hub: forged\x85\r2026")
    except ValueError:
        broke = logging.LogRecord("hub", logging.ERROR, "x.py", 1, "Broke", (), sys.exc_info())

    _, *traceback = TextLines().format(broke).splitlines()

    assert all(line.startswith("    ") for line in traceback)
    assert traceback[-1] == r"    2026-11-22T23:00:00.000+00:00 INFO hub: forged\x85\r2026"


def test_libraries_log_nothing_at_debug_however_low_the_level_is():
    """PyGithub would log whole requests there, and urllib3 addresses with their queries."""
    assert not logging.getLogger("github.Requester").isEnabledFor(logging.DEBUG)
    assert not logging.getLogger("urllib3.connectionpool").isEnabledFor(logging.DEBUG)
    assert logging.getLogger("hub.requests").isEnabledFor(logging.DEBUG)


class Reader:
    """Reads a pipe to which a log is written, when it is told to."""

    def __init__(self) -> None:
        self.here, there = os.pipe()
        self.stream = os.fdopen(there, "w")

    def everything(self) -> list[str]:
        self.stream.close()
        with os.fdopen(self.here) as here:
            return here.read().splitlines()


@pytest.fixture
def behind() -> tuple[Stderr, Reader]:
    """A log that a thread writes into a pipe that nobody reads yet."""
    reader, handler = Reader(), Stderr()
    handler.setStream(reader.stream)
    handler.write_behind()
    return handler, reader


def record(message: str, level: int = logging.INFO) -> logging.LogRecord:
    return logging.LogRecord("hub", level, "x.py", 1, message, None, None)


def test_lines_are_written_in_their_order_when_the_process_ends(behind):
    handler, reader = behind
    for number in range(1000):
        handler.handle(record(f"line {number}"))

    handler.close()

    assert reader.everything() == [f"line {number}" for number in range(1000)]


def test_lines_are_written_where_the_system_starts_no_thread_for_them(monkeypatch):
    handler = Stderr()
    handler.setStream(io.StringIO())

    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)

    with pytest.raises(RuntimeError):
        handler.write_behind()
    handler.handle(record("a line"))

    assert handler.stream.getvalue() == "a line\n"


def test_nobody_waits_for_a_reader_that_does_not_read(behind, monkeypatch):
    """As with a terminal that was stopped: what is over the bound is dropped and counted."""
    handler, reader = behind
    monkeypatch.setattr(logs, "UNREAD", 200_000)
    monkeypatch.setattr(logs, "GATHER", 10)  # longer than it takes to log all of them
    lines = [f"{number} {'x' * 990}" for number in range(1000)]

    for line in lines:  # a pipe takes 65,536 bytes, and here nobody reads it
        handler.handle(record(line))
    handler._hurry.set()
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(os.read, reader.here, 65_536)
        read.result()
        rest = pool.submit(lambda: b"".join(iter(lambda: os.read(reader.here, 65_536), b"")))
        assert wait_until(lambda: not handler._size)
        handler.handle(record("and on"))
        handler.close()
        reader.stream.close()
        found = (read.result() + rest.result()).decode().splitlines()
    os.close(reader.here)

    *kept, last = [line for line in found if "dropped" not in line]
    said = [line for line in found if "dropped" in line]
    assert kept == lines[: len(kept)]
    assert 100 < len(kept) < 250
    assert last == "and on"
    assert said == [f"{1000 - len(kept)} lines were dropped: nobody read stderr for a while"]


def test_a_warning_is_written_at_once(behind, monkeypatch):
    monkeypatch.setattr(logs, "GATHER", 3600)
    handler, reader = behind

    handler.handle(record("first"))
    handler.handle(record("second", logging.WARNING))

    assert os.read(reader.here, 100) == b"first\nsecond\n"
    os.close(reader.here)


def test_a_flood_of_requests_that_nobody_reads_leaves_room_for_errors(behind, monkeypatch):
    monkeypatch.setattr(logs, "UNREAD", 200_000)
    monkeypatch.setattr(logs, "GATHER", 3600)
    handler, reader = behind

    for number in range(1000):
        handler._keep(f"{number} {'x' * 990}")
    handler._keep("an error", is_grave=True)

    assert handler._lines[-1] == "an error"
    reader.stream.close()
    os.close(reader.here)


def test_lines_that_cannot_be_written_are_all_counted():
    """Such as on a full disk, where one writing after the other fails."""

    class Full(io.StringIO):
        is_full = True

        def write(self, text: str) -> int:
            if self.is_full:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(text)

    handler = Stderr()
    handler.stream = Full()
    for _ in range(3):
        handler._keep("one")
        handler._keep("two")
        handler._write_some()
    handler.stream.is_full = False
    handler._write_some()

    assert handler.stream.getvalue() == "6 lines were dropped: nobody read stderr for a while\n"
