"""The door for GitHub's webhooks: signed, heard once, answered at once."""

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from core.watching import current
from hub import pruning
from integrations.github_sync import applying, webhooks
from integrations.models import SEVERAL, Installation, Integration, News, Webhook
from orgs.models import Organization
from tests import build
from tests.integrations.world import delivery, integration

pytestmark = pytest.mark.django_db(transaction=True)

URL = "/v1/webhooks/github"


def test_a_webhook_counts_once_however_often_it_comes(webhooks, code_host):
    code_host.suspend(build.installed(code_host))
    old = code_host.webhooks_sent[-1].event
    code_host.unsuspend(build.installed(code_host))

    again = [
        code_host.deliver_webhook(old.name, dict(old.payload), delivery_id=old.id)
        for _ in range(10)
    ]

    assert {each.status for each in again} == {202}
    assert integration().problem == ""
    assert delivery().status == "pending"
    assert Webhook.objects.count() == 2


def test_issues_of_others_leave_nothing_behind(webhooks, code_host):
    """Strangers open issues in a public repository, and close and reopen them as they like."""
    for action in ("closed", "reopened", "deleted", "transferred"):
        build.tell_of_issue(code_host, action, "2026-03-03T12:00:00Z")

    assert not Webhook.objects.exists()


def test_a_webhook_is_answered_at_once_also_while_github_hangs(webhooks, code_host):
    code_host.fail("hang", method="*", path="/*", seconds=5)

    code_host.suspend(build.installed(code_host))

    assert code_host.faults.waiting()  # nobody has asked GitHub
    assert delivery().status == "held"


@pytest.mark.postgresql
@pytest.mark.parametrize(("deadlocks", "status"), [(1, 202), (2, 503)])
def test_a_webhook_that_meets_a_deadlock_is_acted_on_once_more(
    acme, code_host, monkeypatch, deadlocks, status
):
    event = ("installation", "suspend")
    suspend, to_come = webhooks.ACTIONS[event], iter(range(deadlocks))

    def meets_a_deadlock(payload) -> None:
        suspend(payload)
        if next(to_come, None) is not None:
            with connection.cursor() as cursor:
                cursor.execute("DO $$ BEGIN RAISE deadlock_detected; END $$")

    monkeypatch.setitem(webhooks.ACTIONS, event, meets_a_deadlock)
    body = suspension(code_host)

    answer = post(body, sign(body))

    assert answer.status_code == status
    assert bool(integration().problem) == Webhook.objects.exists() == (status == 202)


def sign(body: bytes, secret: str = "not-a-secret") -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def post(body: bytes, signature: str, *, address: str = "192.0.2.9", **more: str):
    sent = {
        "X-GitHub-Event": "installation",
        "X-GitHub-Delivery": "d-1",
        "X-Hub-Signature-256": signature,
    }
    return Client(REMOTE_ADDR=address).post(
        URL, body, content_type="application/json", headers=sent | more
    )


def suspension(code_host) -> bytes:
    installation = {"id": build.installed(code_host).id}
    return json.dumps({"action": "suspend", "installation": installation}).encode()


@pytest.mark.parametrize(
    ("event", "changed"), [("installation", current.SETTINGS), ("star", ""), ("issues", "")]
)
def test_only_what_the_rates_count_has_a_line_of_its_own_in_the_log(
    acme, code_host, event, changed
):
    """An attack: strangers have GitHub sign as many events about their own issues as they like."""
    about = {"repository": {"id": 4711}, "issue": {"number": 1}}
    action = "closed" if event == "issues" else "suspend"
    body = json.dumps(json.loads(suspension(code_host)) | about | {"action": action}).encode()

    with current.answering(current.Asked()):
        answer = post(body, sign(body), **{"X-GitHub-Event": event})
        noted = current.asked().changed

    assert (answer.status_code, noted) == (202, changed)


