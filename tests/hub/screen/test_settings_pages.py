"""The pages of the settings: who may see them, what they refuse, and what they cost."""

import html
import re
from contextlib import ExitStack
from datetime import timedelta
from itertools import count, cycle

import pytest
from allauth.idp.oidc.models import Token
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from core import at_once, counting
from hub.screen import attention, claims, lately, overview, weeks
from hub.screen import urls as settings_pages
from integrations.issue.rendering import DEFAULT_TEMPLATE
from integrations.models import Delivery, Integration
from orgs.models import Domain, Notice, PersonalToken, Site
from orgs.people import counted
from reports.models import Report
from tests import build

NOBODYS = {
    "report_id": "0" * 26,
    "claim_id": "0" * 26,
    "member_id": 0,
    "token_id": 0,
    "terminal_id": 0,
    "invitation_id": 0,
    "name": "llms.txt",
}


def addresses(ids: dict[str, object]) -> list[str]:
    """Every address of the settings, with these ids in it."""
    return [
        "/settings/" + re.sub(r"<\w+:(\w+)>", lambda part: str(ids[part[1]]), str(each.pattern))
        for each in settings_pages.urlpatterns
    ]


PAGES = addresses(NOBODYS)


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
    answer = client.post(page)

    assert answer.status_code == 302
    assert answer["Location"] == f"/login/?next={page}"


@pytest.mark.parametrize("page", PAGES)
def test_a_form_needs_its_token(acme, page):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(build.member(acme))

    assert strict.post(page).status_code == 403


@pytest.mark.parametrize("page", PAGES)
def test_one_person_has_only_so_many_pages_made_at_once(alice, acme, page):
    me = acme.memberships.get(login="alice")
    with ExitStack() as under_way:
        for _ in range(at_once.MOST):
            under_way.enter_context(counted.in_progress(me, counted.BROWSER))
        full = alice.get(page)

    assert (full.status_code, full["Retry-After"]) == (429, "1")


def test_members_have_only_so_many_pages_made_at_once_and_an_owner_is_not_kept_waiting(alice, acme):
    members = [build.member(acme, f"bob{n}", role="member") for n in range(3)]
    bob = Client()
    bob.force_login(build.member(acme, "bob", role="member"))
    with ExitStack() as under_way:
        for n in range(at_once.MOST_OF_MEMBERS):
            one = members[n % len(members)].membership
            under_way.enter_context(counted.in_progress(one, counted.TOKEN))
        full, mine = bob.get("/settings/"), alice.get("/settings/")

    assert (full.status_code, mine.status_code) == (429, 200)
    assert bob.get("/settings/").status_code == 200


def test_whoever_has_a_token_of_somebody_leaves_them_the_browser(alice, acme):
    me = acme.memberships.get(login="alice")
    with ExitStack() as under_way:
        for _ in range(at_once.MOST):
            under_way.enter_context(counted.in_progress(me, counted.TOKEN))
        called, opened = build.api(build.token(me.user)).get("/v1/orgs/me"), alice.get("/settings/")

    assert (called.status_code, opened.status_code) == (429, 200)


def test_no_cache_keeps_a_page_of_a_member(transactional_db, code_host, client):
    acme = build.acme(code_host)
    alice = build.member(acme)
    client.force_login(alice)
    build.token(alice)
    other = build.organization("initech")
    asks = build.member(other, "charlie").membership
    asked = {"github_id": alice.membership.github_id, "login": "alice", "invited_by": asks}
    ids = {
        "report_id": build.send(Client()).json()["id"],
        "claim_id": acme.domains.get().pk,
        "member_id": alice.membership.pk,
        "token_id": PersonalToken.objects.get().pk,
        "terminal_id": build.terminal(alice).pk,
        "invitation_id": other.invitations.create(role="member", **asked).pk,
        "name": "llms.txt",
    }

    for page in addresses(ids):
        answer = client.get(page)
        answer.close()  # of downloads one is made at a time
        assert answer.status_code in (200, 302, 404), answer.request["PATH_INFO"]
        assert "no-store" in answer["Cache-Control"], answer.request["PATH_INFO"]


