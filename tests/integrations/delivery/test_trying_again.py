"""Trying again what has stopped, because a person asks for it."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from core import batches
from core.rates import RateLimited
from integrations.delivery import retries, trying_again
from integrations.delivery.forwarding import forward
from integrations.models import Delivery, Installation, Integration
from integrations.models.delivery import ERASED
from integrations.setup import configuration
from orgs.models import Domain, Membership, Organization
from reports.erasing import erase
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


def sent(client, number: int = 1) -> Delivery:
    for each in range(number):
        build.send(client, build.report(report__summary=f"Gone {each}"))
    return Delivery.objects.order_by("pk")[0]


def member() -> Membership:
    return Membership.objects.first() or build.member(Organization.objects.get()).membership


def after(delivery: Delivery) -> Delivery:
    trying_again.try_again(delivery, by=member())
    delivery.refresh_from_db()
    return delivery


def test_what_github_refused_is_sent_when_it_takes_it(acme, code_host, client):
    code_host.fail("422")
    refused = sent(client)

    delivery = after(refused)

    assert (refused.tries, delivery.status) == (2, "sent")
    assert [each.outcome for each in delivery.attempts.all()] == ["refused", "sent"]
    assert len(code_host.issues("acme/docs")) == 1


def test_an_operator_requeues_nothing_that_was_erased(acme, code_host, client):
    """It would wait for the end of a pause, and strangers would be told that it is on its way."""
    code_host.fail("422")
    erase(sent(client).report)
    Integration.objects.update(paused_at=Now())

    count = trying_again.try_all_again(Delivery.objects.all())

    assert count == 0
    assert (Delivery.objects.get().status, Delivery.objects.get().reason) == ("failed", ERASED)


def test_what_failed_goes_where_the_integration_points_now(acme, code_host, client):
    code_host.fail("422")
    refused = sent(client)
    moved = code_host.add_repository("acme", "handbook")
    Integration.objects.update(repository_id=moved.id, repo_name="handbook")
    build.installed(code_host).repositories = None

    delivery = after(refused)

    assert (delivery.status, delivery.repository) == ("sent", "acme/handbook")
    assert not code_host.issues("acme/docs")


def test_one_that_goes_through_sets_the_others_free(acme, code_host, client):
    code_host.set_issues("acme/docs", False)
    first = sent(client, 3)
    code_host.set_issues("acme/docs", True)

    delivery = after(first)

    assert delivery.status == "sent"
    assert Integration.objects.get().problem == ""
    assert Delivery.objects.filter(status="pending").count() == 2


def test_what_github_still_refuses_is_held_with_the_reason(acme, code_host, client):
    code_host.set_issues("acme/docs", False)
    held = sent(client)

    delivery = after(held)

    assert (delivery.status, delivery.tries) == ("held", 2)
    assert "Issues are turned off" in delivery.reason


def test_a_page_that_is_no_longer_owned_is_held_again(acme, code_host, client):
    code_host.set_issues("acme/docs", False)
    held = sent(client)
    code_host.set_issues("acme/docs", True)
    Domain.objects.all().delete()

    delivery = after(held)

    assert (delivery.status, delivery.held_for) == ("held", "ownership")
    assert not code_host.issues("acme/docs")


def test_a_member_who_presses_without_end_is_stopped(acme, code_host, client, settings):
    settings.HUB_ASKING_RATE = "2/minute"
    code_host.set_issues("acme/docs", False)
    first = sent(client, 2)
    second = Delivery.objects.exclude(pk=first.pk).get()
    after(first)
    after(second)
    asked = len(code_host.requests)

    with pytest.raises(RateLimited, match="Too many attempts to try again"):
        trying_again.try_again(first, by=member())

    assert Delivery.objects.get(pk=first.pk).tries == first.tries
    assert len(code_host.requests) == asked


def test_what_only_waits_for_its_turn_is_told_so(acme, client, code_host, settings):
    settings.HUB_ISSUE_RATE = "1/minute"
    sent(client, 2)
    waiting = Delivery.objects.get(status="pending")

    with pytest.raises(trying_again.CannotTryAgain, match=r"in line; trying .* Waiting its turn: "):
        trying_again.try_again(waiting, by=member())

    assert Delivery.objects.get(pk=waiting.pk).due_at == waiting.due_at


def test_many_at_once_that_only_wait_are_told_so(acme, client, settings):
    settings.HUB_ISSUE_RATE = "1/minute"
    sent(client, 2)

    with pytest.raises(trying_again.CannotTryAgain, match="trying again does not make it faster"):
        trying_again.try_in_turn(Delivery.objects.get(status="pending"))


def test_what_github_limits_is_told_so(acme, client, code_host):
    code_host.fail("429", value=300)
    limited = sent(client)

    with pytest.raises(trying_again.CannotTryAgain, match="GitHub asked us to wait with acme"):
        trying_again.try_again(limited, by=member())


def test_what_waits_for_its_next_try_is_tried_now(acme, client, code_host):
    code_host.fail("502", path="token")
    postponed = sent(client)
    assert postponed.status == "pending"

    assert after(postponed).status == "sent"


def test_of_attempts_without_end_the_first_and_the_latest_are_kept(acme, code_host, client):
    code_host.set_issues("acme/docs", False)
    held = sent(client)
    build.attempts(held, 250)

    left = [after(held).attempts.count() for _ in range(3)]

    assert left == [151, 100, 100]
    assert [each.number for each in held.attempts.all()] == [1, *range(155, 254)]


def test_where_the_answer_was_lost_the_issue_is_found_and_not_made_twice(acme, code_host, client):
    code_host.fail("502", created=True)
    lost = sent(client)
    Delivery.objects.update(status="failed", reason="Given up after 24 hours.")
    lost.refresh_from_db()

    delivery = after(lost)

    assert delivery.status == "sent"
    assert [each.outcome for each in delivery.attempts.all()] == ["unknown", "adopted"]
    assert len(code_host.issues("acme/docs")) == 1


def test_a_lost_answer_is_not_sent_again_before_two_minutes(acme, code_host, client, clock):
    code_host.fail("502")
    lost = sent(client)

    soon = after(lost).status
    clock.advance(minutes=3)
    later = after(lost).status

    assert (soon, later) == ("pending", "sent")
    assert len(code_host.issues("acme/docs")) == 1


def test_a_lost_answer_stays_with_its_repository_without_an_integration(acme, code_host, client):
    code_host.fail("502", created=True)
    lost = sent(client)
    configuration.forget(acme)
    lost.refresh_from_db()

    assert after(lost).status == "sent"


@pytest.mark.parametrize("when", ["before", "while"])
def test_a_delivery_that_goes_meanwhile_delays_nobody(acme, code_host, client, monkeypatch, when):
    code_host.fail("500", times=2)
    sent(client, 2)
    gone, other = Delivery.objects.order_by("pk")
    ids = [gone.report_id, other.report_id]
    delete = Delivery.objects.filter(pk=gone.pk).delete
    if when == "before":
        delete()
    else:
        monkeypatch.setattr(retries, "forward", lambda each: delete() or forward(each))

    counts = retries.retry(ids)

    assert counts == ({"pending": 1} if when == "before" else {"deleted": 1, "pending": 1})


def test_what_waits_is_tried_at_once(acme, code_host, client):
    code_host.fail("500", path="token")
    waiting = sent(client)

    assert waiting.status == "pending"
    assert after(waiting).status == "sent"


def test_what_waits_behind_others_is_tried_at_once(acme, code_host, client, clock):
    code_host.fail("500", path="token", times=2)
    elder = sent(client, 2)
    clock.advance(minutes=2)
    Delivery.objects.exclude(pk=elder.pk).update(due_at=clock.now() + timedelta(hours=1))
    younger = Delivery.objects.exclude(pk=elder.pk).get()

    assert after(younger).status == "sent"
    elder.refresh_from_db()
    assert elder.status == "pending"


def test_what_finds_no_room_now_is_due_as_soon_as_there_is_some(acme, code_host, client):
    code_host.fail("500", path="token")
    postponed = sent(client)
    Delivery.objects.update(due_at=Now() + timedelta(hours=1))
    Installation.objects.get().leave_alone_for(timedelta(minutes=5))
    postponed.refresh_from_db()

    waiting = after(postponed)

    assert waiting.status == "pending"
    assert Delivery.objects.filter(due_at__lte=Now()).exists()


def test_a_delivery_under_way_is_left_to_whoever_sends_it(acme, code_host, client):
    code_host.fail("500", path="token")
    delivery = sent(client)
    Delivery.objects.take(delivery.report_id)

    assert after(delivery).status == "sending"
    assert not code_host.issues("acme/docs")


def test_what_has_arrived_is_not_sent_again(acme, code_host, client):
    arrived = sent(client)

    with pytest.raises(trying_again.CannotTryAgain, match="Already delivered"):
        trying_again.try_again(arrived, by=member())

    assert len(code_host.issues("acme/docs")) == 1


def test_without_a_repository_there_is_nowhere_to_send_it(acme, code_host, client):
    code_host.set_issues("acme/docs", False)
    held = sent(client)
    configuration.forget(acme)
    held.refresh_from_db()

    with pytest.raises(trying_again.CannotTryAgain, match="Choose one first"):
        trying_again.try_again(held, by=member())

    assert Delivery.objects.get().status == "held"


def test_what_an_operator_stopped_only_an_operator_sets_free(acme, code_host, client, clock):
    code_host.fail("500", path="token")
    delivery = sent(client)
    stopped = trying_again.stop_all(Delivery.objects.all())
    delivery.refresh_from_db()

    with pytest.raises(trying_again.CannotTryAgain, match="on hold"):
        trying_again.try_again(delivery, by=member())
    clock.advance(minutes=61)
    Delivery.objects.release(Delivery.Cause.INTEGRATION)
    still = Delivery.objects.get().status
    requeued = trying_again.try_all_again(Delivery.objects.all())

    assert (stopped, still, requeued) == (1, "held", 1)
    assert Delivery.objects.get().status == "sent"


def test_a_press_that_an_operator_comes_before_sets_nothing_free(acme, code_host, client):
    code_host.fail("500", path="token")
    as_it_was_read = sent(client)
    trying_again.stop_all(Delivery.objects.all())

    trying_again.try_again(as_it_was_read, by=member())

    assert (Delivery.objects.get().status, Delivery.objects.get().held_for) == ("held", "operator")
    assert not code_host.issues("acme/docs")


def test_what_an_operator_stops_while_a_member_tries_all_again_stays_stopped(
    acme, code_host, client, monkeypatch
):
    """An attack: the ids were read before, and the batches of up to 5,000 did not ask again."""
    code_host.fail("500", path="token")
    sent(client)
    Delivery.objects.update(**FAILED, held_for="")
    at_leisure = batches.at_leisure

    def after_an_operator(go_on, work):
        Delivery.objects.all().requeue()
        trying_again.stop_all(Delivery.objects.all())
        return at_leisure(go_on, work)

    monkeypatch.setattr(batches, "at_leisure", after_an_operator)
    count, _ = trying_again.try_all_in_turn(Delivery.objects.all())

    assert count == 0
    assert Delivery.objects.values_list("status", "held_for").get() == ("held", "operator")


def test_an_operator_sets_out_all_that_has_somewhere_to_go(acme, code_host, client):
    code_host.set_issues("acme/docs", False)
    sent(client, 3)
    code_host.set_issues("acme/docs", True)
    neighbor = build.organization("neighbor")
    build.domain(neighbor, "docs.neighbor.dev")
    build.integration(neighbor, code_host)
    code_host.fail("410")
    build.send(client, build.report("https://docs.neighbor.dev/"))
    configuration.forget(neighbor)

    requeued = trying_again.try_all_again(Delivery.objects.all())

    assert requeued == 3
    assert Delivery.objects.filter(status="sent").count() == 3
    assert Delivery.objects.filter(status="held").count() == 1


FAILED = {"status": "failed"}
UNKNOWN = {"outcome_unknown_since": Now(), "repository_id": 7, "posted_at": Now()}
IN_THE_WAY = {  # what makes a delivery so that it cannot be tried again
    "discarded": lambda: Delivery.objects.update(status="held", held_for="discarded"),
    "held by an operator": lambda: Delivery.objects.update(status="held", held_for="operator"),
    "erased": lambda: Report.objects.update(erased_at=Now()),
    "paused": lambda: Integration.objects.update(paused_at=Now()),
    "without push access": lambda: Integration.objects.update(rights_lost_at=Now()),
    "without a repository": lambda: Integration.objects.update(
        repository_id=None, repo_owner="", repo_name=""
    ),
}


@pytest.mark.parametrize("reason", IN_THE_WAY)
def test_of_many_those_are_left_out_that_one_could_not_be(acme, code_host, client, reason):
    code_host.fail("422")
    delivery = sent(client)

    IN_THE_WAY[reason]()
    delivery = Delivery.objects.select_related("integration", "report").get()

    assert trying_again.obstacle(delivery)
    assert trying_again.try_all_in_turn(Delivery.objects.all()).done == 0
    with pytest.raises(trying_again.CannotTryAgain):
        trying_again.try_in_turn(delivery)


@pytest.mark.parametrize("reason", ["erased", "without a repository"])
def test_an_issue_that_may_be_there_is_looked_for_whatever_else(acme, code_host, client, reason):
    code_host.fail("422")
    sent(client)
    Delivery.objects.update(**UNKNOWN)
    IN_THE_WAY[reason]()

    assert trying_again.try_all_in_turn(Delivery.objects.all()).done == 1


def test_of_many_so_many_are_tried_again_without_asking_github(
    acme, code_host, client, monkeypatch, django_assert_max_num_queries
):
    monkeypatch.setattr(batches, "AT_ONCE", 3)
    code_host.set_issues("acme/docs", False)
    sent(client, 5)
    Delivery.objects.update(last_tried_at=None, **FAILED, held_for="")
    asked = len(code_host.requests)

    with django_assert_max_num_queries(11):  # four have PostgreSQL find them in time
        count, _ = trying_again.try_all_in_turn(Delivery.objects.all())

    assert count == 3
    assert len(code_host.requests) == asked
    assert Delivery.objects.filter(status="pending", due_at__lte=Now()).count() == 3


def test_what_was_just_tried_waits_a_minute_when_many_are_tried_again(acme, code_host, client):
    code_host.fail("422")
    refused = sent(client)

    trying_again.try_all_in_turn(Delivery.objects.all())

    refused.refresh_from_db()
    assert (refused.status, refused.reason) == ("pending", "")
    assert refused.due_at == refused.last_tried_at + timedelta(minutes=1)
