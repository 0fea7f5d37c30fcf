"""The Hub, the Python and the Node client refuse the same reports, at the same places."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from docfeedback.visible import is_blank

from core.json_body import Malformed
from reports import shape
from tests.clients.conftest import CONTRACT, Sdk

TABLE = json.loads((CONTRACT / "report.json").read_text())
FULL = {
    "$comment": "typical",
    "protocol_version": "0",
    "doc_url": "docs/install.md",
    "agent": {"name": "claude-code", "version": "1.4.2", "vendor": "Acme"},
    "report": {
        "kind": "incorrect",
        "summary": "Step 3 fails",
        "details": "More",
        "evidence": [{"kind": "quote", "text": "Use --force"}],
        "suggested_fix": "Use --yes",
    },
    "task_context": {"task_summary": "Install", "transcript_excerpt": "I tried"},
    "idempotency_key": "install-1",
    "submitted_at": "2026-01-31T12:34:56Z",
    "locale": "en-US",
    "client_capabilities": ["notices", "v0.1"],
}
CHARACTERS = ["x", "\u00e9", "\u65e5", "\U0001f600"]  # of one, two, three and four bytes
NONE_OF_THEM = [None, True, 0, 1.5, [], {}, ["x"], {"x": 1}, [[[["x"]]]]]
TOO_LONG = "Must be at most"
PLAIN = ("type", "enum", "minLength", "maxLength", "pattern", "maxItems")
TEXTS = [
    *("", " ", "\t", "\n", "\x1c", "\x7f", "\x85", "\xa0", "\xad", "\u2028", "\u2003", "\u3000"),
    *("a b", "a\nb", "a\tb", "a\u200bb", "a\u202eb", "\ufeffa", "e\u0301", "\ue000", "\U0001f600"),
    *("\0", "a\0b", "\ud800", "a\udc00", "\udc00\ud800", "\U000e0041", "\u180e", "a\xa0b", " a "),
    *(
        "0",
        "Quote",
        "INCORRECT",
        "en_US",
        "en-",
        "e" * 9,
        "a-b",
        "a-",
        "-",
        ".",
        "A",
        "a\n",
        "en\n",
    ),
]
TIMES = [
    *("2026-01-31t12:34:56.123456789z", "2026-01-31 12:34:56-00:00", "0001-01-01T00:00:00+23:59"),
    *(
        "2024-02-29T00:00:00Z",
        "2000-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-02-29T00:00:00Z",
    ),
    *(
        "0000-01-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-04-31T00:00:00Z",
    ),
    *(
        "2026-01-00T00:00:00Z",
        "2026-01-31T24:00:00Z",
        "2026-01-31T23:60:00Z",
        "2026-01-31T23:59:60Z",
    ),
    *("2026-01-31T12:34:56", "2026-01-31", "2026-01-31T12:34Z", "2026-01-31T12:34:56.Z"),
    *("2026-01-31T12:34:56+24:00", "2026-01-31T12:34:56+10:60", "2026-01-31T12:34:56+0100"),
    *("2026-01-31T12:34:56Z\n", " 2026-01-31T12:34:56Z", "\u0662026-01-31T12:34:56Z"),
    *("9999-12-31T23:59:59-23:59", "2026-W05-6T12:34:56Z", "2026-01-31T12:34:56." + "1" * 43 + "Z"),
    "2026-01-31T12:34:56." + "1" * 44 + "Z",
]


def test_the_table_is_the_hubs_model():
    model = shape.ReportBody.model_json_schema()

    assert _as_table(model, model["$defs"]) == _without_formats(TABLE["body"])


def test_each_wrong_field_is_refused_with_the_words_of_the_hub(sdk: Sdk):
    bodies = list(_bodies_with_one_change())

    assert len(bodies) > 1000
    _compare(sdk, bodies, words=True)


def test_several_wrong_fields_are_refused_at_the_same_places(sdk: Sdk):
    bodies = list(_bodies_with_changes(600))

    _compare(sdk, bodies, words=False)


def test_an_address_that_is_none_is_refused_with_the_words_of_the_hub(sdk: Sdk):
    for address in ("", "#", "#top"):
        (refused,) = sdk.do({"do": "draft", "report": {**FULL, "doc_url": address}})

        assert _faults(refused) == _faults_of_the_hub({**FULL, "doc_url": address})


def test_a_body_that_is_none_is_refused(sdk: Sdk):
    _compare(sdk, [*NONE_OF_THEM, "x", "", [FULL]], words=True)


@pytest.mark.parametrize("key", ["", "a b", "x" * 129, "\u00e9", "a\n", "\0"])
def test_a_key_in_the_header_is_held_to_the_same_rule(sdk: Sdk, key: str):
    (refused,) = sdk.do({"do": "draft", "report": FULL, "key": key})

    with pytest.raises(Malformed) as malformed:
        shape.key(key)
    assert refused["fields"]["details"] == malformed.value.faults


def _compare(sdk: Sdk, bodies: list[Any], *, words: bool) -> None:
    """Each body is refused by both or by neither, and at the same places."""
    outcomes = sdk.do(*({"do": "draft", "report": body} for body in bodies))
    for body, outcome in zip(bodies, outcomes, strict=True):
        expected, found = _faults_of_the_hub(body), _faults(outcome)
        shown = json.dumps(body)[:300], expected, found
        if _is_meant(body):
            assert found, shown
            continue
        assert sorted(path for path, _ in found) == sorted(path for path, _ in expected), shown
        if words and len(expected) == 1 and TOO_LONG not in found[0][1]:  # or wrong in two ways
            assert found[0][1].startswith(expected[0][1]), shown


def _faults_of_the_hub(body: Any) -> list[tuple[str, str]]:
    try:
        shape.parse(json.dumps(body).encode())
    except Malformed as malformed:
        return [(fault["path"], fault["message"]) for fault in malformed.faults]
    return []


def _faults(outcome: dict[str, Any]) -> list[tuple[str, str]]:
    if "result" in outcome:
        return []
    return [(fault["path"], fault["message"]) for fault in outcome["fields"].get("details", [{}])]


def _is_meant(body: Any) -> bool:
    """What the clients judge in a way of their own: the address, and a text that shows nothing."""
    if not isinstance(body, dict):
        return False
    address, (name, summary) = body.get("doc_url"), _lines(body)
    blank = any(isinstance(text, str) and text and is_blank(text) for text in (name, summary))
    return blank or (
        address != FULL["doc_url"] and isinstance(address, str) and len(address) < 2048
    )


def _lines(body: dict[str, Any]) -> tuple[Any, Any]:
    agent, report = body.get("agent"), body.get("report")
    return (
        agent.get("name") if isinstance(agent, dict) else None,
        report.get("summary") if isinstance(report, dict) else None,
    )


def _bodies_with_one_change() -> Iterator[Any]:
    for path, spec in _places(TABLE["body"], ()):
        for value in _values(spec):
            if path != ("doc_url",) or not isinstance(value, str) or len(value) > 2048:
                yield _changed(FULL, path, value)
        yield _changed(FULL, path, None)
        if isinstance(path[-1], str):
            yield _without(FULL, path)
    for path in [(), ("agent",), ("report",), ("report", "evidence", 0), ("task_context",)]:
        for name in ("priority", "", "a/b~c", "__proto__", "constructor", "\u00e9", "0"):
            yield _changed(FULL, (*path, name), None)


def _bodies_with_changes(count: int) -> Iterator[Any]:
    dice = random.Random(7)
    places = [(path, list(_values(spec))) for path, spec in _places(TABLE["body"], ()) if path]
    for _ in range(count):
        body = FULL
        for path, values in dice.sample(places, dice.randint(2, 4)):
            if path != ("doc_url",):
                body = _changed(body, path, dice.choice(values))
        yield _changed(body, ("priority",), 1) if dice.random() < 0.3 else body


def _places(spec: dict[str, Any], path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if path:
        yield path, spec
    for name, each in spec.get("properties", {}).items():
        yield from _places(each, (*path, name))
    if "items" in spec:
        yield from _places(spec["items"], (*path, 0))


def _values(spec: dict[str, Any]) -> Iterator[Any]:
    """Values at the bounds of a field and over them, and of other types."""
    yield from NONE_OF_THEM
    if spec["type"] == "array":
        item = "x" if spec["items"]["type"] == "string" else FULL["report"]["evidence"][0]
        yield from ([item] * spec["maxItems"], [item] * (spec["maxItems"] + 1))
        yield ["x" * 5000] if item == "x" else [{**item, "text": 7}, {}]
    if spec["type"] == "string":
        yield from [*TEXTS, *spec.get("enum", [])]
        yield from TIMES if spec.get("format") == "date-time" else []
        for most in (each for each in (spec.get("maxLength"),) if each):
            for character in CHARACTERS:
                yield from (character * most, character * (most + 1), character * 2 * most)
            yield "x" * (most - 1) + "\U0001f600"
            yield "\U0001f600" + "x" * most


def _changed(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy with this value at that place; the same if there is no such place any more."""
    copied = at = copy.deepcopy(body)
    try:
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = value
    except (TypeError, KeyError, IndexError):
        pass  # another change took it away
    return copied


