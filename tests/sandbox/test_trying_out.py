"""The pages that try out a Hub: a page of docs that can be reported, and buttons for what goes wrong."""

import re
from collections.abc import Callable, Iterator

import pytest
import requests

from integrations.models import Delivery
from sandbox import CodeHost, Trial
from tests import build
from tests.conftest import callbacks, hub_for, new_code_host, served
from tests.hub_process import HubProcess, free_port
from tests.plain_browser import Browser
from tests.waiting import wait_until

DOCS, FAULTS = "/_sandbox/docs/install", "/_sandbox/faults"
SITE = "https://docs.acme.com/docs/"
Page = Callable[..., requests.Response]


@pytest.fixture
def get(host: CodeHost) -> Page:
    host.trial = Trial(site=SITE, hub_url="http://127.0.0.1:1")
    return lambda path: requests.get(host.url + path, headers={"Accept": "text/html"}, timeout=5)


@pytest.fixture
def press(host: CodeHost) -> Page:
    """Sends what a button of the sandbox's own page does, or that of another site's."""

    def pressed(path: str, origin: str = "", **button: str) -> requests.Response:
        headers = {"Origin": origin or host.url}
        return requests.post(host.url + path, data=button, headers=headers, timeout=5)

    return pressed


def test_without_a_trial_there_is_nothing_to_try(host, press):
    for path in (DOCS, FAULTS):
        assert requests.get(host.url + path, timeout=5).status_code == 404
    for path in ("/_sandbox/reports", f"{FAULTS}/502"):
        assert press(path, variant="ordinary", turn="on").status_code == 404


def test_the_docs_page_has_the_mistakes_that_its_reports_name(get):
    text = get(DOCS).text

    assert "https://docs.acme.com/docs/install" in text
    for mistake in ("npm install -g acme-cli", "Node.js 14", "localhost:3000", "/docs/quick-start"):
        assert mistake in text
    assert re.findall(r'name="variant" value="(\w+)"', text) == [
        "ordinary", "hostile", "repeated", "secret",
    ]  # fmt: skip
    assert "Nothing has been sent from here yet." in text


def test_what_cannot_be_sent_says_so_and_nothing_in_it_is_live(get, press):
    sent = press("/_sandbox/reports", variant="hostile")

    wait_until(lambda: "Not received" in get(DOCS).text, 10)
    text = get(DOCS).text
    assert sent.status_code == 200
    assert "does not answer" in text
    assert "&lt;script&gt;alert(\\&quot;hello" in text
    assert "<script>" not in text
    assert text.count("<script ") == 1  # its own, which follows
    assert "<img" not in text


def test_what_waits_is_loaded_again_without_script(host, get):
    host.trial = Trial(site=SITE, hub_url="http://127.0.0.1:1")
    host.trial._send = lambda sent: None  # nothing is known yet
    requests.post(f"{host.url}/_sandbox/reports", data={"variant": "ordinary"}, timeout=5)

    assert '<noscript><meta http-equiv="refresh" content="1"></noscript>' in get(DOCS).text


@pytest.mark.parametrize(
    "path",
    ["/_sandbox/reports", "/_sandbox/faults/issues", "/acme/docs/issues/1", "/login"],
)
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_a_form_of_another_site_changes_nothing(host, get, press, path, origin):
    host.create_issue("acme/docs", title="Broken", user="charlie")

    answer = press(path, origin, variant="ordinary", turn="on", state="closed", login="bob")

    assert answer.status_code == 403
    assert "came from another site" in answer.text
    assert host.trial.sent == []
    assert host.repository("acme/docs").has_issues
    assert host.issue("acme/docs", 1).state == "open"


@pytest.mark.parametrize("name", ["issues", "502", "limit", "dropped", "suspended"])
def test_each_switch_says_what_is_seen_and_can_be_ended(host, get, press, name):
    before = get(FAULTS).text
    begun = press(f"{FAULTS}/{name}", turn="on")
    docs = get(DOCS).text
    ended = press(f"{FAULTS}/{name}", turn="off")

    assert before.count("To end it:") == 5
    assert begun.text.count('<span class="state wrong">now</span>') == 1
    assert f'href="{FAULTS}#{name}"' in docs
    assert "now</span>" not in ended.text
    assert host.faults.waiting() == []


def test_a_switch_that_is_turned_twice_ends_at_once(host, get, press):
    for turn in ("on", "on", "off"):
        press(f"{FAULTS}/502", turn=turn)

    assert host.faults.waiting() == []


def test_an_issue_is_closed_and_reopened_by_its_button(host, press):
    host.create_issue("acme/docs", title="Broken", user="charlie")

    closed = press("/acme/docs/issues/1", state="closed")
    reopened = press("/acme/docs/issues/1", state="open")

    assert '<span class="state closed">closed</span>' in closed.text
    assert "Reopen issue" in closed.text
    assert "Close issue" in reopened.text
    assert press("/acme/docs/issues/9", state="closed").status_code == 404


@pytest.mark.parametrize("reason", ["not_planned", "duplicate"])
def test_an_issue_is_closed_for_a_reason_by_its_button(host, press, reason):
    host.create_issue("acme/docs", title="Broken", user="charlie")

    closed = press("/acme/docs/issues/1", reason=reason)

    assert f"closed as {reason.replace('_', ' ')}</span>" in closed.text
    assert host.issue("acme/docs", 1).state_reason == reason


