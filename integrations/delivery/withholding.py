"""Withholding: reports about a site that arrive while no member has push access cannot be read.

Each report and account is marked with the repository (`withheld_for`), so that removing the claim,
disconnecting or choosing another repository does not make them readable. The mark is removed when a
member is seen with push access to that repository.
"""

from collections.abc import Iterator

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from core import batches, counting
from integrations.models import Delivery, Integration
from integrations.models.delivery import DeliveryQuerySet
from orgs import ownership
from orgs.models import Organization, Site
from reports.models import Account, Report

INTEGRATIONS = 100  # whose reports one round makes readable


def withhold_account(account: Account) -> None:
    """Withhold a new further account if the organization has lost push access."""
    report = account.report
    if not (report.organization_id and ownership.is_site_page(report.canonical_url)):
        return
    lost = Integration.objects.exclude(rights_lost_at=None)
    if integration := lost.of(report.organization_id).first():
        account.withhold(integration.repository_id)


def end(integration: Integration) -> None:
    """Make readable what was withheld for the integration's repository: the first `batches.AT_ONCE`.

    `shown_again` does the rest.
    """
    sum(_shown(integration))


def shown_again() -> Iterator[int]:
    """Make readable what `end` left over, wherever push access is back; yields how many in each batch."""
    reports = Report.objects.filter(
        organization=OuterRef("organization"), withheld_for=OuterRef("repository_id")
    )
    accounts = Account.objects.filter(
        report__organization=OuterRef("organization"), withheld_for=OuterRef("repository_id")
    )
    found = (
        Integration.objects.configured().filter(rights_lost_at=None).exclude(rights_seen_at=None)
    )
    withheld = found.filter(Exists(reports) | Exists(accounts))
    for integration in withheld.order_by("?")[:INTEGRATIONS]:
        yield from _shown(integration)


def _shown(integration: Integration) -> Iterator[int]:
    needed = {"withheld_for": integration.repository_id}
    mine = Report.objects.filter(organization=integration.organization_id, **needed)
    of_mine = Account.objects.filter(report__organization=integration.organization_id, **needed)
    for hidden in (mine, of_mine):
        pks = list(hidden.order_by().values_list("pk", flat=True)[: batches.AT_ONCE])
        for some in batches.of(pks):
            yield _show(hidden.model.objects.filter(pk__in=some))


@transaction.atomic
def _show(some: QuerySet[Report] | QuerySet[Account]) -> int:
    """Make a batch readable. Lists that were opened before have not shown these reports."""
    shown = some.update(withheld_for=None)
    if some.model is Report:
        Delivery.objects.filter(report__in=some).change(DeliveryQuerySet.note_changed)
    return shown


def explained(organization: Organization) -> str:
    """How many reports are not shown to members, why, and what to do; empty if all are shown."""
    hidden = Report.objects.filter(organization=organization, withheld_for__isnull=False)
    ordered = hidden.order_by("withheld_for").values_list("withheld_for", flat=True)
    found = list(ordered[: counting.MOST + 1])
    if not found:
        return ""
    integration = Integration.objects.of(organization).first()
    if integration and integration.rights_lost_at and {*found} == {integration.repository_id}:
        return (
            f"{_so_many(len(found), _about(integration))} not shown: nobody in your organization has push "
            f"access to {integration.repository}. A member who has it can press Try again."
        )
    return (
        f"{_so_many(len(found))} not shown: when they arrived, nobody in your organization had push "
        "access to the repository that publishes their pages. A member who has it can choose that "
        "repository for the integration."
    )


def _so_many(count: int, about: str = "") -> str:
    words = counting.in_words(count)
    return (
        f"1 report{about} is" if count == 1 else f"{words[0].upper()}{words[1:]} reports{about} are"
    )


def _about(integration: Integration) -> str:
    """The sites that its repository publishes, if they are still claimed."""
    sites = Site.objects.filter(organization=integration.organization_id)
    published = sites.filter(repository__iexact=integration.repository).order_by("host", "path")
    return f" about {' and '.join(each.url for each in published)}" if published else ""
