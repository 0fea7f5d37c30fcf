"""Within /v1/ nothing is taken away: what each release has described still holds."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from hub.docs import for_agents
from tests.openapi.promises import bare, broken
from tests.upgrades.kept import all_kept

NOW = bare(json.loads(for_agents.OPENAPI.read_text(encoding="utf-8")))
REPORTS = ("paths", "/v1/reports", "post")
ME = ("paths", "/v1/orgs/me", "get")
SCHEMAS = ("components", "schemas")


@pytest.mark.parametrize("kept", all_kept(), ids=lambda each: each.version)
def test_what_a_release_has_promised_holds(kept):
    assert broken(kept.api, NOW) == []


def at(document: dict[str, Any], *path: str) -> Any:
    for name in path:
        document = document[name]
    return document


def forget(*path: str) -> Callable[[dict], Any]:
    return lambda document: at(document, *path[:-1]).pop(path[-1])


def put(value: Any, *path: str) -> Callable[[dict], Any]:
    return lambda document: at(document, *path[:-1]).update({path[-1]: value})


def drop(value: Any, *path: str) -> Callable[[dict], Any]:
    return lambda document: at(document, *path).remove(value)


def add(value: Any, *path: str) -> Callable[[dict], Any]:
    return lambda document: at(document, *path).append(value)


def drop_code(document: dict) -> None:
    """An answer of 400 that was bad_request is another code now."""
    schema = at(document, *REPORTS, "responses", "400", "content", "application/json", "schema")
    schema["allOf"][1]["properties"]["error"]["enum"].remove("bad_request")


NEEDED = {"in": "query", "name": "new", "required": True, "schema": {"type": "string"}}
TAKES_AWAY = {
    "POST /v1/reports is gone": forget(*REPORTS),
    "POST /v1/reports 410 is gone": forget(*REPORTS, "responses", "410"),
    "POST /v1/reports 400 error is never bad_request": drop_code,
    "POST /v1/reports needs orgs:read": put([{"token": ["orgs:read"]}], *REPORTS, "security"),
    "POST /v1/reports needs new": add(NEEDED, *REPORTS, "parameters"),
    "POST /v1/reports takes no Idempotency-Key": put([], *REPORTS, "parameters"),
    "POST /v1/reports 201 issue_url is gone": forget(*SCHEMAS, "Sent", "properties", "issue_url"),
    "POST /v1/reports 201 may be without claimed": drop("claimed", *SCHEMAS, "Sent", "required"),
    "POST /v1/reports 201 claimed may be null": put(
        ["boolean", "null"], *SCHEMAS, "Sent", "properties", "claimed", "type"
    ),
    "GET /v1/reports/{report_id} 200 status is never received": drop(
        "received", *SCHEMAS, "Receipt", "properties", "status", "enum"
    ),
    "POST /v1/reports body locale is gone": forget(*SCHEMAS, "ReportBody", "properties", "locale"),
    "POST /v1/reports body needs locale": add("locale", *SCHEMAS, "ReportBody", "required"),
    "POST /v1/reports body agent version takes no null": put(
        "string", *SCHEMAS, "Agent", "properties", "version", "type"
    ),
    "POST /v1/reports body agent name has another maxLength": put(
        119, *SCHEMAS, "Agent", "properties", "name", "maxLength"
    ),
    "POST /v1/reports body report kind is never other": drop(
        "other", *SCHEMAS, "Substance", "properties", "kind", "enum"
    ),
}
ADDS = {
    "a call": put({}, "paths", "/v1/new"),
    "a field of an answer": put({"type": "string"}, *SCHEMAS, "Sent", "properties", "new"),
    "a field of a body": put({"type": "string"}, *SCHEMAS, "ReportBody", "properties", "new"),
    "a value of an answer": add("new", *SCHEMAS, "Receipt", "properties", "status", "enum"),
    "a kind of report": add("new", *SCHEMAS, "Substance", "properties", "kind", "enum"),
    "longer names": put(200, *SCHEMAS, "Agent", "properties", "name", "maxLength"),
    "a status": put({"description": "New"}, *REPORTS, "responses", "422"),
    "a parameter": add(NEEDED | {"required": False}, *REPORTS, "parameters"),
    "what needs no token any more": put([], *ME, "security"),
}


@pytest.mark.parametrize("what", TAKES_AWAY)
def test_what_is_taken_away_is_seen(what):
    later = copy.deepcopy(NOW)
    TAKES_AWAY[what](later)

    assert what in broken(NOW, later)


@pytest.mark.parametrize("what", ADDS)
def test_what_is_added_breaks_nothing(what):
    later = copy.deepcopy(NOW)
    ADDS[what](later)

    assert broken(NOW, later) == []
    assert later != NOW
