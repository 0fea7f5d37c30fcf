"""Reports that are no plain JSON: what is sent is what was checked, and only our errors come out."""

from typing import Any

import pytest

from tests.clients.command_line import CommandLine
from tests.clients.conftest import DRIVERS, Sdk, World, needs_node

REPORT = {
    "protocol_version": "0",
    "doc_url": "docs/install.md",
    "agent": {"name": "claude-code"},
    "report": {"kind": "other", "summary": "x"},
}


def _odd(sdk: Sdk, name: str) -> Any:
    (outcome,) = sdk.do({"do": "odd", "odd": name, "report": REPORT})
    return outcome


def _faults(outcome: Any) -> list[tuple[str, str]]:
    assert outcome["code"] == "invalid_report"
    return [(fault["path"], fault["message"]) for fault in outcome["fields"]["details"]]


def test_a_value_that_says_of_itself_what_it_is_not_is_sent_as_it_is(sdk: Sdk):
    body, sent = _odd(sdk, "says otherwise")["result"]

    assert body == sent == {**REPORT, "doc_url": "docs/a.md", "locale": "en"}


def test_a_value_that_changes_is_sent_as_it_was_checked(sdk: Sdk):
    body, sent = _odd(sdk, "another each time")["result"]

    assert body == sent
    assert set(sent["report"]["summary"]) == {"x"}


def test_a_tuple_is_a_list(sdk: Sdk):
    assert _odd(sdk, "tuples")["result"][1]["client_capabilities"] == ["a", "b"]


def test_an_error_of_the_callers_own_becomes_ours(sdk: Sdk):
    outcome = _odd(sdk, "throws")

    assert (outcome["raises"], outcome["code"]) == ("ValidationError", "not_json_value")


@pytest.mark.parametrize("name", ["endless", "many fields"])
def test_a_hundred_thousand_fields_are_a_hundred_faults(sdk: Sdk, name: str):
    assert len(_faults(_odd(sdk, name))) == 100


def test_a_report_inside_itself_is_refused(sdk: Sdk):
    assert ("/report/kind", "This field is required.") in _faults(_odd(sdk, "around itself"))


def test_a_huge_text_is_too_long(sdk: Sdk):
    assert _faults(_odd(sdk, "huge")) == [("/locale", "Must be at most 35 characters.")]


def test_a_huge_name_is_shown_in_part(sdk: Sdk):
    assert _faults(_odd(sdk, "a huge name")) == [(f"/{'x' * 100}…", "Unknown field.")]


def test_what_is_no_json_is_named(sdk: Sdk):
    faults = dict(_faults(_odd(sdk, "another kind of thing")))

    assert faults["/submitted_at"] == "Must be a string."
    assert faults["/agent/name"] == "This field is required."


def test_a_file_with_a_long_text_of_escapes_is_read(client: CommandLine, world: World):
    (world.folder / "report.json").write_text('{"locale": "' + '\\\\\\"' * 250_000 + '"}')

    ended = client.run(["report", "--file", "report.json"], cwd=world.folder, env=world.environment)

    assert "  /locale: Must be at most 35 characters." in ended.stderr.splitlines()


@needs_node
def test_a_misspelled_field_of_a_report_to_build_is_named_with_its_other_faults(world: World):
    fields = {"doc_url": "x.md", "kind": "other", "summary": "", "agent": "x", "detail": "More"}

    outcome, absent, none = Sdk(DRIVERS["node"], world.environment).do(
        {"do": "build", "fields": fields},
        {"do": "build", "fields": {**fields, "summary": "x", "detail": None}},
        {"do": "build", "fields": []},
    )

    assert _faults(outcome) == [
        ("/detail", "Unknown field. Did you mean details?"),
        ("/report/summary", "Must not be empty."),
    ]
    assert _faults(absent) == [("/detail", "Unknown field. Did you mean details?")]
    assert ("/doc_url", "This field is required.") in _faults(none)