@pytest.mark.parametrize(
    "forge",
    [
        lambda body: "",
        lambda body: sign(body, "another"),
        lambda body: sign(body, ""),
        lambda body: sign(body + b" "),
        lambda body: sign(body).removeprefix("sha256="),
        lambda body: sign(body).upper(),
        lambda body: "sha256=é",
    ],
)
def test_an_unsigned_webhook_is_refused(acme, code_host, forge: Callable[[bytes], str]):
    body = suspension(code_host)

    answer = post(body, forge(body))

    assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized")
    assert delivery().status == "pending"


def test_without_a_secret_nothing_is_believed(acme, code_host, settings):
    settings.HUB_GITHUB_WEBHOOK_SECRET = ""
    body = suspension(code_host)

    assert post(body, sign(body, "")).status_code == 401


def test_a_signed_body_is_believed_to_the_byte(acme, code_host):
    body = suspension(code_host).replace(b":", b" :  ")

    assert post(body, sign(body)).status_code == 202

    assert delivery().status == "held"


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"[" * 30_000])
def test_what_is_no_webhook_is_refused(acme, body):
    assert post(body, sign(body)).status_code == 400


@pytest.mark.parametrize(
    "shape", [b'{"action": "suspend"}', b'{"action": "suspend", "installation": 7}']
)
def test_a_signed_body_of_another_shape_is_refused_and_not_remembered(acme, shape):
    assert post(shape, sign(shape)).status_code == 400

    assert not Webhook.objects.exists()


def test_a_huge_body_is_refused(acme):
    body = b'{"action": "' + b"x" * 3_000_000 + b'"}'

    assert post(body, sign(body)).status_code == 413


def test_a_webhook_without_an_id_is_refused(acme, code_host):
    body = suspension(code_host)

    assert post(body, sign(body), **{"X-GitHub-Delivery": ""}).status_code == 400
    assert delivery().status == "pending"


def test_an_account_that_was_renamed_is_asked_about_soon(acme, code_host):
    Installation.objects.update(asked_about_at=timezone.now())
    installation = {"id": build.installed(code_host).id}
    renamed = {"action": "renamed", "account": {"login": "initech"}, "installation": installation}
    body = json.dumps(renamed).encode()

    answer = post(body, sign(body), **{"X-GitHub-Event": "installation_target"})

    assert answer.status_code == 202
    assert Installation.objects.values_list("account", "asked_about_at").get() == ("initech", None)


def test_an_account_whose_installation_is_pruned_meanwhile_is_taken_politely(
    acme, code_host, monkeypatch
):
    apply = applying.apply_account

    def once_deleted(installation: Installation, login: str) -> None:
        Organization.objects.all().delete()
        Installation.objects.all().delete()
        apply(installation, login)

    monkeypatch.setattr(applying, "apply_account", once_deleted)
    installation = {"id": build.installed(code_host).id}
    renamed = {"action": "renamed", "account": {"login": "initech"}, "installation": installation}
    body = json.dumps(renamed).encode()

    answer = post(body, sign(body), **{"X-GitHub-Event": "installation_target"})

    assert answer.status_code == 202
    assert not Installation.objects.exists()


@pytest.mark.parametrize("event", ["ping", "push", "installation"])
def test_what_is_of_no_concern_is_taken_politely(acme, event):
    body = b'{"zen": "Keep it logically awesome.", "action": "created"}'

    assert post(body, sign(body), **{"X-GitHub-Event": event}).status_code == 202


def test_one_that_is_committed_behind_a_later_one_is_news_too():
    of = News(1, 7)
    last = Webhook.objects.create(delivery_id="later")
    known = Webhook.objects.newest()

    Webhook.objects.create(pk=last.pk - 1, delivery_id="slow", **of._asdict())

    assert Webhook.objects.have_told(of, since=known)
    assert not Webhook.objects.have_told(News(1, 8), since=known)
    assert not Webhook.objects.have_told(of, since=Webhook.objects.newest())


