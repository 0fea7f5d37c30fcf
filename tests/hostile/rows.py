"""The hostile table: every request that has something wrong about it."""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from tests.hostile import contents, heads
from tests.hostile.doors import FORM, JSON, Door, Who, credentials
from tests.hostile.heads import Written
from tests.hostile.letter import Letter
from tests.hostile.tenants import CSRF, Tenant
from tests.hostile.wire import End

CUT = {"half a body": End.HALF, "half a body, and gone": End.ABORT}


class Row(NamedTuple):
    """One thing that is wrong: with the bytes, with the body, or with what stands for a variable of the path."""

    name: str
    written: Written = Letter.written
    body: bytes | None = None
    variable: bytes | None = None
    end: End = End.WAIT
    for_kind: bytes = b""  # only for doors that take this content type

    @property
    def is_about_the_head(self) -> bool:
        return self.body is None and self.variable is None

    def fits(self, door: Door) -> bool:
        """Whether this can be wrong with a request to this door."""
        if self.variable is not None:
            return door.has_variables
        return self.body is None or (door.takes_a_body and self.for_kind in (b"", door.kind))

    def letter(self, door: Door, who: Who, tenant: Tenant) -> bytes:
        """The bytes of the request."""
        body = (self.body or b"") if self.body is not None else _harmless(door)
        return self.written(
            Letter(
                method=door.method.encode(),
                path=door.path(tenant, self.variable),
                headers=credentials(who, tenant, body),
                kind=door.kind,
                body=body,
            )
        )


def _harmless(door: Door) -> bytes:
    if not door.takes_a_body:
        return b""
    return b"{}" if door.kind == JSON else f"csrfmiddlewaretoken={CSRF}".encode()


@cache
def rows() -> list[Row]:
    """All of them."""
    return [*_heads(), *_bodies(), *_variables(), *_queries()]


def _heads() -> Iterator[Row]:
    groups = {
        "line": heads.LINES,
        "path": heads.PATHS,
        "framing": heads.FRAMINGS,
        "header": heads.HEADERS,
    }
    for group, table in groups.items():
        for name, written in table.items():
            end = End.HALF if name in heads.ENDLESS else End.WAIT
            yield Row(f"{group}: {name}", written, end=end)


def _bodies() -> Iterator[Row]:
    for name, body in contents.JSON.items():
        yield Row(f"JSON: {name}", body=body, for_kind=JSON)
    for name, body in contents.FORMS.items():
        yield Row(f"form: {name}", body=body, for_kind=FORM)
    for name, kind in contents.TYPES.items():
        yield Row(f"type: {name}", lambda letter, kind=kind: letter.written(kind=kind), body=b"{}")
    for name, body in contents.MULTIPART.items():
        kind = b"multipart/form-data; boundary=b"
        yield Row(f"type: {name}", lambda letter, kind=kind: letter.written(kind=kind), body=body)
    for name, (coding, body) in contents.CODINGS.items():
        more = b"Content-Encoding: " + coding + b"\r\n"
        yield Row(f"coding: {name}", lambda letter, more=more: letter.written(more=more), body=body)
    for name, end in CUT.items():
        yield Row(f"cut: {name}", _promising_more, body=b'{"text": "x"', end=end)


def _promising_more(letter: Letter) -> bytes:
    return letter.written(framing=b"Content-Length: 500\r\n")


SILENT = Row("slow: a body that does not come", _promising_more, body=b"{")


def _variables() -> Iterator[Row]:
    for name, variable in contents.VARIABLES.items():
        yield Row(f"variable: {name}", variable=variable)


def _queries() -> Iterator[Row]:
    for name, query in contents.QUERIES.items():
        yield Row(f"query: {name}", lambda letter, q=query: letter._replace(query=q).written())
