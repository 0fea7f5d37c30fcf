"""The maintainers' API: domains."""

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from core.errors import ApiError
from integrations.api import as_json
from integrations.api.setup import OptOutBody, StrictBody, read
from orgs.api.authentication import MaintainerView
from orgs.domains import claiming, verification
from orgs.models import Domain, Organization
from reports import shape


class DomainBody(StrictBody):
    """The body of a claim of a domain."""

    domain: shape.Text = Field(max_length=2048)


class NotYours(ApiError):
    """404: the organization has not claimed this domain."""

    status_code = 404
    default_code = "not_found"
    default_detail = "You have not claimed this domain."


class Domains(MaintainerView):
    """`POST /v1/orgs/me/domains`: claim a domain. 200 if it is already claimed."""

    def post(self, request: Request) -> Response:
        text = read(DomainBody, request).domain
        domain, is_new = claiming.claim_domain(self.organization, text)
        return Response(as_json.claim(domain), status=201 if is_new else 200)


class OneDomain(MaintainerView):
    """`/v1/orgs/me/domains/<domain>`: remove the claim, or opt out."""

    def delete(self, request: Request, name: str) -> Response:
        claiming.give_up(_find(self.organization, name), by=self.membership)
        return Response(status=204)

    def patch(self, request: Request, name: str) -> Response:
        opted_out = read(OptOutBody, request).opted_out
        domain = _find(self.organization, name)
        try:
            claiming.opt_out(domain, opted_out, by=self.membership)
        except Domain.DoesNotExist:  # somebody has just removed it
            raise NotYours from None
        return Response(as_json.domain(domain))


class VerifyDomain(MaintainerView):
    """`POST /v1/orgs/me/domains/<domain>/verify`: check the record, and explain what the DNS answers."""

    def post(self, request: Request, name: str) -> Response:
        try:
            domain, hint = verification.check(_find(self.organization, name))
        except (verification.Gone, Domain.DoesNotExist):
            raise NotYours from None
        return Response({**as_json.claim(domain), "hint": hint or None})


def _find(organization: Organization, text: str) -> Domain:
    try:
        return claiming.claim_of(organization, text)
    except Domain.DoesNotExist:
        raise NotYours from None
