"""The database's clock: the one clock that all processes and machines share."""

from datetime import timedelta

from django.db.models.expressions import Combinable
from django.db.models.functions import Now

ahead = timedelta()  # of the real time; only tests move it


def now() -> Combinable:
    """The current time as an expression for queries; a `timedelta` may be added."""
    return Now() + ahead if ahead else Now()
