"""Statements that are prepared on a connection, asked by way of libpq (`psycopg.pq`).

A cursor of psycopg finds out anew how each value is written and each column read, and drives libpq from
Python. Here both are known, and libpq waits by itself.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cache
from itertools import count
from typing import Any, NamedTuple
from uuid import UUID

import psycopg
from django.conf import settings
from psycopg import errors
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus

Session = psycopg.Connection[Any]

NUL = b"\0"
PREPARED_AFTER = 5  # uses
STALE = ("0A000", "26000")  # a column has changed, or somebody has deallocated what was prepared
INTERVAL = "%d days %d seconds %d microseconds"


class Statement(NamedTuple):
    """A statement as the server knows it: by a name, with its parameters numbered."""

    name: bytes
    sql: bytes


def rows(session: Session, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """All rows of the statement, which is prepared after some uses, unless HUB_PREPARED_STATEMENTS is false.

    `sql` has `%s` for each of the `values`, which the server reads as what they stand for: text, whole
    numbers, true and false, times, intervals, UUIDs, lists of these, or None. Its columns are of the types in
    `_READERS`. Raises what psycopg raises.
    """
    _renew(session)
    _begin(session)
    statement = _numbered(sql)
    written: list[Any] = [each.encode() if type(each) is str else _written(each) for each in values]
    if NUL in b"".join(filter(None, written)):  # libpq would end there
        raise psycopg.DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
    if _is_prepared(session, statement):
        result = session.pgconn.exec_prepared(statement.name, written)
    else:
        result = session.pgconn.exec_params(statement.sql, written)
    _check(session, result)
    readers = [_reader(result.ftype(column)) for column in range(result.nfields)]
    return [
        tuple([_read(result.get_value(row, at), read) for at, read in enumerate(readers)])
        for row in range(result.ntuples)
    ]


def commit(session: Session) -> None:
    """Commit the transaction, if one has begun. Raises what psycopg raises."""
    if session.pgconn.transaction_status != TransactionStatus.IDLE:
        _check(session, session.pgconn.exec_(b"COMMIT"))


def _begin(session: Session) -> None:
    """Begin the transaction that a statement is to be in, as psycopg does."""
    if session.autocommit or session.pgconn.transaction_status != TransactionStatus.IDLE:
        return
    level = session.isolation_level
    isolated = f" ISOLATION LEVEL {level.name.replace('_', ' ')}" if level else ""
    _check(session, session.pgconn.exec_(f"BEGIN{isolated}".encode()))


def _is_prepared(session: Session, statement: Statement) -> bool:
    """Whether the server knows the statement by its name; it is told if it is time for that."""
    if not settings.HUB_PREPARED_STATEMENTS:
        return False
    asked = vars(session).setdefault("hub_asked", {})  # how often, by the name of each statement
    uses = asked.get(statement.name, 0)
    if uses == PREPARED_AFTER:
        _check(session, session.pgconn.prepare(statement.name, statement.sql))
    if uses <= PREPARED_AFTER:
        asked[statement.name] = uses + 1
    return uses >= PREPARED_AFTER


def _renew(session: Session) -> None:
    """Prepare all anew if one was stale. The statement that found out has failed, and its transaction with it."""
    if vars(session).pop("hub_stale", False):
        vars(session).pop("hub_asked", None)
        _check(session, session.pgconn.exec_(b"DEALLOCATE ALL"))


def _check(session: Session, result: Any) -> None:
    """Raise the error that the server has answered, or that it is gone."""
    if result.status in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
        return
    error = errors.error_from_result(result, "utf-8")
    if error.sqlstate is None or session.pgconn.status == ConnStatus.BAD:
        session.pgconn.finish()  # libpq may not know yet, and the pool asks it, that the server is gone
        raise psycopg.OperationalError(result.error_message.decode(errors="replace").strip())
    if error.sqlstate in STALE:
        vars(session)["hub_stale"] = True
    raise error


@cache
def _numbered(sql: str) -> Statement:
    """The statement with `$1` and so on. It has the same name in all processes, which may share connections."""
    places = count(1)
    numbered = re.sub("%[s%]", lambda each: "%" if each[0] == "%%" else f"${next(places)}", sql)
    digest = hashlib.sha256(numbered.encode()).hexdigest()
    return Statement(f"hub_{digest[:16]}".encode(), numbered.encode())


def _written(value: Any) -> bytes | None:
    """The value as PostgreSQL reads it."""
    if isinstance(value, str):  # also one of TextChoices
        return value.encode()
    if write := _WRITERS.get(type(value)):
        return write(value)
    raise NotImplementedError(f"Add a writer for {type(value).__name__}.")


def _array(values: list[Any]) -> bytes:
    parts = [
        b"NULL" if each is None else b'"%b"' % each.replace(b"\\", rb"\\").replace(b'"', rb"\"")
        for each in map(_written, values)
    ]
    return b"{%b}" % b",".join(parts)


def _reader(kind: int) -> Callable[[bytes], Any]:
    if read := _READERS.get(kind):
        return read
    raise NotImplementedError(f"Add a reader for the type of this number: {kind}.")


def _read(value: bytes | None, read: Callable[[bytes], Any]) -> Any:
    return None if value is None else read(value)


_WRITERS: dict[type, Callable[[Any], bytes | None]] = {
    type(None): lambda value: None,
    bool: lambda value: b"t" if value else b"f",
    int: lambda value: b"%d" % value,
    datetime: lambda value: value.isoformat().encode(),
    timedelta: lambda value: (INTERVAL % (value.days, value.seconds, value.microseconds)).encode(),
    UUID: lambda value: value.hex.encode(),
    list: _array,
}
_READERS: dict[int, Callable[[bytes], Any]] = {  # by the server's numbers of types: pg_type.dat
    16: b"t".__eq__,
    20: int,
    21: int,
    23: int,
    25: bytes.decode,
    114: bytes.decode,  # JSON, which Django reads by itself
    1043: bytes.decode,
    1184: lambda value: datetime.fromisoformat(value.decode()),  # in UTC, as Django asks for
    2950: lambda value: UUID(value.decode()),
    3802: bytes.decode,
}
