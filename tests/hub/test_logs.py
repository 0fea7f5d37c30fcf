import json
import logging

from hub.logs import JSONLines


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
