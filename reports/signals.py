"""What happens to reports, for whoever above has to act on it.

Sent inside the transaction that changes the report: receivers use the database and nothing else.
"""

from django.dispatch import Signal

report_erased = Signal()  # with `report`: no word of it may travel on
is_unwanted = Signal()  # with `report`: True from a receiver where its owner wants no more of it
