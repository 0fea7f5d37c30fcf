"""Members tell reports apart while others do something with the same ones, or GitHub is away."""

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from integrations.comments import sending
from integrations.delivery import discarding, holds, operator_holds, telling_apart
from integrations.delivery.telling_apart import CannotJoin, CannotSplit
from integrations.folding import joining, named_issues, verdicts
from integrations.models import Comment, Delivery, Hold, Integration, Verdict
from orgs.models import Membership, User
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

FLAG = "`shipyard push --force` fails in step 3: `unknown flag: --force`, since 4.0 it is `--overwrite`"
OTHER = "The page does not say which `DEFAULT_REGISTRY` the `image` goes to"


@pytest.fixture
def alice(code_host) -> Membership:
    owner = build.acme(code_host)
    Integration.objects.update(likeness="fold")
    return build.member(owner).membership


def send(agent: str, summary: str = FLAG) -> Delivery:
    body = build.report(agent__name=agent, report__summary=summary)
    return known(build.send(Client(), body).json()["id"])


def known(report_id: str) -> Delivery:
    whole = Delivery.objects.select_related("integration", "report", "lead", "maybe_lead")
    return whole.get(report=report_id)


def now(delivery: Delivery) -> Delivery:
    return known(delivery.report_id)


def pair() -> tuple[Delivery, Delivery]:
    """A lead, and what has joined it."""
    lead, joined = send("claude-code"), send("cursor")
    assert joined.lead == lead
    return lead, joined


def comments(code_host) -> list[str]:
    """What the Hub says below the first issue and the second, once it is due."""
    Comment.objects.update(due_at="2026-01-01T00:00Z")
    sending.send_due()
    return [each.body for number in (1, 2) for each in code_host.comments("acme/docs", number)]


def on_a_whole_second(delivery: Delivery) -> Delivery:
    """As if it had joined then: how a database writes the same time is not always how it compares it."""
    with connection.cursor() as cursor:
        written = "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%S.000', folded_at)"
        whole = written if connection.vendor == "sqlite" else "DATE_TRUNC('second', folded_at)"
        cursor.execute(
            f"UPDATE integrations_delivery SET folded_at = {whole} WHERE id = %s", [delivery.pk]
        )
    return now(delivery)


def test_all_are_split_off_that_the_question_was_about(alice):
    lead, joined = pair()
    on_a_whole_second(joined)

    assert telling_apart.split_all(lead, by=alice, until=lead.last_joined_at()) == 1


def test_what_stands_in_the_list_below_the_issue_has_been_read_there(alice):
    _, joined = pair()
    sending.send_due()
    listed = on_a_whole_second(joined).folded_at
    Comment.objects.update(listed_until=listed)

    assert not Comment.objects.get().unread().exists()


@pytest.mark.parametrize("reason", ["completed", "not_planned", "duplicate"])
def test_what_was_split_off_keeps_others_from_its_lead_until_it_is_dismissed(alice, reason):
    """It may have been junk in the words of others."""
    lead, junk = pair()
    telling_apart.split(junk, by=alice)
    dismissed = {"issue_state": "closed", "issue_state_reason": reason}
    Delivery.objects.filter(pk=junk.pk).update(**dismissed)

    later = send("aider")

    assert later.lead == (None if reason == "completed" else lead)


def test_of_two_presses_at_the_same_moment_one_counts(alice, code_host):
    """Both have read the report before either has changed it."""
    _, joined = pair()
    same = now(joined)

    telling_apart.split(joined, by=alice)
    with pytest.raises(CannotSplit, match="changed at the same moment"):
        telling_apart.split(same, by=alice)

    assert len(code_host.issues("acme/docs")) == 2
    assert Verdict.objects.count() == 1


def test_all_and_one_split_off_at_the_same_moment_are_split_off_once(alice, code_host):
    lead, joined = pair()
    other = send("aider")
    telling_apart.split(joined, by=alice)

    assert telling_apart.split_all(lead, by=alice) == 1

    assert Verdict.objects.filter(with_all=True).get().report_id == other.report_id
    assert (now(joined).status, now(other).lead) == ("sent", joined)


def test_what_is_being_sent_meanwhile_does_not_join(alice, code_host):
    lead = send("claude-code")
    code_host.fail("422")
    failed = send("cursor", OTHER)
    Delivery.objects.filter(pk=failed.pk).update(
        status="sending", lease_until="2036-01-01T00:00Z", trying_since="2036-01-01T00:00Z"
    )

    with pytest.raises(CannotJoin, match="changed at the same moment"):
        telling_apart.name(failed, lead.issue_url, by=alice)

    assert now(failed).status == "sending"
    assert not Verdict.objects.exists()


def test_what_an_operator_holds_joins_nothing_whatever_else_holds_it(alice, code_host):
    """It waited for the end of a pause when the hold was made."""
    lead = send("claude-code")
    holds.pause(lead.integration)
    waits = send("junk-bot", OTHER)
    root = User.objects.create(username="root")
    operator_holds.make(Hold(kind="agent", value="junk-bot", reason="Junk."), by=root)

    with pytest.raises(CannotJoin, match="An operator of this Hub has put this delivery on hold"):
        telling_apart.name(now(waits), lead.issue_url, by=alice)

    assert (now(waits).status, now(waits).held_for) == ("held", "pause")