def test_an_issue_is_transferred_or_deleted_by_its_button(host, press):
    host.create_issue("acme/docs", title="Broken", user="charlie")
    host.add_repository("acme", "other")

    nowhere = press("/acme/docs/issues/1", reason="transferred", to="acme/none")
    moved = press("/acme/docs/issues/1", reason="transferred", to="acme/other")
    deleted = press("/acme/other/issues/1", reason="deleted")

    assert nowhere.status_code == 404
    assert moved.url.endswith("/acme/other/issues/1")
    assert "Nothing here yet" in deleted.text


def test_the_first_page_leads_to_all_that_can_be_tried(get):
    text = get("/").text

    for path in (DOCS, FAULTS, "/_sandbox/as/alice", "/_sandbox/as/bob", "/_sandbox/as/charlie"):
        assert f'href="{path}"' in text


@pytest.fixture(scope="module")
def github_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def shared_hub(django_db_setup, django_db_blocker, github_port) -> Iterator[HubProcess]:
    with django_db_blocker.unblock(), hub_for(github_port) as hub:
        yield hub


@pytest.fixture
def code_host(settings, github_port) -> Iterator[CodeHost]:
    yield from served(new_code_host(), settings, port=github_port)


@pytest.fixture
def hub_process(transactional_db, code_host, shared_hub) -> HubProcess:
    code_host.app.callback_urls += callbacks(shared_hub)
    return shared_hub


@pytest.fixture
def tried(code_host: CodeHost, hub_process: HubProcess) -> CodeHost:
    """A sandbox whose page of docs acme has claimed at a Hub, which its webhooks reach."""
    build.acme(code_host, "docs.acme.com")
    code_host.app.webhook_url = f"{hub_process.url}/v1/webhooks/github"
    code_host.trial = Trial(site=SITE, hub_url=hub_process.url)
    return code_host


def after(host: CodeHost, words: str, **button: str) -> str:
    """The page of docs, once it has these words after the button was pressed."""
    url = requests.post(f"{host.url}/_sandbox/reports", data=button, timeout=30).url
    assert wait_until(lambda: words in requests.get(url, timeout=30).text, 60), words
    return requests.get(url, timeout=30).text


def test_a_report_is_followed_to_its_issue(tried):
    text = after(tried, "Issue #1", variant="ordinary")

    [issue] = tried.issues("acme/docs")
    assert "<b>Received</b>" in text
    assert "<b>Matched:</b> acme has claimed this page" in text
    assert f'href="{tried.url}/acme/docs/issues/1"' in text
    assert issue.title in text
    assert "http-equiv" not in text


def test_a_repeated_report_is_counted(tried):
    after(tried, "Issue #1", variant="repeated")

    text = after(tried, "It was sent 2 times, and has one issue.", variant="repeated")

    assert "Issue #1" in text
    assert len(tried.issues("acme/docs")) == 1


def test_a_hostile_report_is_shown_as_it_stands_in_the_issue(tried):
    text = after(tried, "Issue #1", variant="hostile")

    [issue] = tried.issues("acme/docs")
    shown = text[text.index("In the issue") : text.index("What was sent")]
    receipt = re.search(rf"{re.escape(tried.trial.hub_url)}/r/\w+/", text)[0]
    assert "&lt;script&gt;" in text
    assert "<script" not in shown
    assert "<img" not in shown
    assert set(re.findall(r'href="(.*?)"', shown)) == {tried.trial.page, receipt}
    assert "@acme/everyone" not in issue.title + issue.body
    assert "Fixes #1" not in issue.title + issue.body


def test_a_secret_is_named_and_is_not_in_the_issue(tried):
    text = after(tried, "Issue #1", variant="secret")

    [issue] = tried.issues("acme/docs")
    token = re.search(r"ghp_\w+", text)[0]
    assert "GitHub token, in <code>/report/details</code>" in text
    assert "password, in <code>/report/details</code>" in text
    assert "[removed: GitHub token]" in text.replace("\u200b", "")
    assert token not in issue.body


def test_what_goes_wrong_is_seen_in_the_hub_and_ends(tried):
    requests.post(f"{tried.url}{FAULTS}/suspended", data={"turn": "on"}, timeout=30)
    assert wait_until(lambda: tried.webhooks_sent)
    after(tried, "No issue yet", variant="ordinary")
    held = Delivery.objects.get().status

    requests.post(f"{tried.url}{FAULTS}/suspended", data={"turn": "off"}, timeout=30)

    assert held == Delivery.Status.HELD
    assert wait_until(lambda: Delivery.objects.get().status != Delivery.Status.HELD)


def test_closing_an_issue_is_told_to_the_hub(tried):
    after(tried, "Issue #1", variant="ordinary")

    requests.post(f"{tried.url}/acme/docs/issues/1", data={"state": "closed"}, timeout=30)

    assert wait_until(lambda: Delivery.objects.get().issue_state == "closed")
    url = f"{tried.url}{DOCS}"
    assert wait_until(lambda: '"state closed">closed' in requests.get(url, timeout=30).text)


def test_one_address_and_one_press_sign_in_as_bob(tried, hub_process):
    browser = Browser(hub_process.url)

    login = browser.open(f"{tried.url}/_sandbox/as/bob")
    signed_in = browser.send(login)

    assert login.url == f"{hub_process.url}/login/"
    assert signed_in.url == f"{hub_process.url}/settings/"
    assert "<summary>bob</summary>" in signed_in.text


def test_who_came_by_another_way_is_asked_again(tried, hub_process):
    browser = Browser(hub_process.url)
    browser.sign_in("bob")
    browser.cookies.clear(domain="127.0.0.1", path="/", name="session")

    asked = browser.send(browser.open("/login/"))

    assert asked.url.startswith(f"{tried.url}/login/oauth/authorize")
    assert "Sign in as bob" in asked.text
