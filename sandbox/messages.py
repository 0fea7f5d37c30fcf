"""Requests and responses, as the routes see them: no sockets here."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.message import Message
from email.utils import format_datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, parse_qsl

DOCUMENTATION = "https://docs.github.com/rest"


@dataclass(frozen=True)
class Request:
    """`path` is as sent, still encoded; `headers` ignores the case of names."""

    method: str
    path: str
    query: str
    headers: Message
    body: bytes

    @property
    def params(self) -> dict[str, str]:
        """The parameters of the query string."""
        return dict(parse_qsl(self.query, keep_blank_values=True))

    @property
    def form(self) -> dict[str, list[str]]:
        """The fields of a form, each with all its values."""
        return parse_qs(self.body.decode("utf-8", "replace"), keep_blank_values=True)

    @property
    def fields(self) -> dict[str, str]:
        """The body as simple fields, from a form or from JSON."""
        if "json" in self.headers.get("Content-Type", ""):
            return {name: str(value) for name, value in self.json_object().items()}
        return {name: values[-1] for name, values in self.form.items()}

    def json_object(self) -> dict[str, Any]:
        """The body as a JSON object, `{}` if it is empty; else GitHub's error."""
        if not self.body.strip():
            return {}
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError):
            raise ApiError(400, "Problems parsing JSON") from None
        if not isinstance(value, dict):
            raise ApiError(422, "Invalid request.\n\nThe body is not an object.")
        return value


@dataclass(frozen=True)
class Response:
    """A response: status, body and headers."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)

    def encoded(self, at: datetime) -> tuple[bytes, bytes]:
        """The head and the body as bytes; `at` (UTC) becomes the `Date`."""
        lines = [f"HTTP/1.1 {self.status} {reason(self.status)}"]
        headers = {"Server": "sandbox", "Date": format_datetime(at, usegmt=True), **self.headers}
        if self.status != HTTPStatus.NO_CONTENT:
            headers["Content-Length"] = str(len(self.body))
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace"), self.body


class ApiError(Exception):
    """An error response of GitHub's API. `more` goes into the JSON (`errors`, `url`)."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})
        self.more = more

    def response(self) -> Response:
        """The response in GitHub's format."""
        body = {
            "message": self.message,
            **self.more,
            "documentation_url": DOCUMENTATION,
            "status": str(self.status),
        }
        return json_response(body, status=self.status, headers=self.headers)


def not_found() -> ApiError:
    """The error for what does not exist, or the caller may not see."""
    return ApiError(404, "Not Found")


def json_response(
    value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A response with JSON."""
    body = json.dumps(value).encode()
    return Response(
        status, body, {"Content-Type": "application/json; charset=utf-8", **(headers or {})}
    )


def redirect(location: str, *, headers: Mapping[str, str] | None = None) -> Response:
    """A redirect to a URL."""
    return Response(302, b"", {"Location": location, **(headers or {})})


def reason(status: int) -> str:
    """The reason phrase of a status."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def timestamp(at: datetime | None) -> str | None:
    """A time in GitHub's format: `2026-01-31T12:00:00Z`."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ") if at else None
