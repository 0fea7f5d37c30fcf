"""The pages for everybody in a real browser: looked at by axe, with script and without, by keyboard."""

from collections.abc import Iterator

import pytest
from django.utils import timezone

from integrations.models import Attempt, Delivery, Integration
from reports.models import Report
from tests import build
from tests.browser.screens import Screen, Visit
from tests.hub_process import HubProcess

pytestmark = pytest.mark.django_db(transaction=True)

OTHERS = [  # axe sees each layout and each theme: layout does not follow the theme, nor colors the width
    Screen(1280, "dark"), Screen(375, "dark", axe=False), Screen(1280, "light", axe=False),
]  # fmt: skip
screens = pytest.mark.parametrize(
    ("screen", "others"),
    [(Screen(320), OTHERS), (Screen(375, script=False), [])],
    ids=["with-script", "plain"],
)
PAGE = "https://docs.acme.com/install"
SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


@pytest.fixture
def acme(code_host):
    owner = build.acme(code_host)
    Integration.objects.update(repository_private=False)
    return owner


def fill_in(window: Visit, **typed: str) -> None:
    page = window.page
    page.get_by_label("Address of the page").fill(PAGE)
    page.get_by_label("Outdated").check()
    page.get_by_label("In one line").fill("The install command is gone")
    page.get_by_label("Details").fill(f"With `{SECRET}` it says\n`acme: not found`.")


@screens
def test_a_reader_reports_a_page(visit, acme, code_host, screen, others):
    window = visit(screen, others=others)
    page = window.page

    page.goto("/report/")
    faults = window.look("report-form")
    page.get_by_role("button", name="Send").click()
    page.get_by_role("link", name="Say in one line what is wrong.").wait_for()
    faults += window.look("report-form-errors")
    assert page.title().startswith("Error:")
    fill_in(window)
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("heading", name="This is what is sent").wait_for()
    faults += window.look("report-form-preview")
    assert page.get_by_text("it becomes a public issue in acme/docs.").count() == 2
    page.get_by_role("button", name="Send").first.click()
    page.wait_for_url("**/r/0*/")
    faults += window.look("receipt-new")
    page.get_by_text("Thank you. Your report was received.").wait_for()
    page.get_by_role("heading", name="Issue #1 is open").wait_for()

    assert not faults
    assert "removed: GitHub token]" in code_host.issues("acme/docs")[0].body


@pytest.fixture
def strict_hub(transactional_db, code_host) -> Iterator[HubProcess]:
    """One that takes one report a day from each address."""
    with HubProcess(HUB_REPORT_RATE="1/day", HUB_TRUSTED_PROXIES="1") as hub:
        yield hub


@screens
def test_a_form_over_the_rate_is_sent_by_reloading_the_page(
    visit, acme, strict_hub, screen, others
):
    """Nothing has to be written again, although the page that refuses has none of it."""
    window = visit(screen)
    page = window.page
    page.set_extra_http_headers({"X-Forwarded-For": "198.51.100.1"})
    page.goto(f"{strict_hub.url}/report/")
    fill_in(window)
    page.get_by_role("button", name="Preview").click()  # which counts as a report
    page.get_by_role("heading", name="This is what is sent").wait_for()

    page.get_by_role("button", name="Send").first.click()
    page.get_by_text("Reload this page then").wait_for(timeout=10_000)
    page.set_extra_http_headers({"X-Forwarded-For": "203.0.113.1"})  # as after a day
    page.reload()

    page.get_by_text("Thank you. Your report was received.").wait_for(timeout=10_000)
    assert Report.objects.get().summary == "The install command is gone"


def test_the_form_is_finished_with_the_keyboard_alone_on_a_small_screen(visit, acme, code_host):
    window = visit(Screen(320))
    page, press = window.page, window.page.keyboard.press
    page.goto("/report/")

    press("Tab")  # "Skip to content"
    press("Enter")
    press("Tab")
    page.keyboard.type(PAGE)
    press("Tab")
    press("ArrowDown")  # from "Broken" to "Incorrect"
    for text in ("The install command is gone", "It says acme: not found."):
        press("Tab")
        page.keyboard.type(text)
    press("Tab")  # "Suggest a fix"
    press("Enter")
    press("Tab")
    page.keyboard.type("Name the new package.")
    press("Tab")
    page.keyboard.type("alice")
    press("Tab")
    press("Enter")
    page.get_by_role("heading", name="Issue #1 is open").wait_for()

    report = Report.objects.get()
    assert (report.kind, report.agent_name) == ("incorrect", "alice")
    assert report.suggested_fix == "Name the new package."
    assert not window.faults()


