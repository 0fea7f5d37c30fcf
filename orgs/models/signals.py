"""Signals about claims and organizations, for the apps above.

Those about claims are sent inside the transaction that changes the claim, with `organization`: receivers
may write to the database and do nothing else.
"""

from django.dispatch import Signal

domain_verified = Signal()  # a claim now belongs to the organization
domain_lost = Signal()  # a claim no longer belongs to the organization

# It is about to be deleted: a receiver returns an iterator, which deletes what it has in batches, and
# yields how many rows in each. It may be asked again, where it was interrupted.
organization_left = Signal()