def test_what_belongs_to_others_is_not_there(alice, code_host):
    others = build.acme(code_host, "docs.initech.com")
    domain, site = others.domains.get(), build.site(others, "initech.github.io")
    build.send(Client(), build.report("https://docs.initech.com/x"))
    report = Report.objects.get()

    for path in (
        f"claims/{domain.id}/",
        f"claims/{domain.id}/delete/",
        f"claims/{site.id}/",
        f"claims/{site.id}/delete/",
        "claims/nonsense/",
        f"test/{report.id}/",
    ):
        assert alice.get(f"/settings/{path}").status_code == 404
        assert alice.post(f"/settings/{path}").status_code == 404
    assert alice.post(f"/settings/claims/{domain.id}/opt-out/").status_code == 404
    assert Domain.objects.filter(pk=domain.pk, opted_out_at=None).exists()
    assert Site.objects.filter(pk=site.pk).exists()


@pytest.mark.parametrize(
    ("address", "refusal"),
    [
        ("github.io", "shared by many owners"),
        ("https://alice.github.io/docs/", "Choose the repository for your issues first"),
        ("localhost", "localhost"),
        ("not a host", "or a full https:// address."),
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


def test_claims_are_shown_a_page_at_a_time_domains_first(alice, acme, monkeypatch):
    monkeypatch.setattr(claims, "PAGE_SIZE", 3)
    for name in "dcba":
        build.domain(acme, f"{name}.example")
    for name in "yxwv":
        build.site(acme, f"{name}.github.io")

    pages = [alice.get("/settings/claims/", {"page": number}) for number in (1, 2, 3, 4)]

    names = [[str(each)[:1] for each in page.context["domains"]] for page in pages]
    assert names == [["a", "b", "c"], ["d"], [], []]
    hosts = [[each.host[:1] for each in page.context["sites"]] for page in pages]
    assert hosts == [[], ["v", "w"], ["x", "y"], []]
    assert [page.context["next_page"] for page in pages] == [2, 3, 0, 0]
    assert "Show the first page" in text_of(pages[3])


@pytest.mark.parametrize("wrong", ["0", "-1", "x", "10000", "", "1\n"])
def test_a_page_of_claims_that_cannot_be(alice, wrong):
    assert alice.get("/settings/claims/", {"page": wrong}).status_code == 404


def test_giving_up_a_claim_asks_first(alice, acme):
    claim = build.domain(acme, "docs.acme.com")

    asked = alice.get(f"/settings/claims/{claim.id}/delete/")
    assert "Remove the claim of docs.acme.com?" in text_of(asked)
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
def test_a_pause_holds_what_comes_in_and_its_end_lets_it_go(client, code_host):
    owner = build.acme(code_host)
    client.force_login(build.member(owner, github_id=code_host.account("alice").id))

    paused = client.post("/settings/integration/pause/", follow=True)
    build.send(Client())
    held = Delivery.objects.get()
    overview = text_of(client.get("/settings/"))
    report = text_of(client.get(f"/settings/reports/{held.report_id}/"))
    resumed = client.post("/settings/integration/resume/", follow=True)
    call_command("retry_deliveries")

    assert "Paused</span> since" in text_of(paused)
    assert '<span class="pill wait">Paused</span>' in overview
    assert "<strong>Paused since" in overview
    assert "1 report waits until you resume." in overview
    assert f'action="{reverse("settings-resume")}"' in overview
    assert (held.status, held.held_for) == ("held", "pause")
    assert "The integration is paused." in report
    assert "Try again" not in report
    assert "1 report on the way" in text_of(resumed)
    assert [issue.title for issue in code_host.issues("acme/docs")] == [
        "[docs] The install command is gone"
    ]


@pytest.mark.django_db(transaction=True)
def test_opting_out_refuses_reports_until_they_are_taken_again(client, code_host):
    owner = build.acme(code_host)
    client.force_login(build.member(owner))
    claim = owner.domains.get()

    out = client.post(f"/settings/claims/{claim.id}/opt-out/", {"opted_out": "1"}, follow=True)
    refused = build.send(Client())
    again = client.post(f"/settings/claims/{claim.id}/opt-out/", follow=True)
    taken = build.send(Client())

    assert "Reports about docs.acme.com are now refused." in text_of(out)
    assert text_of(out).count("Accept reports again") == text_of(out).count("Check now") == 1
    assert refused.status_code == 410
    assert "Reports about docs.acme.com are accepted again." in text_of(again)
    assert taken.status_code == 201


@pytest.mark.django_db(transaction=True)
def test_repositories_are_shown_fifty_at_a_time_and_what_was_typed_is_kept(client, code_host):
    for number in range(60):
        code_host.add_repository("acme", f"other-{number:02}")
    owner = build.acme(code_host)
    code_host.installation_on(code_host.account("acme")).repositories = None
    client.force_login(build.member(owner, github_id=code_host.account("alice").id))
    typed = {"repository": "acme/docs", "issue_template": "{sumary}"}

    first = text_of(client.get("/settings/integration/"))
    second = text_of(client.post("/settings/integration/", {**typed, "page": "2"}))

    assert first.count("<option") == 51  # and the one that says: choose
    assert "Show more repositories" in first
    assert second.count("<option") == 1 + 11 + 1  # the chosen one stays
    assert "Show the first repositories" in second
    assert "{sumary}" in second
    assert "<title>Error" not in second


@pytest.mark.django_db(transaction=True)
def test_disconnecting_asks_first(client, code_host):
    client.force_login(build.member(build.acme(code_host)))

    asked = client.get("/settings/integration/disconnect/")
    assert "Disconnect acme/docs?" in text_of(asked)
    assert Integration.objects.get().repository == "acme/docs"

    client.post("/settings/integration/disconnect/")
    assert Integration.objects.get().repository == ""


@pytest.mark.django_db(transaction=True)
def test_the_only_repository_is_chosen_already(client, code_host):
    owner = build.acme(code_host)
    client.force_login(build.member(owner, github_id=code_host.account("alice").id))
    Integration.objects.update(repository_id=None, repo_owner="", repo_name="")

    page = text_of(client.get("/settings/integration/"))

    assert '<option value="acme/docs" selected>' in page


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("looking", ["live", "preview", "page"])
def test_looking_saves_nothing(client, code_host, looking):
    owner = build.acme(code_host)
    code_host.add_to_installation(build.installed(code_host), code_host.add_repository("acme", "b"))
    client.force_login(build.member(owner, github_id=code_host.account("alice").id))
    before = Integration.objects.values().get()

    form = {"repository": "acme/b", "issue_template": "half a sen", looking: "1"}
    answer = client.post("/settings/integration/", form)

    assert answer.status_code == 200
    assert Integration.objects.values().get() == before


@pytest.mark.django_db(transaction=True)
def test_another_repository_is_asked_about_where_sites_would_be_lost(client, code_host):
    owner = build.acme(code_host)
    site = build.site(owner, "acme.github.io", "/docs/")
    code_host.add_to_installation(build.installed(code_host), code_host.add_repository("acme", "b"))
    client.force_login(build.member(owner, github_id=code_host.account("alice").id))
    form = {"repository": "acme/b", "issue_template": "{summary}"}

    asked = text_of(client.post("/settings/integration/", form))
    assert "Change to acme/b?" in asked
    assert "https://acme.github.io/docs/" in asked
    assert Integration.objects.get().repository == "acme/docs"

    done = client.post("/settings/integration/", {**form, "sure": "1"}, follow=True)
    assert "Issues now go to acme/b." in text_of(done)
    assert owner.sites.get(pk=site.pk).lapsed_at


@pytest.mark.django_db(transaction=True)
def test_only_what_was_changed_is_confirmed(client, code_host):
    owner = build.acme(code_host)
    client.force_login(build.member(owner, github_id=code_host.account("alice").id))
    form = {"repository": "acme/docs", "issue_template": "{summary}"}

    saved = client.post("/settings/integration/", form, follow=True)

    assert "Template saved." in text_of(saved)


def test_a_site_without_a_repository_keeps_what_was_typed_and_leads_there(alice):
    refused = text_of(alice.post("/settings/claims/new/", {"address": "acme.github.io/docs/"}))

    assert 'value="acme.github.io/docs/"' in refused
    assert '<a href="/settings/integration/">Choose the repository</a>' in refused


@pytest.mark.django_db(transaction=True)
def test_nothing_is_asked_about_a_form_with_a_fault(client, code_host):
    owner = build.acme(code_host)
    build.site(owner, "acme.github.io", "/docs/")
    client.force_login(build.member(owner))

    form = {"repository": "acme/nonsense", "issue_template": "{sumary}"}
    page = text_of(client.post("/settings/integration/", form))

    assert "Change to" not in page
    assert "Did you mean {summary}?" in page


def test_a_claim_that_has_opted_out_does_not_promise_reports(alice, acme, code_host):
    build.integration(acme, code_host)
    domain, site = build.domain(acme, "docs.acme.com"), build.site(acme, "acme.github.io", "/docs/")
    domain.opt_out(True)
    site.opt_out(True)

    pages = [text_of(alice.get(f"/settings/claims/{each.id}/")) for each in (domain, site)]

    for page in pages:
        assert "come to you" not in page.replace("do not come to you", "")
        assert "Send a test report" not in page
    assert "Your claims have opted out of reports." in text_of(alice.get("/settings/"))


@pytest.mark.django_db(transaction=True)
def test_the_default_template_is_not_frozen_by_a_form_that_shows_it(client, code_host):
    owner = build.acme(code_host)
    client.force_login(build.member(owner, github_id=code_host.account("alice").id))

    shown = DEFAULT_TEMPLATE.replace("\n", "\r\n")  # as browsers send it
    client.post("/settings/integration/", {"repository": "acme/docs", "issue_template": shown})

    assert Integration.objects.get().issue_template == ""


@pytest.mark.django_db(transaction=True)
def test_a_claim_whose_record_is_gone_still_gets_its_diagnosis(alice, acme, dns):
    claim = build.domain(acme, "docs.acme.com")
    Domain.objects.update(lapses_at=timezone.now() + timedelta(days=3))
    dns.txt("_hub-challenge.docs.acme.com.docs.acme.com", claim.record_value)

    page = text_of(alice.post(f"/settings/claims/{claim.id}/", follow=True))

    assert "Record missing" in page
    assert "Leave the record where it is" not in page
    assert "a second time" in page


@pytest.mark.django_db(transaction=True)
def test_checking_a_claim_that_is_fine_says_so(alice, acme, dns):
    claim = build.domain(acme, "docs.acme.com")
    dns.txt(claim.record_name, claim.record_value)

    page = text_of(alice.post(f"/settings/claims/{claim.id}/", follow=True))

    assert "The record was found." in page


def test_what_is_to_do_next_is_one_button_away(alice, acme, code_host):
    claim = build.domain(acme, "docs.acme.com")
    without = text_of(alice.get(f"/settings/claims/{claim.id}/"))
    build.integration(acme, code_host)

    page = text_of(alice.get(f"/settings/claims/{claim.id}/"))

    assert "Install the app</button>" in without
    assert "Send a test report</button>" in page


@pytest.mark.django_db(transaction=True)
def test_only_so_many_test_reports_are_sent(client, code_host):
    client.force_login(build.member(build.acme(code_host)))
    page = {"page": "https://docs.acme.com/"}

    answers = [client.post("/settings/test/", page) for _ in range(6)]

    assert [each.status_code for each in answers] == [302] * 5 + [200]
    assert "Too many test reports." in text_of(answers[-1])
    assert len(code_host.issues("acme/docs")) == 5


@pytest.mark.django_db(transaction=True)
def test_github_and_dns_are_asked_only_so_often(alice, acme, settings, dns):
    settings.HUB_ASKING_RATE = "1/minute"
    claim = build.domain(acme, "docs.acme.com", verified=False)

    alice.post(f"/settings/claims/{claim.id}/")
    refused = alice.post(f"/settings/claims/{claim.id}/", follow=True)

    assert "Too many requests." in text_of(refused)


@pytest.mark.django_db(transaction=True)
def test_the_preview_shows_a_hostile_report_made_safe(client, code_host):
    client.force_login(build.member(build.acme(code_host)))

    form = {"repository": "acme/docs", "issue_template": "{summary} {details}", "live": "1"}
    page = text_of(client.post("/settings/integration/", form))

    assert "Made harmless at" in page
    assert "@everyone" not in page
    assert "<mark>·</mark>everyone" in page


@pytest.mark.django_db(transaction=True)
def test_previews_are_made_only_so_often(client, code_host, monkeypatch):
    """Each makes three issues of whatever template it is sent."""
    client.force_login(build.member(build.acme(code_host)))
    form = {"repository": "acme/docs", "issue_template": "{summary}", "live": "1"}

    pages = [text_of(client.post("/settings/integration/", form)) for _ in range(61)]

    assert sum("Hostile" in page for page in pages) == 60
    assert "Too many previews. Try again in" in pages[-1]


@pytest.mark.django_db(transaction=True)
def test_who_has_a_template_that_is_cut_is_told(client, code_host):
    acme = build.acme(code_host)
    client.force_login(build.member(acme))
    template = "{summary}\n\n" + "{details}\n\n" * 5
    Integration.objects.update(issue_template=template)

    overview = text_of(client.get("/settings/"))
    form = {"repository": "acme/docs", "issue_template": template}
    refused = text_of(client.post("/settings/integration/", form))
    preview = text_of(client.post("/settings/integration/", form | {"live": "1"}))

    said = "{details} is in the template 5 times. Keep it at most 4 times."
    assert "Your template is too large" in overview
    assert all(said in page for page in (overview, refused, preview))


def test_one_person_cannot_take_all_threads(alice, acme, monkeypatch):
    bob = build.api(build.token(build.member(acme, "bob")))
    charlie = Client()
    charlie.force_login(build.member(build.organization("initech"), "charlie"))
    under_way, integration_of, beside = count(1), overview.integration_of, []

    def ask_for_more_meanwhile(organization):
        number = next(under_way) if organization == acme else None
        if number in (1, 2, 3):
            alice.get("/settings/")
        elif number == 4:
            beside.append(alice.get("/settings/", headers={"Accept": "text/html"}))
            beside.append(bob.get("/v1/orgs/me"))
            beside.append(charlie.get("/settings/"))
        return integration_of(organization)

    monkeypatch.setattr(overview, "integration_of", ask_for_more_meanwhile)
    first = alice.get("/settings/")

    assert [first.status_code, *(each.status_code for each in beside)] == [200, 429, 200, 200]
    assert beside[0]["Retry-After"] == "1"
    assert "too many requests in progress" in text_of(beside[0])
    assert alice.get("/settings/").status_code == 200


def received(organization, number: int, *, apart: timedelta = timedelta(minutes=1)) -> None:
    """As many reports about fifty pages, the latest first."""
    now = timezone.now()
    Report.objects.bulk_create(
        Report(
            organization=organization,
            received_at=now - apart * each,
            last_received_at=now,
            doc_url=f"https://docs.acme.com/{each % 50}",
            canonical_url=f"https://docs.acme.com/{each % 50}",
            kind="other",
            summary=f"Number {each}",
            agent_name="agent-x",
        )
        for each in range(number)
    )


@pytest.mark.slow
def test_the_overview_takes_the_same_queries_however_much_there_is(
    db, client, code_host, django_assert_max_num_queries
):
    acme = build.acme(code_host)
    client.force_login(build.member(acme))
    received(acme, 10_000)
    integration = Integration.objects.get()
    status = cycle(["sent", "failed", "pending", "held"])
    Delivery.objects.bulk_create(
        Delivery(report=each, integration=integration, **_columns(next(status), number))
        for number, each in enumerate(Report.objects.order_by("-received_at")[:2_000])
    )

    with django_assert_max_num_queries(27 + 5):  # for what waits, and why
        page = text_of(client.get("/settings/"))

    assert "Number 0" in page
    assert "Of your latest 5,000 reports." in page


def _columns(status: str, number: int) -> dict[str, object]:
    """What a delivery with this status has."""
    if status == "sent":
        arrived = {"last_tried_at": timezone.now(), "posted_at": timezone.now()}
        return {"status": status, "issue_number": number + 1, "repository_id": 7, **arrived}
    return {"status": status, "held_for": "ownership" if status == "held" else ""}


def test_a_new_organization_takes_few_queries(alice, django_assert_max_num_queries):
    with django_assert_max_num_queries(15):
        page = text_of(alice.get("/settings/"))

    assert "Step 1 of 4." in page
    assert "Of your latest" not in page


def test_the_overview_counts_only_the_latest_reports(alice, acme, monkeypatch):
    """A member whose organization has hundreds of thousands asks for the page in a loop."""
    monkeypatch.setattr(lately, "COUNTED", 60)
    received(acme, 200)
    Report.objects.filter(summary="Number 3").update(withheld_for=7)

    shown = alice.get("/settings/")

    pages = [(each.url, each.times) for each in shown.context["pages"]]
    assert pages == [(f"https://docs.acme.com/{number}", 2) for number in (0, 1, 10, 2, 4, 5)]
    assert sum(each.reports for each in shown.context["columns"]) == 60
    assert text_of(shown).count("Of your latest 60 reports.") == 2
    assert shown.context["figures"][0][1:] == ("60+", "more are not counted", None)


def figures(client) -> dict[str, tuple[str, str]]:
    return {
        each.name: (each.number, each.note) for each in client.get("/settings/").context["figures"]
    }


def test_the_figures_compare_a_week_with_the_one_before(alice, acme, code_host):
    integration = build.integration(acme, code_host)
    received(acme, 10, apart=timedelta(days=1))  # of seven days, and of three days before
    for number, report in enumerate(Report.objects.order_by("-received_at")[:9]):
        took = timedelta(seconds=2 * number + 1)
        times = {"last_tried_at": report.received_at, "posted_at": report.received_at + took}
        issue = {"status": "sent", "issue_number": number + 1, "repository_id": 7}
        Delivery.objects.create(report=report, integration=integration, **times, **issue)

    assert figures(alice) == {
        "Reports, last 7 days": ("7", "4 more than in the 7 days before"),
        "Became issues": ("7", "5 more than in the 7 days before"),
        "Median time to issue": ("7.0 s", "slowest 13 s"),
    }


def test_the_time_to_an_issue_ends_with_its_attempt(alice, acme, code_host):
    integration = build.integration(acme, code_host)
    received(acme, 1)
    report = Report.objects.get()
    at = {"last_tried_at": report.received_at, "posted_at": report.received_at}
    issue = {"status": "sent", "issue_number": 1, "repository_id": 7, "tries": 2}
    delivery = Delivery.objects.create(report=report, integration=integration, **at, **issue)
    for number in (1, 2):
        ended = report.received_at + timedelta(seconds=number)
        delivery.attempts.create(number=number, started_at=report.received_at, ended_at=ended)

    assert figures(alice)["Median time to issue"] == ("2.0 s", "slowest 2.0 s")


def test_more_issues_than_are_counted(alice, acme, code_host, monkeypatch):
    monkeypatch.setattr(counting, "MOST", 2)
    integration = build.integration(acme, code_host)
    received(acme, 4)
    for number, report in enumerate(Report.objects.all()):
        at = {"last_tried_at": timezone.now(), "posted_at": timezone.now()}
        issue = {"status": "sent", "issue_number": number + 1, "repository_id": 7}
        Delivery.objects.create(report=report, integration=integration, **at, **issue)

    monkeypatch.setattr(lately, "TIMED", 1)
    found = figures(alice)

    assert found["Became issues"] == ("2+", "")
    assert found["Median time to issue"][1].endswith(", of the latest 1")


def test_nothing_that_became_an_issue_has_no_median(alice, acme):
    received(acme, 1)

    assert figures(alice)["Median time to issue"] == ("–", "no issue was opened lately")


def test_more_held_and_failed_reports_than_are_counted(alice, acme, code_host, monkeypatch):
    monkeypatch.setattr(counting, "MOST", 2)
    integration = build.integration(acme, code_host)
    received(acme, 5)
    for number, report in enumerate(Report.objects.all()):
        held = {"status": "held", "held_for": "ownership"} if number > 1 else {"status": "failed"}
        Delivery.objects.create(report=report, integration=integration, **held)

    page = text_of(alice.get("/settings/"))

    assert "More than 2 reports are held." in page
    assert "2 reports failed." in page
    assert ">Show the 2</a>" in page
    assert " not sent yet" not in page  # there are more than are looked at


def test_what_is_not_sent_yet_is_a_part_of_its_week(alice, acme, code_host):
    integration = build.integration(acme, code_host)
    received(acme, 3)
    for report in Report.objects.all()[:2]:
        Delivery.objects.create(report=report, integration=integration, status="failed")

    shown = alice.get("/settings/")

    assert sum(each.unsent for each in shown.context["columns"]) == 2
    assert re.search(
        r"</?b>\d<span class=\"hidden\"> reports?, \d not sent yet, week of <", text_of(shown)
    )
    assert '?status=failed">2 failed</a>' in text_of(shown)


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        ("", ["2 failed", "1 held"]),
        ("Issues are off.", ["2 failed", "4 held or about to be"]),
    ],
)
def test_what_waits_is_about_to_be_held_where_nothing_is_sent(
    alice, acme, code_host, problem, said
):
    integration = build.integration(acme, code_host)
    Integration.objects.update(problem=problem)
    received(acme, 6)
    states = ["failed", "failed", "held", "pending", "pending", "pending"]
    for report, status in zip(Report.objects.all(), states, strict=True):
        held = {"held_for": "ownership" if status == "held" else ""}
        Delivery.objects.create(report=report, integration=integration, status=status, **held)

    page = text_of(alice.get("/settings/"))

    figure = page.partition("<dt>Failed or held</dt>")[2].partition("</dd>")[0]
    assert re.findall(r">([^<>]+)</a>", figure) == said
    assert f"<dd>{sum(int(each.split()[0]) for each in said)}" in figure


