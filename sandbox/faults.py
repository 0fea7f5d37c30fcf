"""What can go wrong between the Hub and GitHub, by name.

`make("502", created=True)` is one fault; `Faults` keeps the armed ones and returns each as often as
it was asked to. `KINDS` lists the names. Most kinds take `created`: whether the code host does what
it was asked before things go wrong, so that the issue exists but the response is lost.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from .limits import Budget
from .messages import Request, Response, json_response

REPOSITORY = r"/api/v3/(repos/[^/]+/[^/]+|repositories/\d+)"
TARGETS = {
    "issues": re.compile(REPOSITORY + "/issues"),
    "comments": re.compile(REPOSITORY + r"/issues/\d+/comments"),
    "comment": re.compile(REPOSITORY + r"/issues/comments/\d+"),
    "token": re.compile(r"/api/v3/app/installations/\d+/access_tokens"),
}
SECONDARY_LIMIT = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
)
TOO_LONG = {
    "resource": "Issue",
    "code": "custom",
    "field": "body",
    "message": "body is too long (maximum is 65536 characters)",
}
TOO_QUICKLY = {
    "resource": "Issue",
    "code": "custom",
    "field": "base",
    "message": "was submitted too quickly",
}
ABUSE = "You have triggered an abuse detection mechanism. Please wait a few minutes before you try again."
UNICORN = "<!DOCTYPE html><html><head><title>Unicorn!</title></head><body>Unicorn!</body></html>"


class Wire(Enum):
    """How much of the response reaches the client, and how."""

    WHOLE = "all of it"
    NOTHING = "the connection is closed without a byte"
    HALF = "half of the body, then a proper close"
    HALF_THEN_RESET = "half of the body, then a reset (RST)"
    DRIP = "one byte at a time"


@dataclass(frozen=True)
class Fault:
    """One fault. Without a `status` the proper response is sent, `without` some of its fields.

    `body` is the JSON of the response, or a page. `delay` is in seconds, before the response; `pace` in
    seconds, between two bytes of a `DRIP`. `exhausted_for` (seconds) says that no request is left until
    then. A redirect without a `Location` goes to the repository's other path.
    """

    kind: str = "answer"
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] | str = ""
    created: bool = False
    delay: float = 0
    wire: Wire = Wire.WHOLE
    pace: float = 0
    without: tuple[str, ...] = ()
    exhausted_for: float | None = None

    @property
    def lets_through(self) -> bool:
        """Whether the code host does what it was asked."""
        return self.created or (self.status is None and self.wire is not Wire.NOTHING)

    def response(
        self, proper: Response | None, *, now: datetime, elsewhere: str
    ) -> Response | None:
        """What is sent instead of the proper response; None for nothing at all."""
        if self.wire is Wire.NOTHING:
            return None
        if self.status is None:
            return proper and self._stripped(proper)
        headers = dict(self.headers)
        if 300 <= self.status < 400:
            headers.setdefault("Location", elsewhere)
        if self.exhausted_for is not None:
            headers |= Budget(0, now + timedelta(seconds=self.exhausted_for)).headers
        if isinstance(self.body, str):
            page = {"Content-Type": "text/html; charset=utf-8", **headers}
            return Response(self.status, self.body.encode(), page)
        return json_response(self.body, status=self.status, headers=headers)

    def _stripped(self, proper: Response) -> Response:
        if not self.without:
            return proper
        kept = {k: v for k, v in json.loads(proper.body).items() if k not in self.without}
        return Response(proper.status, json.dumps(kept).encode(), proper.headers)


def _refuse(*, created: bool = False) -> Fault:
    return Fault(created=created, wire=Wire.NOTHING)


def _hang(*, seconds: float = 60, created: bool = False) -> Fault:
    """Send nothing for this long, then close the connection."""
    return Fault(created=created, delay=float(seconds), wire=Wire.NOTHING)


def _slow(*, seconds: float = 2) -> Fault:
    return Fault(created=True, delay=float(seconds))


def _drip(*, milliseconds: float = 100) -> Fault:
    return Fault(created=True, wire=Wire.DRIP, pace=float(milliseconds) / 1000)


def _spoiled(wire: Wire) -> Fault:
    return Fault(created=True, wire=wire)


def _no_number() -> Fault:
    """Also without its `url`, from which PyGithub would fetch the missing number."""
    return Fault(created=True, without=("number", "url"))


def _no_id() -> Fault:
    """What `_no_number` does, for a comment."""
    return Fault(created=True, without=("id", "url"))


def _status(status: int, message: str, *, created: bool = False) -> Fault:
    return Fault(status=status, body={"message": message}, created=created)


def _unprocessable(*, created: bool = False, error: dict[str, str] = TOO_LONG) -> Fault:
    body = {"message": "Validation Failed", "errors": [error]}
    return Fault(status=422, body=body, created=created)


def _unicorn(status: int, *, created: bool = False) -> Fault:
    """The page that GitHub's front end shows when its backend is down."""
    return Fault(status=status, body=UNICORN, created=created)