REPOSITORY = {"id": 7, "name": "docs", "owner": {"login": "acme"}, "private": False}
ISSUE = {
    "number": 1,
    "state_reason": "completed",
    "closed_at": "2026-03-03T10:00:00Z",
    "updated_at": "2026-03-03T10:00:00Z",
}
GOOD = {  # of each way in which a payload is read
    ("installation", "suspend"): {},
    ("installation_repositories", "added"): {"repositories_added": [{"id": 7}]},
    ("installation_target", "renamed"): {"account": {"login": "initech"}},
    ("repository", "renamed"): {"repository": REPOSITORY | {"archived": False, "has_issues": True}},
    ("repository", "unarchived"): {"repository": REPOSITORY},
    ("repository", "deleted"): {"repository": REPOSITORY},
    ("issues", "closed"): {"repository": REPOSITORY, "issue": ISSUE},
    ("issues", "transferred"): {"repository": REPOSITORY, "issue": {"number": 1}},
}
ODD = [
    None, True, 0, -1, 1.5, 2**63, 10**400, "", "7", "\0", "\ud800", "x" * 300, [], [None], {}, {"id": []},
]  # fmt: skip


def places(value: Any) -> Iterator[tuple[Any, ...]]:
    """Where in the payload there is something."""
    for key in value if isinstance(value, dict) else range(len(value)):
        yield (key,)
        if isinstance(value[key], dict | list):
            yield from ((key, *rest) for rest in places(value[key]))


def with_odd_parts(payload: Any) -> Iterator[Any]:
    """The payload with something odd in each of its places, each time in one."""
    for number, (*way, last) in enumerate(places(payload)):
        copy = part = deepcopy(payload)
        for key in way:
            part = part[key]
        part[last] = ODD[number % len(ODD)]
        yield copy


def test_no_signed_webhook_of_another_shape_breaks_the_hub(acme, code_host):
    installation = {"id": build.installed(code_host).id}
    Integration.objects.update(repository_id=7)

    seen = set()
    for (event, action), more in GOOD.items():
        good = {"action": action, "installation": installation, **more}
        for payload in [good, *with_odd_parts(good)]:
            body = json.dumps(payload).encode()
            named = {"X-GitHub-Event": event, "X-GitHub-Delivery": sign(body)[-64:]}
            seen.add((event, post(body, sign(body), **named).status_code))

    assert seen == {(event, status) for event, _ in GOOD for status in (202, 400)}


def test_forged_webhooks_of_one_address_are_limited_and_keep_nobody_elses_out(
    acme, code_host, monkeypatch
):
    monkeypatch.setattr(webhooks, "FORGED_RATE", "2/minute")
    body = suspension(code_host)

    forged = [post(body, "", address="192.0.2.1").status_code for _ in range(3)]

    assert forged == [401, 401, 429]
    assert post(body, sign(body)).status_code == 202


def of_a_stranger(number: int) -> tuple[bytes, dict[str, str]]:
    """A webhook of an installation that anybody may have, and its headers."""
    body = json.dumps({"action": "suspend", "installation": {"id": 666}}).encode()
    return body, {"X-GitHub-Delivery": f"eve-{number}"}


@pytest.mark.parametrize("rate", ["FORGED_RATE", "INSTALLATION_RATE"])
def test_what_strangers_have_github_send_keeps_nobody_elses_webhooks_out(
    acme, code_host, monkeypatch, rate
):
    monkeypatch.setattr(webhooks, rate, "2/minute")
    body = suspension(code_host)
    is_signed = rate == "INSTALLATION_RATE"
    strangers = [of_a_stranger(number) for number in range(3)]

    answers = [post(each, sign(each) if is_signed else "", **more) for each, more in strangers]

    assert [each.status_code for each in answers][-1] == 429
    assert answers[-1].headers["Retry-After"].isdecimal()
    assert post(body, sign(body)).status_code == 202
    assert delivery().status == "held"


def of_issue(code_host, number: int, action: str) -> tuple[bytes, dict[str, str]]:
    """A webhook about an issue in the organization's repository, and its headers."""
    issue = {"number": number, "state_reason": "completed", "updated_at": "2026-03-03T12:00:00Z"}
    payload = {
        "action": action,
        "installation": {"id": build.installed(code_host).id},
        "repository": {"id": integration().repository_id},
        "issue": issue | {"closed_at": "2026-03-03T12:00:00Z"},
    }
    named = {"X-GitHub-Event": "issues", "X-GitHub-Delivery": f"{action}-{number}"}
    return json.dumps(payload).encode(), named


