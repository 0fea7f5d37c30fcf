"""Time as the database sees it: the one clock that all processes and machines share."""

from django.db.models.expressions import Combinable
from django.db.models.functions import Now


def now() -> Combinable:
    """An expression for queries; a `timedelta` may be added. Tests move it."""
    return Now()
