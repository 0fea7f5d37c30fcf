"""The database's clock: the one clock that all processes and machines share."""

from datetime import datetime, timedelta

from django.db.models.expressions import Combinable
from django.db.models.functions import Now

SPARE = timedelta(minutes=1)  # by which it may be put back without a word
ahead = timedelta()  # of the real time; only tests move it


def now() -> Combinable:
    """The current time as an expression for queries; a `timedelta` may be added."""
    return Now() + ahead if ahead else Now()


def after(moment: datetime) -> datetime:
    """The next moment, to compare with: `< after(x)` is up to `x`.

    SQLite compares times as text, and a whole second that the database has written (`12:00:04.000`) is behind the
    same one in a query (`12:00:04`).
    """
    return moment + timedelta(microseconds=1)