def test_more_withheld_reports_than_are_counted(alice, acme, monkeypatch):
    monkeypatch.setattr(counting, "MOST", 2)
    received(acme, 4)
    Report.objects.update(withheld_for=7)

    assert "More than 2 reports are not shown" in text_of(alice.get("/settings/reports/"))


def test_the_first_of_many_lapsed_claims_are_named(alice, acme, monkeypatch):
    monkeypatch.setattr(attention, "LAPSED", 2)
    for name in ("a.example", "b.example", "c.example"):
        build.domain(acme, name, verified=False)
    acme.domains.update(lapsed_at=timezone.now())

    page = text_of(alice.get("/settings/"))

    assert "The claim of b.example has lapsed." in page
    assert "c.example" not in page
    assert "More claims have lapsed." in page


def test_the_first_of_many_claims_that_lapse_soon_are_named(alice, acme, monkeypatch):
    monkeypatch.setattr(attention, "LAPSED", 2)
    for name in ("a.example", "b.example", "c.example"):
        build.domain(acme, name)
    acme.domains.update(lapses_at=timezone.now() + timedelta(days=5))

    page = text_of(alice.get("/settings/"))

    assert "The DNS record of b.example is gone." in page
    assert "c.example" not in page
    assert "More DNS records are gone." in page


