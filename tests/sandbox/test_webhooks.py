import hashlib
import hmac
import json
import queue
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import github
import pytest

from tests.conftest import key_pair


class Received:
    def __init__(self, headers, body: bytes) -> None:
        self.headers, self.body = headers, body
        self.event = headers["X-GitHub-Event"]
        self.payload = json.loads(body)


@pytest.fixture
def inbox(host) -> Iterator[queue.Queue[Received]]:
    """The app's webhook address, and what has come in there."""
    received: queue.Queue[Received] = queue.Queue()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.put(Received(self.headers, body))
            self.send_response(202)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        host.app.webhook_url = f"http://127.0.0.1:{server.server_port}/v1/webhooks/github"
        yield received
        server.shutdown()


def test_a_webhook_is_signed_over_its_raw_body(host, inbox):
    sent = host.deliver_webhook("ping", {"zen": "Größe"})

    received = inbox.get(timeout=5)
    digest = hmac.new(b"not-a-secret-either", received.body, hashlib.sha256).hexdigest()
    assert received.headers["X-Hub-Signature-256"] == f"sha256={digest}"
    assert received.headers["X-GitHub-Delivery"] == sent.event.id
    assert received.headers["Content-Type"] == "application/json"
    assert received.headers["User-Agent"].startswith("GitHub-Hookshot/")
    assert (received.event, received.payload, sent.status) == ("ping", {"zen": "Größe"}, 202)


def test_a_webhook_can_be_replayed(host, inbox):
    first = host.deliver_webhook("ping", {})
    host.deliver_webhook("ping", {}, delivery_id=first.event.id)

    ids = [inbox.get(timeout=5).headers["X-GitHub-Delivery"] for _ in range(2)]

    assert ids == [first.event.id] * 2


@pytest.mark.parametrize(
    ("change", "event", "action"),
    [
        (lambda host, it: host.suspend(it), "installation", "suspend"),
        (lambda host, it: host.unsuspend(it), "installation", "unsuspend"),
        (lambda host, it: host.uninstall(it), "installation", "deleted"),
        (
            lambda host, it: host.remove_from_installation(it, "acme/docs"),
            "installation_repositories",
            "removed",
        ),
        (
            lambda host, it: host.add_to_installation(it, "acme/docs"),
            "installation_repositories",
            "added",
        ),
        (lambda host, it: host.rename("acme/docs", "handbook"), "repository", "renamed"),
        (lambda host, it: host.archive("acme/docs"), "repository", "archived"),
        (lambda host, it: host.unarchive("acme/docs"), "repository", "unarchived"),
        (lambda host, it: host.set_private("acme/docs", True), "repository", "privatized"),
        (lambda host, it: host.delete_repository("acme/docs"), "repository", "deleted"),
        (lambda host, it: host.close_issue("acme/docs", 1, by="bob"), "issues", "closed"),
        (lambda host, it: host.reopen_issue("acme/docs", 1, by="bob"), "issues", "reopened"),
        (lambda host, it: host.delete_issue("acme/docs", 1, by="bob"), "issues", "deleted"),
        (lambda host, it: host.lock_issue("acme/docs", 1, by="bob"), "issues", "locked"),
        (
            lambda host, it: host.lock_issue("acme/docs", 1, locked=False, by="bob"),
            "issues",
            "unlocked",
        ),
        (
            lambda host, it: host.create_issue("acme/docs", title="New", user="bob"),
            "issues",
            "opened",
        ),
    ],
)
def test_every_change_is_announced(host, inbox, installation, change, event, action):
    host.new_issue(host.repository("acme/docs"), "Title", body=None, user="charlie")

    change(host, installation)

    received = inbox.get_nowait()
    assert (received.event, received.payload["action"]) == (event, action)
    assert received.payload["installation"]["id"] == installation.id
    assert received.payload["sender"]["login"] == ("bob" if event == "issues" else "acme")
    assert inbox.empty()


def test_an_announcement_says_what_changed(host, inbox, installation):
    host.rename("acme/docs", "handbook")
    host.remove_from_installation(installation, "acme/secret")
    host.close_issue("acme/handbook", _issue(host).number, by="alice")

    renamed, removed, closed = (inbox.get_nowait().payload for _ in range(3))

    assert renamed["changes"] == {"repository": {"name": {"from": "docs"}}}
    assert renamed["repository"]["full_name"] == "acme/handbook"
    assert [each["full_name"] for each in removed["repositories_removed"]] == ["acme/secret"]
    assert removed["repositories_added"] == []
    assert (closed["issue"]["state"], closed["sender"]["login"]) == ("closed", "alice")


