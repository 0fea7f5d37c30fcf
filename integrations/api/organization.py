"""`GET /v1/orgs/me`: the caller's organization, with everything that is set up."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from integrations.api import as_json
from integrations.models import Integration
from orgs.api.authentication import MaintainerView
from orgs.api.domains import domain_as_json
from orgs.models import Organization


class Me(MaintainerView):
    """The organization, its integration and its claims, in five queries however many there are."""

    def get(self, request: Request) -> Response:
        mine = self.organization
        return Response(
            {
                "id": mine.id,
                "name": mine.name,
                "integration": _integration(mine),
                "domains": [domain_as_json(each) for each in mine.domains.order_by("name")],
                "sites": [as_json.site(each) for each in mine.sites.order_by("host", "path")],
            }
        )


def _integration(organization: Organization) -> dict[str, Any] | None:
    known = Integration.objects.select_related("installation")
    integration = known.of(organization).first()
    return as_json.integration(integration) if integration else None
