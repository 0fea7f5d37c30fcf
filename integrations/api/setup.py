"""The maintainers' API: installation, integration, sites and test reports."""

from collections.abc import Mapping
from typing import Literal

from django.http import Http404, HttpResponseRedirect
from django.http.response import HttpResponseBase
from pydantic import Field
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.response import Response

from core import client_address, ids
from core.cors import OneOrigin
from core.json_body import Text
from integrations.answers import telling
from integrations.api import as_json, receipts
from integrations.models import Delivery, Integration
from integrations.ownership import site_claims, taking_over
from integrations.setup import configuration, installing, trial_report
from integrations.setup.choices import Choices
from integrations.setup.labels import Choice
from orgs.api.authentication import MaintainerView
from orgs.api.request_body import InvalidRequest, OptOutBody, StrictBody, read
from orgs.models import Site, User
from orgs.people import opened
from reports.views import answer_of


class ChoicesBody(StrictBody):
    """What becomes of reports that are alike, and what everybody may see of them."""

    likeness: Literal["off", "hint", "fold"] | None = None
    when_reported_again: Literal["nothing", "comment", "reopen", "issue"] | None = None
    shows_known: bool | None = None

    def choices(self) -> Choices:
        """What they choose; None where they say nothing."""
        return Choices(**{name: getattr(self, name) for name in Choices._fields})


class ConfigureBody(ChoicesBody):
    """The repository, the issue template, what issues get, and whether bad news is told there."""

    repo_owner: Text = Field(max_length=100, pattern=r"^[A-Za-z0-9._-]+$")
    repo_name: Text = Field(max_length=100, pattern=r"^[A-Za-z0-9._-]+$")
    issue_template: Text | None = None
    alerts: bool | None = None
    labels: dict[str, list[Text]] | None = None
    assignees: list[Text] | None = None
    issue_type: Text | None = None


class SiteBody(StrictBody):
    """The URL of a site."""

    url: Text = Field(max_length=2048)


class Install(MaintainerView):
    """`GET /v1/integrations/github/install`: where to install the app, valid for ten minutes.

    It needs `orgs:write`, since it creates a state.
    """

    reading = ()

    def get(self, request: Request) -> Response:
        return Response(installing.begin(self.membership)._asdict())


class BrowserSession(BaseAuthentication):
    """`request.user` is the person who is signed in to the Hub in this browser, or None."""

    def authenticate(self, request: Request) -> tuple[User, None] | None:
        """The user of the browser session, if any."""
        user = request._request.user
        return (user, None) if isinstance(user, User) else None


class Callback(OneOrigin):
    """`GET /v1/integrations/github/callback`: the browser returns from GitHub."""

    authentication_classes = [BrowserSession]

    def get(self, request: Request) -> HttpResponseBase:
        if not opened.as_page(request._request):
            raise installing.InvalidState  # another site, whose own state it may be
        user = request.user if isinstance(request.user, User) else None
        network = client_address.network_of(request._request)
        done = completed(request.query_params, user, network)
        match done:
            case installing.SignInFirst():
                return HttpResponseRedirect(done.url)
            case installing.Choose():
                return Response({"choose": [each._asdict() for each in done.installations]})
        return Response(as_json.integration(done))


def completed(
    sent: Mapping[str, str], user: User | None, network: str
) -> Integration | installing.SignInFirst | installing.Choose:
    """Complete an installation with what the browser, of this network, brings back. `user` is who is signed in."""
    if sent.get("error"):
        installing.require_begun(user)
        raise installing.Declined
    if sent.get("setup_action") == "request":
        installing.require_begun(user)
        raise installing.Requested
    return installing.complete(
        sent.get("state", ""),
        network=network,
        code=sent.get("code", ""),
        installation_id=_number(sent, "installation_id"),
        user=user,
    )


class Repositories(MaintainerView):
    """`GET /v1/integrations/github/repositories`: those the caller may choose, out of 50 per call."""

    def get(self, request: Request) -> Response:
        page = configuration.repositories(
            self.membership, page=_number(request.query_params, "page") or 1
        )
        return Response(
            {
                "repositories": [as_json.repository(each) for each in page.repositories],
                "next_page": page.following,
            }
        )


class GitHubIntegration(MaintainerView):
    """`/v1/orgs/me/integrations/github`: choose the repository, change a choice, or disconnect it."""

    def post(self, request: Request) -> Response:
        body = read(ConfigureBody, request)
        integration = configuration.configure(
            self.membership,
            repo_owner=body.repo_owner,
            repo_name=body.repo_name,
            issue_template=body.issue_template or "",
            alerts=body.alerts,
            choices=body.choices(),
            choice=Choice(body.labels, body.assignees, body.issue_type),
        )
        return Response(as_json.integration(integration))

    def patch(self, request: Request) -> Response:
        chosen = read(ChoicesBody, request).choices()
        return Response(as_json.integration(configuration.choose(self.organization, chosen)))

    def delete(self, request: Request) -> Response:
        configuration.disconnect(self.membership)
        return Response(status=204)


class Sites(MaintainerView):
    """`POST /v1/orgs/me/sites`: claim a site. 200 if the organization already has it."""

    def post(self, request: Request) -> Response:
        site, is_new = taking_over.claim_site(self.membership, read(SiteBody, request).url)
        return Response(as_json.site(site), status=201 if is_new else 200)


class OneSite(MaintainerView):
    """`/v1/orgs/me/sites/<id>`: remove the claim, or opt out."""

    def delete(self, request: Request, site_id: str) -> Response:
        site_claims.remove_claim(self._find(site_id), by=self.membership)
        return Response(status=204)

    def patch(self, request: Request, site_id: str) -> Response:
        opted_out = read(OptOutBody, request).opted_out
        site = self._find(site_id)
        try:
            site_claims.opt_out(site, opted_out, by=self.membership)
        except Site.DoesNotExist:  # somebody has just removed it
            raise Http404 from None
        return Response(as_json.site(site))

    def _find(self, site_id: str) -> Site:
        site = ids.find(self.organization.sites.all(), site_id)
        if site is None:
            raise Http404
        return site


class TestReport(MaintainerView):
    """`POST /v1/orgs/me/test-report`: send a real report, and answer with its issue."""

    def post(self, request: Request) -> Response:
        receipt = trial_report.send(self.membership)
        delivery = Delivery.objects.outcome_of(receipt.id)
        answer = {
            **answer_of(receipt),
            "status": receipts.status_of(delivery),
            "issue_url": (delivery.issue_url_now if delivery else "") or None,
            **telling.NOTHING,
        }
        return Response(answer, status=201)


def _number(sent: Mapping[str, str], name: str) -> int | None:
    """A number from the query string; None if it is absent."""
    text = sent.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 18 and int(text)):
        message = "Must be a number, 1 or more."
        raise InvalidRequest(details=[{"path": f"query:{name}", "message": message}])
    return int(text)
