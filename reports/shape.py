"""The JSON body of a report: the open Docs Feedback Protocol, v0."""

import json
import re
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetPydanticSchema,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import CoreSchema, ErrorDetails, core_schema

from reports import canonical

MAX_FAULTS = 100  # an answer must not grow with a hostile body
NOT_UNICODE = "Must not contain half a surrogate pair."
RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)

M = TypeVar("M", bound=BaseModel)


class Malformed(Exception):
    """The body is not a report. `faults`: `[{"path": <JSON Pointer or header:Name>, "message": …}]`."""

    def __init__(self, faults: list[dict[str, str]]):
        super().__init__("; ".join(fault["message"] for fault in faults))
        self.faults = faults

    @classmethod
    def at(cls, path: str, message: str) -> "Malformed":
        """One fault at `path`."""
        return cls([{"path": path, "message": message}])


def _storable(text: str) -> str:
    """NUL and lone surrogates are valid JSON, but not every database can store them."""
    if "\0" in text:
        raise ValueError("Must not contain the character NUL (U+0000).")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(NOT_UNICODE) from None
    return text


def _printable(text: str) -> str:
    if not text.isprintable() or not text.strip():
        raise ValueError("Must be a name in printable characters.")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("Must say in one line what is wrong; it is blank.")
    return text


def _rfc3339(text: str) -> str:
    try:
        if RFC3339.fullmatch(text) and datetime.fromisoformat(text.upper().replace(" ", "T")):
            return text
    except ValueError:
        pass  # the error below says it
    raise ValueError("Must be an RFC 3339 time, such as 2026-01-31T12:34:56Z.")


Text = Annotated[str, AfterValidator(_storable)]
Printable = Annotated[Text, AfterValidator(_printable)]
NotBlank = Annotated[Text, AfterValidator(_not_blank)]
AddressText = Annotated[Text, Field(max_length=2048)]
Time = Annotated[Text, AfterValidator(_rfc3339)]
Key = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[\x21-\x7e]+$")]
Capability = Annotated[str, Field(max_length=64, pattern=r"^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$")]


def _page_schema(_source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
    """The schema of a page's address: a text, which becomes a `canonical.Address`."""
    text = handler.generate_schema(AddressText)
    return core_schema.no_info_after_validator_function(canonical.address, text)


PageAddress = Annotated[canonical.Address, GetPydanticSchema(_page_schema)]


class _Object(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Agent(_Object):
    """Who reports: the name of a program or a person."""

    name: Printable = Field(min_length=1, max_length=120)
    version: Text | None = Field(None, max_length=64)
    vendor: Text | None = Field(None, max_length=128)


class Evidence(_Object):
    """One piece of evidence, such as an error message."""

    kind: Literal[
        "error_message", "attempted_action", "expected", "observed", "code_snippet", "quote"
    ]
    text: Text = Field(min_length=1, max_length=4000)


class Substance(_Object):
    """What the report says."""

    kind: Literal["broken", "incorrect", "outdated", "missing", "unclear", "other"]
    summary: NotBlank = Field(min_length=1, max_length=500)
    details: Text | None = Field(None, max_length=8000)
    evidence: list[Evidence] | None = Field(None, max_length=20)
    suggested_fix: Text | None = Field(None, max_length=4000)


class TaskContext(_Object):
    """What the reporter was doing."""

    task_summary: Text | None = Field(None, max_length=500)
    transcript_excerpt: Text | None = Field(None, max_length=4000)


class ReportBody(_Object):
    """A report as sent. `null` in an optional field counts as absent."""

    comment: Text | None = Field(None, alias="$comment", max_length=256)
    protocol_version: Literal["0"]
    doc_url: PageAddress
    agent: Agent
    report: Substance
    task_context: TaskContext | None = None
    idempotency_key: Key | None = None
    submitted_at: Time | None = Field(None, max_length=64)
    locale: str | None = Field(None, max_length=35, pattern=r"^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$")
    client_capabilities: list[Capability] | None = Field(None, max_length=32)


def parse(body: bytes) -> ReportBody:
    """The report in `body`. Raises `Malformed` with all its faults at once."""
    return read(ReportBody, body)


def read(model: type[M], body: bytes) -> M:
    """The object of this model in the JSON `body`. Raises `Malformed` with all its faults at once."""
    try:
        return model.model_validate(_json(body))
    except ValidationError as error:
        faults = [_fault(item) for item in error.errors(include_url=False, include_input=False)]
        raise Malformed(faults[:MAX_FAULTS]) from None


def key(text: str) -> str:
    """The idempotency key from a header. Raises `Malformed`."""
    try:
        return TypeAdapter(Key).validate_python(text)
    except ValidationError:
        raise Malformed.at(
            "header:Idempotency-Key", "Must be 1 to 128 printable ASCII characters without spaces."
        ) from None


def _json(body: bytes) -> Any:
    """Parse JSON strictly (RFC 8259): UTF-8, no duplicate keys, no NaN or Infinity, not too deep."""
    try:
        return json.loads(
            body.decode("utf-8-sig"), object_pairs_hook=_object, parse_constant=_no_constant
        )
    except RecursionError:
        raise Malformed.at("", "The body is nested too deeply.") from None
    except UnicodeDecodeError:
        raise Malformed.at("", "The body is not valid UTF-8.") from None
    except ValueError as error:
        raise Malformed.at("", f"The body is not valid JSON: {error}.") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError("an object has the same key twice")
    return result


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


def _fault(error: ErrorDetails) -> dict[str, str]:
    return {"path": _pointer(error["loc"]), "message": _message(error)}


def _pointer(location: tuple[int | str, ...]) -> str:
    """A JSON Pointer (RFC 6901)."""
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in location)
    return "".join(f"/{step}" for step in steps)


def _message(error: ErrorDetails) -> str:
    context = error.get("ctx", {})
    match error["type"]:
        case "missing":
            return "This field is required."
        case "extra_forbidden":
            return "Unknown field."
        case "literal_error":
            return f"Must be one of {context['expected']}."
        case "string_too_short":
            return "Must not be empty."
        case "string_too_long":
            return f"Must be at most {context['max_length']} characters."
        case "too_long":
            return f"Must have at most {context['max_length']} items."
        case "string_unicode":
            return NOT_UNICODE
        case "string_pattern_mismatch":
            return f"Must match {context['pattern']}."
        case "string_type":
            return "Must be a string."
        case "list_type":
            return "Must be an array."
        case "model_type":
            return "Must be an object."
        case "value_error":
            return str(context["error"])
    return f"{error['msg']}."
