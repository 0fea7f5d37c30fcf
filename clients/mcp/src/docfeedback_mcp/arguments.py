"""The tool's arguments, made into a report; whatever else a model sends along is refused."""

from collections.abc import Iterator
from typing import Any

from docfeedback import ValidationError
from docfeedback.report import PROTOCOL_VERSION
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError as Fault

from . import schemas

_VALIDATOR = Draft202012Validator(schemas.REPORT)
_SENTENCES = {  # where jsonschema's own would repeat the whole value
    "maxItems": "Give at most {} items.",
    "maxLength": "Give at most {} characters.",
    "minLength": "Give a text that is not empty.",
    "type": "Give a value of the type {}.",
}


def report(arguments: dict[str, Any] | None) -> dict[str, Any]:
    """The report's JSON, or ValidationError with every fault; null counts as absent."""
    body = {"protocol_version": PROTOCOL_VERSION, **_without_nulls(arguments or {})}
    faults = list(_faults(body))
    if faults:
        sentence = "That is not a report as this tool takes it, so nothing was sent."
        raise ValidationError("invalid_report", sentence, fields={"details": faults})
    return body


def _faults(body: dict[str, Any]) -> Iterator[dict[str, str]]:
    for fault in _VALIDATOR.iter_errors(body):
        path = "".join(f"/{step}" for step in fault.absolute_path)
        yield {"path": path, "message": _sentence(fault)}


def _sentence(fault: Fault) -> str:
    sentence = _SENTENCES.get(str(fault.validator))
    return sentence.format(fault.validator_value) if sentence else f"{fault.message}."


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
