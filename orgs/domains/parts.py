"""Names below a proved one that another organization has proved: it has the reports about these."""

from datetime import timedelta

from django.conf import settings
from django.db.models.functions import TruncDay

from core import clock, counting
from orgs.domains import hosts
from orgs.models import Domain, Notice
from orgs.models.domain import listed, record_name

SHOWN = 200
LATE = timedelta(hours=1)  # a claim may be verified before midnight, and told of after it


def note(claim: Domain) -> None:
    """Tell who has the name above a claim that was just verified, and its own organization of the names below."""
    claim.note_below(hosts.registrable(claim.name, pages_host=settings.HUB_PAGES_HOST))
    if claim.registrable:
        _tell(claim)
    above = Domain.objects.verified().filter(registrable=True, name=claim.below)
    for each in above.exclude(organization=claim.organization_id):
        _tell(each)


def of_others(claim: Domain) -> tuple[list[Domain], int]:
    """The shortest of these names, at most `SHOWN`, and how many there are in all, as `counting` counts."""
    there = Domain.objects.of_others_below(claim)
    return list(there[:SHOWN]), counting.up_to_most(there)


def _tell(above: Domain) -> None:
    """In one notice of all that were verified on this day (UTC), which takes the place of the one before.

    Of all others too if `above` itself was verified on this day, since none was told of before.
    """
    today = TruncDay(clock.now())
    since = today - LATE
    shortest = Domain.objects.of_others_below(above).values("pk")[: counting.MOST]
    these = Domain.objects.of_others_below(above).filter(pk__in=shortest)
    if not Domain.objects.filter(pk=above.pk, verified_at__gte=since).exists():
        these = these.filter(verified_at__gte=since)
    names = list(these.values_list("name", flat=True))
    if not names:
        return
    last = f"The page of {above.name} lists such names."
    told = above.organization.notices.filter(kind=Notice.Kind.BELOW, text__endswith=last)
    told.filter(at__gte=today).delete()
    above.organization.tell(
        Notice.Kind.BELOW,
        f"Other organizations have proved names below {above.name} by DNS records, and receive the "
        f"reports about them: {listed(names)}. If you do not know of one, remove its TXT record, such as "
        f"{record_name(names[0])}. {last}",
    )
