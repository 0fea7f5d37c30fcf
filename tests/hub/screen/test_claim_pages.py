"""The page of a claim: what the DNS answered, what leads on, and what asks first."""

import re
from datetime import timedelta
from html.parser import HTMLParser

import pytest
from django.test import Client
from django.utils import timezone

from integrations.models import Delivery, Integration
from integrations.models.integration import NO_RIGHTS, PAUSED
from integrations.ownership import unclaimed
from orgs.models import Domain, Membership, Site
from reports.models import Report
from tests import build
from tests.plans import plans_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme(code_host):
    """Set up, except for claims."""
    owner = build.organization()
    build.integration(owner, code_host)
    return owner


@pytest.fixture
def alice(acme, client):
    client.force_login(build.member(acme))
    return client


@pytest.fixture
def claim(acme, dns) -> Domain:
    """It waits for its record; its zone is there."""
    dns.zones.append("acme.com")
    return build.domain(acme, "docs.acme.com", verified=False)


def text_of(answer) -> str:
    return answer.content.decode()


def words_of(answer) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", "", text_of(answer)))


def checked(alice, claim):
    return alice.post(f"/settings/claims/{claim.id}/", follow=True)


def test_a_missing_record_comes_after_what_was_verified(alice, claim):
    long_ago = timezone.now() - timedelta(days=30)
    absent = {"absent_since": timezone.now(), "lapses_at": timezone.now() + timedelta(days=5)}
    Domain.objects.update(verified_at=long_ago, opted_out_at=long_ago, **absent)

    page = text_of(alice.get(f"/settings/claims/{claim.id}/"))

    steps = page.partition('<ol class="path">')[2].partition("</ol>")[0]
    assert re.findall(r'<li class="(\w+)"><b>([^<]+)', steps) == [
        ("good", "Claimed"),
        ("off", "Verified"),
        ("bad", "Record missing"),
    ]
    assert page.count("Check now</button>") == page.count("Accept reports again</button>") == 1


def test_a_member_reads_what_an_owner_can_do_now(acme, claim, client):
    client.force_login(build.member(acme, "bob", role="member"))
    pending = text_of(client.get(f"/settings/claims/{claim.id}/"))
    Domain.objects.update(verified_at=timezone.now())
    verified = text_of(client.get(f"/settings/claims/{claim.id}/"))

    assert "An owner of your organization can remove this claim." in pending
    assert "An owner of your organization can opt out or remove this claim." in verified


def test_another_value_stands_below_the_wanted_one_with_the_difference_marked(alice, claim, dns):
    value = claim.record_value
    dns.txt(claim.record_name, f"{value[:-2]}~~", "v=spf1 -all")

    page = text_of(checked(alice, claim))

    assert "Almost: the value ends differently" in page
    assert f"<dt>Wanted</dt><dd><code>{value[:-2]}<b>{value[-2:]}</b></code></dd>" in page
    assert f"<dt>Found</dt><dd><code>{value[:-2]}<mark>~~</mark></code></dd>" in page
    assert "<dt>Also there</dt><dd><code>v=spf1 -all</code>" in page


def test_a_value_that_ends_too_early_is_marked_where_it_ends(alice, claim, dns):
    dns.txt(claim.record_name, claim.record_value[:-1])

    assert "<mark>…</mark></code> <small>it ends too early</small>" in text_of(
        checked(alice, claim)
    )


def test_who_was_asked_is_listed_with_the_answer(alice, claim):
    page = text_of(checked(alice, claim))

    assert "No record yet" in page
    row = '<span>The Hub&#x27;s resolver</span><span class="state wait">No record</span>'
    assert row in page


def test_a_claim_that_lapsed_says_so_first(alice, claim):
    Domain.objects.update(lapsed_at=timezone.now())

    before = text_of(alice.get(f"/settings/claims/{claim.id}/"))

    assert "You do not receive reports about it" in before
    assert "No record yet" in text_of(checked(alice, claim))


