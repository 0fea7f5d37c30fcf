"""Every page of the settings, in every state, on every screen: looked at by axe, and kept as a picture."""

from datetime import timedelta

import pytest
from allauth.idp.oidc.models import Token
from django.utils import timezone

from hub.screen.domain_page import ANSWER
from hub.screen.kit import FOUND
from integrations.models import Answer, Attempt, Delivery, Hold, Integration
from integrations.setup import trial_report
from orgs.models import Domain, Notice, Organization, User
from reports.erasing import erase
from reports.models import TEST, Account, Report
from tests import build
from tests.browser import screens as screens_module
from tests.browser.screens import Screen

pytestmark = pytest.mark.django_db(transaction=True)

LONG = "https://docs.acme.com/" + "a-very-long-path-without-an-end/" * 6 + "x" * 40
LENGTHY = "\n".join(f"{number}. Run step {number}, which is gone." for number in range(200))
FINDINGS = [
    ("https://acme.github.io/.well-known/docs-feedback.json", "good", "Clients find this Hub."),
    ("https://acme.github.io/llms.txt", "todo", "It is not there."),
    ("https://acme.github.io/docs/", "bad", "The server answers 503."),
]
PROBLEM = "Issues are turned off in acme/docs. Turn them on, then press Try again."
OTHERS = [  # axe sees each layout and each theme: layout does not follow the theme, nor colors the width
    Screen(1280, "dark"), Screen(375, "dark", axe=False), Screen(1280, "light", axe=False),
]  # fmt: skip
screens = pytest.mark.parametrize(
    ("screen", "others"),
    [(Screen(320), OTHERS), (Screen(375, script=False), [])],
    ids=["with-script", "plain"],
)


def received(owner: Organization, summary: str, *, days: int = 0, **columns) -> Report:
    at = timezone.now() - timedelta(days=days)
    known = {
        "doc_url": "https://docs.acme.com/install",
        "details": "Step 2 says `npm install acme-cli`.",
        "kind": "outdated",
        "agent_name": "docs-agent",
    } | columns
    report = Report(
        organization=owner,
        received_at=at,
        last_received_at=at,
        canonical_url=known["doc_url"],
        summary=summary,
        **known,
    )
    return Report.objects.bulk_create([report])[0]  # without the signal that would send it


def delivered(report: Report, status: str, **columns) -> Report:
    integration = Integration.objects.get()
    if status == "sent":
        columns |= {
            "repository_id": integration.repository_id,
            "repository": "acme/docs",
            "title": f"[docs] {report.summary}",
            "body": report.details,
            "posted_at": timezone.now(),
            "issue_number": report.times_reported,
            "issue_url": f"https://github.com/acme/docs/issues/{report.times_reported}",
        }
    delivery = Delivery.objects.create(
        report=report, integration=integration, status=status, tries=2, **columns
    )
    last = status if status in ("sent", "folded") else "refused"
    for number, outcome in enumerate(("later", last), start=1):
        Attempt.objects.create(
            delivery=delivery,
            number=number,
            started_at=timezone.now(),
            ended_at=timezone.now(),
            outcome=outcome,
            reason="GitHub answered 502, without an issue." if number == 1 else "",
        )
    return report


def accounted(report: Report) -> None:
    """With three further accounts: a short one, a long one, one of other words throughout."""
    at = {"report": report, "received_at": timezone.now(), "last_received_at": timezone.now()}
    short = {"kind": "broken", "summary": report.summary, "details": "It is `@acme/cli` now."}
    long = short | {"details": LENGTHY, "evidence": [{"kind": "quote", "text": "x" * 150}]}
    other = short | {"summary": "x" * 150, "details": "", "agent_version": "2.1"}
    for number, words in enumerate((short, long, other), start=1):
        Account.objects.create(
            **at, **words, times_received=number, words_hash=str(number), size=number
        )


