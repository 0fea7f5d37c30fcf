"""Whatever happens on the way: nothing lost, nothing doubled, and one comment."""

import threading
from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection

from core import clock as database_clock
from hub import restoring
from integrations import github_api
from integrations.comments import sending
from integrations.delivery import issue_states, leased
from integrations.delivery.issue_states import IssueNews
from integrations.folding import joining
from integrations.models import Comment, Delivery, Installation, Integration
from integrations.models.comment import DELETED_BY_OTHERS, EDITED_BY_OTHERS, CommentQuerySet
from tests import build
from tests.integrations.comments.world import (
    WORDS,
    comment,
    fold,
    lead,
    maintain,
    report,
    shown,
    unfold,
)

pytestmark = pytest.mark.django_db(transaction=True)

MAKING = {  # what is armed for the POST, and the comment right after it
    "500": (("500", {}), "unknown"),
    "502 after creating": (("502_after_creating", {}), "unknown"),
    "refused": (("refuse", {}), "unknown"),
    "refused after creating": (("refuse", {"created": True}), "unknown"),
    "reset mid-answer": (("reset_mid_answer", {}), "unknown"),
    "truncated 201": (("truncated", {}), "unknown"),
    "201 without id": (("no_id", {}), "unknown"),
    "307": (("307", {}), "unknown"),
    "308 after creating": (("308", {"created": True}), "unknown"),
    "301": (("301", {}), "written"),
    "403 Retry-After: 120": (("403_retry_after", {"value": 120}), "pending"),
    "403 Retry-After: abc": (("403_retry_after", {"value": "abc"}), "pending"),
    "429": (("429", {"value": 60}), "pending"),
    "remaining 0": (("remaining_0", {"reset_in": 600}), "pending"),
    "401": (("401", {}), "written"),
    "401 twice": (("401", {"times": 2}), "pending"),
    "403 archived": (("403_archived", {}), "pending"),
    "403 locked": (("403_locked", {}), "pending"),
    "404": (("404", {}), "pending"),
    "410": (("410", {}), "pending"),
    "422": (("422", {}), "dropped"),
    "422 too quickly": (("422_too_quickly", {}), "pending"),
    "token refused": (("refuse", {"path": "token"}), "pending"),
    "token 404": (("404", {"path": "token"}), "pending"),
    "token 500": (("500", {"path": "token"}), "pending"),
    "list 500": (("500", {"method": "GET"}), "pending"),
    "list 404": (("404", {"method": "GET"}), "pending"),
    "list refused": (("refuse", {"method": "GET"}), "pending"),
    "list truncated": (("truncated", {"method": "GET"}), "pending"),
}
EDITING = {  # what is armed for the PATCH, and the comment right after it
    "500": (("500", {}), "pending"),
    "502 after editing": (("502_after_creating", {}), "pending"),
    "refused": (("refuse", {}), "pending"),
    "refused after editing": (("refuse", {"created": True}), "pending"),
    "reset mid-answer": (("reset_mid_answer", {}), "pending"),
    "truncated": (("truncated", {}), "pending"),
    "200 without id": (("no_id", {}), "pending"),
    "403 Retry-After: 120": (("403_retry_after", {"value": 120}), "pending"),
    "429": (("429", {"value": 60}), "pending"),
    "401": (("401", {}), "written"),
    "403 archived": (("403_archived", {}), "pending"),
    "403 locked": (("403_locked", {}), "pending"),
    "410": (("410", {}), "pending"),
    "422": (("422", {}), "dropped"),
    "token 500": (("500", {"path": "token"}), "pending"),
    "read 500": (("500", {"method": "GET"}), "pending"),
    "read 410": (("410", {"method": "GET"}), "pending"),
    "read 429": (("429", {"method": "GET", "value": 60}), "pending"),
    "read truncated": (("truncated", {"method": "GET"}), "pending"),
}


