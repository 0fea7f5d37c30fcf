"""`GET /v1/orgs/me`: the caller's organization, with everything that is set up."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from core import at_once
from integrations.api import as_json
from integrations.models import Integration
from orgs.api.authentication import MaintainerView, terminal_of
from orgs.api.domains import domain_as_json
from orgs.models import Membership, Organization


class Me(MaintainerView):
    """The organization, its integration and its claims, in five queries however many there are.

    For a terminal in two more.
    """

    def get(self, request: Request) -> Response:
        mine = self.organization
        answer: dict[str, Any] = {
            "id": mine.id,
            "name": mine.name,
            "caller": _caller(self.membership, request.auth),
            "integration": _integration(mine),
        }
        with at_once.long_answers.one():  # there may be a thousand of each
            answer["domains"] = [domain_as_json(each) for each in mine.domains.order_by("name")]
            answer["sites"] = [as_json.site(each) for each in mine.sites.order_by("host", "path")]
        return Response(answer)


def _caller(member: Membership, token: Any) -> dict[str, Any]:
    """Who calls, what the token may do, and until when: that of a terminal is replaced each hour."""
    terminal = terminal_of(token)
    return {
        "login": member.login,
        "scopes": token.get_scopes(),
        "expires_at": terminal.ends_at if terminal else token.expires_at,
    }


def _integration(organization: Organization) -> dict[str, Any] | None:
    known = Integration.objects.select_related("installation")
    integration = known.of(organization).first()
    return as_json.integration(integration) if integration else None