@pytest.fixture
def busy(code_host) -> Organization:
    """Set up, with a problem, and with claims and reports in every state."""
    owner = build.acme(code_host, "docs.acme.com", "acme.dev", "acme.info")
    for name in ("docs.acme.org", "acme.wiki"):
        build.domain(owner, name, verified=False)
    soon = timezone.now() + timedelta(days=3)
    owner.domains.filter(name="docs.acme.org").update(expires_at=soon)
    owner.domains.filter(name="acme.wiki").update(lapsed_at=timezone.now())
    owner.domains.filter(name="acme.info").update(lapses_at=soon)
    owner.domains.filter(name="acme.dev").update(opted_out_at=timezone.now())
    owner.domains.filter(name="docs.acme.com").update(badge="count", refused_in_public_at=soon)
    site = build.site(owner, "acme.github.io", "/docs/")
    build.site(owner, "acme.github.io", "/old/")
    owner.sites.filter(path="/old/").update(lapsed_at=timezone.now())
    for number in range(30):
        received(owner, f"Step {number} is gone", days=number * 2)
    gone = "The install command names a package that is gone"
    often = {"times_reported": 7, "further_accounts": 3, "accounts_not_kept": 2}
    accounted(delivered(received(owner, gone, details=LENGTHY, **often), "sent"))
    erase(received(owner, "Of alice@example.com", times_reported=2, further_accounts=1))
    held = {"held_for": "integration", "reason": PROBLEM}
    delivered(received(owner, "x" * 150, doc_url=LONG, times_reported=3), "held", **held)
    failed = received(owner, "The page about tokens is missing", doc_url=site.url)
    delivered(failed, "failed", reason="GitHub refused the issue: Validation Failed.")
    for status, columns in {
        "sent": {},
        "held": held,
        "pending": {"reason": "GitHub answered 502, without an issue."},
        "failed": {"reason": "GitHub refused the issue: Validation Failed."},
    }.items():
        key = f"{TEST}{status}"
        trial = received(owner, f"Test: {status}", agent_name=trial_report.AGENT, dedup_key=key)
        delivered(trial, status, **columns)
    Integration.objects.update(problem=PROBLEM)
    for number in range(50):
        owner.tell(Notice.Kind.LOST, f"https://acme.github.io/{number}/ is gone. Claim it again.")
    owner.tell(Notice.Kind.UNPROVED, f"The claim of {'long-' * 30}.acme.com was removed.")
    owner.tell(Notice.Kind.REFUSED, f"{LONG} says that you want no reports.")
    owner.tell(
        Notice.Kind.BELOW, "Other organizations have proved names below acme.com: new.acme.com."
    )
    return owner


@pytest.fixture
def alice(busy, code_host) -> User:
    user = build.member(busy, "alice", github_id=code_host.account("alice").id)
    build.token(user)
    Token.objects.update(expires_at=timezone.now() - timedelta(days=1))
    build.token(user)
    busy.invitations.create(github_id=1, login="bob", role="member", invited_by=user.membership)
    build.member(busy, "charlie", role="member")
    return user


EARLY = {
    "received_at": timezone.now(),
    "last_received_at": timezone.now(),
    "doc_url": "https://docs.acme.com/" + "long-" * 30,
    "canonical_url": "https://docs.acme.com/" + "long-" * 30,
    "kind": "broken",
    "summary": "The first link leads nowhere",
    "agent_name": "agent-x",
}


def almost(claim: Domain) -> dict:
    """What the session keeps of an answer with another value, and of who gave it."""
    return {
        "title": "Almost: the value ends differently",
        "hint": "Replace it.",
        "others": [f"{claim.record_value[:-2]}zz", "v=spf1 -all"],
        "asked": [
            ["ns1.acme.org", "2 values, none of them yours", False],
            ["a" * 63 + ".acme.org", "No answer: no answer in time", False],
        ],
        "entry": [
            "Route 53",
            "Record name",
            "Put the value in double quotation marks there.",
            "_hub",
        ],
    }


CHOICE = {
    "labels": {"*": ["docs feedback", LONG[:50]], "broken": ["bug"]},
    "assignees": ["alice", "bob"],
    "issue_type": "Bug",
    "not_applied": f"label {LONG[:50]}\nassignee bob\nissue type Bug",
}


