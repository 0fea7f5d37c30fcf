"""Holds and releases deliveries when claims are lost or won, and while their reports are withheld.

Forwarding checks who owns the page before it sends anything, and `maintain` looks for pages that
were won back. So a request need not check more than `batches.AT_ONCE`.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from django.db.models import OuterRef, Subquery
from django.db.models.functions import Coalesce

from core import batches
from integrations.models import Delivery, Integration
from integrations.models.delivery import READABLE_THERE, DeliveryQuerySet
from integrations.models.integration import IntegrationQuerySet
from orgs import ownership, renamed
from orgs.models import Domain, Organization, Site
from orgs.renamed import Received

INTEGRATIONS = 500  # that one call checks deliveries of
LOST = "This page no longer belongs to your organization."
WITHHELD = (
    "It arrived while no member of your organization had push access to the repository that published its "
    "page, and the issues go to another one now."
)


class Bookmark:
    """Where `release_all_regained` stopped: the last delivery that it checked, by the id of the integration."""

    def __init__(self) -> None:
        self.last: dict[int, int] = {}


def hold_lost(organization: Organization) -> int:
    """Hold what is waiting for pages that no longer belong to the organization; returns how many."""
    return hold_lost_among(_of(organization))


def hold_lost_among(deliveries: DeliveryQuerySet) -> int:
    """Hold those of `deliveries` whose page no longer belongs to the organization; returns how many."""
    waiting = batches.of(_first(deliveries.waiting()))
    return sum(_hold_lost_among(some) for some in waiting)


def release_regained(organization: Organization) -> int:
    """Release what was held for pages that belong to the organization again; returns how many."""
    held = _first(_of(organization).held(Delivery.Cause.OWNERSHIP))
    return sum(_release_regained_among(some) for some in batches.of(held))


def release_all_regained(
    go_on: Callable[[], bool] = lambda: True, bookmark: Bookmark | None = None
) -> int:
    """Release, for all organizations, what was held for pages that are theirs again; returns how many.

    A page may come back without a change of its owner's claims, when somebody else removes theirs.
    Checks `batches.AT_ONCE` at most, and continues where the last call with this bookmark stopped.
    Integrations take turns, so that one backlog does not delay the others.
    """
    last = (bookmark or Bookmark()).last
    in_turn = deque(_that_may_regain().values_list("pk", flat=True)[:INTEGRATIONS])
    checked = released = 0
    while in_turn and checked < batches.AT_ONCE and go_on():
        integration = in_turn.popleft()
        pks = _next_held(integration, last.pop(integration, 0))
        released += _release_regained_among(pks)
        checked += len(pks)
        if len(pks) == batches.BATCH:
            last[integration] = pks[-1]
            in_turn.append(integration)
    return released


def _that_may_regain() -> IntegrationQuerySet:
    """Those that hold deliveries for it, of organizations with claims; in random order.

    Reads one index entry for each, no backlog.
    """
    held = Delivery.objects.held(Delivery.Cause.OWNERSHIP).filter(integration=OuterRef("pk"))
    domain, site = (
        Subquery(live.filter(organization=OuterRef("organization")).values("pk")[:1])
        for live in (Domain.objects.verified(), Site.objects.live())
    )
    one = Subquery(held.values("pk")[:1])
    known = Integration.objects.alias(held=one, claim=Coalesce(domain, site))
    return known.exclude(held=None).exclude(claim=None).order_by("?")


def _next_held(integration: int, after: int) -> list[int]:
    held = Delivery.objects.filter(integration=integration).held(Delivery.Cause.OWNERSHIP)
    ordered = held.filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)
    return list(ordered[: batches.BATCH])


def _hold_lost_among(pks: Sequence[int]) -> int:
    """Of those that may have been sent, forwarding looks for the issue first."""
    lost = set(pks) - owned(pks)
    some = Delivery.objects.filter(pk__in=lost, outcome_unknown_since=None)
    return some.change(_hold) if lost else 0


def _release_regained_among(pks: Sequence[int]) -> int:
    regained = _owned_of(Delivery.objects.filter(READABLE_THERE, pk__in=pks))
    some = Delivery.objects.filter(pk__in=regained)
    return some.change(_release) if regained else 0


def _hold(some: DeliveryQuerySet) -> int:
    return some.hold(Delivery.Cause.OWNERSHIP, LOST)


def _release(some: DeliveryQuerySet) -> int:
    return some.release(Delivery.Cause.OWNERSHIP)


def _of(organization: Organization) -> DeliveryQuerySet:
    return Delivery.objects.filter(integration__organization=organization)


def _first(deliveries: DeliveryQuerySet) -> list[int]:
    return list(deliveries.order_by("pk").values_list("pk", flat=True)[: batches.AT_ONCE])


def owned(pks: Iterable[int]) -> set[int]:
    """Those whose page belongs to the organization that received the report."""
    return _owned_of(Delivery.objects.filter(pk__in=list(pks)))


def _owned_of(deliveries: DeliveryQuerySet) -> set[int]:
    columns = ("pk", "report__canonical_url", "report__organization")
    rows = list(deliveries.values_list(*columns))
    places = {pk: ownership.place(url) for pk, url, _ in rows}
    owners = ownership.owners_at(filter(None, places.values()))
    mine = {pk for pk, _, to in rows if (place := places[pk]) and owners.get(place, "") == to}
    others = {pk: Received(url, to) for pk, url, to in rows if to and pk not in mine}
    moved = renamed.addresses_now(others.values())
    return mine | {pk for pk, page in others.items() if page in moved}
