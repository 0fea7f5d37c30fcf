"""The database connection of this thread: while something slow is waited for, and once it is lost."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, connection, transaction

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

# A transaction that stood still, or took too long, such as in a process that was stopped for a while.
CUT_OFF = ("25P03", "25P04")  # https://www.postgresql.org/docs/current/errcodes-appendix.html
READ_ONLY = "25006"  # a replica, such as the primary server of before a failover
DEADLOCK = "40P01"
CANCELED = "57014"


class TooLong(Exception):
    """The database has not found in time what was asked for."""


def is_lost(error: BaseException) -> bool:
    """Whether an error says that the database cannot be reached, takes no changes, or has ended the connection."""
    is_cut_off = getattr(error.__cause__, "sqlstate", "") in (*CUT_OFF, READ_ONLY)
    return is_cut_off or isinstance(error, OperationalError | InterfaceError)


def is_deadlock(error: BaseException) -> bool:
    """Whether PostgreSQL has ended this transaction, since it and another one waited for each other."""
    return getattr(error.__cause__, "sqlstate", "") == DEADLOCK


def again_after_deadlock(transact: Callable[P, T]) -> Callable[P, T]:
    """Does `transact`, a whole transaction, once more if PostgreSQL has ended it because of a deadlock.

    Within another transaction the error is raised: what else was done there is lost.
    """

    @wraps(transact)
    def done(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return transact(*args, **kwargs)
        except OperationalError as error:
            if not is_deadlock(error) or connection.in_atomic_block:
                raise
            log.warning("The database has ended a deadlock; once more: %s", error)
            return transact(*args, **kwargs)

    return done


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Have PostgreSQL give up each statement of the block, one transaction, after so long. Raises `TooLong`."""
    if connection.vendor != "postgresql":
        yield
        return
    with transaction.atomic():  # a setting of the connection would stay with it behind PgBouncer
        _allow(f"{int(seconds * 1000)}")
        try:
            yield
        except OperationalError as error:
            if getattr(error.__cause__, "sqlstate", "") != CANCELED:
                raise
            raise TooLong from None
        _allow("DEFAULT")  # for what else is in a transaction around this one


def _allow(milliseconds: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL statement_timeout TO {milliseconds}")


def is_held() -> bool:
    """Whether this thread has a connection now."""
    return connection.connection is not None


def give_back() -> None:
    """Give the connection back to the pool of PostgreSQL. SQLite's is only a file that stays open."""
    if connection.vendor == "postgresql":
        connection.close()
