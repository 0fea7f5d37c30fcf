"""The words of a Hub that a model may read unmarked: codes, kinds of secrets, and places in a report."""

import re

from docfeedback.contract import table

from . import schemas

CODES = {  # what a Hub may answer to a report, and what the client says of an answer
    "bad_request",
    "headers_too_large",
    "insufficient_scope",
    "internal_error",
    "length_required",
    "method_not_allowed",
    "not_a_hub",
    "not_found",
    "opted_out",
    "payload_too_large",
    "rate_limited",
    "redirected",
    "request_timeout",
    "too_early",
    "unauthorized",
    "unavailable",
    "unsupported_media_type",
    "validation_error",
}
HEADERS = {
    f"header:{name}"
    for name in ("Content-Type", "Idempotency-Key", "X-Docs-Feedback-Protocol-Version")
}
INDEX = re.compile(r"[0-9]{1,2}")


def is_kind(word: str) -> bool:
    """Whether it is a kind of secret that the clients know, too."""
    return any(word == entry["kind"] for entry in table("secrets.json")["kinds"])


def is_place(pointer: str) -> bool:
    """Whether it names a part that a report can have (a JSON Pointer), or a header."""
    root, *steps = pointer.split("/")
    if root:
        return pointer in HEADERS
    part: schemas.Schema | None = schemas.REPORT
    for step in steps:
        if part and "items" in part:
            part = part["items"] if INDEX.fullmatch(step) else None
        else:
            part = (part or {}).get("properties", {}).get(step)
    return part is not None
