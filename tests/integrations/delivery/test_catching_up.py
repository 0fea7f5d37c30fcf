"""Whatever stops a backlog, or lets it go, changes a little at a time, and leaves nothing behind."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from core import batches
from hub.maintenance import JOBS
from integrations.delivery import catching_up, holds, trying_again, turns, withholding
from integrations.models import Attempt, Delivery, Installation, Integration
from integrations.models.delivery import DeliveryQuerySet
from integrations.setup import configuration
from reports.models import Account, Report
from tests import build
from tests.integrations.world import integration
from tests.plans import plan_of

pytestmark = pytest.mark.django_db(transaction=True)

BACKLOG = 9


@pytest.fixture
def alice(code_host):
    """acme is set up, and alice, who owns acme at GitHub, is its only member here."""
    owner = build.acme(code_host)
    return build.member(owner, github_id=code_host.account("alice").id).membership


@pytest.fixture
def few(monkeypatch) -> None:
    """So few are changed at once that a short backlog is a long one."""
    monkeypatch.setattr(batches, "AT_ONCE", 4)
    monkeypatch.setattr(batches, "BATCH", 2)


def backlog(number: int = BACKLOG, **columns) -> None:
    """So many reports, of one source, whose deliveries have waited for an hour."""
    now, hour_ago = timezone.now(), timezone.now() - timedelta(hours=1)
    mine = Integration.objects.select_related("organization").first()
    reports = Report.objects.bulk_create(
        Report(
            organization=mine.organization,
            received_at=now,
            last_received_at=now,
            canonical_url="https://docs.acme.com/",
            doc_url="https://docs.acme.com/",
            kind="other",
            summary=f"Gone {turn}",
        )
        for turn in range(number)
    )
    known = {"created_at": hour_ago, "due_at": hour_ago, "source": "a"} | columns
    Delivery.objects.bulk_create(
        Delivery(report=each, integration=mine, turn=turn, **known)
        for turn, each in enumerate(reports)
    )


def states() -> Counter[str]:
    """How many wait, and how many are held for which cause."""
    return Counter(held_for or status for status, held_for in all_of("status", "held_for"))


def all_of(*columns: str) -> list[tuple]:
    return list(Delivery.objects.order_by("turn", "due_at", "pk").values_list(*columns))


@contextmanager
def transactions(table: str = "integrations_delivery") -> Iterator[list[int]]:
    """How many rows of the table each transaction changes, while the block runs."""
    sizes: list[int] = []
    begun: list[int] = []

    def end() -> None:
        sizes.append(sum(begun))
        begun.clear()

    def count(execute, sql, params, many, context):
        result = execute(sql, params, many, context)
        if sql.startswith(f'UPDATE "{table}"'):
            if connection.in_atomic_block and not begun:
                transaction.on_commit(end)
            begun.append(context["cursor"].rowcount)
            if not connection.in_atomic_block:
                end()
        return result

    with connection.execute_wrapper(count):
        yield sizes


def loses_the_right() -> None:
    long_ago = timezone.now() - timedelta(days=2)
    Integration.objects.update(rights_absences=2, rights_absent_since=long_ago)
    holds.record_push_access_missing(integration())


def is_paused() -> None:
    Integration.objects.update(paused_at=timezone.now())
    Delivery.objects.hold("pause", "A member has paused it.")


def is_blocked() -> None:
    Integration.objects.update(problem="It is archived.", probe_at=timezone.now())
    Delivery.objects.hold("integration", "It is archived.")


def is_suspended() -> None:
    holds.suspend(Installation.objects.get(), "The app was suspended on acme.")
    Delivery.objects.hold("integration", "The app was suspended on acme.")


def is_without_right() -> None:
    Integration.objects.update(rights_lost_at=timezone.now())
    Delivery.objects.hold("rights", "No member has push right.")


def nothing() -> None:
    pass


Act = Callable[[object], object]
CHANGES: dict[str, tuple[Callable[[], None], Act, str]] = {  # before, what happens, the end
    "pause": (nothing, lambda alice: holds.pause(integration()), "pause"),
    "resume": (is_paused, lambda alice: holds.resume(integration()), "pending"),
    "unblock": (is_blocked, lambda alice: holds.unblock(integration()), "pending"),
    "unsuspend": (
        is_suspended,
        lambda alice: holds.unsuspend(Installation.objects.get()),
        "pending",
    ),
    "right missed": (nothing, lambda alice: loses_the_right(), "rights"),
    "right found": (
        is_without_right,
        lambda alice: holds.record_push_access_found(integration(), 7),
        "pending",
    ),
    "try again": (is_blocked, configuration.try_again, "pending"),
    "try again with a right": (is_without_right, configuration.try_again, "pending"),
    "disconnect": (nothing, lambda alice: configuration.forget(alice.organization), "integration"),
    "resume without a repository": (
        lambda: (
            is_paused(),
            Integration.objects.update(repository_id=None, repo_owner="", repo_name=""),
        ),
        lambda alice: holds.resume(integration()),
        "integration",
    ),
    "disconnect without a right": (
        is_without_right,
        lambda alice: configuration.forget(alice.organization),
        "integration",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_no_transaction_changes_more_than_a_batch_and_maintain_does_the_rest(name, alice, few):
    before, happens, end = CHANGES[name]
    backlog()
    before()

    with transactions() as at_once:
        happens(alice)
    soon = states()[end]
    with transactions() as later:
        catching_up.catch_up()

    assert max(at_once + later) <= 2
    assert soon == (0 if name == "resume without a repository" else 4)
    assert states() == {end: BACKLOG}


@pytest.mark.slow
def test_a_member_who_presses_pause_and_resume_keeps_no_other_writer_waiting(alice, client):
    """As many as a member of 5,000 and more had changed in one statement, over and over."""
    backlog(batches.AT_ONCE + 500)
    client.force_login(alice.user)

    with transactions() as pressed:
        for press in ("pause", "resume"):
            client.post(f"/settings/integration/{press}/")

    assert max(pressed) <= batches.BATCH
    assert sum(pressed) <= 2 * batches.AT_ONCE


@pytest.mark.parametrize("stop", [holds.block, lambda it, why: holds.suspend(it.installation, why)])
def test_each_that_github_refuses_holds_so_many_more(stop, alice, few, code_host):
    code_host.archive("acme/docs")
    backlog()

    with transactions() as sizes:
        stop(integration(), "It is archived.")
    soon = states()
    asked = len(code_host.requests)
    call_command("retry_deliveries")

    posts = [each for each in list(code_host.requests)[asked:] if each.path.endswith("/issues")]
    assert max(sizes) <= 2
    assert soon == {"integration": 4, "pending": 5}
    assert states() == {"integration": BACKLOG}
    assert len(posts) == 1
    assert integration().problem


def test_nothing_is_sent_or_tried_while_paused_however_much_still_waits(alice, few, code_host):
    backlog()

    holds.pause(integration())
    waiting = states()["pending"]
    is_due = turns.is_anything_due()
    call_command("retry_deliveries")
    call_command("retry_deliveries", "--now")

    assert (waiting, is_due) == (5, False)
    assert not code_host.issues("acme/docs")
    assert Attempt.objects.count() == 5  # only what an operator had tried
    assert states() == {"pause": BACKLOG}


def test_what_is_let_go_keeps_its_turn(alice, few, settings):
    settings.HUB_ISSUE_RATE = "100/minute"
    backlog()
    Delivery.objects.filter(turn__lt=5).update(due_at=timezone.now())  # tried in vain, meanwhile
    before = [turn for (turn,) in all_of("turn")]

    holds.pause(integration())
    held_first = sorted(Delivery.objects.held("pause").values_list("turn", flat=True))
    catching_up.catch_up()
    holds.resume(integration())
    released_first = sorted(Delivery.objects.waiting().values_list("turn", flat=True))
    catching_up.catch_up()

    in_turn = turns.next_of(integration(), set())
    assert held_first == released_first == [0, 1, 2, 3]
    assert [each.turn for each in in_turn] == before
    by_due_at = Delivery.objects.order_by("due_at", "pk")
    assert [each.turn for each in by_due_at] == before


def meanwhile(monkeypatch, method: str, happens: Callable[[], object]) -> None:
    """Once the first batch was changed by this method, that happens."""
    change = getattr(DeliveryQuerySet, method)
    left = [happens]

    def changes(some, *args) -> int:
        count = change(some, *args)
        if left:
            left.pop()()
        return count

    monkeypatch.setattr(DeliveryQuerySet, method, changes)


def test_a_pause_that_ends_while_it_still_holds_leaves_nothing_held(alice, few, monkeypatch):
    backlog()
    meanwhile(monkeypatch, "hold_stopped", lambda: holds.resume(integration()))

    holds.pause(integration())
    catching_up.catch_up()

    assert integration().paused_at is None
    assert states() == {"pending": BACKLOG}


def test_a_pause_that_begins_while_another_is_still_let_go_lets_nothing_out(
    alice, few, monkeypatch, code_host
):
    backlog()
    is_paused()
    meanwhile(monkeypatch, "release", lambda: holds.pause(integration()))

    holds.resume(integration())
    call_command("retry_deliveries")
    catching_up.catch_up()

    assert integration().paused_at
    assert states() == {"pause": BACKLOG}
    assert not code_host.issues("acme/docs")


def test_what_maintain_lets_go_stops_where_a_pause_begins(alice, few, monkeypatch):
    backlog()
    is_paused()
    Integration.objects.update(paused_at=None)
    meanwhile(monkeypatch, "release", lambda: holds.pause(integration()))

    catching_up.catch_up()

    assert states() == {"pause": BACKLOG}


@pytest.mark.parametrize("first", [holds.pause, holds.resume])
def test_what_is_pressed_twice_is_as_if_it_was_pressed_once(first, alice, few, monkeypatch):
    backlog()
    if first is holds.resume:
        is_paused()
    method = "hold_stopped" if first is holds.pause else "release"
    meanwhile(monkeypatch, method, lambda: first(integration()))

    first(integration())
    catching_up.catch_up()

    assert states() == {"pause" if first is holds.pause else "pending": BACKLOG}


def test_a_problem_that_is_there_is_still_asked_about_with_one(alice, few):
    backlog()
    is_blocked()

    catching_up.catch_up()
    probed = holds.probe()
    catching_up.catch_up()

    assert probed == 1
    assert states() == {"integration": BACKLOG - 1, "pending": 1}


def test_what_hangs_on_a_repository_of_before_goes_on_without_one(alice, few, code_host):
    """An issue whose answer was lost is looked for, also where nothing is configured any more."""
    configuration.forget(alice.organization)
    there = {"repository_id": 1, "repository": "acme/docs", "outcome_unknown_since": timezone.now()}
    backlog(3, **there)

    catching_up.catch_up()

    assert states() == {"pending": 3}


def test_a_round_goes_on_until_it_is_told_to_stop_and_the_next_one_from_there(alice, few):
    backlog()
    is_paused()
    Integration.objects.update(paused_at=None)
    [catch_up] = [job.run for job in JOBS if job.name == "catch up"]
    answers = iter([True, True, False])

    first = catch_up(lambda: next(answers))

    assert (first, states()["pending"]) == (4, 4)
    assert catch_up(lambda: True) == BACKLOG - 4
    assert catch_up(lambda: True) == 0


def test_nobodys_backlog_keeps_anothers_waiting(alice, few, code_host):
    backlog(20)
    zeta = build.organization("zeta")
    theirs = build.integration(zeta, code_host)
    Delivery.objects.filter(turn=19).update(integration=theirs)
    is_paused()
    Integration.objects.update(paused_at=None)
    answers = iter([True] * 3)  # of 4 and 1, in batches of 2

    catching_up.catch_up(lambda: next(answers, False))

    assert theirs.deliveries.get().status == "pending"


def test_people_are_told_what_is_so_for_all_though_maintain_has_still_to_do_it(alice, few, client):
    backlog()
    client.force_login(alice.user)

    client.post("/settings/integration/pause/")
    paused = client.get("/settings/").content.decode()
    catching_up.catch_up()
    resumed = client.post("/settings/integration/resume/", follow=True).content.decode()
    overview = client.get("/settings/").content.decode()

    assert f"{BACKLOG} reports wait until you resume." in paused
    assert f"{BACKLOG} reports on the way." in resumed
    assert states() == {"pending": 4, "pause": 5}
    assert "status=held" not in overview


def test_discarded_ones_are_never_among_what_follows(alice, few):
    backlog()
    Delivery.objects.filter(turn__lt=5).discard()

    holds.pause(integration())
    catching_up.catch_up()
    holds.resume(integration())
    catching_up.catch_up()

    assert states() == {"discarded": 5, "pending": 4}


def test_what_was_withheld_is_shown_a_little_at_a_time(alice, few):
    backlog()
    first = Report.objects.first()
    number = integration().repository_id
    known = {"received_at": timezone.now(), "last_received_at": timezone.now(), "size": 1}
    Account.objects.bulk_create(
        Account(report=first, withheld_for=number, words_hash=f"{each}", **known)
        for each in range(BACKLOG)
    )
    Report.objects.update(withheld_for=number)
    is_without_right()

    catching_up.catch_up()
    still = withheld()
    with transactions("reports_report") as at_once:
        holds.record_push_access_found(integration(), alice.github_id)
    soon = withheld()
    with transactions("reports_report") as later:
        catching_up.catch_up()

    assert still == (BACKLOG, BACKLOG)
    assert soon == (5, 5)
    assert max(at_once + later) <= 2
    assert withheld() == (0, 0)
    assert not withholding.explained(alice.organization)


def withheld() -> tuple[int, int]:
    hidden = {"withheld_for__isnull": False}
    return Report.objects.filter(**hidden).count(), Account.objects.filter(**hidden).count()


def test_what_waits_for_a_right_in_another_repository_stays_withheld(alice, few):
    backlog()
    Report.objects.update(withheld_for=integration().repository_id + 1)
    Integration.objects.update(rights_seen_at=timezone.now())

    catching_up.catch_up()

    assert withheld() == (BACKLOG, 0)


def test_an_operator_stops_and_sets_out_a_backlog_a_little_at_a_time(alice, few, monkeypatch):
    monkeypatch.setattr(trying_again, "ACTION_TIMEOUT", 0)
    backlog()

    with transactions() as stopping:
        stopped = trying_again.stop_all(Delivery.objects.all())
    held = states()
    with transactions() as setting_out:
        requeued = trying_again.try_all_again(Delivery.objects.all())

    assert (stopped, requeued) == (BACKLOG, BACKLOG)
    assert held == {"operator": BACKLOG}
    assert states() == {"pending": BACKLOG}
    assert max(stopping + setting_out) <= 4  # of those without a known outcome, then of the others


def test_what_is_held_for_another_cause_now_is_told_so_in_one_round(alice, few):
    backlog()
    is_paused()
    Integration.objects.update(paused_at=None, problem="GitHub takes nothing.")

    changed = catching_up.catch_up()

    assert (changed, states()) == (BACKLOG, {"integration": BACKLOG})


@pytest.mark.parametrize("rule", catching_up.RULES)
def test_whether_something_was_left_is_read_from_an_index(rule, alice):
    plan = plan_of(rule.broken())

    assert re.search("delivery_held|delivery_turn|integrations_delivery_integration", plan)
    assert not re.search("SCAN integrations_delivery|Seq Scan on integrations_delivery", plan)


def test_what_is_first_in_turn_is_read_in_the_order_of_an_index(alice):
    waiting = integration().deliveries.waiting().order_by("turn", "due_at", "pk")

    plan = plan_of(waiting.values_list("pk", flat=True)[:10])

    assert "delivery_turn" in plan
    assert not re.search("Sort|TEMP B-TREE", plan)


def test_pause_and_resume_are_not_pressed_all_the_time(alice, client):
    client.force_login(alice.user)
    other = Client()
    theirs = build.organization("initech")
    other.force_login(build.member(theirs, "charlie"))

    for _ in range(5):
        for press in ("pause", "resume"):
            client.post(f"/settings/integration/{press}/")
    one_too_many = client.post("/settings/integration/pause/", follow=True).content.decode()
    elsewhere = other.post("/settings/integration/pause/", follow=True).content.decode()

    assert "Too many changes between Pause and Resume." in one_too_many
    assert integration().paused_at is None
    assert "too many" not in elsewhere
