"""Where a true report ends that comes after junk in its words, by what members, operators and GitHub did with that.

| sign | the true report |
|---|---|
| `own` | becomes an issue |
| `open` | is counted with an open issue |
| `count` | is only counted, since the issue was closed |
"""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from integrations.comments import sending
from integrations.delivery import discarding, operator_holds, trying_again
from integrations.models import Delivery, Hold
from integrations.setup import configuration
from orgs.models import User
from reports import erasing
from sandbox import CodeHost
from tests import build
from tests.integrations.delivery.alike import AGAIN, PUSH, mode, of, send

pytestmark = pytest.mark.django_db(transaction=True)

DOCS = "acme/docs"
JUNK: dict[str, Any] = {**PUSH, "report__details": "lol"}
TRUE = {"other-words": PUSH, "alike": AGAIN}
TABLE = """
                      other-words alike
nothing                  open     open
reopened                 open     open
not-planned              count    count
duplicate                count    count
completed                count    count
deleted                  own      own
transferred              own      own
repository-left          own      own
repository-deleted       own      own
erased                   own      own
network-held             open     open
waits-discarded          own      own
waits-restored           open     open
waits-held-by-hand       own      own
waits-network-held       own      own
waits-erased             own      own
"""
Act = Callable[[CodeHost, Delivery], object]


def closed(reason: str) -> Act:
    return lambda host, junk: host.close_issue(DOCS, 1, by="alice", reason=reason)


def reopened(host: CodeHost, junk: Delivery) -> None:
    closed("not_planned")(host, junk)
    host.reopen_issue(DOCS, 1, by="alice")


def transferred(host: CodeHost, junk: Delivery) -> None:
    there = host.add_repository("acme", "other")
    host.add_to_installation(build.installed(host), there)
    host.transfer_issue(DOCS, 1, there, by="alice")


def left(host: CodeHost, junk: Delivery) -> None:
    """Its repository, for another one."""
    there = host.add_repository("acme", "other")
    host.add_to_installation(build.installed(host), there)
    host.grant("alice", there, "admin")
    organization = junk.integration.organization
    alice = build.member(organization, github_id=host.account("alice").id)
    configuration.configure(alice.membership, repo_owner="acme", repo_name="other")


def repository_deleted(host: CodeHost, junk: Delivery) -> None:
    host.delete_repository(DOCS)
    left(host, junk)


def restored(host: CodeHost, junk: Delivery) -> None:
    discarding.discard(junk)
    discarding.restore(junk)
    call_command("retry_deliveries", "--now")


def network_held(host: CodeHost, junk: Delivery) -> None:
    root = User.objects.create(username="root")
    operator_holds.make(Hold(kind="source", value=junk.source, reason="Junk."), by=root)


ACTS: dict[str, Act] = {
    "nothing": lambda host, junk: None,
    "reopened": reopened,
    "not-planned": closed("not_planned"),
    "duplicate": closed("duplicate"),
    "completed": closed("completed"),
    "deleted": lambda host, junk: host.delete_issue(DOCS, 1, by="alice"),
    "transferred": transferred,
    "repository-left": left,
    "repository-deleted": repository_deleted,
    "erased": lambda host, junk: erasing.erase(junk.report),
    "network-held": network_held,
    "discarded": lambda host, junk: discarding.discard(junk),
    "restored": restored,
    "held-by-hand": lambda host, junk: trying_again.stop_all(Delivery.objects.all()),
}


def cells() -> Iterable[Any]:
    """The act, the words of the true report, and where it ends."""
    _, head, *rows = TABLE.splitlines()
    for row in rows:
        act, *signs = row.split()
        for words, sign in zip(head.split(), signs, strict=True):
            yield pytest.param(act, words, sign, id=f"{act}-{words}")


@pytest.fixture
def acme(code_host, live_server):
    code_host.app.webhook_url = f"{live_server.url}/v1/webhooks/github"
    owner = build.acme(code_host)
    mode("fold")
    return owner


def sign_of(host: CodeHost, answer: dict[str, Any]) -> str:
    delivery = of(answer)
    if delivery.status == "sent" and not answer["is_duplicate"]:
        return "own"
    assert delivery.status in ("sent", "folded"), delivery
    issue = host.issue(DOCS, delivery.with_issue.issue_number)
    return "open" if issue.state == "open" else "count"


@pytest.mark.parametrize(("act", "words", "sign"), [*cells()])
def test_a_true_report_after_junk_ends_where_the_table_says(acme, code_host, act, words, sign):
    waits = act.startswith("waits-")
    if waits:
        code_host.fail("500", path="token")
    junk = of(send(JUNK))
    ACTS[act.removeprefix("waits-")](code_host, junk)

    answer = send(TRUE[words], Client(REMOTE_ADDR="203.0.113.9"))

    assert sign_of(code_host, answer) == sign


@pytest.mark.parametrize("gone", ["deleted", "transferred"])
def test_what_was_listed_on_an_issue_that_is_gone_is_sent_once_it_comes_again(
    acme, code_host, gone
):
    junk, true = of(send(JUNK)), of(send(AGAIN))
    assert true.lead == junk
    sending.send_due()
    ACTS[gone](code_host, junk)

    answer = send(AGAIN)
    call_command("retry_deliveries")

    assert answer["is_duplicate"]
    assert (of(answer).status, of(answer).issue_number) == ("sent", 2)