@screens
def test_the_pages_of_a_newcomer(visit, screen, others):
    window = visit(screen, build.member(build.organization("alice"), "alice"), others=others)

    faults = window.look_at(
        {
            "new-overview": "/settings/",
            "new-integration": "/settings/integration/",
            "new-claims": "/settings/claims/",
            "new-claim": "/settings/claims/new/",
            "new-test": "/settings/test/",
            "new-reports": "/settings/reports/",
            "new-tokens": "/settings/tokens/",
            "new-news": "/settings/news/",
            "no-older-news": "/settings/news/?after=1",
            "no-page": "/settings/nothing/",
            "logout": "/logout/",
        }
    )

    assert not faults


@screens
def test_the_pages_of_an_organization_at_work(visit, busy, alice, screen, others):
    window = visit(screen, alice, others=others)
    claims = {each.name: f"/settings/claims/{each.id}/" for each in busy.domains.all()}
    sites = {each.path: f"/settings/claims/{each.id}/" for each in busy.sites.all()}
    trials = Report.objects.filter(summary__startswith="Test: ")
    others = Delivery.objects.exclude(report__in=trials)
    erased = Report.objects.get(erased_at__isnull=False)
    window.remember(FOUND, {busy.sites.get(path="/docs/").id: FINDINGS})
    waiting = busy.domains.get(name="docs.acme.org")
    window.remember(ANSWER, {waiting.id: almost(waiting)})
    Report.objects.create(unclaimed_name="acme.com", **EARLY)

    faults = window.look_at(
        {
            "overview": "/settings/",
            "news": "/settings/news/",
            "integration": "/settings/integration/",
            "disconnect": "/settings/integration/disconnect/",
            "claims": "/settings/claims/",
            "domain": claims["docs.acme.org"],
            "domain-verified": claims["docs.acme.com"],
            "earlier": f"{claims['docs.acme.com']}earlier/",
            "opt-out": f"{claims['docs.acme.com']}opt-out/",
            "domain-gone": claims["acme.info"],
            "domain-lapsed": claims["acme.wiki"],
            "domain-opted-out": claims["acme.dev"],
            "site": sites["/docs/"],
            "site-lapsed": sites["/old/"],
            "give-up": f"{claims['acme.dev']}delete/",
            "kit": f"{claims['docs.acme.com']}kit/",
            "kit-checked": f"{sites['/docs/']}kit/",
            "test": "/settings/test/",
            **{f"test-{each.summary[6:]}": f"/settings/test/{each.id}/" for each in trials},
            "reports": "/settings/reports/",
            **{f"report-{each.status}": f"/settings/reports/{each.report_id}/" for each in others},
            "report-erased": f"/settings/reports/{erased.id}/",
            "erase": f"/settings/reports/{others.get(status='sent').report_id}/erase/",
            "tokens": "/settings/tokens/",
            "account": "/settings/account/",
            "delete": "/settings/account/delete/",
        }
    )
    Integration.objects.update(paused_at=timezone.now())
    faults += window.look_at({"paused": "/settings/integration/"})
    Integration.objects.update(paused_at=None, **CHOICE)
    faults += window.look_at({"labels": "/settings/integration/", "lacking": "/settings/"})
    Integration.objects.update(has_pages=False)
    busy.sites.filter(path="/docs/").update(lapsed_at=timezone.now())
    faults += window.look_at({"site-without-pages": sites["/docs/"]})

    assert not faults


def alike(lead: Delivery) -> tuple[Report, Report]:
    """One that has joined the issue of another one, and one whose issue says that it is maybe the same."""
    words = "same page; npm install, acme-cli, “404 Not Found” and package in common"
    like = {"likeness_rule": 1, "likeness_words": words}
    mine = lead.report.organization
    joined = received(mine, "`npm install acme-cli` ends with 404", agent_name="another-agent")
    delivered(joined, "folded", lead=lead, folded_at=timezone.now(), **like)
    hinted = received(mine, "Which package is it, " + "x" * 150, times_reported=5)
    return joined, delivered(hinted, "sent", maybe_lead=lead, **like)


