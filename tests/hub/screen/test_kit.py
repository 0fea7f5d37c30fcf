"""The page with what the owner of a claim can publish, and the badge."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core import counting
from hub.public import badge as badges
from integrations.models import Integration
from integrations.ownership import site_claims
from orgs.discovery import kit
from orgs.models import Domain, Site
from reports.models import Report
from tests import build
from tests.plans import plans_of, whole_tables_in
from tests.web_server import HOST

pytestmark = pytest.mark.django_db

CONTRACT = Path(__file__).resolve().parents[3] / "clients" / "contract"
REFUSES = json.dumps({"protocol_version": "0", "opt_in": False})


@pytest.fixture
def acme():
    return build.organization()


@pytest.fixture
def domain(acme) -> Domain:
    return build.domain(acme, HOST)


@pytest.fixture
def alice(acme, client) -> Client:
    client.force_login(build.member(acme))
    return client


@pytest.fixture
def bob(acme) -> Client:
    bob = Client()
    bob.force_login(build.member(acme, "bob", role="member"))
    return bob


def page(claim: Domain | Site, part: str = "") -> str:
    return f"/settings/claims/{claim.id}/kit/{part}"


def text_of(answer) -> str:
    return answer.content.decode()


def test_the_texts_name_this_hub_and_this_claim(alice, domain):
    text = text_of(alice.get(page(domain)))

    assert "&quot;endpoint&quot;: &quot;https://hub.example/v1/reports&quot;" in text
    assert "https://hub.example/report/?doc_url=https%3A%2F%2Fdocs.acme.com%2F" in text
    assert "Docs Feedback Hub: https://hub.example" in text


def test_a_site_has_a_kit_too(alice, acme):
    site = build.site(acme, "acme.github.io", "/docs/")

    text = text_of(alice.get(page(site)))

    assert "doc_url=https%3A%2F%2Facme.github.io%2Fdocs%2F" in text


@pytest.mark.parametrize("name", ["docs-feedback.json", "llms.txt", "AGENTS.md"])
def test_each_file_can_be_downloaded(alice, domain, name):
    answer = alice.get(page(domain, name))

    assert answer.status_code == 200
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    assert "https://hub.example" in text_of(answer)


def test_the_block_is_the_one_that_the_command_line_writes(alice, domain):
    text = (
        (CONTRACT / "blocks" / "first-party.md").read_text().format(hub_url="https://hub.example")
    )

    file = text_of(alice.get(page(domain, "AGENTS.md")))

    begin, *block, end = file.splitlines()
    assert block == text.splitlines()
    assert begin == "<!-- docfeedback:begin first-party v0 -->"
    assert end == "<!-- docfeedback:end first-party -->"


def test_who_has_opted_out_publishes_that(alice, domain):
    domain.opt_out(True)

    file = json.loads(alice.get(page(domain, "docs-feedback.json")).content)

    assert file == {"protocol_version": "0", "opt_in": False}


def test_a_hub_without_https_offers_no_file_that_clients_would_refuse(alice, domain, settings):
    settings.HTTPS, settings.HUB_BASE_URL = False, "http://localhost:8000"

    assert "Clients accept only https addresses" in text_of(alice.get(page(domain)))
    assert alice.get(page(domain, "docs-feedback.json")).status_code == 404


@pytest.mark.parametrize("part", ["", "llms.txt", "other.txt"])
def test_a_claim_that_is_not_proved_has_no_kit(alice, acme, part):
    pending = build.domain(acme, "docs.acme.org", verified=False)

    assert alice.get(page(pending, part)).status_code == 404
    assert alice.post(page(pending, part)).status_code in (404, 405)


def test_strangers_have_no_kit(domain, client):
    client.force_login(build.member(build.organization("other"), "charlie"))

    assert client.get(page(domain)).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_check_my_site_says_what_agents_find(alice, domain, web):
    web.says(kit.WELL_KNOWN, kit.well_known("https://hub.example", opted_out=False))
    web.says("/", "<h1>Acme</h1>")

    answer = alice.post(page(domain), follow=True)

    states = re.findall(r'class="state (\w+)"', text_of(answer))
    assert states == ["good", "todo", "todo"]
    assert "Clients send reports to this Hub." in text_of(answer)
    assert "Check again" in text_of(answer)


@pytest.mark.django_db(transaction=True)
def test_what_cannot_be_read_is_not_called_wrong(alice, domain, web):
    web.answers[kit.WELL_KNOWN] = b"SSH-2.0-OpenSSH\r\n\r\n"

    text = text_of(alice.post(page(domain), follow=True))

    assert re.search(r'class="state off">Not read<.*not HTTP', text)


@pytest.mark.django_db(transaction=True)
def test_what_a_host_answers_is_text(alice, domain, web):
    endpoint = "<script>alert(1)</script>"
    web.says(
        kit.WELL_KNOWN, json.dumps({"protocol_version": "0", "opt_in": True, "endpoint": endpoint})
    )

    answer = alice.post(page(domain), follow=True)

    assert "<script>alert" not in text_of(answer)
    assert "&lt;script&gt;alert(1)" in text_of(answer)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "endpoint", [r"https://a.example/\ud800", r"https://a.example/\u202e", r"\u0000"]
)
def test_characters_that_no_page_can_show_are_refused(alice, domain, web, endpoint):
    web.says(
        kit.WELL_KNOWN, f'{{"protocol_version": "0", "opt_in": true, "endpoint": "{endpoint}"}}'
    )

    answer = alice.post(page(domain), follow=True)

    assert "its endpoint is not a string of printable characters" in text_of(answer)


@pytest.mark.django_db(transaction=True)
def test_who_refuses_in_public_is_offered_to_opt_out_here(alice, domain, web):
    web.says(kit.WELL_KNOWN, REFUSES)

    alice.post(page(domain))

    shown = text_of(alice.get(f"/settings/claims/{domain.id}/"))
    assert "Your site asks for no reports" in shown
    assert "Opt out here, too" in shown
    assert Domain.objects.get().opted_out_at is None

    alice.post(f"/settings/claims/{domain.id}/opt-out/", {"opted_out": "1"})

    assert Domain.objects.get().opted_out_at
    assert "Your site asks" not in text_of(alice.get(f"/settings/claims/{domain.id}/"))


def test_a_member_is_not_offered_to_opt_out(bob, domain):
    Domain.objects.update(refused_in_public_at=timezone.now())

    shown = text_of(bob.get(f"/settings/claims/{domain.id}/"))

    assert "Opt out here, too" not in shown
    assert "An owner of your organization can opt out here, too." in shown


def test_a_claim_that_goes_meanwhile_is_not_found(alice, domain, monkeypatch):
    def gone(claim, by):
        Domain.objects.all().delete()
        claim.refresh_from_db()

    monkeypatch.setattr("orgs.discovery.checking.check", gone)

    assert alice.post(page(domain)).status_code == 404


def badge(claim: Domain | Site):
    badges.received.cache_clear()
    return Client().get(f"/badge/{claim.id}.svg")


def choose(who: Client, claim: Domain | Site, what: str):
    return who.post(page(claim, "badge/"), {"badge": what}, follow=True)


def test_without_an_owners_choice_there_is_no_badge(alice, bob, domain):
    assert badge(domain).status_code == 404

    refused = choose(bob, domain, "count")

    assert "Only owners can do that." in text_of(refused)
    assert badge(domain).status_code == 404


def test_a_badge_says_that_reports_are_welcome(alice, domain):
    assert "The badge was changed." in text_of(choose(alice, domain, "state"))

    answer = badge(domain)

    assert answer["Content-Type"] == "image/svg+xml"
    assert answer["Cache-Control"] == "public, max-age=3600"
    assert 'aria-label="docs feedback: welcome"' in text_of(answer)
    assert "[![Docs feedback](https://hub.example/badge/" in text_of(alice.get(page(domain)))


def test_a_badge_counts_the_reports_of_30_days(alice, domain, client, monkeypatch):
    choose(alice, domain, "count")
    for number in range(3):
        build.send(client, build.report(report__summary=f"Number {number}"))
    Report.objects.filter(summary="Number 0").update(
        received_at=timezone.now() - timedelta(days=31)
    )

    assert 'aria-label="docs feedback: 2 in 30 days"' in text_of(badge(domain))

    monkeypatch.setattr(counting, "MOST", 1)
    assert "docs feedback: more than 1 in 30 days" in text_of(badge(domain))


@pytest.mark.parametrize("private", [True, False])
def test_a_badge_counts_files_only_of_the_repository_and_while_it_is_public(
    code_host, client, private
):
    acme = build.acme(code_host)
    site_claims.claim_site(acme, f"{code_host.url}/acme/docs/")
    Integration.objects.update(repository_private=private)
    claim = acme.domains.get()
    claim.badge = claim.Badge.COUNT
    claim.save()
    for page in ("https://docs.acme.com/", f"{code_host.url}/acme/docs/blob/main/README.md"):
        build.send(client, build.report(page))

    assert Report.objects.newest_first(acme).count() == 2
    assert f"docs feedback: {1 if private else 2} in 30 days" in text_of(badge(claim))

    Integration.objects.update(repo_name="manual", repository_id=0, repository_private=False)
    assert "docs feedback: 1 in 30 days" in text_of(badge(claim))


def test_reports_about_private_files_push_none_out_of_the_number(code_host, client, monkeypatch):
    monkeypatch.setattr(counting, "MOST", 2)
    acme = build.acme(code_host)
    site_claims.claim_site(acme, f"{code_host.url}/acme/docs/")
    Integration.objects.update(repository_private=True)
    acme.domains.update(badge=Domain.Badge.COUNT)
    build.send(client)

    for number in range(6):
        build.send(client, build.report(f"{code_host.url}/acme/docs/blob/main/{number}.md"))

    assert "docs feedback: 1 in 30 days" in text_of(badge(acme.domains.get()))


def test_a_badge_is_read_from_an_index(alice, domain):
    choose(alice, domain, "count")

    plans = plans_of(lambda: badge(domain))

    assert not whole_tables_in(plans, "reports_report", "orgs_domain")
    assert any("report_received" in plan for plan in plans)


def test_a_badge_counts_once_in_five_minutes_however_often_it_is_asked_for(
    alice, domain, django_assert_num_queries, monkeypatch
):
    now = datetime(2026, 3, 1, 12, 5, tzinfo=UTC)
    monkeypatch.setattr(timezone, "now", lambda: now)
    choose(alice, domain, "count")
    with CaptureQueriesContext(connection) as first:
        badge(domain)

    now += timedelta(minutes=4, seconds=59)
    with django_assert_num_queries(len(first) - 2):  # what is public, and the count
        Client().get(f"/badge/{domain.id}.svg")

    now += timedelta(seconds=1)
    with django_assert_num_queries(len(first)):
        Client().get(f"/badge/{domain.id}.svg")


def test_a_badge_of_who_has_opted_out_says_so(alice, domain):
    choose(alice, domain, "count")
    domain.opt_out(True)

    assert "docs feedback: closed" in text_of(badge(domain))


@pytest.mark.parametrize("what", ["other", "x" * 1000])
def test_there_is_no_other_badge(alice, domain, what):
    assert choose(alice, domain, what).status_code == 404


def test_a_badge_ends_with_the_claim(alice, domain):
    choose(alice, domain, "state")
    domain.lapse("Gone.")

    assert badge(domain).status_code == 404


@pytest.mark.parametrize("claim_id", ["x", "0" * 26, "%00", "é"])
def test_no_badge_of_what_is_not_there(client, claim_id):
    assert client.get(f"/badge/{claim_id}.svg").status_code == 404
