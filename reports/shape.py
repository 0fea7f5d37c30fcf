"""The JSON body of a report: the open Docs Feedback Protocol, v0."""

import re
from datetime import datetime
from typing import Annotated, Literal

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
from pydantic_core import CoreSchema, core_schema

from core.json_body import Malformed, Text, read
from reports import canonical

RFC3339 = re.compile(  # with the hours, since Python 3.14 takes 24:00
    r"\d{4}-\d\d-\d\d[Tt ]([01]\d|2[0-3]):\d\d:\d\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)",
    re.ASCII,
)


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
    """The `report` of the body: kind, summary, details and so on."""

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


def key(text: str) -> str:
    """The idempotency key from a header. Raises `Malformed`."""
    try:
        return TypeAdapter(Key).validate_python(text)
    except ValidationError:
        raise Malformed.at(
            "header:Idempotency-Key", "Must be 1 to 128 printable ASCII characters without spaces."
        ) from None