def _limited(status: int, *, value: object = 60) -> Fault:
    """`value` is the `Retry-After`: seconds, an HTTP date, or nonsense."""
    headers = {"Retry-After": str(value)}
    return Fault(status=status, headers=headers, body={"message": SECONDARY_LIMIT})


def _remaining_0(*, reset_in: float = 3600) -> Fault:
    message = "API rate limit exceeded for installation."
    return Fault(status=403, body={"message": message}, exhausted_for=reset_in)


def _moved(status: int, *, location: str = "", created: bool = False) -> Fault:
    headers = {"Location": location} if location else {}
    body = {"message": "Moved Permanently"}
    return Fault(status=status, headers=headers, body=body, created=created)


KINDS: dict[str, Callable[..., Fault]] = {
    "refuse": _refuse,
    "hang": _hang,
    "slow": _slow,
    "drip": _drip,
    "reset_mid_answer": partial(_spoiled, Wire.HALF_THEN_RESET),
    "truncated": partial(_spoiled, Wire.HALF),
    "no_number": _no_number,
    "no_id": _no_id,
    "401": partial(_status, 401, "Bad credentials"),
    "403_archived": partial(_status, 403, "Repository was archived so is read-only."),
    "403_retry_after": partial(_limited, 403),
    "403_abuse": partial(_status, 403, ABUSE),
    "403_locked": partial(_status, 403, "Unable to create comment because issue is locked."),
    "404": partial(_status, 404, "Not Found"),
    "410": partial(_status, 410, "Issues are disabled for this repo"),
    "422": _unprocessable,
    "422_too_quickly": partial(_unprocessable, error=TOO_QUICKLY),
    "429": partial(_limited, 429),
    "remaining_0": _remaining_0,
    "500": partial(_status, 500, "Server Error"),
    "502": partial(_unicorn, 502),
    "502_after_creating": partial(_unicorn, 502, created=True),
    "503": partial(_unicorn, 503),
    "answer": Fault,
    "301": partial(_moved, 301),
    "307": partial(_moved, 307),
    "308": partial(_moved, 308),
}


def make(kind: str, **details: Any) -> Fault:
    """A fault by its name; raises ValueError for a wrong name or wrong details."""
    if kind not in KINDS:
        raise ValueError(f"There is no fault {kind!r}; there are {', '.join(KINDS)}.")
    try:
        fault = KINDS[kind](**details)
    except TypeError as error:
        raise ValueError(f"The fault {kind!r} does not take that: {error}.") from None
    return replace(fault, kind=kind)


@dataclass
class Armed:
    """A fault, the requests that it applies to, and how often it still will."""

    fault: Fault
    method: str
    path: str
    left: int

    def strikes(self, request: Request) -> bool:
        """Whether it applies to this request."""
        if self.method not in ("*", request.method):
            return False
        if target := TARGETS.get(self.path):
            return target.fullmatch(request.path) is not None
        return fnmatchcase(request.path, self.path)


class Faults:
    """The faults that are armed."""

    def __init__(self) -> None:
        self._armed: list[Armed] = []

    def arm(self, fault: Fault, *, method: str, path: str, times: int) -> None:
        """Arm a fault; raises ValueError for a wrong path or number of times."""
        if path not in TARGETS and not path.startswith("/"):
            raise ValueError(
                f"{path!r} is none of {', '.join(TARGETS)}, and no pattern such as /api/*."
            )
        if not isinstance(times, int) or times < 1:
            raise ValueError(f"A fault must be armed for at least one request, not {times!r}.")
        self._armed.append(Armed(fault, method.upper(), path, times))

    def take(self, request: Request) -> Fault | None:
        """The fault for this request, the first one armed first; it is used up by it."""
        for armed in self._armed:
            if armed.left > 0 and armed.strikes(request):
                armed.left -= 1
                return armed.fault
        return None

    def clear(self, kind: str | None = None) -> None:
        """Disarm all faults, or those of one kind."""
        self._armed = [each for each in self._armed if kind not in (None, each.fault.kind)]

    def waiting(self) -> list[dict[str, Any]]:
        """The armed faults, as JSON."""
        return [
            {"kind": each.fault.kind, "method": each.method, "path": each.path, "times": each.left}
            for each in self._armed
            if each.left > 0
        ]
