"""Claims of every kind: pending, verified, lapsing, lapsed, opted out; what their values were before."""

from datetime import timedelta
from io import StringIO
from unittest import mock

from django.core.management import call_command
from django.test import Client

from core import batches
from core import clock as database_clock
from integrations.delivery import pacing
from integrations.ownership import site_claims
from orgs.models import Domain, Membership, Site
from tests import build
from tests.conftest import Clock
from tests.dns_server import DNSServer
from tests.upgrades.filling.world import Hub, Team

SITE = "https://acme.github.io/docs/"


def make(docs: Team, dns: DNSServer, clock: Clock) -> None:
    """alice claims them, with the records that her DNS has."""
    api = build.api(build.token(Membership.objects.get(login="alice").user))
    verified = claim(api, "api.acme.com")
    dns.txt(verified.record_name, verified.record_value)
    assert api.post("/v1/orgs/me/domains/api.acme.com/verify").json()["status"] == "verified"
    claim(api, "new.acme.com").renew_challenge()
    claim(api, "gone.acme.com").remove_claim()
    claim(api, "xn--bcher-kva.example.org")
    lose(build.domain(docs.organization, "lapsing.acme.com"), clock)
    build.domain(docs.organization, "lapsed.acme.com").lapse("Its record was missing for too long.")
    api.patch(
        "/v1/orgs/me/domains/api.acme.com", {"opted_out": True}, content_type="application/json"
    )
    for url in (SITE, f"{docs.hub.host.url}/acme/docs/"):
        answer = api.post("/v1/orgs/me/sites", {"url": url}, content_type="application/json")
        assert answer.status_code == 201, answer.content
    build.site(docs.organization, "acme.github.io", "/old/", "acme/old")
    old = Site.objects.get(path="/old/")
    old.opt_out(True)
    old.note_refusal(True, old.url)
    Site.objects.filter(pk=old.pk).update(lapsed_at=database_clock.now())
    assert Domain.objects.take(docs.claim.pk, fresh=timedelta(0))
    call_command("reconcile_installations", stdout=StringIO())
    docs.claim.choose_badge("state")
    Domain.objects.get(name="api.acme.com").choose_badge("count")
    Site.objects.get(path="/docs/").choose_badge("count")
    Site.objects.get(path="/old/").choose_badge("state")


def rename(hub: Hub) -> None:
    """A repository has another name than before, and is private; the links to its issues are not all hidden yet.

    Its integration came from another installation.
    """
    team = hub.team("renamed")
    call_command(
        "reconcile_installations", stdout=StringIO()
    )  # one is asked about again after this
    site_claims.claim_site(team.organization, f"{hub.host.url}/{team.repository}/")
    team.send("In a repository that is renamed")
    hub.host.rename(team.repository, "other-name")
    with mock.patch.object(batches, "AT_ONCE", 0):
        hub.host.set_private("acme/other-name", True)
    pacing.move(team.integration)


def claim(api: Client, name: str) -> Domain:
    """A new claim, as a member makes it."""
    answer = api.post("/v1/orgs/me/domains", {"domain": name}, content_type="application/json")
    assert answer.status_code == 201, answer.content
    return Domain.objects.get(name=name)


def lose(domain: Domain, clock: Clock) -> None:
    """Its record is missing for more than a day, so that the grace period begins."""
    for _ in range(3):
        domain.record_missing()
        clock.advance(hours=13)
    clock.advance(hours=-39)
    assert domain.lapses_at
