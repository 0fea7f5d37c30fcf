"""Holds and releases deliveries when claims are lost or won.

Forwarding checks who owns the page before it sends anything, and `maintain` looks for pages that
were won back. So a request need not check more than `batches.AT_ONCE`.
"""

from collections.abc import Callable, Sequence

from core import batches
from integrations.models import Delivery
from integrations.models.delivery import DeliveryQuerySet
from orgs import ownership
from orgs.models import Organization

LOST = "This page no longer belongs to your organization."


class Bookmark:
    """Where the last round of `release_all_regained` stopped: the last delivery that it checked."""

    last = 0


def hold_lost(organization: Organization) -> int:
    """Hold what is waiting for pages that no longer belong to the organization; returns how many."""
    return hold_lost_among(_of(organization))


def hold_lost_among(deliveries: DeliveryQuerySet) -> int:
    """Hold those of `deliveries` whose page no longer belongs to the organization; returns how many."""
    waiting = batches.of(_first(deliveries.waiting()))
    return sum(_whose(some, owned=False).hold(Delivery.Cause.OWNERSHIP, LOST) for some in waiting)


def release_regained(organization: Organization) -> int:
    """Release what was held for pages that belong to the organization again; returns how many."""
    held = _first(_of(organization).held(Delivery.Cause.OWNERSHIP))
    return sum(_release_regained_among(some) for some in batches.of(held))


def release_all_regained(
    go_on: Callable[[], bool] = lambda: True, bookmark: Bookmark | None = None
) -> int:
    """Release, for all organizations, what was held for pages that are theirs again; returns how many.

    A page may come back without a change of its owner's claims, when somebody else removes theirs.
    With a bookmark, it continues where the last call stopped.
    """
    bookmark = bookmark or Bookmark()
    held = Delivery.objects.held(Delivery.Cause.OWNERSHIP)
    released = 0
    while pks := _first(held.filter(pk__gt=bookmark.last)):
        for some in batches.of(pks):
            if not go_on():
                return released
            released += _release_regained_among(some)
            bookmark.last = some[-1]
    bookmark.last = 0
    return released


def _release_regained_among(pks: Sequence[int]) -> int:
    return _whose(pks, owned=True).release(Delivery.Cause.OWNERSHIP)


def _of(organization: Organization) -> DeliveryQuerySet:
    return Delivery.objects.filter(integration__organization=organization)


def _first(deliveries: DeliveryQuerySet) -> list[int]:
    return list(deliveries.order_by("pk").values_list("pk", flat=True)[: batches.AT_ONCE])


def _whose(pks: Sequence[int], *, owned: bool) -> DeliveryQuerySet:
    """Those whose page belongs to the organization that received the report, or all others."""
    columns = ("pk", "report__canonical_url", "report__organization")
    rows = list(Delivery.objects.filter(pk__in=pks).values_list(*columns))
    places = {pk: ownership.place(url) for pk, url, _ in rows}
    owners = ownership.owners_at(filter(None, places.values()))
    mine = {pk for pk, _, to in rows if (place := places[pk]) and owners.get(place, "") == to}
    return Delivery.objects.filter(pk__in=mine if owned else places.keys() - mine)
