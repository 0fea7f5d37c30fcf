"""The errors, as one tree:

DocFeedbackError
├── ValidationError     the report is not valid (`details`), or an argument is wrong
├── PrivateAddress      the page is not a public https page; nothing was sent
├── PolicyRejected      the report seems to contain a secret (`details`), or a policy refuses it
├── OptedOut            the owner of the page does not want reports (`since`)
├── AuthError           no token, a wrong one, or one without the right scope
├── NotFound            there is no report with this id
├── PayloadTooLarge     over `max_bytes`
├── RateLimited         too many; try again in `retry_after` seconds
├── ServerError         the Hub failed, or the server is not a Hub
└── Unreachable         no response: refused, lost, or not in time
"""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Type

from .contract import message
from .document import objects, text, whole
from .visible import quoted

__all__ = [
    "AuthError",
    "DocFeedbackError",
    "NotFound",
    "OptedOut",
    "PayloadTooLarge",
    "PolicyRejected",
    "PrivateAddress",
    "RateLimited",
    "ServerError",
    "Unreachable",
    "ValidationError",
]
CODE = re.compile(r"[a-z0-9_]{1,64}")
REQUEST_ID = re.compile(r"[\x21-\x7e]{1,128}")


class DocFeedbackError(Exception):
    """The base class. `code` is for programs, `str(error)` is the message for people: one line, which
    quotes what a Hub says.

    `status` is the HTTP status if the Hub answered, else None. `fields` is what else is known, by the
    names that the Hub uses. Errors can be copied and pickled.
    """

    def __init__(
        self,
        code: str,
        sentence: str,
        *,
        status: Optional[int] = None,
        fields: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(sentence)
        self.code = code
        self.status = status
        self.fields: Dict[str, Any] = dict(fields or {})

    def __reduce__(self) -> Tuple[Any, ...]:
        return _again, (type(self), self.code, str(self), self.status, self.fields)

    @classmethod
    def of(cls, code: str, **values: object) -> DocFeedbackError:
        """This error with the message that `messages.json` has for `code`."""
        return cls(code, message(code, **values))

    @property
    def details(self) -> List[Dict[str, Any]]:
        """The faults: `[{"path": <JSON Pointer or header:Name>, "message": …}]`, may be empty."""
        faults: List[Dict[str, Any]] = self.fields.get("details", [])
        return faults

    @property
    def request_id(self) -> Optional[str]:
        """By which the operator of the Hub finds the request in the log, if the Hub said so."""
        return self.fields.get("request_id")

    @property
    def nothing_was_sent(self) -> bool:
        """Whether the input or a safety check stopped the report before it was sent."""
        return self.status is None and not isinstance(self, (Unreachable, ServerError))


class ValidationError(DocFeedbackError):
    """The report is not valid (`details`), or an argument is wrong."""


class PrivateAddress(DocFeedbackError):
    """The page is not a public https page; nothing was sent."""


class PolicyRejected(DocFeedbackError):
    """The report seems to contain a secret (`details`), or a policy refuses it."""


class OptedOut(DocFeedbackError):
    """The owner of the page does not want reports."""

    @property
    def since(self) -> Optional[str]:
        """Since when, as RFC 3339, if known."""
        return self.fields.get("since")


class AuthError(DocFeedbackError):
    """There is no token, or it is wrong or lacks the scope."""


class NotFound(DocFeedbackError):
    """There is no report with this id."""


class PayloadTooLarge(DocFeedbackError):
    """The report is too large."""

    @property
    def max_bytes(self) -> Optional[int]:
        """How many bytes the Hub accepts, if known."""
        return self.fields.get("max_bytes")


class RateLimited(DocFeedbackError):
    """Too many reports; try again in `retry_after` seconds."""

    @property
    def retry_after(self) -> Optional[int]:
        """Seconds to wait, if the Hub said so."""
        return self.fields.get("retry_after")


class ServerError(DocFeedbackError):
    """The Hub failed, or the server is not a Hub."""


class Unreachable(DocFeedbackError):
    """No response: refused, lost, or not in time."""


def _again(
    kind: Type[DocFeedbackError],
    code: str,
    sentence: str,
    status: Optional[int],
    fields: Mapping[str, Any],
) -> DocFeedbackError:
    return kind(code, sentence, status=status, fields=fields)


def _request_id(value: Any) -> Optional[str]:
    return value if isinstance(value, str) and REQUEST_ID.fullmatch(value) else None


_BY_STATUS: Dict[int, Type[DocFeedbackError]] = {
    400: ValidationError,
    401: AuthError,
    403: AuthError,
    404: NotFound,
    410: OptedOut,
    413: PayloadTooLarge,
    422: PolicyRejected,
    429: RateLimited,
}


_READ: Dict[str, Callable[[Any], Any]] = {
    "details": lambda faults: objects(faults, "path", "message"),
    "since": text,
    "retry_after": whole,
    "max_bytes": whole,
    "request_id": _request_id,
}


def from_answer(
    status: int,
    body: Any,
    *,
    retry_after: Optional[int] = None,
    request_id: Optional[str] = None,
) -> DocFeedbackError:
    """The error for a response of 400 and above; `body` is its parsed JSON, or None."""
    fields = dict(body) if isinstance(body, dict) else {}
    if _request_id(request_id):
        fields["request_id"] = request_id
    code = fields.pop("error", None)
    sentence = fields.pop("message", None)
    for name in _READ.keys() & fields.keys():
        fields[name] = _READ[name](fields[name])
        if fields[name] is None:
            del fields[name]
    if retry_after is not None:
        fields["retry_after"] = retry_after
    kind = _BY_STATUS.get(status, ServerError if status >= 500 else DocFeedbackError)
    return kind(
        code if isinstance(code, str) and CODE.fullmatch(code) else f"http_{status}",
        by_hub(sentence) if isinstance(sentence, str) else message("answered", status=status),
        status=status,
        fields=fields,
    )


def by_hub(sentence: str) -> str:
    """The words of a Hub, which may say anything, as a message: an error that nobody catches is shown as it is."""
    return message("hub_says", text=quoted(sentence))