def test_the_most_reported_pages_are_those_of_the_last_thirty_days(alice, acme):
    received(acme, 4, apart=timedelta(days=20))

    shown = alice.get("/settings/")

    assert [each.name for each in shown.context["pages"]] == ["/0", "/1"]
    assert sum(each.reports for each in shown.context["columns"]) == 3  # of eight weeks
    assert "<small>reports and repeats, 30 days</small>" in text_of(shown)


def test_a_bar_opens_exactly_the_reports_of_its_page(alice, acme):
    received(acme, 60)
    Report.objects.filter(summary="Number 1").update(canonical_url="https://docs.acme.com/0/1")
    longer_ago = timezone.now() - lately.RECENTLY - timedelta(days=2)
    same_page = {"canonical_url": "https://docs.acme.com/0", "received_at": longer_ago}
    Report.objects.filter(summary="Number 2").update(**same_page)

    links = re.findall(
        r'<li><a href="([^"]+page=[^"]+)">([^<]+)</a><b>(\d+)', text_of(alice.get("/settings/"))
    )
    [(link, _, times)] = [each for each in links if each[1] == "/0"]

    rows = alice.get(html.unescape(link)).context["rows"]
    assert times == "2"
    assert [row.report.summary for row in rows] == ["Number 0", "Number 50"]


