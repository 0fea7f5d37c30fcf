"""The pictures of the docs, taken from the real pages: `script/screenshots` keeps them in `docs/v0/images/`."""

import base64
import os
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings

from hub.maintenance import RUNNER
from hub.models import Lease
from integrations.models import Integration
from orgs.models import Organization, User
from reports.models import Report
from tests import build
from tests.browser.screens import SCREENSHOTS, Screen, Visit
from tests.integrations.delivery.alike import AGAIN, PUSH

pytestmark = pytest.mark.django_db(transaction=True)

IMAGES = settings.BASE_DIR / "docs" / "v0" / "images"
FOLDER = Path(os.environ.get("PICTURES_DIR", SCREENSHOTS / "docs"))
WIDTH, QUALITY = 960, 42
MARGIN = 24  # above a heading at which a picture begins
THEMES = ("light", "dark")
MOST_BYTES = 60_000

SENT = [
    ("install", "outdated", "The install command names a package that is gone"),
    ("quickstart", "incorrect", "Step 3 names a flag that does not exist"),
    ("api/errors", "missing", "Error 429 is not described"),
    ("quickstart", "unclear", "It is not said where the token comes from"),
]


@pytest.fixture
def newcomer(transactional_db, code_host) -> User:
    owner = build.organization("alice")
    return build.member(owner, "alice", github_id=code_host.account("alice").id)


@pytest.fixture
def acme(transactional_db, code_host) -> Organization:
    """With an integration, a claim, and reports that became issues; the last one did not."""
    owner = build.organization()
    build.integration(owner, code_host)
    build.domain(owner, "docs.example.com")
    return owner


@pytest.fixture
def alice(acme, code_host) -> User:
    return build.member(acme, "alice", github_id=code_host.account("alice").id)


@pytest.fixture
def reports(acme, code_host, client) -> None:
    for number, (path, kind, summary) in enumerate(SENT):
        if number == len(SENT) - 1:
            code_host.fail("422")
        page = f"https://docs.example.com/{path}"
        words = {"report__kind": kind, "report__summary": summary, "agent__name": "docs-agent"}
        for _ in range(3 if number == 1 else 1):
            build.send(client, build.report(page, **words))


def take(window: Visit, name: str, height: int, top: int = 0) -> None:
    """A part of the page that is open, from `top` on, in both themes."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    camera = window.context.new_cdp_session(window.page)
    for theme in THEMES:
        window.page.emulate_media(color_scheme=theme)
        area = {"x": 0, "y": top, "width": WIDTH, "height": height, "scale": 1}
        how = {"format": "webp", "quality": QUALITY, "clip": area, "captureBeyondViewport": True}
        shot = camera.send("Page.captureScreenshot", how)
        data = base64.b64decode(shot["data"])
        assert 2_000 < len(data) < MOST_BYTES
        (FOLDER / f"{name}-{theme}.webp").write_bytes(data)


Taker = Callable[..., None]


@pytest.fixture
def of(visit) -> Callable[[User | None], Taker]:
    """Takes pictures of pages as somebody sees them: name, path, height, and heading to begin at."""

    def opened(user: User | None) -> Taker:
        window = visit(Screen(WIDTH), user)

        def taken(name: str, path: str, height: int, heading: str = "") -> None:
            window.page.goto(path)
            top = _top_of(window, heading) if heading else 0
            take(window, name, height, top)

        return taken

    return opened


def _top_of(window: Visit, heading: str) -> int:
    box = window.page.get_by_role("heading", name=heading).bounding_box()
    assert box
    return int(box["y"]) - MARGIN


def test_the_steps_of_a_newcomer(of, newcomer):
    of(newcomer)("steps", "/settings/", 540, heading="alice")


def test_the_record_of_a_domain(of, newcomer):
    claim = build.domain(newcomer.membership.organization, "docs.example.com", verified=False)

    of(newcomer)("record", f"/settings/claims/{claim.id}/", 900)


def test_where_issues_go(of, alice):
    none = {"repository_id": None, "repo_owner": "", "repo_name": ""}  # as in the tutorial
    Integration.objects.update(**none)
    of(alice)("integration", "/settings/integration/", 280, heading="Where issues go")


def test_an_organization_at_work(of, alice, reports):
    picture = of(alice)

    picture("overview", "/settings/", 560)
    picture("reports", "/settings/reports/", 640)
    first = Report.objects.order_by("received_at").first()
    picture("report", f"/settings/reports/{first.id}/", 640)


def test_one_problem_is_one_issue(of, alice, acme, client):
    Integration.objects.update(likeness="fold")
    page = "https://docs.example.com/quickstart"
    for words in (PUSH, AGAIN):
        joined = build.send(client, build.report(page, **words)).json()["id"]
    picture = of(alice)

    picture("one-issue", "/settings/integration/", 372, heading="One problem, one issue")
    picture("joined", f"/settings/reports/{joined}/", 560)


def test_a_paused_integration(of, alice, reports):
    Integration.objects.update(paused_at=Report.objects.latest("received_at").received_at)

    of(alice)("paused", "/settings/integration/", 420)


def test_what_reporters_see(of, acme, reports):
    picture = of(None)
    page = "https%3A%2F%2Fdocs.example.com%2Fquickstart"
    summary = "Step%203%20names%20a%20flag%20that%20does%20not%20exist"

    picture("form", f"/report/?doc_url={page}&kind=incorrect&summary={summary}", 720)
    first = Report.objects.order_by("received_at").first()
    picture("receipt", f"/r/{first.id}/", 620)


def test_the_operators_page(of, alice, reports):
    User.objects.update(is_staff=True, is_superuser=True)
    Lease.objects.take(RUNNER, holder="maintain", duration=timedelta(minutes=5))

    of(alice)("operators", "/admin/", 640)


def test_the_pictures_of_the_docs_are_those_that_are_taken():
    here = Path(__file__).read_text(encoding="utf-8")
    taken = set(re.findall(r'\("(\w[\w-]*)", f?"/', here))
    kept = {path.name for path in IMAGES.glob("*.webp")}
    texts = [path.read_text(encoding="utf-8") for path in IMAGES.parent.rglob("*.md")]
    shown = {name for text in texts for name in re.findall(r"images/([\w-]+)-light\.webp", text)}

    assert kept == {f"{name}-{theme}.webp" for name in taken for theme in THEMES}
    assert shown == taken
