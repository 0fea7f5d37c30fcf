"""The request that this thread answers: what its lines in the log, and its errors, say about it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from random import getrandbits

from django.urls import Resolver404, resolve

HEADER = "X-Request-Id"
PLAIN = re.compile(r"[A-Za-z0-9-]{1,64}")  # the id of a trusted proxy
BITS = 64  # of an id that the Hub makes
# What a request may have changed, each under a limit of its own: a report, or what members, operators or GitHub change.
REPORTS = "reports"
SETTINGS = "settings"


class Asked:
    """What is known of a request. Nothing of it is secret, and none of it is text that its sender wrote."""

    __slots__ = ("changed", "id", "organization", "outcome", "report", "route")

    def __init__(self, request_id: str = "") -> None:
        self.id = request_id or _new_id()
        self.route = ""
        self.organization = ""
        self.report = ""
        self.outcome = ""
        self.changed = ""  # not written, but decides how many lines there may be of its kind


def _new_id() -> str:
    """Only to tell requests apart: it need not be hard to guess."""
    return f"{getrandbits(BITS):0{BITS // 4}x}"


_current: ContextVar[Asked | None] = ContextVar("asked", default=None)


@contextmanager
def answering(asked: Asked) -> Iterator[None]:
    """Until the block ends, this thread answers this request."""
    token = _current.set(asked)
    try:
        yield
    finally:
        _current.reset(token)


def request_id() -> str:
    """The id of the request that this thread answers; empty if it answers none."""
    asked = _current.get()
    return asked.id if asked else ""


def asked() -> Asked | None:
    """The request that this thread answers."""
    return _current.get()


def place(path: str) -> str:
    """Where a request went, as a log may say it: the path of its route, without what stands in it.

    An address can be a secret, such as the one-time address of `setup_github`.
    """
    try:
        return f"/{resolve(path).route}"
    except Resolver404:
        return "an unknown address"


def note(**facts: str) -> None:
    """Note what became known of the request: its `route`, `organization`, `report`, `outcome` or what `changed`."""
    if asked := _current.get():
        for name, value in facts.items():
            setattr(asked, name, value)
