"""What a member discards is kept and never sent, whatever else is released, until it is restored."""

from threading import Barrier, Thread

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models.functions import Now

from core import batches
from integrations.delivery import (
    catching_up,
    discarding,
    forwarding,
    holds,
    ownership_changes,
    trying_again,
)
from integrations.models import Attempt, Delivery, Installation, Integration
from integrations.models.hold import STOPPED_BY_OPERATOR
from orgs.models import Domain
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


def waiting(client, code_host) -> Delivery:
    """A report whose delivery GitHub did not take in time."""
    code_host.fail("500", path="token")
    build.send(client)
    return Delivery.objects.get()


def discarded(client, code_host) -> Delivery:
    delivery = waiting(client, code_host)
    discarding.discard(delivery)
    delivery.refresh_from_db()
    return delivery


def state() -> tuple[str, str]:
    return Delivery.objects.values_list("status", "held_for").get()


def pause_and_resume() -> None:
    holds.pause(Integration.objects.get())
    holds.resume(Integration.objects.get())


RELEASES = {
    "probe": holds.probe,
    "catch up": catching_up.catch_up,
    "unblock": lambda: holds.unblock(Integration.objects.get()),
    "resume after a suspension": lambda: holds.unsuspend(Installation.objects.get()),
    "resume after a pause": pause_and_resume,
    "pages regained": ownership_changes.release_all_regained,
    "retry_deliveries": lambda: call_command("retry_deliveries"),
    "retry_deliveries --now": lambda: call_command("retry_deliveries", "--now"),
    "the operator's retry": lambda: trying_again.try_all_again(Delivery.objects.all()),
    "the operator's hold": lambda: trying_again.stop_all(Delivery.objects.all()),
    "forward": lambda: forwarding.forward(Delivery.objects.get().report_id),
}


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_no_other_release_sends_what_was_discarded(acme, client, code_host, clock, release):
    discarded(client, code_host)
    clock.advance(minutes=61)

    release()
    call_command("retry_deliveries")

    assert state() == ("held", "discarded")
    assert not code_host.issues("acme/docs")


def test_other_words_than_what_was_discarded_are_a_report_of_their_own(acme, client, code_host):
    junk = discarded(client, code_host).report

    true = build.send(client, build.report(report__details="The flag was removed")).json()
    build.send(client)

    assert true["is_duplicate"] is False
    assert [
        issue.body.count("The flag was removed") for issue in code_host.issues("acme/docs")
    ] == [1]
    junk.refresh_from_db()
    assert junk.times_reported == 1
    assert junk.further_accounts == 0


def test_after_it_was_restored_other_words_are_a_further_account_again(acme, client, code_host):
    discarding.restore(discarded(client, code_host))

    words = build.report(report__details="The flag was removed")

    assert build.send(client, words).json()["is_duplicate"] is True


def test_a_repeat_of_what_was_discarded_is_not_sent(acme, client, code_host):
    discarded(client, code_host)

    build.send(client)

    assert state() == ("held", "discarded")
    assert not code_host.issues("acme/docs")


def test_a_member_restores_before_trying_again(acme, client, code_host):
    delivery = discarded(client, code_host)
    member = build.member(delivery.integration.organization).membership

    with pytest.raises(trying_again.CannotTryAgain, match="Restore"):
        trying_again.try_again(delivery, by=member)

    assert state() == ("held", "discarded")


def test_what_is_restored_is_sent(acme, client, code_host, clock):
    delivery = discarded(client, code_host)
    clock.advance(minutes=1)

    discarding.restore(delivery)
    call_command("retry_deliveries")

    assert state() == ("sent", "")
    assert len(code_host.issues("acme/docs")) == 1


def test_what_github_refused_is_discarded_and_sent_anew(acme, client, code_host, clock):
    code_host.fail("422")
    build.send(client)

    discarding.discard(Delivery.objects.get())
    discarding.restore(Delivery.objects.get())
    clock.advance(minutes=1)
    call_command("retry_deliveries")

    assert state() == ("sent", "")


@pytest.mark.parametrize("also_paused", [False, True])
def test_whoever_discards_and_restores_without_end_uses_up_no_calls_of_github(
    acme, client, code_host, also_paused
):
    code_host.fail("422", times=100)
    build.send(client)

    for _ in range(5):
        discarding.discard(Delivery.objects.get())
        discarding.restore(Delivery.objects.get())
        if also_paused:
            pause_and_resume()
        call_command("retry_deliveries")

    assert Delivery.objects.get().tries == 1


