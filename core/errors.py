"""The base class of all API errors; `core.error_answers` turns them into JSON."""

from typing import Any

from rest_framework.exceptions import APIException


class ApiError(APIException):
    """An error of the HTTP API: a code for programs, a sentence for people, and extra fields.

    Subclasses set `status_code`, `default_code` and `default_detail`. `extra` is merged into the
    JSON body, and `headers` into the response headers.
    """

    def __init__(
        self, message: str | None = None, *, headers: dict[str, str] | None = None, **extra: Any
    ) -> None:
        super().__init__(message)
        self.headers = headers or {}
        self.extra = extra