@pytest.fixture
def settle(clock) -> Callable[..., None]:
    """Some hours pass; whatever GitHub refused is found to be well again."""

    def pass_hours(rounds: int = 5) -> None:
        for _ in range(rounds):
            clock.advance(minutes=70)
            Integration.objects.update(problem="")
            Installation.objects.update(suspended_at=None)
            maintain()

    return pass_hours


def state() -> str:
    now = comment()
    is_unknown = now.status == "pending" and now.posted_at and now.comment_id is None
    return "unknown" if is_unknown else now.status


def arm(code_host, kind: str, details: dict, *, method: str, path: str) -> None:
    if details.get("path") == "token":
        github_api.forget_tokens()
        method = "POST"
    code_host.fail(kind, **({"method": method, "path": path} | details))


def check(code_host) -> None:
    """Each report is in one issue, or in one comment once, or waits."""
    comments = [
        each.body
        for issue in code_host.issues("acme/docs")
        for each in issue.comments
        if each.by_app
    ]
    bodies = [each.body for each in code_host.issues("acme/docs")]
    links = Counter(
        each.report_id
        for each in Delivery.objects.all()
        for text in [*comments, *bodies]
        if f"/r/{each.report_id}/" in text
    )
    for each in Delivery.objects.all():
        assert links[each.report_id] == 1, (each.status, links)


def test_one_that_is_always_too_quick_is_tried_at_growing_intervals(acme, code_host, clock):
    """And alone: reports there do not wait, since it may be about what a stranger has written."""
    lead()
    fold("Joined")
    code_host.fail("422_too_quickly", method="POST", path="comments", times=100)

    for _ in range(60):
        clock.advance(minutes=12)
        maintain()

    assert comment().status == "pending"
    assert 10 < comment().tries < 25
    assert Installation.objects.get().left_alone_until is None


@pytest.mark.parametrize("name", MAKING)
def test_making(acme, code_host, settle, name):
    (kind, details), expected = MAKING[name]
    fold("First")
    arm(code_host, kind, details, method="POST", path="comments")

    sending.send_due()
    first, reason = state(), comment().reason
    settle()

    assert first == expected
    assert bool(reason) is (expected != "written")
    assert state() == ("dropped" if expected == "dropped" else "written")
    assert len(code_host.comments("acme/docs", 1)) == (0 if expected == "dropped" else 1)
    assert len(code_host.issues("acme/docs")) == 1
    if expected == "dropped":  # and the next one that joins gets it written
        fold("Second")
        settle(1)
    check(code_host)


@pytest.mark.parametrize("name", EDITING)
def test_editing(acme, code_host, clock, settle, name):
    (kind, details), expected = EDITING[name]
    fold("First")
    maintain()
    fold("Second")
    clock.advance(minutes=11)
    arm(code_host, kind, details, method="PATCH", path="comment")

    sending.send_due()
    first, reason = state(), comment().reason
    settle()

    assert first == expected
    assert bool(reason) is (expected != "written")
    assert state() == ("dropped" if expected == "dropped" else "written")
    if expected == "dropped":
        fold("Third")
        settle(1)
    assert "Second" in shown(code_host)
    check(code_host)


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", [("hang", {}), ("hang", {"created": True}), ("drip", {"milliseconds": 200})]
)
def test_an_answer_that_takes_too_long(acme, code_host, settle, fault, monkeypatch):
    fold("First")
    kind, details = fault
    code_host.fail(kind, path="comments", **details)

    with monkeypatch.context() as patch:
        patch.setattr(leased, "DEADLINE", 1)
        sending.send_due()
    assert state() == "unknown"
    settle()

    assert state() == "written"
    check(code_host)


def test_an_answer_that_is_lost_again_and_again(acme, code_host, settle):
    fold("First")
    code_host.fail("500", path="comments", times=4)

    settle(8)

    assert state() == "written"
    check(code_host)


def killed(*_: object, **__: object) -> None:
    raise SystemExit


