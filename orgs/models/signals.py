"""Signals about claims, for the apps above.

Both are sent inside the transaction that changes the claim, with `organization`: receivers may
write to the database and do nothing else.
"""

from django.dispatch import Signal

domain_verified = Signal()  # a claim now belongs to the organization
domain_lost = Signal()  # a claim no longer belongs to the organization
