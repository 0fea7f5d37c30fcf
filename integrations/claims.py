"""What a claim that was won or lost means for the deliveries of its pages."""

from collections.abc import Callable, Iterator
from functools import cache

from integrations.models import Delivery
from integrations.models.delivery import DeliveryQuerySet
from orgs import ownership
from orgs.models import Organization

LOST = "This page is no longer yours to receive reports about."
BATCH = 500


def hold_lost(organization: Organization) -> int:
    """Stop what is waiting for pages that are not the organization's any more; how many."""
    return hold_lost_among(_of(organization))


def hold_lost_among(deliveries: DeliveryQuerySet) -> int:
    """The same, of these deliveries."""
    batches = _batches(deliveries.waiting(), owned=False)
    return sum(batch.hold(Delivery.Cause.OWNERSHIP, LOST) for batch in batches)


def release_regained(organization: Organization) -> int:
    """Let go on what was held for pages that are the organization's again; how many."""
    held = _of(organization).held(Delivery.Cause.OWNERSHIP)
    batches = _batches(held, owned=True)
    return sum(batch.release(Delivery.Cause.OWNERSHIP) for batch in batches)


def release_all_regained(go_on: Callable[[], bool] = lambda: True) -> int:
    """The same for every organization, while `go_on` says so; how many.

    A page may come back without a change of its owner's claims: somebody else has given theirs up.
    """
    released = 0
    for batch in _batches(Delivery.objects.held(Delivery.Cause.OWNERSHIP), owned=True):
        if not go_on():
            break
        released += batch.release(Delivery.Cause.OWNERSHIP)
    return released


def _of(organization: Organization) -> DeliveryQuerySet:
    return Delivery.objects.filter(integration__organization=organization)


def _batches(deliveries: DeliveryQuerySet, *, owned: bool) -> Iterator[DeliveryQuerySet]:
    """Those whose page belongs to whom it was reported to, or all others; some at a time.

    Asks once for each place, however many deliveries are about it.
    """
    owner_at = cache(ownership.owner_at)
    columns = ("pk", "report__canonical_url", "report__organization")
    rows = deliveries.order_by("pk").values_list(*columns)
    last = 0
    while batch := list(rows.filter(pk__gt=last)[:BATCH]):
        last = batch[-1][0]
        owners = [(pk, owner_at(ownership.place(url)), mine) for pk, url, mine in batch]
        chosen = [
            pk for pk, owner, mine in owners if (owner is not None and owner.pk == mine) == owned
        ]
        yield Delivery.objects.filter(pk__in=chosen)