def test_killed_before_the_post(acme, code_host, settle, monkeypatch):
    fold("First")
    with monkeypatch.context() as patch:
        patch.setattr(github_api, "create_comment", killed)
        with pytest.raises(SystemExit):
            sending.send_due()
    assert (state(), code_host.comments("acme/docs", 1)) == ("unknown", [])
    sending.send_due()
    assert comment().tries == 1  # until its lease has expired

    settle(2)

    assert state() == "written"
    check(code_host)


def test_killed_after_the_post(acme, code_host, settle, monkeypatch):
    fold("First")
    with monkeypatch.context() as patch:
        patch.setattr(Comment, "made", killed)
        with pytest.raises(SystemExit):
            sending.send_due()
    assert (state(), len(code_host.comments("acme/docs", 1))) == ("unknown", 1)
    fold("Second")

    settle(2)

    assert state() == "written"
    assert "Second" in shown(code_host)
    check(code_host)


@pytest.mark.parametrize("moment", ["edit_comment", "edited"])
def test_killed_around_an_edit(acme, code_host, clock, settle, monkeypatch, moment):
    fold("First")
    maintain()
    fold("Second")
    clock.advance(minutes=11)
    with monkeypatch.context() as patch:
        patch.setattr(github_api if moment == "edit_comment" else Comment, moment, killed)
        with pytest.raises(SystemExit):
            sending.send_due()
    fold("Third")

    settle(2)

    assert (state(), comment().reason) == ("written", "")
    assert "Third" in shown(code_host)
    check(code_host)


def test_what_is_not_in_the_list_yet_is_not_written_again(acme, code_host, clock, monkeypatch):
    fold("First")
    with monkeypatch.context() as patch:
        patch.setattr(github_api, "create_comment", killed)
        with pytest.raises(SystemExit):
            sending.send_due()

    clock.advance(seconds=61)  # the lease has expired
    sending.send_due()
    assert (comment().tries, state()) == (2, "unknown")
    assert not code_host.comments("acme/docs", 1)

    clock.advance(seconds=121)  # two minutes after it was looked for
    sending.send_due()
    assert len(code_host.comments("acme/docs", 1)) == 1


def test_a_clock_that_goes_forward_while_it_is_written(acme, code_host, clock, monkeypatch):
    create, meanwhile = github_api.create_comment, []

    def slow(*sent, **more):
        clock.advance(hours=1)
        monkeypatch.setattr(github_api, "create_comment", create)
        sending.send_due()  # another process, for which the lease is over
        meanwhile.append((comment().tries, state()))
        return create(*sent, **more)

    fold("First")
    monkeypatch.setattr(github_api, "create_comment", slow)
    sending.send_due()
    clock.advance(minutes=3)
    sending.send_due()

    assert meanwhile == [(2, "unknown")]
    assert len(code_host.comments("acme/docs", 1)) == 1


def test_a_lost_comment_is_found_among_many(acme, code_host, settle):
    for number in range(120):
        code_host.comment("acme/docs", 1, f"Me too {number}", user="charlie")
    fold("First")
    code_host.fail("502_after_creating", path="comments")

    settle(3)

    assert state() == "written"
    assert len(code_host.comments("acme/docs", 1)) == 121
    check(code_host)


def test_somebody_elses_mark_is_not_adopted(acme, code_host, settle):
    fold("First")
    code_host.fail("500", path="comments")
    sending.send_due()
    mark = sending.words.marker(Comment.objects.select_related("lead__report").get())
    code_host.comment("acme/docs", 1, f"Mine\n\n{mark}x -->", user="charlie")

    settle(2)

    assert state() == "written"
    assert [each.user for each in code_host.comments("acme/docs", 1)] == [
        "charlie",
        "docs-feedback-hub[bot]",
    ]
    assert comment().comment_id == code_host.comments("acme/docs", 1)[1].id


