"""Every page of the settings, in every state, on every screen: looked at by axe, and kept as a picture."""

from datetime import timedelta

import pytest
from django.utils import timezone

from integrations.models import Delivery, Integration
from orgs.models import Organization
from reports.models import Report
from tests import build
from tests.browser.screens import Screen

pytestmark = pytest.mark.django_db(transaction=True)

LONG = "https://docs.acme.com/" + "a-very-long-path-without-an-end/" * 6 + "x" * 40
SCREENS = [Screen(width, theme) for width in (320, 375, 1280) for theme in ("light", "dark")] + [
    Screen(375, script=False)
]


def received(owner: Organization, summary: str, *, days: int = 0, **columns) -> Report:
    at = timezone.now() - timedelta(days=days)
    page = {"doc_url": "https://docs.acme.com/install"} | columns
    report = Report(
        organization=owner,
        received_at=at,
        last_received_at=at,
        canonical_url=page["doc_url"],
        kind="outdated",
        summary=summary,
        details="Step 2 says `npm install acme-cli`.",
        agent_name="docs-agent",
        **page,
    )
    return Report.objects.bulk_create([report])[0]  # without the signal that would send it


@pytest.fixture
def busy(code_host) -> Organization:
    """Set up, with a problem, a lapsed claim, and reports in every state."""
    owner = build.acme(code_host, "docs.acme.com", "acme.dev")
    build.domain(owner, "docs.acme.org", verified=False)
    site = build.site(owner, "acme.github.io", "/docs/")
    build.site(owner, "acme.github.io", "/old/")
    owner.sites.filter(path="/old/").update(lapsed_at=timezone.now())
    for number in range(30):
        received(owner, f"Step {number} is gone", days=number * 2)
    reports = [
        received(owner, "The install command names a package that is gone", times_reported=7),
        received(owner, "x" * 150, doc_url=LONG, times_reported=3),
        received(owner, "The page about tokens is missing", doc_url=site.url),
    ]
    integration = Integration.objects.get()
    sent, held, failed = reports
    Delivery.objects.create(
        report=sent,
        integration=integration,
        status="sent",
        repository_id=integration.repository_id,
        repository="acme/docs",
        posted_at=timezone.now(),
        issue_number=418,
        issue_url="https://github.com/acme/docs/issues/418",
        tries=1,
    )
    problem = "Issues are turned off in acme/docs. Turn them on, then press Try again."
    Delivery.objects.create(
        report=held, integration=integration, status="held", held_for="integration", reason=problem
    )
    Delivery.objects.create(
        report=failed, integration=integration, status="failed", reason="Validation Failed", tries=3
    )
    Integration.objects.update(problem=problem)
    owner.tell("The DNS record of acme.dev is gone. Without it the claim lapses on 3 January 2027.")
    return owner


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_the_pages_of_a_newcomer(visit, screen):
    window = visit(screen, build.member(build.organization("alice"), "alice"))
    faults = []

    for name in ("", "integration/", "claims/", "claims/new/", "test/", "reports/", "tokens/"):
        window.page.goto(f"/settings/{name}")
        window.shoot(f"new-{name.strip('/').replace('/', '-') or 'overview'}")
        faults += window.faults()

    assert not faults


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_the_pages_of_an_organization_at_work(visit, busy, code_host, screen):
    window = visit(screen, _owner(busy, code_host))
    pending = busy.domains.get(name="docs.acme.org")
    verified = busy.domains.get(name="acme.dev")
    sent = Delivery.objects.get(status="sent").report
    held = Delivery.objects.get(status="held").report
    faults = []

    for name, path in {
        "overview": "",
        "integration": "integration/",
        "disconnect": "integration/disconnect/",
        "claims": "claims/",
        "domain": f"claims/{pending.id}/",
        "domain-verified": f"claims/{verified.id}/",
        "site": f"claims/{busy.sites.get(path='/docs/').id}/",
        "site-lapsed": f"claims/{busy.sites.get(path='/old/').id}/",
        "give-up": f"claims/{pending.id}/delete/",
        "test": "test/",
        "tested": f"test/{sent.id}/",
        "tested-held": f"test/{held.id}/",
        "reports": "reports/",
        "report": f"reports/{held.id}/",
        "tokens": "tokens/",
        "account": "account/",
    }.items():
        answer = window.page.goto(f"/settings/{path}")
        window.shoot(f"busy-{name}")
        faults += window.faults()
        assert answer.status == 200, path

    assert not faults


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_the_pages_that_refuse(visit, busy, code_host, screen):
    window = visit(screen, _owner(busy, code_host))
    page, faults = window.page, []

    page.goto("/settings/claims/new/")
    page.get_by_label("Address of your docs").fill("github.io")
    page.get_by_role("button", name="Claim it").click()
    page.wait_for_url("**/claims/new/")
    window.shoot("refused-claim")
    faults += window.faults()
    assert page.title().startswith("Error:")
    assert page.get_by_label("Address of your docs").input_value() == "github.io"

    page.goto("/settings/integration/")
    page.get_by_label("Template").fill("{sumary}\n\n{details}")
    page.get_by_role("button", name="Save").click()
    page.wait_for_load_state()
    window.shoot("refused-template")
    faults += window.faults()

    assert page.title().startswith("Error:")
    assert page.get_by_role("link", name="Did you mean {summary}?").count()
    assert page.get_by_label("Template").input_value().startswith("{sumary}")
    assert not faults


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_the_way_in(visit, screen):
    window = visit(screen)

    window.page.goto("/settings/")
    window.shoot("login")

    assert window.page.url.endswith("/login/?next=/settings/")
    assert not window.faults()


def _owner(busy: Organization, code_host):
    return build.member(busy, "alice", github_id=code_host.account("alice").id)