def test_text_of_a_stranger_s_servers_is_only_text(alice, claim, dns):
    dns.txt(claim.record_name, "<script>alert(1)</script>")

    page = text_of(checked(alice, claim))

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_record_is_as_the_provider_wants_it(alice, claim, dns):
    dns.name_server("acme.com", "ns-1.awsdns-01.net", "192.0.2.1")

    page = text_of(checked(alice, claim))

    assert "At Route 53, enter <code>_hub-challenge.docs</code> as Record name." in page
    assert '<th scope="col">Record name</th>' in page


@pytest.mark.parametrize(
    "address",
    [
        "https://docs.acme.com:8443/guide/",
        "docs.acme.com:8443",
        "docs.acme.com/guide",
        "//docs.acme.com?v=2",
    ],
)
def test_a_port_or_a_path_is_said(alice, address):
    page = text_of(alice.post("/settings/claims/new/", {"address": address}, follow=True))

    assert "The claim is of docs.acme.com: all its pages, on every port." in page


@pytest.mark.parametrize("address", ["docs.acme.com", "https://docs.acme.com/", " DOCS.acme.com. "])
def test_of_a_name_alone_there_is_nothing_to_say(alice, address):
    page = text_of(alice.post("/settings/claims/new/", {"address": address}, follow=True))

    assert "The claim is of" not in page
    assert Domain.objects.get().name == "docs.acme.com"


def test_opting_out_asks_first_with_what_reporters_get(alice, acme):
    claim = build.domain(acme, "docs.acme.com")
    link = f"/settings/claims/{claim.id}/opt-out/"

    leads_there = link in text_of(alice.get(f"/settings/claims/{claim.id}/"))
    asked = words_of(alice.get(link))
    before = build.send(Client()).status_code
    alice.post(link, {"opted_out": "1"})
    refused = build.send(Client())

    assert leads_there
    assert "Opt out of reports about docs.acme.com?" in asked
    assert before == 201
    assert refused.status_code == 410
    assert refused.json()["message"] in asked


def test_only_an_owner_is_asked(acme, client):
    claim = build.domain(acme, "docs.acme.com")
    client.force_login(build.member(acme, "bob", role="member"))

    answer = client.get(f"/settings/claims/{claim.id}/opt-out/", follow=True)

    assert "Only owners can do that." in text_of(answer)
    assert "Opt out of reports about" not in text_of(answer)


def test_nothing_is_asked_about_a_claim_that_has_opted_out_already(alice, acme):
    claim = build.domain(acme, "docs.acme.com")
    claim.opt_out(out=True)

    assert alice.get(f"/settings/claims/{claim.id}/opt-out/").status_code == 302


def test_where_all_claims_have_opted_out_the_test_page_says_so(alice, acme):
    without = text_of(alice.get("/settings/test/"))
    build.domain(acme, "docs.acme.com").opt_out(out=True)

    page = text_of(alice.get("/settings/test/"))

    assert "Claim a page first" in without
    assert "Your claims have opted out" in page
    assert "Claim a page first" not in page


@pytest.fixture
def early(alice, acme) -> tuple[Domain, list[Report]]:
    """A claim whose pages were reported three times before."""
    for number in range(3):
        body = build.report(report__summary=f"Number {number} <b>")
        build.send(Client(), body)
    return build.domain(acme, "docs.acme.com"), list(Report.objects.order_by("received_at"))


def test_a_new_claim_says_what_was_reported_before_and_sends_nothing(alice, early):
    claim, _ = early

    page = words_of(alice.get(f"/settings/claims/{claim.id}/"))

    assert "These pages had 3 reports in the last 30 days" in page
    assert not Delivery.objects.exists()


