"""What happens to claims, for whoever above has to act on it.

Both are sent inside the transaction that changes the claim, with `organization`: receivers write
to the database and do nothing else.
"""

from django.dispatch import Signal

domain_verified = Signal()  # a claim is the organization's from now on, or again
domain_lost = Signal()  # a claim is not the organization's any more
