"""Test reports: a real report about a page of the organization, to see that everything works."""

from core import client_address
from core.errors import ApiError
from integrations.models import Integration
from integrations.models.integration import NO_RIGHTS
from integrations.ownership.site_claims import NotConfigured
from orgs.models import Domain, Membership, Organization, Site
from orgs.people import counted
from reports import intake, shape

AGENT = "Docs Feedback Hub"  # a name that anybody may send: it tells nothing
RATE = "5/minute;50/day"  # real issues in a real repository


class NoClaim(ApiError):
    """409: the organization has no verified claim that accepts reports."""

    status_code = 409
    default_code = "no_claim"
    default_detail = "Claim a domain or a site first."


def pages(organization: Organization) -> list[str]:
    """One page of each claim that is the organization's now; repositories come last."""
    mine = {"organization": organization, "opted_out_at": None}
    claims = Site.objects.live().filter(**mine).order_by("host", "path")
    sites = [each for each in claims if not each.is_repository]
    repositories = [each for each in claims if each.is_repository]
    domains = Domain.objects.verified().filter(**mine).order_by("name")
    return [each.url for each in (*sites, *domains, *repositories)]


def send(member: Membership, page: str = "") -> intake.Receipt:
    """Send a harmless report about `page`; it is delivered like any other, as an issue of its own.

    Those of one organization have the share of one network, since its owners are limited each for themselves.

    `page` is one of `pages`; any other value means the first one. Raises `NotConfigured`, `NoClaim`, or
    as `counted.check` does.
    """
    integration = Integration.objects.configured().of(member.organization_id).first()
    if integration is None:
        raise NotConfigured
    if integration.rights_lost_at:
        raise NotConfigured(NO_RIGHTS)
    mine = pages(member.organization)
    if not mine:
        raise NoClaim
    counted.check(member, RATE, "test", what="test reports")
    body = shape.ReportBody.model_validate(
        {
            "protocol_version": "0",
            "doc_url": page if page in mine else mine[0],
            "agent": {"name": AGENT},
            "report": {
                "kind": "other",
                "summary": "Test report: this is how reports arrive",
                "details": "A maintainer sent this from the Hub to try it. There is nothing to fix.",
            },
        }
    )
    source = client_address.source_of_organization(member.organization_id)
    return intake.accept(body, is_test=True, source=source)