def test_after_an_error_the_keyboard_is_at_the_summary(visit):
    page = visit(Screen(320)).page
    page.goto("/report/")

    page.get_by_role("button", name="Send").click()
    page.get_by_role("alert").wait_for()

    assert page.evaluate("document.activeElement.getAttribute('role')") == "alert"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "id_doc_url"


def received(organization=None, **columns) -> Report:
    now = timezone.now()
    report = Report(
        organization=organization,
        received_at=now,
        last_received_at=now,
        doc_url=PAGE,
        canonical_url=PAGE,
        kind="outdated",
        summary="The install command is gone",
        agent_name="agent-x",
        **columns,
    )
    return Report.objects.bulk_create([report])[0]  # without the signal that would send it


def delivered(organization, status: str, **columns) -> Report:
    report = received(organization, times_reported=3)
    delivery = Delivery.objects.create(
        report=report, integration=Integration.objects.get(), status=status, **columns
    )
    at = timezone.now()
    Attempt.objects.create(delivery=delivery, number=1, started_at=at, ended_at=at, outcome="sent")
    return report


@screens
def test_a_receipt_in_every_state(visit, acme, screen, others):
    build.domain(build.organization("bob"), "docs.bob.example")
    sent = {"repository_id": 1, "repository": "acme/docs"}
    issue = sent | {"issue_number": 418, "issue_url": "https://github.com/acme/docs/issues/418"}
    there = {
        "unclaimed": received(),
        "open": delivered(acme, "sent", **issue, repository_private=False),
        "private": delivered(acme, "sent", **issue | {"issue_number": 419}),
        "waiting": delivered(acme, "held", held_for="pause"),
        "kept": received(acme),
        "erased": received(acme, erased_at=timezone.now()),
    }
    Report.objects.filter(pk=there["unclaimed"].pk).update(canonical_url="https://docs.example/x")

    faults = visit(screen, others=others).look_at(
        {f"receipt-{name}": f"/r/{report.id}/" for name, report in there.items()}
    )

    assert not faults


@screens
def test_pages_that_stand_still(visit, screen, others):
    clients = ("claude-code", "codex", "command-line", "python", "ci")
    window = visit(screen, others=others)

    faults = window.look_at(
        {
            "landing": "/",
            "privacy": "/privacy/",
            "nothing": "/nothing/",
            **{f"connect-{name}": f"/connect/?client={name}" for name in clients},
        }
    )

    assert not faults


@screens
def test_somebody_sets_up_a_client_in_their_own_folder(visit, screen, others):
    window = visit(screen, others=others)
    page = window.page

    page.goto("/connect/?client=cursor&home=/mnt/shared")
    page.get_by_label("Your home folder").fill("alice")
    page.get_by_role("button", name="Update").click()
    page.get_by_text("Write the full path of a folder").first.wait_for()
    faults = window.look("connect-refused")
    page.get_by_label("Your home folder").fill("/Users/bob")
    page.get_by_role("button", name="Update").click()
    page.get_by_text('"/Users/bob/docfeedback/bin/docfeedback-mcp"').wait_for()
    faults += window.look("connect-own-folder")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download mcp.json").click()

    assert "/Users/bob/docfeedback/bin" in download.value.path().read_text()
    assert not faults


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/", 35_000),
        ("/report/", 20_000),
        ("/r/{}/", 20_000),
        ("/connect/", 35_000),
        ("/privacy/", 20_000),
    ],
)
def test_a_page_costs_little_to_load(stranger, path, most):
    """Cold, in bytes as they travel; at most 6 requests, 6 KB of them script."""
    window = stranger()
    window.page.goto(path.format(received().id), wait_until="networkidle")
    cost = window.cost()

    assert sum(cost.values()) <= most, cost
    assert len(cost) <= 6, cost
    assert sum(size for url, size in cost.items() if url.endswith(".js")) <= 6_000, cost


@pytest.fixture
def stranger(windows, hub_process):
    """Opens a window with nothing in its cache and nobody signed in."""
    contexts = []

    def opened() -> Visit:
        contexts.append(windows.new(hub_process.url, Screen()))
        return Visit(contexts[-1], hub_process.url, Screen())

    yield opened
    for each in contexts:
        each.close()


def test_the_choices_of_a_row_begin_at_the_same_height(visit):
    page = visit(Screen(1100)).page
    page.goto("/report/")

    tops = page.evaluate(
        "[...document.querySelectorAll('.choices label')].map(each =>"
        " each.querySelector('small').offsetTop - each.offsetTop)"
    )

    assert len(tops) == 6
    assert len(set(tops)) == 1