def _without(body: Any, path: tuple[Any, ...]) -> Any:
    copied = at = copy.deepcopy(body)
    for step in path[:-1]:
        at = at[step]
    del at[path[-1]]
    return copied


def _as_table(schema: dict[str, Any], named: dict[str, Any]) -> dict[str, Any]:
    """A part of the Hub's JSON Schema in the form of the table."""
    if "anyOf" in schema:
        (schema,) = (each for each in schema["anyOf"] if each != {"type": "null"})
    if "$ref" in schema:
        schema = named[schema["$ref"].rpartition("/")[2]]
    plain = {key: schema[key] for key in PLAIN if key in schema}
    if "const" in schema:
        plain["enum"] = [schema["const"]]
    if "items" in schema:
        plain["items"] = _as_table(schema["items"], named)
    if "properties" in schema:
        assert schema["additionalProperties"] is False
        plain["required"] = schema.get("required", [])
        plain["properties"] = {
            name: _as_table(each, named) for name, each in schema["properties"].items()
        }
    return plain


def _without_formats(spec: dict[str, Any]) -> dict[str, Any]:
    """A part of the table without what JSON Schema has no words for."""
    plain = {key: spec[key] for key in (*PLAIN, "required") if key in spec}
    if "items" in spec:
        plain["items"] = _without_formats(spec["items"])
    if "properties" in spec:
        plain["properties"] = {
            name: _without_formats(each) for name, each in spec["properties"].items()
        }
    return plain
