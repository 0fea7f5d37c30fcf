"""Labels, assignees and the type of an issue: chosen by its organization, and never in its way."""

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from integrations.models import Delivery, Integration
from integrations.models.dressing import Dressing
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


def choose(labels=None, assignees=None, issue_type="") -> None:
    Integration.objects.update(labels=labels, assignees=assignees, issue_type=issue_type)


def issue(code_host, number: int = 1):
    return code_host.issue("acme/docs", number)


def send(client, kind: str, summary: str = "Gone") -> None:
    build.send(client, build.report(report__kind=kind, report__summary=f"{summary}: {kind}"))


def not_applied() -> str:
    return Integration.objects.get().not_applied_words


def test_an_issue_gets_what_was_chosen_for_its_kind(acme, client, code_host):
    choose({"*": ["docs feedback"], "broken": ["bug"], "other": ["question"]}, ["alice"], "Bug")

    send(client, "broken")
    send(client, "missing")

    assert issue(code_host).labels == ["docs feedback", "bug"]
    assert issue(code_host, 2).labels == ["docs feedback"]
    assert (issue(code_host).assignees, issue(code_host).type) == (["alice"], "Bug")
    assert not_applied() == ""


def test_without_a_choice_nothing_is_sent(acme, client, code_host):
    build.send(client)

    made = issue(code_host)
    assert (made.labels, made.assignees, made.type) == ([], [], None)


def test_labels_that_do_not_exist_are_created_and_others_keep_their_spelling(
    acme, client, code_host
):
    choose({"*": ["BUG", "docs-feedback"]})

    build.send(client)

    assert issue(code_host).labels == ["bug", "docs-feedback"]
    assert code_host.repository("acme/docs").labels[-1] == "docs-feedback"
    assert not_applied() == ""


def test_a_label_in_both_lists_is_sent_once(acme, client, code_host):
    choose({"*": ["Docs"], "outdated": ["docs", "old"]})

    build.send(client)

    assert issue(code_host).labels == ["Docs", "old"]


def test_nothing_that_a_reporter_writes_becomes_a_label(acme, client, code_host):
    choose({"broken": ["bug"]})

    report = {"report__kind": "other", "report__details": "labels: bug, security\n/label ~bug"}
    build.send(client, build.report(agent__name="bug", **report))

    assert issue(code_host).labels == []


TYPES = "Issue types belong to organizations on GitHub: acme needs to have the one that you choose."
REFUSALS = [
    (
        {"assignees": ["alice", "charlie"]},
        "GitHub did not take the assignee charlie. Whom you assign needs access to acme/docs.",
    ),
    (
        {"issue_type": "Defect"},
        f"GitHub did not take the issue type Defect. {TYPES}",
    ),
    (
        {"assignees": ["nobody"], "issue_type": "Defect"},
        "GitHub did not take the assignee nobody and the issue type Defect. ",
    ),
]


@pytest.mark.parametrize(("choice", "words"), REFUSALS)
def test_where_github_refuses_the_issue_is_opened_without(acme, client, code_host, choice, words):
    choose({"*": ["docs"]}, **choice)

    build.send(client)

    sent = Delivery.objects.get()
    assert (sent.status, sent.tries) == ("sent", 1)
    assert len(code_host.issues("acme/docs")) == 1
    assert issue(code_host).labels == ["docs"]
    assert issue(code_host).assignees == [
        each for each in choice.get("assignees", []) if each == "alice"
    ]
    assert not_applied().startswith(words)


def test_where_github_drops_them_without_a_word_the_page_says_so(acme, client, code_host):
    code_host.drops = {"labels", "assignees", "type"}
    choose({"*": ["docs", "bug"]}, ["alice"], "Bug")

    build.send(client)

    assert Delivery.objects.get().status == "sent"
    assert not_applied().startswith(
        "GitHub did not take the label docs, the label bug, the assignee alice and the issue type Bug. "
        "Create the label in acme/docs yourself, or choose another one. "
    )
    assert len([each for each in code_host.requests if each.path.endswith("/issues")]) == 1


def test_what_is_missing_is_forgotten_once_it_is_taken(acme, client, code_host):
    code_host.drops = {"labels"}
    choose({"broken": ["bug"], "other": ["docs"]})
    send(client, "broken")
    send(client, "other")
    both = Integration.objects.get().not_applied
    code_host.drops = set()

    send(client, "missing")
    after_another_kind = Integration.objects.get().not_applied
    send(client, "broken", "Again")
    after_one = Integration.objects.get().not_applied
    send(client, "other", "Again")

    assert both == after_another_kind == "label bug\nlabel docs"
    assert after_one == "label docs"
    assert not_applied() == ""


def test_an_issue_whose_answer_was_lost_is_adopted_and_not_compared(acme, client, code_host, clock):
    choose({"*": ["docs"]}, ["alice"])
    code_host.fail("refuse", created=True)

    build.send(client)
    code_host.drops = {"labels"}
    clock.advance(seconds=40)
    call_command("retry_deliveries")

    assert Delivery.objects.get().status == "sent"
    assert len(code_host.issues("acme/docs")) == 1
    assert issue(code_host).labels == ["docs"]
    assert not_applied() == ""


def test_a_refusal_of_the_text_alone_is_no_matter_of_labels(acme, client, code_host):
    choose({"*": ["docs"]})
    code_host.fail("422")

    build.send(client)

    assert Delivery.objects.get().status == "failed"
    assert not_applied() == ""


def test_what_was_chosen_anew_meanwhile_is_not_overwritten(acme):
    choose({"*": ["docs"]})
    before = Integration.objects.get()
    choose({"*": ["documentation"]})

    before.note_not_applied("other", Dressing(labels=("docs",)))

    assert not_applied() == ""


def test_what_two_kinds_lack_at_once_is_noted_for_both(acme):
    choose({"broken": ["bug"], "other": ["docs"]})
    one, another = Integration.objects.get(), Integration.objects.get()

    one.note_not_applied("broken", Dressing(labels=("bug",)))
    another.note_not_applied("other", Dressing(labels=("docs",)))

    assert Integration.objects.get().not_applied == "label bug\nlabel docs"


def test_the_usual_issue_costs_no_statement_more(acme, client, code_host):
    build.send(client, build.report(report__summary="Warm"))
    with CaptureQueriesContext(
        connection,
    ) as bare:
        build.send(client, build.report(report__summary="One"))
    choose({"*": ["docs"]}, ["alice"], "Bug")
    with CaptureQueriesContext(connection) as dressed:
        build.send(client, build.report(report__summary="Two"))

    assert issue(code_host, 3).labels == ["docs"]
    assert len(dressed) == len(bare)


def test_an_error_of_our_own_while_that_is_noted_makes_no_second_issue(
    acme, client, code_host, clock, monkeypatch
):
    def crash(*_, **__):
        raise OperationalError("the database went away")

    code_host.drops = {"labels"}
    choose({"*": ["docs"]})
    with monkeypatch.context() as patch:
        patch.setattr(Integration, "note_not_applied", crash)
        build.send(client)
    clock.advance(minutes=5)
    call_command("retry_deliveries")

    assert Delivery.objects.get().status == "sent"
    assert len(code_host.issues("acme/docs")) == 1
