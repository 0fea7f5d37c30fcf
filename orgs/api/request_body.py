"""Request bodies of the maintainers' API."""

from pydantic import BaseModel, ConfigDict
from rest_framework.request import Request

from core import json_body
from core.errors import ApiError
from core.json_body import M


class InvalidRequest(ApiError):
    """400: the body or a parameter is not valid."""

    status_code = 400
    default_code = "validation_error"
    default_detail = "Invalid request; see `details`. Nothing was saved."


class StrictBody(BaseModel):
    """The base class of request bodies in the maintainers' API; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class OptOutBody(StrictBody):
    """Whether a claim opts out of reports."""

    opted_out: bool


def read(model: type[M], request: Request) -> M:
    """The body of a call of the maintainers' API. Raises `InvalidRequest`."""
    try:
        return json_body.read(model, json_body.raw(request))
    except json_body.Malformed as error:
        raise InvalidRequest(details=error.faults) from None