def test_an_issue_that_goes_away_meanwhile_is_not_joined(alice, code_host, monkeypatch):
    lead = send("claude-code")
    code_host.fail("422")
    failed = send("cursor", OTHER)
    fold_under = joining.fold_under

    def after_it_is_gone(*args, **named):
        Delivery.objects.filter(pk=lead.pk).update(issue_state="deleted")
        return fold_under(*args, **named)

    monkeypatch.setattr(joining, "fold_under", after_it_is_gone)
    with pytest.raises(CannotJoin, match="changed at the same moment"):
        telling_apart.name(failed, lead.issue_url, by=alice)

    assert now(failed).status == "failed"
    assert not Verdict.objects.exists()


def test_a_move_that_fails_leaves_it_where_it_was(alice, code_host, monkeypatch):
    lead, joined = pair()
    other = send("aider", OTHER)
    monkeypatch.setattr(joining, "fold_under", lambda *args, **named: 0)

    with pytest.raises(CannotJoin):
        telling_apart.name(joined, other.issue_url, by=alice)

    assert (now(joined).status, now(joined).lead) == ("folded", lead)


def test_what_is_split_off_while_github_is_away_is_sent_later(alice, code_host):
    _, joined = pair()
    code_host.fail("500")

    telling_apart.split(joined, by=alice)

    assert now(joined).status == "pending"
    Delivery.objects.update(due_at="2026-01-01T00:00Z", posted_at="2026-01-01T00:00Z")
    call_command("retry_deliveries")
    assert now(joined).status == "sent"
    assert len(code_host.issues("acme/docs")) == 2


def test_what_is_split_off_by_a_process_that_ends_at_once_is_sent_by_the_next(alice, code_host):
    _, joined = pair()
    telling_apart._split([joined.pk], joined.lead, alice)  # and killed

    assert now(joined).status == "pending"
    call_command("retry_deliveries")

    assert (now(joined).status, now(joined).lead) == ("sent", None)


def test_what_is_split_off_while_paused_waits_for_the_end_of_the_pause(alice, code_host):
    lead, joined = pair()
    holds.pause(lead.integration)

    telling_apart.split(now(joined), by=alice)
    held = now(joined)
    holds.resume(lead.integration)
    Delivery.objects.filter(status="pending").update(due_at="2026-01-01T00:00Z")
    call_command("retry_deliveries")

    assert (held.status, held.held_for) == ("held", "pause")
    assert (now(joined).status, now(joined).lead) == ("sent", None)


def test_what_is_split_off_goes_where_issues_go_now(alice, code_host):
    _, joined = pair()
    moved = code_host.add_repository("acme", "handbook")
    build.installed(code_host).repositories = None
    Integration.objects.update(repository_id=moved.id, repo_name="handbook")

    telling_apart.split(now(joined), by=alice)

    assert now(joined).repository == "acme/handbook"


def test_a_discarded_one_that_has_joined_is_sent_once_it_is_split_off(alice, code_host):
    """Whoever says that it is the same wants it known."""
    lead = send("claude-code")
    code_host.fail("422")
    failed = send("cursor", OTHER)
    discarding.discard(failed)
    telling_apart.name(now(failed), lead.issue_url, by=alice)

    telling_apart.split(now(failed), by=alice)

    assert now(failed).status == "sent"


def test_the_comments_follow_what_members_say(alice, code_host):
    joined = pair()[1]
    other = send("aider", OTHER)
    listed = comments(code_host)

    telling_apart.name(now(joined), other.issue_url, by=alice)
    moved = comments(code_host)
    telling_apart.split(now(joined), by=alice)
    left = comments(code_host)

    assert [joined.report_id in each for each in listed] == [True]
    assert [joined.report_id in each for each in moved] == [False, True]
    assert "is the same problem." in moved[1]
    assert [joined.report_id in each for each in left] == [False, False]


def test_what_is_named_at_the_same_moment_is_not_said_to_be_another(alice, monkeypatch):
    other = send("aider", OTHER)
    Integration.objects.update(likeness="hint")
    hinted = [send("claude-code"), send("cursor")][1]
    after_the_look(
        monkeypatch,
        (verdicts, "other_of"),
        lambda: telling_apart.name(now(hinted), other.issue_url, by=alice),
    )

    with pytest.raises(CannotSplit, match="changed at the same moment"):
        telling_apart.split(now(hinted), by=alice)

    said = Verdict.objects.get()
    assert (said.other_id, said.is_same) == (other.report_id, True)


def test_what_is_split_off_at_the_same_moment_is_not_said_to_be_the_same(alice, monkeypatch):
    lead, joined = pair()
    other = send("aider", OTHER)
    after_the_look(
        monkeypatch,
        (named_issues, "lead_at"),
        lambda: telling_apart.split(now(joined), by=alice),
    )

    with pytest.raises(CannotJoin, match="changed at the same moment"):
        telling_apart.name(now(joined), other.issue_url, by=alice, shown=lead.report_id)

    assert not Verdict.objects.get().is_same


def after_the_look(monkeypatch, look, act) -> None:
    """Do it when somebody has looked for the other report, once, before they lock anything."""
    looked = getattr(*look)

    def followed(*args):
        monkeypatch.setattr(*look, looked)
        found = looked(*args)
        act()
        return found

    monkeypatch.setattr(*look, followed)