def titles(client) -> list[str]:
    return [each.title or each.more for each in client.get("/settings/").context["attention"]]


def test_what_needs_attention_comes_with_the_most_severe_first(db, client, code_host):
    acme = build.acme(code_host)
    alice = build.member(acme)
    client.force_login(alice)
    received(acme, 1)
    mine = Integration.objects.get()
    Delivery.objects.create(report=Report.objects.get(), integration=mine, status="failed")
    build.token(alice)
    Token.objects.update(expires_at=timezone.now() + timedelta(days=4, hours=1))
    acme.domains.update(lapses_at=timezone.now() + timedelta(days=5))
    acme.tell(Notice.Kind.DECLINED, "bob joined.")
    build.site(acme, "acme.github.io")
    acme.sites.update(lapsed_at=timezone.now())

    shown = titles(client)

    assert shown == [
        "The claim of https://acme.github.io/ has lapsed.",
        "1 report failed.",
        "The DNS record of docs.acme.com is gone.",
        shown[3],
        "bob joined.",
    ]
    assert re.fullmatch("The token for a test expires in [45] days.", shown[3])


def test_a_token_is_named_only_to_whom_it_belongs_and_while_it_counts(alice, acme):
    others = build.token(build.member(acme, "bob"))
    assert others
    Token.objects.update(expires_at=timezone.now() + timedelta(days=1))
    mine = PersonalToken.objects.count()

    assert mine == 1
    assert titles(alice) == []


