"""Signals about reports, for the apps above.

Sent inside the transaction that changes the report: receivers may use the database and nothing else.
"""

from django.dispatch import Signal

report_erased = Signal()  # with `report`: its text must go no further
is_unwanted = Signal()  # with `report`: a receiver answers True if its owner wants no more of it
