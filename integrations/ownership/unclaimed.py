"""Reports that arrived before anybody had claimed their page: shown to whoever claims it, sent if chosen."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from core import ids, keyset
from integrations.models import Delivery, Integration
from integrations.models.delivery import EARLIER
from integrations.ownership.site_claims import NotConfigured
from orgs import ownership
from orgs.models import Domain, Membership, Site
from orgs.people import counted
from reports.models import UNCLAIMED, Report, ReportQuerySet

RECENT = timedelta(days=30)
LOOKED_AT = 500  # reports about an owner's name that one page reads
PAGE_SIZE = 20
Claim = Domain | Site
COLUMNS = ["id", "received_at", "kind", "summary", "canonical_url", "agent_name", "times_reported"]


class Page(NamedTuple):
    """Reports about a claim's pages, newest first, and the id that the next page begins after.

    `found`: how many were found among those looked at. `is_all`: whether there are no older ones.
    """

    reports: list[Report]
    found: int
    is_all: bool
    following: str


def is_open(claim: Claim) -> bool:
    """Whether the claim receives reports now."""
    return bool(claim.verified_at and not claim.lapsed_at and not claim.opted_out_at)


def page(claim: Claim, after: str = "") -> Page:
    """One page of the reports of the last 30 days that nobody has received, about this claim's pages.

    Reads at most `LOOKED_AT` reports that share its name (`ownership.shared_name`). `after` is the id of
    a report, as `Page.following` has it.
    """
    rows = list(_newest_first(claim, after)[: LOOKED_AT + 1])
    looked_at, is_all = rows[:LOOKED_AT], len(rows) <= LOOKED_AT
    mine = _about(claim, looked_at)
    shown = mine[:PAGE_SIZE]
    last = shown[-1] if len(mine) > PAGE_SIZE else looked_at[-1] if not is_all else None
    return Page(shown, len(mine), is_all, last.pk if last else "")


def send(member: Membership, claim: Claim, report_ids: Iterable[str]) -> int:
    """Give these reports to the member's organization, to be sent in their turn; returns how many.

    At most as many as a page shows. One that somebody has received meanwhile, or whose page is not the
    organization's, is left out; a page that opted out is nobody's. Raises `NotConfigured`,
    `rates.RateLimited`.
    """
    if _integration(claim) is None:
        raise NotConfigured
    counted.check(member, settings.HUB_ASKING_RATE, "send")
    chosen = [each for each in dict.fromkeys(report_ids) if ids.is_id(each)][:PAGE_SIZE]
    return sum(_given(member.organization_id, each) for each in sorted(chosen))


def _given(organization: str, report_id: str) -> bool:
    """Give one report away, as its next repeat would, with its one delivery; whether that was done."""
    with transaction.atomic():
        locked = _nobodys().select_for_update(no_key=True)
        report = locked.filter(pk=report_id).first()
        if report is None or not _is_received_by(organization, report):
            return False
        report.waits_for_its_turn, report.source = True, EARLIER
        report.save(update_fields=report.receive(organization))
        is_delivered = Delivery.objects.filter(report=report).exists()
        transaction.set_rollback(not is_delivered)  # its repository was just removed
        return is_delivered


def _is_received_by(organization: str, report: Report) -> bool:
    """Whether a report about the same page that arrived now would be received by this organization."""
    claim = ownership.claim_covering(report.canonical_url)
    return bool(claim and claim.organization_id == organization and not claim.opted_out_at)


def _nobodys() -> ReportQuerySet:
    """Reports that nobody has received, whose text is still there."""
    return Report.objects.readable().filter(unclaimed_name__isnull=False, erased_at=None)


def _newest_first(claim: Claim, after: str) -> ReportQuerySet:
    """Those of `_nobodys` about names below the same registrable one, in the order of their index.

    The name is compared as a range, and where a page begins once, as in `Report.objects.newest_first`.
    """
    name = ownership.shared_name(claim.url)
    since: tuple[datetime, str] = (timezone.now() - RECENT, "")
    found = keyset.after(_nobodys(), UNCLAIMED, (name, *since))
    if last := ids.find(Report.objects.only("received_at"), after):
        begun = keyset.before(found, UNCLAIMED, (name, last.received_at, last.pk))
    else:
        begun = found.filter(unclaimed_name__lte=name)
    within = begun.filter(unclaimed_name__gte=name)
    return within.order_by(*(f"-{each}" for each in UNCLAIMED)).only(*COLUMNS)


def _about(claim: Claim, reports: list[Report]) -> list[Report]:
    """Those about pages of this claim that the organization receives, and that members may read.

    A closer claim may be somebody else's, or have opted out.
    """
    places = {each.pk: ownership.place(each.canonical_url) for each in reports}
    nearest = ownership.claims_at(place for place in places.values() if place)
    integration = _integration(claim)
    return [
        each
        for each in reports
        if (place := places[each.pk])
        and _covers(claim, place)
        and (closest := nearest.get(place))
        and closest.organization_id == claim.organization_id
        and not closest.opted_out_at
        and not (integration and integration.withholds(each.canonical_url))
    ]


def _covers(claim: Claim, place: ownership.Place) -> bool:
    if isinstance(claim, Site):
        return place.host == claim.host and claim.path in place.paths
    below = f".{place.host}".endswith(f".{claim.name}") if claim.registrable else False
    return place.host == claim.name or below


def _integration(claim: Claim) -> Integration | None:
    return Integration.objects.configured().of(claim.organization_id).first()