def at_once(work: Callable[[], object]) -> None:
    """Four processes do this at the same moment."""
    barrier = threading.Barrier(4)

    def run() -> None:
        try:
            barrier.wait()
            work()
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_several_processes_at_once(acme, code_host, clock):
    fold("First")
    at_once(sending.send_due)
    assert (comment().tries, state()) == (1, "written")

    fold("Second")
    clock.advance(minutes=11)
    at_once(sending.send_due)

    assert len([each for each in code_host.requests if each.method == "PATCH"]) == 1
    check(code_host)


def test_several_reports_at_once_want_one_comment(acme, code_host):
    first = lead()

    at_once(lambda: Comment.objects.note_folded(first))

    assert comment().changes == 4


def test_what_is_dropped_while_a_process_waits_to_take_it_is_not_taken(acme, monkeypatch):
    """The attack: PostgreSQL does not look again at what a subquery found before the wait."""
    fold("First")
    due = CommentQuerySet.due

    def found_before(some):
        pks = list(due(some).values_list("pk", flat=True))
        Comment.objects.update(status="dropped")
        return Comment.objects.filter(pk__in=pks)

    with monkeypatch.context() as patch:
        patch.setattr(CommentQuerySet, "due", found_before)
        taken = Comment.objects.take(comment().pk)

    assert taken is None
    assert comment().tries == 0


def test_what_somebody_has_edited_is_left_as_it_is(acme, code_host, settle):
    fold("First")
    maintain()
    [there] = code_host.comments("acme/docs", 1)
    code_host.edit_comment(there, there.body.replace("First", "Nonsense"))
    fold("Second")

    settle(2)
    fold("Third")
    settle(2)

    assert "Second" not in shown(code_host)
    assert "Nonsense" in shown(code_host)
    assert (state(), comment().reason) == ("left", EDITED_BY_OTHERS)
    assert not [each for each in code_host.requests if each.method == "PATCH"]


def test_spaces_and_line_ends_are_no_edit(acme, code_host, settle):
    fold("First")
    maintain()
    [there] = code_host.comments("acme/docs", 1)
    code_host.edit_comment(there, there.body.replace("\n", " \r\n") + "\r\n\r\n")
    fold("Second")

    settle(1)

    assert "Second" in shown(code_host)


def test_what_somebody_has_deleted_is_not_written_again(acme, code_host, settle):
    fold("First")
    maintain()
    code_host.delete_comment(code_host.comments("acme/docs", 1)[0])
    fold("Second")

    settle(2)
    fold("Third")
    settle(2)

    assert code_host.comments("acme/docs", 1) == []
    assert (state(), comment().reason) == ("left", DELETED_BY_OTHERS)
    assert len(code_host.issues("acme/docs")) == 1
    assert Delivery.objects.folded().count() == 3


def go(code_host, how: str) -> None:
    """The issue is gone."""
    if how == "deleted":
        code_host.delete_issue("acme/docs", 1, by="alice")
    else:
        there = code_host.add_repository("acme", "other")
        code_host.add_to_installation(build.installed(code_host), there)
        code_host.transfer_issue("acme/docs", 1, "acme/other", by="alice")


@pytest.mark.parametrize("how", ["deleted", "transferred"])
def test_what_joined_an_issue_that_is_gone_is_sent_on_its_own(acme, code_host, settle, how):
    first, second = fold("First"), fold("Second")
    go(code_host, how)

    settle(2)

    assert (state(), "no longer in acme/docs" in comment().reason) == ("dropped", True)
    first.refresh_from_db()
    second.refresh_from_db()
    assert {first.status, second.status} == {"sent"}
    assert lead().issue_state == "deleted"
    assert len(code_host.issues("acme/docs")) == 2


@pytest.mark.parametrize("how", ["deleted", "transferred"])
def test_what_was_listed_on_an_issue_that_is_gone_stays_with_it(
    acme, code_host, settle, clock, how
):
    first = fold("First")
    maintain()
    clock.advance(minutes=11)
    second = fold("Second")
    go(code_host, how)

    settle(2)

    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.status, second.status) == ("folded", "sent")
    assert state() == "left"
    assert not Integration.objects.get().problem