@pytest.mark.parametrize(("days", "is_said"), [(-1, False), (0.5, True), (6.9, True), (7.1, False)])
def test_a_token_is_named_in_its_last_week(client, acme, days, is_said):
    alice = build.member(acme)
    client.force_login(alice)
    build.token(alice)
    Token.objects.update(expires_at=timezone.now() + timedelta(days=days))

    assert len(titles(client)) == is_said


@pytest.mark.parametrize(
    ("columns", "mark", "first"),
    [
        ({}, "state good", ""),
        ({"problem": "Issues are turned off."}, "pill bad", "Nothing is being sent."),
        ({"rights_lost_at": timezone.now()}, "pill bad", "Nothing is being sent."),
        ({"paused_at": timezone.now()}, "pill wait", "Paused since"),
        (
            {"rights_absences": 1, "rights_absent_since": timezone.now()},
            "state good",
            "No member of your organization has push access to acme/docs any more.",
        ),
    ],
)
def test_the_overview_begins_with_how_things_stand(db, client, code_host, columns, mark, first):
    acme = build.acme(code_host)
    client.force_login(build.member(acme))
    Integration.objects.update(**columns)

    shown = client.get("/settings/")

    assert shown.context["standing"].shape == mark
    assert [each.title[: len(first)] for each in shown.context["attention"]] == [first] * bool(
        first
    )
    assert ">acme/docs</a>, for" in text_of(shown)