def test_what_is_chosen_among_earlier_reports_is_sent(alice, early):
    claim, [first, _, third] = early
    address = f"/settings/claims/{claim.id}/earlier/"

    listed = text_of(alice.get(address))
    nothing = text_of(alice.post(address, follow=True))
    sent = text_of(alice.post(address, {"id": [first.pk, third.pk]}, follow=True))
    late = text_of(alice.post(address, {"id": [first.pk]}, follow=True))

    assert listed.index("Number 2 &lt;b&gt;") < listed.index("Number 0 &lt;b&gt;")
    assert "Select the reports first." in nothing
    assert "2 reports are now yours. Each is sent in its turn." in sent
    assert "None was sent: somebody has received them meanwhile." in late
    assert {each.report_id for each in Delivery.objects.all()} == {first.pk, third.pk}
    assert "Number 1" in sent
    assert "Number 0" not in sent


def test_earlier_reports_that_are_not_sent_now_say_why(alice, early):
    claim, [first, *_] = early
    address = f"/settings/claims/{claim.id}/earlier/"
    Integration.objects.update(paused_at=timezone.now())

    listed = text_of(alice.get(address))
    done = text_of(alice.post(address, {"id": [first.pk]}, follow=True))

    assert f"Nothing is sent now. {PAUSED}" in listed
    assert f"1 report is now yours. Nothing is sent now. {PAUSED}" in done


def test_earlier_reports_go_on_on_the_next_page(alice, early, monkeypatch):
    monkeypatch.setattr(unclaimed, "PAGE_SIZE", 2)
    claim, [_, second, _] = early

    page = text_of(alice.get(f"/settings/claims/{claim.id}/earlier/"))
    older = text_of(alice.get(f"/settings/claims/{claim.id}/earlier/?after={second.pk}"))

    assert f'href="?after={second.pk}"' in page
    assert "Number 0" not in page
    assert "Number 0" in older


@pytest.mark.parametrize("state", ["pending", "opted out"])
def test_a_claim_that_receives_nothing_has_no_earlier_reports(alice, acme, early, state):
    claim, _ = early
    if state == "pending":
        Domain.objects.update(verified_at=None)
    else:
        claim.opt_out(out=True)

    assert alice.get(f"/settings/claims/{claim.id}/earlier/").status_code == 404
    assert "in the last 30 days" not in text_of(alice.get(f"/settings/claims/{claim.id}/"))


def test_the_page_of_a_claim_reads_earlier_reports_from_their_index(alice, early):
    claim, _ = early

    for page in ("", "earlier/"):
        plans = plans_of(lambda page=page: alice.get(f"/settings/claims/{claim.id}/{page}"))
        [read] = [plan for plan in plans if "unclaimed_name" in plan.sql]
        assert "report_unclaimed" in read


