"""What happens to reports, for whoever above has to act on it.

Sent inside the transaction that changes the report: receivers write to the database and do nothing
else.
"""

from django.dispatch import Signal

report_erased = Signal()  # with `report`: no word of it may travel on
