import io
import json
import logging

import pytest

from hub.logs import LONGEST, JSONLines


@pytest.fixture
def written(monkeypatch) -> io.StringIO:
    """What goes to stderr."""
    stderr = next(h for h in logging.getLogger().handlers if isinstance(h.formatter, JSONLines))
    monkeypatch.setattr(stderr, "stream", io.StringIO())
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
