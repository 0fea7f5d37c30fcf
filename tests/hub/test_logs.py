import io
import json
import logging

import pytest
from django.test import Client

from hub.logs import LONGEST, JSONLines, StrangersMistakes
from tests import build


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


def test_a_crash_of_a_page_is_in_the_log(written, monkeypatch):
    monkeypatch.setattr("hub.server.health.problem", lambda: 1 / 0)

    answer = Client(raise_request_exception=False).get("/readyz")

    [line] = [json.loads(line) for line in written.getvalue().splitlines()]
    assert answer.status_code == 500
    assert (line["logger"], line["level"]) == ("django.request", "error")
    assert "ZeroDivisionError" in line["traceback"]