@pytest.mark.parametrize("how", ["deleted", "transferred"])
def test_an_issue_that_goes_while_the_comment_is_written(acme, code_host, settle, monkeypatch, how):
    joined = fold("First")
    found = github_api.find_comment

    def found_and_gone(*args, **options):
        there = found(*args, **options)
        go(code_host, how)
        return there

    with monkeypatch.context() as patch:
        patch.setattr(github_api, "find_comment", found_and_gone)
        sending.send_due()
    settle(2)

    joined.refresh_from_db()
    assert joined.status == "sent"
    assert len(code_host.issues("acme/docs")) == 1


def test_what_left_and_joined_again_stays_with_an_issue_that_lists_it(
    acme, code_host, settle, clock
):
    first = fold("First")
    maintain()
    clock.advance(minutes=11)
    unfold(first)
    joining.fold_under(Delivery.objects.filter(pk=first.pk), lead(), by="alice")
    Delivery.objects.filter(pk=first.pk).update(folded_by="", likeness_words=WORDS)
    maintain()
    assert state() == "written"
    clock.advance(minutes=11)
    second = fold("Second")
    go(code_host, "deleted")

    settle(2)

    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.status, second.status) == ("folded", "sent")


def test_an_issue_that_is_gone_is_known_from_its_webhook(acme, code_host, settle):
    joined = fold("First")
    Delivery.objects.filter(pk=lead().pk).update(issue_state="deleted")

    sending.send_due()
    maintain()

    joined.refresh_from_db()
    assert (joined.status, state()) == ("sent", "dropped")
    assert not [each for each in code_host.requests if "/comments" in each.path]


@pytest.mark.parametrize("before", ["edited", "refused"])
def test_what_was_never_listed_is_sent_when_the_issue_is_gone(acme, code_host, settle, before):
    """Its list has ended long ago; a webhook tells that the issue is gone."""
    listed = None
    if before == "edited":
        listed = fold("Listed")
        maintain()
        [there] = code_host.comments("acme/docs", 1)
        code_host.edit_comment(there, "Mine")
    else:
        code_host.fail("422", path="comments")
    joined = fold("First")
    settle(1)
    ended = state()
    go(code_host, "deleted")
    Delivery.objects.filter(pk=lead().pk).update(issue_state="deleted")
    Comment.objects.note_gone(lead().repository_id, 1)

    settle(1)

    joined.refresh_from_db()
    assert (ended, state()) == (("left", "left") if listed else ("dropped", "dropped"))
    assert joined.status == "sent"
    if listed:
        listed.refresh_from_db()
        assert listed.status == "folded"


def test_killed_while_it_is_noted_that_an_issue_is_gone(acme, code_host, monkeypatch):
    """All of it is known then, or nothing, and what asks GitHub next finds it."""
    fold("First")
    maintain()
    Comment.objects.update(status="left")
    gone, there = IssueNews(Delivery.IssueState.DELETED), lead().repository_id
    monkeypatch.setattr(CommentQuerySet, "note_gone", killed)

    with pytest.raises(SystemExit):
        issue_states.note(there, 1, gone)

    assert lead().issue_state == "open"


def test_killed_while_what_joined_is_let_go(acme, code_host, settle, monkeypatch):
    joined = fold("First")
    go(code_host, "deleted")
    with monkeypatch.context() as patch:
        patch.setattr(Comment, "end", killed)
        with pytest.raises(SystemExit):
            sending.send_due()

    settle(2)

    joined.refresh_from_db()
    assert joined.status == "sent"
    assert state() == "dropped"


def posts(code_host) -> int:
    return sum(each.method == "POST" and "/comments" in each.path for each in code_host.requests)