@pytest.mark.parametrize(
    ("problem", "button"), [("Issues are turned off.", "Try again"), ("", "Install it again")]
)
def test_what_stopped_it_comes_with_the_button_that_ends_it(db, client, code_host, problem, button):
    client.force_login(build.member(build.acme(code_host)))
    gone = Integration.objects.select_related("installation").get().installation.uninstalled
    Integration.objects.update(problem=problem or gone)

    [line] = client.get("/settings/").context["attention"]

    assert (line.button, line.acts) == (button, True)


def test_an_opted_out_claim_is_not_said_to_receive(db, client, code_host):
    acme = build.acme(code_host)
    client.force_login(build.member(acme))
    acme.domains.get().opt_out(True)

    assert client.get("/settings/").context["standing"].words == "Opted out"


def test_the_number_is_that_of_the_next_step_whatever_was_done_before(db, client):
    acme = build.organization()
    client.force_login(build.member(acme))
    build.domain(acme, "docs.acme.com")

    assert "Step 1 of 4. Three short steps until" in text_of(client.get("/settings/"))


def test_the_next_step_is_open_and_a_finished_set_up_is_gone(db, client, code_host):
    acme = build.organization()
    client.force_login(build.member(acme))
    first = text_of(client.get("/settings/"))
    build.integration(acme, code_host)
    second = text_of(client.get("/settings/"))
    claimed = client.post("/settings/claims/new/", {"address": "docs.acme.com"})
    acme.domains.update(verified_at=timezone.now())
    received(acme, 1)
    issue = {"status": "sent", "issue_number": 1, "repository_id": 7}
    mine = Integration.objects.get()
    Delivery.objects.create(report=Report.objects.get(), integration=mine, **issue)
    done = text_of(client.get("/settings/"))

    assert first.count('aria-current="step"') == second.count('aria-current="step"') == 1
    assert 'class="primary">Install the app</button>' in first
    assert 'class="primary">Claim https://acme.github.io/docs/</button>' in second
    assert claimed.status_code == 302
    assert "Step 3 of 4" in second
    assert "Set up</h2>" not in done
    assert "Send a test report</a>" in done


def test_the_highest_week_fills_the_drawing_and_one_report_is_still_seen():
    today = timezone.now()
    days = [today.date() - timedelta(weeks=1), today.date()]

    small, large = weeks.columns(days, [1, 1000], [today] * 3)

    assert (small.height, small.upper) == (2, 0)
    assert (large.height, large.upper) == (weeks.HEIGHT, 2)
    assert large.begin + large.lower == large.height
    assert weeks.columns(days, [0, 0], [])[0].height == 0


def test_a_week_whose_reports_all_wait_has_no_other_part():
    now = timezone.now()

    [only] = weeks.columns([now.date()], [2], [now, now, now])

    assert (only.unsent, only.upper, only.lower) == (2, weeks.HEIGHT, 0)