@pytest.mark.parametrize("action", ["edited", "closed"])
def test_what_strangers_do_to_issues_keeps_no_webhook_about_the_hubs_own_out(
    acme, code_host, monkeypatch, action
):
    """GitHub does not send it again, and nobody asks about closed issues."""
    monkeypatch.setattr(webhooks, "INSTALLATION_RATE", "2/minute")
    call_command("retry_deliveries", "--now")
    own = delivery().issue_number

    strangers = [of_issue(code_host, own + 1 + number, action) for number in range(4)]
    answers = [post(body, sign(body), **named).status_code for body, named in strangers]
    closed, named = of_issue(code_host, own, "closed")

    assert post(closed, sign(closed), **named).status_code == 202
    assert answers == [202] * 4
    assert delivery().issue_state == "closed"


def test_who_moves_from_network_to_network_of_a_48_is_limited_too(acme, monkeypatch):
    monkeypatch.setattr(webhooks, "FORGED_RATE", "2/minute")

    forged = [post(b"{}", "", address=f"2001:db8:1:{n:x}::1").status_code for n in range(22)]

    assert forged == [401] * 20 + [429] * 2
    assert post(b"{}", sign(b"{}"), address="2001:db8:2::1").status_code == 202


def test_one_installation_cannot_keep_the_hub_busy_with_its_webhooks(acme, code_host, monkeypatch):
    monkeypatch.setattr(webhooks, "INSTALLATION_RATE", "2/minute")
    body = suspension(code_host)
    other = body.replace(b'"id": ', b'"id": 9')

    answers = [post(body, sign(body), **{"X-GitHub-Delivery": f"d-{n}"}) for n in range(3)]

    assert [each.status_code for each in answers] == [202, 202, 429]
    assert post(other, sign(other), **{"X-GitHub-Delivery": "e"}).status_code == 202


def test_a_webhook_that_lists_thousands_of_repositories_asks_no_more_than_a_short_one(
    webhooks, code_host, django_assert_max_num_queries
):
    number = build.installed(code_host).id
    mine = integration().repository_id
    listed = [{"id": each} for each in [*range(10**6, 10**6 + 5000), mine]]
    body = json.dumps(
        {"action": "removed", "installation": {"id": number}, "repositories_removed": listed}
    ).encode()

    with django_assert_max_num_queries(30):
        answer = post(body, sign(body), **{"X-GitHub-Event": "installation_repositories"})

    assert answer.status_code == 202
    assert delivery().status == "held"


@pytest.mark.parametrize("count", [0, 1, 2, 5000])
def test_repositories_of_strangers_leave_one_row_for_an_hour_however_many_are_listed(acme, count):
    listed = [{"id": 10**6 + each} for each in range(count)]
    told = {"action": "added", "installation": {"id": 666}, "repositories_added": listed}
    body = json.dumps(told).encode()
    post(body, sign(body), **{"X-GitHub-Event": "installation_repositories"})
    rows = Webhook.objects.count()

    Webhook.objects.update(received_at=timezone.now() - timedelta(minutes=61))
    pruning.prune()

    assert rows == 1
    assert not Webhook.objects.exists()


def test_of_several_repositories_the_few_that_are_ours_are_remembered(acme, code_host):
    number, mine = build.installed(code_host).id, integration().repository_id
    listed = [{"id": each} for each in (815, mine)]
    told = {"action": "removed", "installation": {"id": number}, "repositories_removed": listed}
    body = json.dumps(told).encode()

    for _ in range(2):
        post(body, sign(body), **{"X-GitHub-Event": "installation_repositories"})

    rows = Webhook.objects.values_list("installation_id", "repository_id")
    assert {*rows} == {(number, SEVERAL), (number, mine)}
    assert rows.count() == 2
