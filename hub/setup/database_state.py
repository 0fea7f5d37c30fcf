"""Whether the database can be used now, and if not, why, in a sentence.

It is asked on a connection that is not of the pool: a pool hides the reason, and its threads must not
be there when the server forks.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy

from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    InterfaceError,
    NotSupportedError,
    connections,
)
from django.db.backends.base.base import BaseDatabaseWrapper

from core import backups
from hub.server.health import OUTDATED, missing_migrations

LONGEST = 300  # characters of what the driver says


def why_unreachable() -> str:
    """Why the database does not answer; empty if it does."""
    return _problem(migrated=False)


def why_unusable() -> str:
    """Why the database does not answer, or that migrations are missing; empty if it can be used."""
    return _problem(migrated=True)


def why_not_to_send() -> str:
    """Why the database cannot be used, or that it is a backup that nobody has looked after; empty if neither."""
    if found := why_unusable():
        return found
    with direct() as own:
        return backups.problem(own)


def why_of_another_host() -> str:
    """Why the database cannot be used with this code host; empty once it is noted to be of that one."""
    from hub.setup import code_host  # the models are loaded by now

    try:
        with direct():
            if found := code_host.problem():
                return found
            code_host.remember()
    except (DatabaseError, InterfaceError) as error:  # as one that takes no changes
        return f"The database cannot be used: {reason(error)}. Check DATABASE_URL."
    return ""


@contextmanager
def direct() -> Iterator[BaseDatabaseWrapper]:
    """A connection of its own, closed at the end of the block. Until then it is this thread's only one.

    Django asks which migrations are applied on the thread's connection, whichever it is given.
    """
    shared = connections[DEFAULT_DB_ALIAS]
    settings = deepcopy(shared.settings_dict)
    settings["OPTIONS"].pop("pool", None)
    own = type(shared)(settings, alias=shared.alias)
    connections[DEFAULT_DB_ALIAS] = own
    try:
        yield own
    finally:
        connections[DEFAULT_DB_ALIAS] = shared
        own.close()


def reason(error: Exception) -> str:
    """What the driver says, on one line and without a full stop."""
    said = " ".join(str(error).split()).partition(" Is the server running")[0]
    return said.removeprefix("connection failed: ")[:LONGEST].rstrip(".") or type(error).__name__


def _problem(*, migrated: bool) -> str:
    try:
        with direct() as own:
            own.ensure_connection()
            outdated = migrated and missing_migrations(own)
    except NotSupportedError as error:  # an old version
        return f"The database cannot be used: {reason(error)}."
    except (DatabaseError, InterfaceError) as error:
        return f"The database does not answer: {reason(error)}. Check DATABASE_URL."
    return OUTDATED if outdated else ""