def blocked() -> None:
    holds.block(Integration.objects.get(), "Issues are turned off in acme/docs.")


def paused() -> None:
    holds.pause(Integration.objects.get())


def lost() -> None:
    Domain.objects.update(verified_at=None)


@pytest.mark.parametrize(
    ("happens", "cause", "reason"),
    [
        (blocked, "integration", "Issues are turned off"),
        (paused, "pause", "paused"),
        (lost, "ownership", "no longer belongs to your organization"),
    ],
)
def test_what_is_restored_is_held_again_where_nothing_is_sent(
    acme, client, code_host, happens, cause, reason
):
    delivery = discarded(client, code_host)
    happens()

    discarding.restore(delivery)

    assert state() == ("held", cause)
    assert reason in Delivery.objects.get().reason


def test_what_is_held_is_discarded_too(acme, client, code_host):
    paused()
    build.send(client)

    discarding.discard(Delivery.objects.get())
    holds.resume(Integration.objects.get())

    assert state() == ("held", "discarded")


UNDISCARDABLE = {
    "sent": ({"status": "sent", "issue_number": 1, "repository_id": 1}, "Already delivered"),
    "being sent": ({"status": "sending", "lease_until": Now()}, "being sent"),
    "of unknown outcome": (
        {"outcome_unknown_since": Now(), "repository_id": 1},
        "not known yet whether GitHub",
    ),
    "stopped by the operator": (
        {"status": "held", "held_for": "operator", "reason": STOPPED_BY_OPERATOR},
        "on hold",
    ),
    "discarded": ({"status": "held", "held_for": "discarded"}, "Already discarded"),
}


@pytest.mark.parametrize(("columns", "reason"), UNDISCARDABLE.values(), ids=UNDISCARDABLE)
def test_what_cannot_be_discarded_says_why(acme, client, code_host, columns, reason):
    delivery = waiting(client, code_host)
    Delivery.objects.update(**columns)
    before = state()

    with pytest.raises(discarding.CannotDiscard, match=reason):
        discarding.discard(delivery)

    assert state() == before


def test_what_is_not_discarded_is_not_restored(acme, client, code_host):
    delivery = waiting(client, code_host)

    with pytest.raises(discarding.CannotRestore, match="not discarded"):
        discarding.restore(delivery)

    assert state() == ("pending", "")


def test_discarding_and_sending_at_once_end_in_one_of_both(acme, client, code_host):
    for number in range(6):
        code_host.fail("500", path="token")
        build.send(client, build.report(report__summary=f"Gone {number}"))
    reports = list(Delivery.objects.values_list("report_id", flat=True))
    start = Barrier(2)

    def send() -> None:
        start.wait()
        for each in reports:
            forwarding.forward(each)
        connection.close()

    sender = Thread(target=send)
    sender.start()
    start.wait()
    count, _ = discarding.discard_all(Delivery.objects.order_by("-pk"))
    sender.join()

    sent = Delivery.objects.filter(status="sent").count()
    assert (sent, count) == (len(code_host.issues("acme/docs")), 6 - sent)
    assert Attempt.objects.filter(ended_at=None).count() == 0


def test_whoever_changes_many_again_and_again_leaves_room_for_others(acme, client, monkeypatch):
    monkeypatch.setattr(batches, "BATCH", 2)
    paused()
    for number in range(6):
        build.send(client, build.report(report__summary=f"Gone {number}"))
    rests: list[float] = []
    monkeypatch.setattr(batches.time, "sleep", rests.append)

    discarding.discard_all(Delivery.objects.all())
    discarding.restore_all(Delivery.objects.all())

    assert len(rests) == 6


def test_many_are_discarded_and_restored_in_batches(acme, client, code_host, monkeypatch):
    monkeypatch.setattr(batches, "BATCH", 2)
    paused()
    for number in range(5):
        build.send(client, build.report(report__summary=f"Gone {number}"))

    mine = Delivery.objects.all()
    gone, again = discarding.discard_all(mine), discarding.discard_all(mine)
    back = discarding.restore_all(mine)

    assert (gone.done, again.done, back.done) == (5, 0, 5)
    assert set(mine.values_list("held_for", flat=True)) == {"pause"}