class _Buttons(HTMLParser):
    """The forms of a page with a primary button: address, fields, words."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str], str]] = []
        self._form: tuple[str, dict[str, str]] | None = None
        self._is_button = False

    def handle_starttag(self, tag: str, attrs) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._form = values.get("action", ""), {}
        if tag == "input" and values.get("type") == "hidden" and self._form:
            self._form[1][values["name"]] = values["value"]
        self._is_button = tag == "button" and "primary" in values.get("class", "")

    def handle_data(self, data: str) -> None:
        if self._is_button and self._form:
            self.found.append((*self._form, data))
            self._is_button = False


def press(alice: Client, page, words: str):
    """Press the one primary button with these words."""
    buttons = _Buttons()
    buttons.feed(text_of(page))
    [(address, fields, _)] = [each for each in buttons.found if each[2] == words]
    return alice.post(address, fields, follow=True)


def test_from_the_repository_to_the_first_issue_in_two_presses(alice, code_host):
    page = alice.get("/settings/integration/")

    claimed = press(alice, page, "Claim https://acme.github.io/docs/")
    sent = press(alice, claimed, "Send a test report")

    assert "https://acme.github.io/docs/ is yours." in text_of(claimed)
    assert len(code_host.issues("acme/docs")) == 1
    assert "Issue #1 opened in acme/docs" in words_of(sent)


@pytest.mark.parametrize(
    ("repository", "site"),
    [
        ("docs", "https://acme.github.io/docs/"),
        ("acme.github.io", "https://acme.github.io/"),
        ("Handbook", "https://acme.github.io/Handbook/"),
    ],
)
def test_the_site_of_a_repository_is_a_button(alice, repository, site):
    Integration.objects.update(repo_name=repository)

    page = text_of(alice.get("/settings/integration/"))

    assert f"Claim {site}</button>" in page
    assert "Another address</a>" in page


def test_no_site_is_offered_where_pages_publishes_nothing(alice):
    Integration.objects.update(has_pages=False)

    for page in ("/settings/integration/", "/settings/claims/new/"):
        assert "Claim https://acme.github.io" not in text_of(alice.get(page))
    assert "GitHub Pages publishes nothing from acme/docs. Claim a domain." in text_of(
        alice.get("/settings/")
    )


STOPPED = {  # the columns of the integration, and what the page says
    "the app is gone": (
        {"problem": "The app was uninstalled from acme. Install it again to resume."},
        "The app was uninstalled from acme. Install it again to resume.",
    ),
    "nobody has push access": ({"rights_lost_at": timezone.now()}, NO_RIGHTS),
}


@pytest.mark.parametrize("stopped", STOPPED)
def test_nothing_is_offered_that_the_repository_does_not_prove_now(alice, stopped):
    offered = text_of(alice.get("/settings/claims/new/"))
    columns, why = STOPPED[stopped]
    Integration.objects.update(**columns)

    pages = [text_of(alice.get(page)) for page in ("/settings/claims/new/", "/settings/")]

    assert "Claim https://acme.github.io/docs/</button>" in offered
    assert not any("Claim https://acme.github.io/docs/</button>" in page for page in pages)
    assert f"By a DNS record. {why}" in pages[1]


def test_the_page_of_a_site_says_what_to_do_without_pages(alice):
    organization = Membership.objects.get(login="alice").organization
    site = build.site(organization, "acme.github.io", "/docs/")
    Site.objects.update(lapsed_at=timezone.now(), repository="acme/docs")
    said = [text_of(alice.get(f"/settings/claims/{site.id}/"))]

    Integration.objects.update(has_pages=False)
    said.append(text_of(alice.get(f"/settings/claims/{site.id}/")))

    assert "Your issues go to acme/docs again, which publishes this site." in said[0]
    assert "GitHub Pages publishes nothing from acme/docs now. Turn it on" in said[1]


@pytest.mark.parametrize("stopped", STOPPED)
def test_the_page_of_a_lapsed_site_says_why_its_repository_proves_nothing(alice, acme, stopped):
    """Issues go neither there again nor elsewhere, and claiming it anew is refused."""
    site = build.site(acme, "acme.github.io", "/docs/")
    Site.objects.update(lapsed_at=timezone.now())
    columns, why = STOPPED[stopped]
    Integration.objects.update(**columns)

    said = words_of(alice.get(f"/settings/claims/{site.id}/"))

    assert f"{why} Once that is solved, the claim counts again." in said
    assert "Your issues" not in said
    assert why in words_of(alice.post("/settings/claims/new/", {"address": site.url}))


def test_of_a_lapsed_site_nothing_is_offered_that_is_refused(alice, acme):
    """Claiming it again accepts reports; of a domain that is offered, since its record brings it back."""
    site, domain = build.site(acme, "acme.github.io", "/docs/"), build.domain(acme, "docs.acme.com")
    for claim in (site, domain):
        claim.opt_out(out=True)
    Site.objects.update(lapsed_at=timezone.now())
    Domain.objects.update(lapsed_at=timezone.now(), verified_at=None)

    pages = [text_of(alice.get(f"/settings/claims/{each.id}/")) for each in (site, domain)]

    assert [page.count("Accept reports again</button>") for page in pages] == [0, 1]


def test_the_next_step_leads_to_the_claim_that_waits(alice, claim):
    page = text_of(alice.get("/settings/"))

    assert f'href="/settings/claims/{claim.id}/"' in page
