"""What is done once the transaction is committed, by itself."""

from collections.abc import Callable
from typing import ParamSpec

from django.db import transaction

P = ParamSpec("P")


def do(work: Callable[P, object], *args: P.args, **named: P.kwargs) -> None:
    """Do it after the commit, or now outside a transaction. An error is logged, and keeps nothing else from being done.

    Django logs it by the name of what has failed, and raises another error for a `partial`, which has no name.
    """

    def later() -> None:
        work(*args, **named)

    transaction.on_commit(later, robust=True)
