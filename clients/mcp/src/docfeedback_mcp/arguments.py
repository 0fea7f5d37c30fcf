"""The tool's arguments, turned into a report; unknown fields are refused.

The messages name what is allowed, never the value that was given: that may be a secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from docfeedback import ValidationError
from docfeedback.report import PROTOCOL_VERSION

from . import schemas

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError as Fault

MOST_FAULTS = 20
_SENTENCES = {
    "enum": "Must be one of: {}.",
    "maxItems": "Must have at most {} items.",
    "maxLength": "Must be at most {} characters.",
    "minLength": "Must be a string that is not empty.",
    "required": "Missing fields: {}.",
    "additionalProperties": "Unknown fields; allowed are: {}.",
    "type": "Must be of type {}.",
}


def report(arguments: dict[str, Any] | None, agent_name: str) -> dict[str, Any]:
    """The report's JSON; raises ValidationError with its faults. null counts as absent."""
    given = _with_agent(_without_nulls(arguments or {}), agent_name)
    body = {"protocol_version": PROTOCOL_VERSION, **given}
    faults = list(islice(_faults(body), MOST_FAULTS))
    if faults:
        sentence = "Invalid report, so nothing was sent."
        raise ValidationError("invalid_report", sentence, fields={"details": faults})
    return body


def _with_agent(given: dict[str, Any], name: str) -> dict[str, Any]:
    """With this name where the agent has none."""
    agent = given.get("agent", {})
    if not isinstance(agent, dict) or "name" in agent:
        return given
    return {**given, "agent": {"name": name, **agent}}


def _faults(body: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Each once: every missing field is a fault of its own to jsonschema."""
    last = None
    for fault in _validator().iter_errors(body):
        path = "".join(f"/{step}" for step in fault.absolute_path)
        found = {"path": path, "message": _sentence(fault)}
        if found != last:
            yield found
        last = found


@cache
def _validator() -> Draft202012Validator:
    """Loaded with the first call, since most servers that are started are never called."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schemas.REPORT)


def _sentence(fault: Fault) -> str:
    return _SENTENCES[str(fault.validator)].format(_allowed(fault))


def _allowed(fault: Fault) -> Any:
    if fault.validator == "required":
        return ", ".join(name for name in fault.validator_value if name not in fault.instance)
    if fault.validator == "additionalProperties":
        return ", ".join(fault.schema["properties"])
    if fault.validator == "enum":
        return ", ".join(fault.validator_value)
    return fault.validator_value


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