def test_on_a_locked_issue_it_waits_longer_each_time_and_asks_for_no_comment(
    acme, code_host, clock
):
    """A comment that GitHub refuses counts against the pace of its installation: many kept all others waiting."""
    fold("First")
    code_host.lock_issue("acme/docs", 1)

    looks = []
    for _ in range(4 * 24):
        maintain()
        looks.append(comment().tries)
        clock.advance(minutes=61)

    assert (state(), "locked" in comment().reason) == ("pending", True)
    assert not Integration.objects.get().problem
    assert looks[:4] == [1, 2, 2, 3]
    assert looks[-1] == 8
    assert (posts(code_host), comment().last_tried_at) == (0, None)

    code_host.lock_issue("acme/docs", 1, locked=False)
    clock.advance(days=1)
    maintain()

    assert state() == "written"


def test_once_the_issue_is_unlocked_it_is_written_at_once(acme, code_host, clock, live_server):
    code_host.app.webhook_url = f"{live_server.url}/v1/webhooks/github"
    fold("First")
    code_host.lock_issue("acme/docs", 1)
    maintain()

    code_host.lock_issue("acme/docs", 1, locked=False)
    maintain()

    assert state() == "written"


def test_below_a_locked_issue_no_comment_is_edited(acme, code_host, clock):
    fold("First")
    maintain()
    code_host.lock_issue("acme/docs", 1)
    fold("Second")
    clock.advance(hours=2)
    maintain()
    edits = [each for each in code_host.requests if each.method == "PATCH"]

    code_host.lock_issue("acme/docs", 1, locked=False)
    clock.advance(days=1)
    maintain()

    assert edits == []
    assert "2 more reports" in shown(code_host)


def test_an_issue_that_is_locked_meanwhile_is_refused_once(acme, code_host, clock):
    fold("First")
    code_host.fail("403_locked", method="POST", path="comments")
    maintain()
    code_host.lock_issue("acme/docs", 1)
    clock.advance(minutes=61)
    maintain()

    assert (state(), "locked" in comment().reason) == ("pending", True)
    assert posts(code_host) == 1


def test_an_issue_that_strangers_have_filled_with_comments_stops_no_other(
    acme, code_host, monkeypatch
):
    """The attack: GitHub takes at most 2,500 comments on an issue, and on a public one anybody may write them."""
    monkeypatch.setattr("sandbox.api_comments.MOST_COMMENTS", 3)
    for number in range(3):
        code_host.comment("acme/docs", 1, f"Spam {number}", user="charlie")
    fold("First")

    maintain()

    assert (state(), "more than 2500 comments" in comment().reason) == ("pending", True)
    assert not Integration.objects.get().problem
    assert report("Another problem", report__details="1").status == "sent"


def test_strangers_comments_that_github_lists_slowly_are_read_in_several_looks(
    acme, code_host, clock, monkeypatch, slow_lists
):
    """An attack: 2,490 comments of a stranger were read from the first one on each time, for ever."""
    monkeypatch.setattr("integrations.github_api.comments.PAGE_SIZE", 2)
    spam = [
        code_host.comment("acme/docs", 1, f"Spam {number}", user="mallory") for number in range(7)
    ]
    fold("First")
    seen = []

    for number in range(4):
        spam[number].change(f"Spam {number}, edited", code_host.now())
        slow_lists(2)
        clock.advance(minutes=11)
        maintain()
        seen.append((state(), comment().reason))

    assert seen[0] == ("pending", "There are many comments on the issue. The Hub reads on.")
    assert seen[-1] == ("written", "")
    texts = [each.body for each in code_host.comments("acme/docs", 1)]
    assert len([each for each in texts if "Spam" not in each]) == 1


def test_a_closed_issue_is_commented_on(acme, code_host, settle):
    fold("First")
    code_host.close_issue("acme/docs", 1, by="alice")

    maintain()

    assert state() == "written"
    assert code_host.issues("acme/docs")[0].state == "closed"


