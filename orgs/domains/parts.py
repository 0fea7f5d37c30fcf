"""Names below a proved one that another organization has proved: it has the reports about these."""

from datetime import timedelta

from django.conf import settings

from core import clock, counting
from orgs.domains import hosts
from orgs.models import Domain, Notice
from orgs.models.domain import NAMED, DomainQuerySet, record_name

SHOWN = 200


def note(claim: Domain) -> None:
    """Tell who has the name above a claim that was just verified, and its own organization of the names below."""
    claim.note_below(hosts.registrable(claim.name, pages_host=settings.HUB_PAGES_HOST))
    if claim.registrable:
        _tell(claim, Domain.objects.of_others_below(claim))
    above = Domain.objects.verified().filter(registrable=True, name=claim.below)
    for each in above.exclude(organization=claim.organization_id):
        _tell_of_today(each)


def of_others(claim: Domain) -> tuple[list[Domain], int]:
    """The shortest of these names, at most `SHOWN`, and how many there are besides, as `counting` counts."""
    there = Domain.objects.of_others_below(claim)
    return list(there[:SHOWN]), max(0, counting.up_to_most(there) - SHOWN)


def _tell_of_today(above: Domain) -> None:
    """One notice for all that were verified in the last day: each takes the place of the one before."""
    today = clock.now() - timedelta(days=1)
    above.organization.notices.filter(
        kind=Notice.Kind.BELOW, at__gt=today, text__endswith=_last(above)
    ).delete()
    shortest = Domain.objects.of_others_below(above).values("pk")[: counting.MOST]
    _tell(
        above, Domain.objects.of_others_below(above).filter(verified_at__gt=today, pk__in=shortest)
    )


def _tell(above: Domain, these: DomainQuerySet) -> None:
    names = list(these.values_list("name", flat=True)[: counting.MOST])
    if names:
        more = f", and {len(names) - NAMED} more" if names[NAMED:] else ""
        above.organization.tell(
            Notice.Kind.BELOW,
            f"Other organizations have proved names below {above.name} by DNS records, and receive the "
            f"reports about them: {', '.join(names[:NAMED])}{more}. If you do not know of one, remove its "
            f"TXT record, such as {record_name(names[0])}. {_last(above)}",
        )


def _last(above: Domain) -> str:
    return f"The page of {above.name} lists them all."
