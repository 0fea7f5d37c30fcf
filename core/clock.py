"""The database's clock: the one clock that all processes and machines share."""

from django.db.models.expressions import Combinable
from django.db.models.functions import Now


def now() -> Combinable:
    """The current time as an expression for queries; a `timedelta` may be added. Tests move it."""
    return Now()