def test_a_repository_that_is_gone_stops_the_integration(acme, code_host):
    fold("First")
    code_host.delete_repository("acme/docs")

    sending.send_due()

    assert state() == "pending"
    assert Integration.objects.get().problem == comment().reason != ""
    assert Delivery.objects.folded().count() == 1
    sending.send_due()
    assert comment().tries == 1


@pytest.mark.parametrize("after", ["archive", "turn issues off"])
def test_a_repository_that_takes_nothing_stops_the_integration(acme, code_host, settle, after):
    fold("First")
    if after == "archive":
        code_host.archive("acme/docs")
    else:
        code_host.set_issues("acme/docs", False)

    sending.send_due()

    assert state() == "pending"
    assert Integration.objects.get().problem
    assert lead().issue_state != "deleted"
    code_host.unarchive("acme/docs")
    code_host.set_issues("acme/docs", True)
    settle(1)
    assert state() == "written"
    check(code_host)


def test_a_suspended_app_is_not_called_again(acme, code_host):
    fold("First")
    code_host.suspend(build.installed(code_host))
    github_api.forget_tokens()

    sending.send_due()

    assert Installation.objects.get().suspended_at
    asked = len(code_host.requests)
    sending.send_due()
    assert len(code_host.requests) == asked

    code_host.unsuspend(build.installed(code_host))


def move(code_host) -> None:
    """The organization's issues go to another account's repository, and the app is uninstalled from acme."""
    code_host.add_organization("beta")
    there = code_host.add_repository("beta", "docs")
    code_host.add_installation("beta", repositories=[there])
    code_host.uninstall(build.installed(code_host))
    Installation.objects.update(suspended_at=database_clock.now())
    installation = Installation.objects.create(
        github_id=build.installed(code_host, "beta").id, account="beta"
    )
    Integration.objects.update(
        installation=installation, repository_id=there.id, repo_owner="beta", repo_name="docs"
    )


@pytest.mark.parametrize(("is_written", "ends"), [(False, "dropped"), (True, "left")])
def test_where_nobody_can_reach_a_repository_that_was_left(
    acme, code_host, clock, is_written, ends
):
    fold("First")
    if is_written:
        maintain()
        fold("Second")
        clock.advance(minutes=11)
    move(code_host)

    sending.send_due()

    assert (state(), bool(comment().reason)) == (ends, True)
    assert Delivery.objects.waiting().get().report.summary == ("Second" if is_written else "First")
    assert not Integration.objects.get().problem
    assert Installation.objects.get(account="beta").suspended_at is None


def test_a_hub_that_was_restored_adopts_the_comment_of_the_one_before(acme, code_host, settle):
    joined = fold("First")
    maintain()
    Comment.objects.all().delete()  # the backup is older than the comment
    unfold(joined)
    Delivery.objects.filter(pk=joined.pk).update(status="held", held_for="pause")
    restoring.mark(Delivery.objects.get(pk=joined.pk).created_at + timedelta(seconds=1))
    fold("Second")

    settle(2)

    assert len(code_host.comments("acme/docs", 1)) == 1
    assert "Second" in shown(code_host)
    assert state() == "written"


def test_an_internal_error_is_logged_and_tried_again(acme, code_host, settle, monkeypatch, caplog):
    fold("First")
    with monkeypatch.context() as patch:
        patch.setattr(github_api, "create_comment", lambda *_, **__: 1 / 0)
        sending.send_due()
    assert "ZeroDivisionError" in caplog.text
    assert f"The comment {comment().pk} failed" in caplog.text

    settle(2)

    check(code_host)


def test_below_an_issue_that_is_locked_late_it_looks_again_after_an_hour(acme, code_host, clock):
    for number in range(6):
        fold(f"Joined {number}")
        maintain()
        clock.advance(minutes=11)
    code_host.lock_issue("acme/docs", 1)
    fold("Last")
    maintain()

    code_host.lock_issue("acme/docs", 1, locked=False)
    clock.advance(minutes=61)
    maintain()

    assert "7 more reports" in shown(code_host)
