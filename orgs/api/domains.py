"""The maintainers' API: domains."""

from typing import Any

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from core.errors import ApiError
from core.json_body import Text
from orgs.api.authentication import MaintainerView
from orgs.api.request_body import OptOutBody, StrictBody, read
from orgs.domains import claiming, verification
from orgs.models import Domain, Organization


class DomainBody(StrictBody):
    """The body of a claim of a domain."""

    domain: Text = Field(max_length=2048)


class NotYours(ApiError):
    """404: the organization has not claimed this domain."""

    status_code = 404
    default_code = "not_found"
    default_detail = "You have not claimed this domain."


class Domains(MaintainerView):
    """`POST /v1/orgs/me/domains`: claim a domain. 200 if it is already claimed."""

    def post(self, request: Request) -> Response:
        text = read(DomainBody, request).domain
        domain, is_new = claiming.claim_domain(self.membership, text)
        return Response(claim_as_json(domain), status=201 if is_new else 200)


class OneDomain(MaintainerView):
    """`/v1/orgs/me/domains/<domain>`: remove the claim, or opt out."""

    def delete(self, request: Request, name: str) -> Response:
        claiming.remove_claim(_find(self.organization, name), by=self.membership)
        return Response(status=204)

    def patch(self, request: Request, name: str) -> Response:
        opted_out = read(OptOutBody, request).opted_out
        domain = _find(self.organization, name)
        try:
            claiming.opt_out(domain, opted_out, by=self.membership)
        except Domain.DoesNotExist:  # somebody has just removed it
            raise NotYours from None
        return Response(domain_as_json(domain))


class VerifyDomain(MaintainerView):
    """`POST /v1/orgs/me/domains/<domain>/verify`: check the record, and explain what the DNS answers."""

    def post(self, request: Request, name: str) -> Response:
        try:
            mine = _find(self.organization, name)
            domain, finding = verification.check(mine, by=self.membership)
        except (verification.Gone, Domain.DoesNotExist):
            raise NotYours from None
        return Response({**claim_as_json(domain), "hint": finding.in_words or None})


def _find(organization: Organization, text: str) -> Domain:
    try:
        return claiming.claim_of(organization, text)
    except Domain.DoesNotExist:
        raise NotYours from None


def claim_as_json(domain: Domain) -> dict[str, Any]:
    """The JSON of a domain with its DNS record; null once it is verified."""
    record = {"name": domain.record_name, "type": "TXT", "value": domain.record_value}
    return {
        "domain": domain.name,
        "status": domain.status,
        "dns_record": None if domain.verified_at else record,
    }


def domain_as_json(domain: Domain) -> dict[str, Any]:
    """The JSON of a domain. `lapses_at`: the end of the grace period, once it has begun."""
    return {
        **claim_as_json(domain),
        "verified_at": domain.verified_at,
        "lapsed_at": domain.lapsed_at,
        "lapses_at": domain.lapses_at,
        "last_checked_at": domain.last_checked_at,
        "opted_out_at": domain.opted_out_at,
        "claimed_by": domain.claimed_by or None,
    }
