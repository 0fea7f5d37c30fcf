"""Signals about reports, for the apps above.

Receivers may use the database and nothing else. `report_erased` is sent inside the transaction that
changes the report.
"""

from typing import Any

from django.dispatch import Signal

report_erased = Signal()  # with `report`: its text must go no further
# With `report`, and the `source` of its repeat: a receiver answers True if nobody reads more of it there
is_unwanted = Signal()
# With the `report_id` that is repeated, and the repeat's `source`: a receiver answers True if it would act on a
# `post_save` now
is_unheard = Signal()


def is_true(question: Signal, **about: Any) -> bool:
    """Whether any receiver answers True."""
    return any(answer for _, answer in question.send(None, **about))
