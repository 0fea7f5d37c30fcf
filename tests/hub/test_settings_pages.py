"""The pages of the settings: who may see them, what they refuse, and what they cost."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from hub.settings_pages import weeks
from integrations.models import Delivery, Integration
from orgs.models import Domain
from reports.models import Report
from tests import build

PAGES = ["", "integration/", "claims/", "claims/new/", "test/"]
POSTS = ["integration/", "integration/install/", "integration/try-again/", "claims/new/", "test/"]


@pytest.fixture
def acme(db):
    return build.organization()


@pytest.fixture
def alice(acme, client):
    client.force_login(build.member(acme))
    return client


def text_of(answer) -> str:
    return answer.content.decode()


@pytest.mark.parametrize("page", PAGES)
def test_a_visitor_signs_in_first(client, db, page):
    answer = client.get(f"/settings/{page}")

    assert answer.status_code == 302
    assert answer["Location"] == f"/login/?next=/settings/{page}"


@pytest.mark.parametrize("page", POSTS)
def test_a_form_needs_its_token(acme, page):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(build.member(acme))

    assert strict.post(f"/settings/{page}").status_code == 403


def test_what_belongs_to_others_is_not_there(alice, code_host):
    others = build.acme(code_host, "docs.initech.com")
    domain, site = others.domains.get(), build.site(others, "initech.github.io")
    build.send(Client(), build.report("https://docs.initech.com/x"))
    report = Report.objects.get()

    for path in (
        f"claims/{domain.id}/",
        f"claims/{domain.id}/delete/",
        f"claims/{site.id}/",
        "claims/nonsense/",
        f"test/{report.id}/",
    ):
        assert alice.get(f"/settings/{path}").status_code == 404
        assert alice.post(f"/settings/{path}").status_code == 404
    assert Domain.objects.filter(pk=domain.pk).exists()


@pytest.mark.parametrize(
    ("address", "refusal"),
    [
        ("github.io", "shared by many owners"),
        ("https://alice.github.io/docs/", "Choose the repository for your issues first"),
        ("localhost", "localhost"),
        ("not a host", "This is not a host name"),
        ("co.uk", "shared by many owners"),
    ],
)
def test_an_address_that_cannot_be_claimed_is_refused_in_words_and_kept(alice, address, refusal):
    page = text_of(alice.post("/settings/claims/new/", {"address": address}))

    assert "<title>Error: " in page
    assert refusal in page
    assert f'value="{address}"' in page


@pytest.mark.parametrize(
    "address", ["docs.acme.com", "https://docs.acme.com/guide?x=1", " Docs.ACME.com. "]
)
def test_any_spelling_of_a_domain_leads_to_its_record(alice, address):
    answer = alice.post("/settings/claims/new/", {"address": address}, follow=True)

    assert Domain.objects.get().name == "docs.acme.com"
    assert "_hub-challenge.docs.acme.com" in text_of(answer)
    assert "<code>_hub-challenge.docs</code>" in text_of(answer)


def test_giving_up_a_claim_asks_first(alice, acme):
    claim = build.domain(acme, "docs.acme.com")

    asked = alice.get(f"/settings/claims/{claim.id}/delete/")
    assert "Give up docs.acme.com?" in text_of(asked)
    assert Domain.objects.exists()

    alice.post(f"/settings/claims/{claim.id}/delete/")
    assert not Domain.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_try_again_says_what_is_still_in_the_way_and_then_lets_go_on(client, code_host):
    owner = build.acme(code_host)
    client.force_login(build.member(owner, github_id=code_host.account("alice").id))
    Integration.objects.update(problem="Issues are turned off in acme/docs.")
    build.send(Client())
    code_host.set_issues("acme/docs", False)

    refused = client.post("/settings/integration/try-again/", follow=True)
    assert "Issues are turned off in acme/docs. Turn them on first." in text_of(refused)
    assert Delivery.objects.get().status == "held"

    code_host.set_issues("acme/docs", True)
    client.post("/settings/integration/try-again/")
    assert Integration.objects.get().problem == ""
    assert Delivery.objects.get().status == "pending"


@pytest.mark.django_db(transaction=True)
def test_disconnecting_asks_first(client, code_host):
    client.force_login(build.member(build.acme(code_host)))

    asked = client.get("/settings/integration/disconnect/")
    assert "Disconnect acme/docs?" in text_of(asked)
    assert Integration.objects.get().repository == "acme/docs"

    client.post("/settings/integration/disconnect/")
    assert Integration.objects.get().repository == ""


@pytest.mark.django_db(transaction=True)
def test_the_preview_shows_a_hostile_report_made_safe(client, code_host):
    client.force_login(build.member(build.acme(code_host)))

    form = {"repository": "acme/docs", "issue_template": "{summary} {details}", "live": "1"}
    page = text_of(client.post("/settings/integration/", form))

    assert "Made harmless at" in page
    assert "@everyone" not in page
    assert 'here">·</mark>everyone' in page


def test_the_overview_takes_twelve_queries_however_much_there_is(
    alice, acme, django_assert_max_num_queries
):
    now = timezone.now()
    Report.objects.bulk_create(
        Report(
            organization=acme,
            received_at=now - timedelta(minutes=number),
            last_received_at=now,
            doc_url=f"https://docs.acme.com/{number % 50}",
            canonical_url=f"https://docs.acme.com/{number % 50}",
            kind="other",
            summary=f"Number {number}",
            agent_name="agent-x",
        )
        for number in range(500)
    )

    with django_assert_max_num_queries(12):
        page = text_of(alice.get("/settings/"))

    assert "Number 0" in page


def test_the_highest_week_fills_the_drawing_and_one_report_is_still_seen():
    today = timezone.now().date()
    days = [today - timedelta(weeks=1), today]

    small, large = weeks.drawn(days, {days[0]: 1, days[1]: 1000})

    assert (small.height, large.height) == (2, weeks.HEIGHT)
    assert weeks.drawn(days, {})[0].height == 0