def test_a_transfer_within_reach_of_the_app_is_announced(host, inbox):
    host.add_organization("initech")
    host.add_installation("initech")
    inbox.get_nowait()

    host.transfer("acme/docs", "initech")

    moved = inbox.get_nowait().payload
    assert moved["action"] == "transferred"
    assert moved["changes"]["owner"]["from"]["organization"]["login"] == "acme"
    assert moved["repository"]["full_name"] == "initech/docs"


def test_a_new_installation_is_announced_with_its_repositories(host, inbox):
    host.add_organization("initech")
    host.add_repository("initech", "manual")

    host.add_installation("initech")

    created = inbox.get_nowait()
    assert (created.event, created.payload["action"]) == ("installation", "created")
    assert [each["full_name"] for each in created.payload["repositories"]] == ["initech/manual"]


def test_what_comes_in_over_http_is_announced_in_the_background(inbox, call, token):
    opened = call("POST", "/repos/acme/docs/issues", token, json={"title": "Broken"})

    announced = inbox.get(timeout=5)

    assert opened.status_code == 201
    assert announced.payload["issue"]["title"] == "Broken"
    assert announced.payload["sender"]["login"] == "docs-feedback[bot]"


def test_an_app_hears_of_what_it_subscribed_to(host, inbox, installation):
    host.app.events = ("issues",)

    host.archive("acme/docs")
    host.suspend(installation)

    assert inbox.get_nowait().event == "installation"
    assert inbox.empty()


def test_an_app_hears_nothing_of_repositories_that_are_not_its_own(host, inbox):
    host.add_repository("acme", "other")

    host.archive("acme/other")

    assert inbox.empty()


def test_a_webhook_that_finds_nobody_is_noted_and_not_tried_again(host, installation):
    host.app.webhook_url = "http://127.0.0.1:1/"

    host.suspend(installation)

    (sent,) = host.webhooks_sent
    assert sent.status is None
    assert sent.problem.startswith("ConnectionRefusedError")


def test_without_an_address_there_are_no_webhooks(host, installation):
    host.suspend(installation)

    assert not host.webhooks_sent
    with pytest.raises(ValueError, match="no webhook URL"):
        host.deliver_webhook("ping", {})


def _issue(host):
    return host.new_issue(host.repository("acme/handbook"), "Title", body=None, user="charlie")


def app_key(host) -> str:
    return github.Auth.AppAuth(host.app.id, key_pair()[0]).create_jwt()


def test_what_was_sent_is_listed_newest_first(host, inbox, call):
    host.deliver_webhook("ping", {})
    host.app.webhook_url = "http://127.0.0.1:1/"
    host.deliver_webhook("issues", {"action": "closed"})

    listed = call("GET", "/app/hook/deliveries", app_key(host)).json()

    assert [(each["event"], each["action"], each["status_code"]) for each in listed] == [
        ("issues", "closed", 0),
        ("ping", None, 202),
    ]
    assert listed[0]["status"].startswith("ConnectionRefusedError")


def test_where_webhooks_go_is_told_to_the_app_only(host, call):
    host.app.webhook_url = "https://hub.example/v1/webhooks/github"

    told = call("GET", "/app/hook/config", app_key(host)).json()

    assert told == {
        "content_type": "json",
        "insecure_ssl": "0",
        "secret": "********",
        "url": "https://hub.example/v1/webhooks/github",
    }
    assert call("GET", "/app/hook/config").status_code == 401
    assert call("GET", "/app/hook/deliveries").status_code == 401


def test_a_transferred_issue_is_announced_in_both_repositories(host, inbox):
    host.new_issue(host.repository("acme/docs"), "Title", body=None, user="charlie")

    host.transfer_issue("acme/docs", 1, "acme/secret", by="bob")

    left, arrived = (inbox.get_nowait().payload for _ in range(2))
    assert (left["action"], arrived["action"]) == ("transferred", "opened")
    assert left["repository"]["full_name"] == "acme/docs"
    assert left["changes"]["new_repository"]["full_name"] == "acme/secret"
    assert left["changes"]["new_issue"]["number"] == arrived["issue"]["number"] == 1


def test_an_announcement_says_why_an_issue_was_closed(host, inbox):
    host.new_issue(host.repository("acme/docs"), "Title", body=None, user="charlie")

    host.close_issue("acme/docs", 1, by="bob", reason="not_planned")

    issue = inbox.get_nowait().payload["issue"]
    assert (issue["state_reason"], issue["closed_at"]) == ("not_planned", issue["updated_at"])
