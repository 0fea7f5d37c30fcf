"""JSON request bodies: bounded, strict, and with all their faults named at once."""

import json
import sys
from typing import Annotated, Any, TypeVar

from django.http import HttpRequest, UnreadablePostError
from django.utils.http import parse_header_parameters
from pydantic import AfterValidator, BaseModel, ValidationError
from pydantic_core import ErrorDetails
from rest_framework.request import Request

from core.errors import ApiError

MAX_BYTES = 64 * 1024
MAX_DIGITS = 1000  # of a whole number: to convert more takes quadratic time
MAX_FAULTS = 100  # an answer must not grow with a hostile body
NOT_UNICODE = "Must not contain half a surrogate pair."

M = TypeVar("M", bound=BaseModel)


class LengthRequired(ApiError):
    """411: the body has no length."""

    status_code = 411
    default_code = "length_required"
    default_detail = "Send a Content-Length header; chunked bodies are not accepted."


class PayloadTooLarge(ApiError):
    """413: the body is too large."""

    status_code = 413
    default_code = "payload_too_large"
    default_detail = f"The body is over {MAX_BYTES} bytes. Shorten it."


class UnsupportedMediaType(ApiError):
    """415: the body is not JSON in UTF-8."""

    status_code = 415
    default_code = "unsupported_media_type"
    default_detail = "Send application/json in UTF-8, without a Content-Encoding."


class IncompleteBody(ApiError):
    """400: the body ended before its length."""

    status_code = 400
    default_code = "validation_error"
    default_detail = "The body is incomplete."


class Malformed(Exception):
    """The body is not what it should be. `faults`: `[{"path": <JSON Pointer or header:Name>, "message": …}]`."""

    def __init__(self, faults: list[dict[str, str]]):
        super().__init__("; ".join(fault["message"] for fault in faults))
        self.faults = faults

    @classmethod
    def at(cls, path: str, message: str) -> "Malformed":
        """One fault at `path`."""
        return cls([{"path": path, "message": message}])


def announced(request: Request | HttpRequest) -> int | None:
    """The length of the body that its header announces; None if that is no number."""
    length = request.META.get("CONTENT_LENGTH", "")
    if not length.isdecimal():
        return None
    return int(length) if len(length) < 19 else sys.maxsize  # Python reads no number of any length


def raw(request: Request | HttpRequest) -> bytes:
    """The bytes of the body, read only after its length and type have been checked."""
    kind, parameters = parse_header_parameters(request.META.get("CONTENT_TYPE", ""))
    if kind != "application/json" or parameters.get("charset", "utf-8").lower() != "utf-8":
        raise UnsupportedMediaType
    if "HTTP_CONTENT_ENCODING" in request.META:
        raise UnsupportedMediaType
    length = announced(request)
    if length is None:
        raise LengthRequired
    if length > MAX_BYTES:
        raise PayloadTooLarge(max_bytes=MAX_BYTES)
    try:
        return request.body
    except UnreadablePostError:
        raise IncompleteBody(details=[]) from None


def read(model: type[M], body: bytes) -> M:
    """The object of this model in the JSON `body`. Raises `Malformed` with all its faults at once."""
    try:
        return model.model_validate(_json(body))
    except ValidationError as error:
        faults = [_fault(item) for item in error.errors(include_url=False, include_input=False)]
        raise Malformed(faults[:MAX_FAULTS]) from None


def _storable(text: str) -> str:
    """NUL and lone surrogates are valid JSON, but not every database can store them."""
    if "\0" in text:
        raise ValueError("Must not contain the character NUL (U+0000).")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(NOT_UNICODE) from None
    return text


Text = Annotated[str, AfterValidator(_storable)]


def _json(body: bytes) -> Any:
    """Parse JSON strictly (RFC 8259): UTF-8, no duplicate keys, no NaN or Infinity, not too deep."""
    try:
        return json.loads(
            body.decode("utf-8-sig"),
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_constant=_no_constant,
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


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number has over {MAX_DIGITS} digits")
    return int(digits)


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
            if context["field_type"] == "List":
                return f"Must have at most {context['max_length']} items."
            return f"Must be at most {context['max_length']} characters."
        case "string_unicode":
            return NOT_UNICODE
        case "string_pattern_mismatch":
            return f"Must match {context['pattern']}."
        case "string_type":
            return "Must be a string."
        case "bool_type":
            return "Must be true or false."
        case "list_type":
            return "Must be an array."
        case "model_type" | "dict_type":
            return "Must be an object."
        case "value_error":
            return str(context["error"])
    return f"{error['msg']}."
