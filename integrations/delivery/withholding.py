"""Withholding: reports about a site that arrive while no member has push access cannot be read.

Each report and account is marked with the repository (`withheld_for`), so that removing the claim,
disconnecting or choosing another repository does not make them readable. The mark is removed when a
member is seen with push access to that repository.
"""

from django.db.models import Count

from integrations.models import Integration
from orgs import ownership
from orgs.models import Organization, Site
from reports.models import Account, Report


def withhold_account(account: Account) -> None:
    """Withhold a new further account if the organization has lost push access."""
    report = account.report
    if not (report.organization_id and ownership.is_site_page(report.canonical_url)):
        return
    lost = Integration.objects.exclude(rights_lost_at=None)
    if integration := lost.filter(organization=report.organization_id).first():
        account.withhold(integration.repository_id)


def end(integration: Integration) -> None:
    """Make readable what was withheld for the integration's repository."""
    mine = Report.objects.filter(organization=integration.organization_id)
    needed = {"withheld_for": integration.repository_id}
    mine.filter(**needed).update(withheld_for=None)
    of_mine = Account.objects.filter(report__organization=integration.organization_id, **needed)
    Account.objects.filter(pk__in=of_mine.values("pk")).update(withheld_for=None)


def explained(organization: Organization) -> str:
    """How many reports are not shown to members, why, and what to do; empty if all are shown."""
    hidden = Report.objects.filter(organization=organization, withheld_for__isnull=False)
    counts = dict(hidden.values_list("withheld_for").annotate(Count("pk")).order_by())
    if not counts:
        return ""
    integration = Integration.objects.filter(organization=organization).first()
    count = sum(counts.values())
    if integration and integration.rights_lost_at and counts.keys() == {integration.repository_id}:
        return (
            f"{_so_many(count, _about(integration))} not shown: nobody in your organization has push "
            f"access to {integration.repository}. A member who has it can press Try again."
        )
    return (
        f"{_so_many(count)} not shown: when they arrived, nobody in your organization had push "
        "access to the repository that publishes their pages. A member who has it can choose that "
        "repository for the integration."
    )


def _so_many(count: int, about: str = "") -> str:
    return f"1 report{about} is" if count == 1 else f"{count} reports{about} are"


def _about(integration: Integration) -> str:
    """The sites that its repository publishes, if they are still claimed."""
    sites = Site.objects.filter(organization=integration.organization_id)
    published = sites.filter(repository__iexact=integration.repository).order_by("host", "path")
    return f" about {' and '.join(each.url for each in published)}" if published else ""
