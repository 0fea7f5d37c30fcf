"""Signals about what joins an issue and what leaves it, for the rooms above.

Receivers may use the database and nothing else: both are sent inside the transaction that changes the delivery.
"""

from django.dispatch import Signal

delivery_folded = Signal()  # sender `Delivery`, with `delivery`: it has joined `delivery.lead`
delivery_unfolded = Signal()  # sender `Delivery`, with `lead`: one or many have left it
