"""The errors of the API as responses: their codes and statuses, when they come, an example of each."""

from collections import defaultdict
from functools import cache
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse

from core import json_body, rates
from core.error_answers import body_of
from core.errors import ApiError
from hub.server import bodies, door
from tests.openapi import examples, reference
from tests.openapi.calls import CALLS
from tests.openapi.reference import errors
from tests.rooms import TOPS

WITH_VALUES = (
    bodies.TooSlow(),
    door.HeadersTooLarge(f"The header user-agent is over {door.LONGEST} bytes."),
    json_body.PayloadTooLarge(max_bytes=json_body.MAX_BYTES),
    rates.RateLimited(30),
)


def responses(call: str) -> dict[int, OpenApiResponse]:
    """What a call answers to what it refuses, by status."""
    by_status = defaultdict(list)
    for code in sorted(reference.codes(call)):
        by_status[errors()[code][0]].append(code)
    return {status: _response(call, codes) for status, codes in sorted(by_status.items())}


def _response(call: str, codes: list[str]) -> OpenApiResponse:
    schema = {
        "allOf": [
            {"$ref": "#/components/schemas/Error"},
            {"properties": {"error": {"enum": codes}}},
        ]
    }
    said = [f"- `{code}`: {errors()[code][1]} What to do: {errors()[code][2]}" for code in codes]
    shown = [OpenApiExample(code, example(call, code)) for code in codes]
    return OpenApiResponse(schema, "\n".join(said), shown)


def example(call: str, code: str) -> dict[str, Any]:
    """What this call has answered with this code; where it has not, what any call would."""
    known = examples.of(CALLS[call].name).get("errors", {})
    return known[code] if code in known else _plain()[code]


@cache
def _plain() -> dict[str, dict[str, Any]]:
    """The bodies of errors that say the same each time, by their codes."""
    kinds = sorted(_below(ApiError), key=lambda kind: (kind.__module__, kind.__name__))
    plain = {
        kind.default_code: {"error": kind.default_code, "message": kind.default_detail}
        for kind in reversed(kinds)  # those of `core` count most
        if kind.default_detail is not ApiError.default_detail
    }
    return plain | {str(each.get_codes()): body_of(each) for each in WITH_VALUES}


def _below(kind: type[ApiError]) -> set[type[ApiError]]:
    """The kinds of errors of the product; tests have some of their own."""
    found = {each for child in kind.__subclasses__() for each in (child, *_below(child))}
    return {each for each in found if each.__module__.partition(".")[0] in TOPS}
