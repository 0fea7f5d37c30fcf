"""The document in the repository: as the code and the reference are, and complete."""

import json

import pytest
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator

from hub.docs import for_agents
from hub.docs.library import HUB
from tests.docs import tables
from tests.openapi.calls import CALLS, LEFT_OUT
from tests.openapi.files import FILES
from tests.openapi.reference import MAINTAINERS, REPORTS
from tests.openapi.strict import schema_of, strict

DOCUMENT = json.loads(for_agents.OPENAPI.read_text(encoding="utf-8"))
OPERATIONS = {
    operation["operationId"]: operation
    for path in DOCUMENT["paths"].values()
    for operation in path.values()
}
LARGEST = 250_000  # bytes


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_is_as_the_code_and_the_reference_are(path):
    assert path.read_text(encoding="utf-8") == FILES[path](), "Run script/openapi."


def test_it_is_an_openapi_3_1_document():
    assert DOCUMENT["openapi"].startswith("3.1.")
    validate_schema(DOCUMENT)
    assert len(for_agents.OPENAPI.read_bytes()) < LARGEST


def test_every_call_of_the_reference_is_described_or_left_out_for_a_reason():
    known = {
        tables.codes(row[0])[0]
        for page in (REPORTS, MAINTAINERS)
        for row in tables.rows(page, "call")
    }

    assert set(CALLS) | set(LEFT_OUT) == known
    assert set(OPERATIONS) == {call.name for call in CALLS.values()}


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_call_is_described_completely(name):
    operation = OPERATIONS[name]
    contents = [_content(answer) for answer in operation["responses"].values()]
    contents.append(operation.get("requestBody", {}))

    assert operation["summary"]
    assert operation["description"]
    assert all(each["description"] for each in operation.get("parameters", []))
    for each in contents:
        assert "content" not in each or each["content"]["application/json"]["examples"]
    waiting = _content(operation["responses"].get("429", operation["responses"]["503"]))
    assert "Retry-After" in waiting["headers"]


def test_calls_for_everybody_say_that_they_need_no_token():
    open_to_all = {name for name, each in OPERATIONS.items() if each["security"] == []}

    assert open_to_all == {"sendReport", "getReceipt", "getKnownProblems"}


def test_programs_find_every_code_of_an_error():
    listed = DOCUMENT["components"]["schemas"]["Error"]["properties"]["error"]["examples"]
    answered = {code for name in OPERATIONS for code in _codes(OPERATIONS[name])}

    assert set(listed) == answered


def test_the_description_of_a_call_leads_where_it_points():
    said = OPERATIONS["sendReport"]["description"]

    assert f"see [Duplicates]({HUB}/v0/reference/reports-api/#duplicates)" in said


@pytest.mark.parametrize("name", DOCUMENT["components"]["schemas"])
def test_every_field_says_what_it_means(name):
    fields = DOCUMENT["components"]["schemas"][name]["properties"]

    assert [field for field, each in fields.items() if not each.get("description")] == []


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_example_is_what_its_schema_says(name):
    document = strict(DOCUMENT)
    operation = OPERATIONS[name]
    bodies = [*map(_content, operation["responses"].values()), operation.get("requestBody", {})]

    wrong = []
    for each in bodies:
        content = each.get("content", {}).get("application/json", {})
        for example in content.get("examples", {}).values():
            validator = Draft202012Validator(schema_of(document, content["schema"]))
            wrong += [error.message for error in validator.iter_errors(example["value"])]
    assert wrong == []


def test_its_schemas_tell_what_is_not_described():
    """As the two tests above rely on it."""
    receipt = OPERATIONS["getReceipt"]["responses"]["200"]["content"]["application/json"]
    example = receipt["examples"]["Example"]["value"]
    validator = Draft202012Validator(schema_of(strict(DOCUMENT), receipt["schema"]))

    assert not validator.is_valid({**example, "status": "lost"})
    assert not validator.is_valid({**example, "more": 1})


def _codes(operation):
    for status, answer in operation["responses"].items():
        if status >= "400":
            schema = _content(answer)["content"]["application/json"]["schema"]
            yield from schema["allOf"][1]["properties"]["error"]["enum"]


def _content(answer):
    """An answer of a call, also one that several calls share."""
    if "$ref" in answer:
        return DOCUMENT["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    return answer