@screens
def test_the_pages_of_one_problem(visit, busy, alice, screen, others):
    window = visit(screen, alice, others=others)
    lead = Delivery.objects.get(status="sent", report__times_reported=7)
    joined, hinted = alike(lead)
    Answer.objects.create(delivery=lead, text="Use `@acme/cli` until 2.4. " * 15, made_by="alice")
    fold = {"likeness": "fold", "when_reported_again": "issue", "shows_known": True}
    Integration.objects.update(**fold, problem="", repository_private=True)

    faults = window.look_at(
        {
            "one-issue": "/settings/integration/",
            "one-issue-overview": "/settings/",
            "one-issue-reports": "/settings/reports/?status=folded",
            "one-issue-joined": f"/settings/reports/{joined.id}/",
            "one-issue-hinted": f"/settings/reports/{hinted.id}/",
            "one-issue-lead": f"/settings/reports/{lead.report_id}/",
            "one-issue-split": f"/settings/reports/{lead.report_id}/split-all/",
        }
    )

    assert not faults


@screens
def test_the_pages_that_ask_and_refuse(visit, busy, alice, code_host, screen, others):
    window = visit(screen, alice, others=others)
    page, faults = window.page, []
    code_host.add_to_installation(build.installed(code_host), code_host.add_repository("acme", "b"))

    page.goto("/settings/claims/new/")
    page.get_by_label("Address of your docs").fill("github.io")
    page.get_by_role("button", name="Claim it").click()
    page.wait_for_url("**/claims/new/")
    faults += window.look("refused-claim")
    assert page.title().startswith("Error:")
    assert page.get_by_label("Address of your docs").input_value() == "github.io"

    page.goto("/settings/integration/")
    page.get_by_label("Template").fill("{sumary}\n\n{details}")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_load_state()
    faults += window.look("refused-template")
    assert page.title().startswith("Error:")
    assert page.get_by_role("link", name="Did you mean {summary}?").count()
    assert page.get_by_label("Template").input_value().startswith("{sumary}")

    page.get_by_label("Template").fill("{summary}")
    page.get_by_label("Repository", exact=True).select_option("acme/b")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("heading", name="Change to acme/b?").wait_for()
    faults += window.look("switch")
    assert not faults


@screens
def test_the_way_in(visit, busy, alice, screen, others):
    window = visit(screen, others=others)
    window.page.goto("/settings/")
    faults = window.look("login")
    assert window.page.url.endswith("/login/?next=/settings/")

    bob = build.member(build.organization("bob"), "bob", github_id=1)
    faults += visit(screen, bob, others=others).look_at({"invitation": "/settings/"})

    assert not faults


def test_the_pages_of_operators(visit, alice, monkeypatch):
    """Which Django lays out, but for the first. Nothing to press is under 24 px."""
    monkeypatch.setattr(screens_module, "RULES", {"target-size": {"enabled": True}})
    User.objects.update(is_staff=True, is_superuser=True)
    hold = Hold.objects.create(kind="page", value=LONG, reason="Junk.", made_by=alice)
    others = [Screen(theme="dark")]
    window = visit(Screen(320), alice, others=others)

    faults = window.look_at(
        {
            "admin": "/admin/",
            "admin-deliveries": "/admin/integrations/delivery/",
            "admin-delivery": f"/admin/integrations/delivery/{Delivery.objects.first().pk}/change/",
            "admin-reports": "/admin/reports/report/",
            "admin-report": f"/admin/reports/report/{Account.objects.first().report_id}/change/",
            "admin-domains": "/admin/orgs/domain/",
            "admin-holds": "/admin/integrations/hold/",
            "admin-hold": f"/admin/integrations/hold/{hold.pk}/change/",
            "admin-new-hold": "/admin/integrations/hold/add/?kind=agent&value=agent-x",
        }
    )
    window.page.get_by_role("button", name="Save", exact=True).click()
    window.page.get_by_text("This field is required.").wait_for()
    faults += window.look("admin-refused-hold")

    assert not faults


def test_a_page_costs_little_to_load(cold_visit, alice):
    """Cold, in bytes as they travel: 35 KB and 6 requests at most, 6 KB of them script."""
    for path in ("", "integration/", "claims/", "reports/", "account/"):
        window = cold_visit(alice)
        window.page.goto(f"/settings/{path}", wait_until="networkidle")
        cost = window.cost()

        assert sum(cost.values()) <= 35_000, cost
        assert len(cost) <= 6, cost
        assert sum(size for url, size in cost.items() if url.endswith(".js")) <= 6_000, cost
