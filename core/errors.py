"""The one way to answer an API call with an error; `core.error_answers` turns it into JSON."""

from rest_framework.exceptions import APIException


class ApiError(APIException):
    """An error of the HTTP interface: a code for programs, a sentence for people, and what else helps.

    Subclasses set `status_code`, `default_code` and `default_detail`. `extra` is merged into the
    JSON body; `headers` into the response.
    """

    def __init__(
        self, message: str | None = None, *, headers: dict[str, str] | None = None, **extra
    ):
        super().__init__(message)
        self.headers = headers or {}
        self.extra = extra
