"""Whether what a block printed is what its page shows; `…` stands for anything."""

import itertools
import json
import re
from collections.abc import Sequence
from difflib import ndiff
from typing import Any

from hub.docs.fences import Fence

ANY = "…"


def differences(expected: Fence, stdout: str, stderr: str) -> list[str]:
    """Where they differ, as sentences."""
    if expected.language == "json":
        return _json(expected.code, stdout)
    if expected.language == "http":
        return _http(expected.code, stdout)
    return _text(expected.code, stdout + stderr)


def _json(expected: str, got: str) -> list[str]:
    try:
        return list(_values(json.loads(expected), json.loads(got), "$"))
    except json.JSONDecodeError as error:
        which = "got" if error.doc == got else "shown"
        return [f"What was {which} is not JSON: {error}"]


def _values(expected: Any, got: Any, place: str) -> list[str]:
    if isinstance(expected, dict) and isinstance(got, dict):
        return _objects(expected, got, place)
    if isinstance(expected, list) and isinstance(got, list):
        return _lists(expected, got, place)
    if isinstance(expected, str) and ANY in expected and (expected == ANY or isinstance(got, str)):
        return [] if expected == ANY or _fits(expected, got) else [_differ(place, expected, got)]
    same = type(expected) is type(got) and expected == got
    return [] if same else [_differ(place, expected, got)]


def _objects(expected: dict, got: dict, place: str) -> list[str]:
    names = expected.keys() - {ANY}
    found = [f"{place}.{name} is missing." for name in sorted(names - got.keys())]
    if ANY not in expected:
        found += [f"{place}.{name} is not shown." for name in sorted(got.keys() - names)]
    for name in sorted(names & got.keys()):
        found += _values(expected[name], got[name], f"{place}.{name}")
    return found


def _lists(expected: list, got: list, place: str) -> list[str]:
    if expected[-1:] == [ANY]:
        expected, got = expected[:-1], got[: len(expected) - 1]
    if len(expected) != len(got):
        return [f"{place} has {len(got)} values, and {len(expected)} are shown."]
    pairs = enumerate(zip(expected, got, strict=True))
    return [each for n, (a, b) in pairs for each in _values(a, b, f"{place}[{n}]")]


def _differ(place: str, expected: Any, got: Any) -> str:
    return f"{place} is {got!r}, and {expected!r} is shown."


def _http(expected: str, got: str) -> list[str]:
    """The status, the headers that are shown, and the body if one is."""
    shown, printed = _message(expected), _message(got)
    found = _text(shown[0], printed[0])
    for name, value in shown[1].items():
        if name not in printed[1]:
            found.append(f"There is no header {name}.")
        elif not _fits(value, printed[1][name]):
            found.append(_differ(f"The header {name}", value, printed[1][name]))
    if shown[2]:
        compare = _json if shown[2].startswith(("{", "[")) else _text
        found += compare(shown[2], printed[2])
    return found


def _message(text: str) -> tuple[str, dict[str, str], str]:
    head, _, body = text.replace("\r\n", "\n").partition("\n\n")
    first, *lines = head.strip().split("\n")
    headers = (line.partition(":") for line in lines)
    return first, {name.lower(): value.strip() for name, _, value in headers}, body.strip()


def _text(expected: str, got: str) -> list[str]:
    """Line by line; a line that is only `…` stands for any number of lines."""
    shown, printed = (_lines(text) for text in (expected, got))
    return [] if _lines_fit(shown, printed) else ["\n".join(ndiff(shown, printed))]


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").split("\n")]


def _lines_fit(shown: Sequence[str], printed: Sequence[str]) -> bool:
    parts = [".*" if line.strip() == ANY else _pattern(line) for line in shown]
    return re.fullmatch(_joined(parts), "\n".join(printed), re.DOTALL) is not None


def _joined(parts: Sequence[str]) -> str:
    """With a line's end between two, which `any lines` may stand for too."""
    pattern = parts[0]
    for before, part in itertools.pairwise(parts):
        pattern += (r"\n?" if ".*" in (before, part) else r"\n") + part
    return pattern


def _pattern(line: str) -> str:
    return "[^\n]*".join(re.escape(part) for part in line.split(ANY))


def _fits(expected: str, got: str) -> bool:
    return re.fullmatch(_pattern(expected), got) is not None
