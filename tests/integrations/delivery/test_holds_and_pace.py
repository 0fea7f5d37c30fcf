"""What is held goes on when its cause is gone, and nothing is sent faster than it may be."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.db.models import F
from django.db.models.functions import Now

from integrations import github_api
from integrations.delivery import catching_up, forwarding, holds, turns
from integrations.management.commands import retry_deliveries
from integrations.models import Attempt, Delivery, Installation, Integration
from integrations.models.delivery import LEASE
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def behind_a_proxy(settings):
    settings.HUB_TRUSTED_PROXIES = 1


def send_some(client, number: int, host: str = "docs.acme.com") -> None:
    """Reports, each from a network of its own."""
    for each in range(number):
        report = build.report(f"https://{host}/{each}", report__summary=f"Gone {each}")
        build.send(client, report, X_Forwarded_For=f"198.51.{each}.7")


def statuses() -> list[str]:
    return list(Delivery.objects.order_by("pk").values_list("status", flat=True))


def test_what_was_held_goes_on_in_its_order_when_the_cause_is_gone(client, code_host, clock):
    build.acme(code_host)
    code_host.set_issues("acme/docs", False)
    send_some(client, 4)
    held = statuses()
    code_host.set_issues("acme/docs", True)

    clock.advance(minutes=61)
    probed = holds.probe()
    for _ in range(2):
        call_command("retry_deliveries")

    assert held == ["held"] * 4
    assert probed == 1
    assert statuses() == ["sent"] * 4
    assert Integration.objects.get().problem == ""
    assert code_host.issues("acme/docs")[0].title == "[docs] Gone 0"


def test_a_probe_asks_with_one_delivery_and_once_an_hour(client, code_host, clock):
    build.acme(code_host)
    code_host.set_issues("acme/docs", False)
    send_some(client, 3)

    too_early = holds.probe()
    clock.advance(minutes=61)
    asked = len(code_host.requests)
    in_time = (holds.probe(), holds.probe())
    call_command("retry_deliveries")

    assert too_early == 0
    assert in_time == (1, 0)
    assert (
        len([each for each in list(code_host.requests)[asked:] if each.path.endswith("/issues")])
        == 1
    )
    assert statuses() == ["held"] * 3
    assert "turned off" in Integration.objects.get().problem


def test_an_installation_that_is_no_longer_suspended_goes_on(client, code_host, clock):
    build.acme(code_host)
    code_host.suspend(build.installed(code_host))
    send_some(client, 3)
    code_host.unsuspend(build.installed(code_host))

    clock.advance(minutes=61)
    holds.probe()
    for _ in range(2):
        call_command("retry_deliveries")

    assert statuses() == ["sent"] * 3
    assert Installation.objects.get().suspended_at is None


def test_a_suspension_that_a_refusal_told_of_ends_with_it(client, code_host):
    build.acme(code_host)
    code_host.suspend(build.installed(code_host))
    send_some(client, 1)

    holds.unsuspend(Installation.objects.get())

    assert statuses() == ["pending"]
    assert Integration.objects.get().problem == ""


def test_an_issue_that_gets_through_ends_a_suspension_and_the_problem_before(
    client, code_host, clock
):
    build.acme(code_host)
    code_host.archive("acme/docs")
    send_some(client, 1)
    holds.suspend(Installation.objects.get(), "The app was suspended on acme.")
    assert "archived" in Integration.objects.get().problem
    code_host.unarchive("acme/docs")

    clock.advance(minutes=61)
    holds.probe()
    call_command("retry_deliveries")

    assert statuses() == ["sent"]
    assert (Integration.objects.get().problem, Installation.objects.get().suspended_at) == (
        "",
        None,
    )


def test_a_suspension_holds_every_integration_of_the_installation(client, code_host):
    build.acme(code_host)
    neighbor = build.organization("neighbor")
    build.domain(neighbor, "docs.neighbor.dev")
    build.integration(neighbor, code_host)
    code_host.suspend(build.installed(code_host))

    send_some(client, 1)
    send_some(client, 1, host="docs.neighbor.dev")

    assert statuses() == ["held", "held"]
    assert all("suspended" in each.problem for each in Integration.objects.all())


def test_what_is_held_because_of_its_owner_is_not_released_by_github(client, code_host, clock):
    owner = build.acme(code_host)
    code_host.fail("500", path="token")
    send_some(client, 1)
    owner.domains.update(verified_at=None)
    clock.advance(minutes=1)
    call_command("retry_deliveries")

    holds.unsuspend(Installation.objects.get())

    assert statuses() == ["held"]


def test_no_more_is_sent_in_a_minute_than_the_rate_allows(client, code_host, settings, clock):
    settings.HUB_ISSUE_RATE = "3/minute;5/hour"
    build.acme(code_host)

    send_some(client, 8)
    at_once = len(code_host.issues("acme/docs"))
    call_command("retry_deliveries")
    still = len(code_host.issues("acme/docs"))
    clock.advance(seconds=61)
    call_command("retry_deliveries")
    after_a_minute = len(code_host.issues("acme/docs"))
    clock.advance(minutes=60)
    for _ in range(2):
        call_command("retry_deliveries")
        clock.advance(seconds=61)

    assert (at_once, still, after_a_minute) == (3, 3, 5)
    assert statuses() == ["sent"] * 8
    assert Delivery.objects.filter(tries=1).count() == 8  # waiting its turn is no try


def test_what_is_released_comes_in_its_order_and_not_faster_than_the_rate(
    client, code_host, settings, clock
):
    settings.HUB_ISSUE_RATE = "2/minute"
    build.acme(code_host)
    code_host.set_issues("acme/docs", False)
    send_some(client, 5)
    held = statuses()
    code_host.set_issues("acme/docs", True)
    clock.advance(minutes=61)

    holds.unblock(Integration.objects.get())
    arrived = []
    for _ in range(6):
        call_command("retry_deliveries")
        arrived.append(len(code_host.issues("acme/docs")))
        clock.advance(seconds=31)

    titles = {issue.number: issue.title for issue in code_host.issues("acme/docs")}
    assert held == ["held"] * 5
    assert arrived == [2, 2, 4, 4, 5, 5]
    assert [titles[number] for number in sorted(titles)] == [
        f"[docs] Gone {number}" for number in range(5)
    ]


def test_a_spike_about_one_owner_does_not_delay_another(client, code_host, settings, clock):
    settings.HUB_ISSUE_RATE = "2/minute"
    build.acme(code_host)
    with_zeta(code_host)

    send_some(client, 10)
    send_some(client, 2, host="docs.zeta.dev")

    assert len(code_host.issues("acme/docs")) == 2
    assert len(code_host.issues("zeta/docs")) == 2


def test_a_limit_that_github_set_holds_for_every_delivery_of_the_installation(
    client, code_host, clock
):
    build.acme(code_host)
    code_host.fail("429", value=300)
    send_some(client, 1)
    asked = len(code_host.requests)

    send_some(client, 3)
    call_command("retry_deliveries", "--now")
    during = len(code_host.requests)
    clock.advance(seconds=301)
    call_command("retry_deliveries")

    assert during == asked
    assert statuses() == ["sent"] * 3


def test_a_release_starts_the_day_of_tries_anew(client, code_host, clock):
    build.acme(code_host)
    code_host.set_issues("acme/docs", False)
    send_some(client, 1)
    clock.advance(days=30)
    code_host.set_issues("acme/docs", True)
    code_host.fail("500", path="token")
    github_api.forget_tokens()

    holds.probe()
    call_command("retry_deliveries")

    assert statuses() == ["pending"]


@pytest.mark.parametrize(
    ("tried_for", "middle"), [(0, 30), (30, 60), (90, 120), (210, 240), (50_000, 3600)]
)
def test_the_wait_doubles_up_to_an_hour_and_has_jitter_within_a_fifth(tried_for, middle):
    began = datetime(2026, 1, 1, tzinfo=UTC)
    delivery = Delivery(
        trying_since=began, lease_until=began + LEASE + timedelta(seconds=tried_for)
    )

    waits = {delivery._backoff().total_seconds() for _ in range(50)}

    assert len(waits) > 1
    assert all(middle * 0.8 <= wait <= middle * 1.2 for wait in waits)


def test_what_hangs_on_another_repository_does_not_stop_this_one(client, code_host, clock):
    build.acme(code_host)
    other = code_host.add_repository("acme", "other")
    code_host.add_to_installation(build.installed(code_host), other)
    code_host.fail("502")
    send_some(client, 1)
    Integration.objects.update(repository_id=other.id, repo_name="other")
    code_host.delete_repository("acme/docs")

    clock.advance(minutes=3)
    call_command("retry_deliveries")
    build.send(client)

    lost, fresh = Delivery.objects.order_by("pk")
    assert (lost.status, fresh.status) == ("failed", "sent")
    assert "the Hub cannot check there" in lost.reason
    assert Integration.objects.get().problem == ""


def test_what_was_held_without_a_known_problem_goes_on(client, code_host):
    build.acme(code_host)
    code_host.fail("410")
    send_some(client, 2)
    Integration.objects.update(problem="", probe_at=None)  # as if the process had ended in between

    catching_up.catch_up()
    for _ in range(2):
        call_command("retry_deliveries")

    assert statuses() == ["sent"] * 2


def test_success_in_one_repository_says_nothing_of_another(client, code_host, clock):
    build.acme(code_host)
    neighbor = build.organization("neighbor")
    build.domain(neighbor, "docs.neighbor.dev")
    code_host.add_to_installation(
        build.installed(code_host), code_host.add_repository("acme", "archive")
    )
    build.integration(neighbor, code_host, "acme/archive")
    for repository in ("acme/docs", "acme/archive"):
        code_host.archive(repository)
    send_some(client, 1)
    send_some(client, 1, host="docs.neighbor.dev")
    code_host.unarchive("acme/docs")

    clock.advance(minutes=61)
    holds.probe()
    call_command("retry_deliveries")

    assert statuses() == ["sent", "held"]
    assert [each.problem for each in Integration.objects.order_by("pk")] == [
        "", "acme/archive is archived. Unarchive it, then press Try again."
    ]  # fmt: skip


def test_a_shorter_wait_does_not_cut_a_longer_one_short():
    installation = Installation.objects.create(github_id=1, account="acme")

    installation.leave_alone_for(timedelta(hours=1))
    longer = Installation.objects.get().limited_until
    installation.leave_alone_for(timedelta(minutes=1))

    assert Installation.objects.get().limited_until == longer


def test_a_backlog_that_is_woken_in_its_order_is_sent(client, code_host):
    """As workers do: what came after a delivery is no reason to let it wait."""
    build.acme(code_host)
    Installation.objects.update(limited_until=Now() + timedelta(hours=1))
    send_some(client, 5)
    waiting = list(Delivery.objects.order_by("pk"))
    for number, each in enumerate(waiting):
        came = Now() - timedelta(minutes=10 - number)
        Delivery.objects.filter(pk=each.pk).update(created_at=came, due_at=came)
    Installation.objects.update(limited_until=None)

    for each in waiting:
        forwarding.forward_new(each.report_id)

    assert statuses() == ["sent"] * 5


def test_a_newcomer_does_not_overtake_what_waits(client, code_host, settings, clock):
    settings.HUB_ISSUE_RATE = "1/minute"
    build.acme(code_host)
    send_some(client, 3)
    Delivery.objects.update(due_at=F("due_at") - timedelta(seconds=61))
    clock.advance(seconds=61)

    build.send(client, build.report(report__summary="Late"))
    for _ in range(3):
        call_command("retry_deliveries")
        clock.advance(seconds=61)

    titles = [
        issue.title for issue in sorted(code_host.issues("acme/docs"), key=lambda i: i.number)
    ]
    assert titles == ["[docs] Gone 0", "[docs] Gone 1", "[docs] Gone 2", "[docs] Late"]


def test_waiting_for_its_turn_is_not_counted_as_a_day_of_trying(client, code_host, clock):
    build.acme(code_host)
    Installation.objects.update(limited_until=Now() + timedelta(hours=30))
    send_some(client, 1)
    clock.advance(hours=31)
    code_host.fail("500", path="token")

    call_command("retry_deliveries")

    assert statuses() == ["pending"]


@pytest.mark.slow
def test_an_answer_that_is_lost_all_day_long_is_given_up(client, code_host, clock):
    build.acme(code_host)
    code_host.fail("500", times=1000)
    send_some(client, 1)

    for _ in range(60):
        clock.advance(minutes=61)
        call_command("retry_deliveries")

    delivery = Delivery.objects.get()
    assert delivery.status == "failed"
    assert "24 hours" in delivery.reason
    assert delivery.outcome_unknown_since
    assert delivery.tries < 40


def test_all_slots_taken_is_no_try(client, code_host, monkeypatch):
    build.acme(code_host)
    monkeypatch.setattr("core.deadlines.is_full", lambda: True)

    send_some(client, 1)

    assert (Delivery.objects.get().status, Delivery.objects.get().tries) == ("pending", 0)


def test_what_has_no_repository_to_go_to_is_held(client, code_host, clock):
    build.acme(code_host)
    code_host.fail("500", path="token")
    send_some(client, 1)
    Integration.objects.update(repository_id=None, repo_owner="", repo_name="")

    clock.advance(minutes=1)
    call_command("retry_deliveries")

    assert statuses() == ["held"]
    assert "No repository is chosen" in Delivery.objects.get().reason


@pytest.mark.parametrize(
    ("paused", "problem", "held_for"),
    [
        (False, False, [""]),
        (False, True, [""]),
        (True, False, ["pause"]),
        (True, True, ["pause"]),
    ],
)
def test_what_github_takes_again_waits_for_the_end_of_a_pause(
    client, code_host, paused, problem, held_for
):
    build.acme(code_host)
    code_host.fail("410" if problem else "500", **({} if problem else {"path": "token"}))
    send_some(client, 1)
    if paused:
        holds.pause(Integration.objects.get())

    holds.unblock(Integration.objects.get())
    after_release = list(Delivery.objects.values_list("held_for", flat=True))
    holds.resume(Integration.objects.get())

    assert after_release == held_for
    assert statuses() == ["pending"]


@pytest.mark.parametrize("cause", ["pause", "rights", "ownership", "discarded"])
def test_what_is_let_go_while_github_takes_nothing_waits_with_the_rest(client, code_host, cause):
    build.acme(code_host)
    code_host.fail("500", path="token")
    send_some(client, 1)
    Delivery.objects.all().hold(cause, "It waits for something.")
    holds.block(Integration.objects.get(), "Issues are turned off in acme/docs.")

    released = Delivery.objects.release(cause)

    held = Delivery.objects.get()
    assert released == 0
    assert (held.held_for, held.reason) == ("integration", "Issues are turned off in acme/docs.")


def test_of_all_that_stops_an_integration_the_pause_counts_first(client, code_host):
    build.acme(code_host)
    code_host.fail("500", path="token")
    send_some(client, 1)
    Delivery.objects.all().hold(Delivery.Cause.OWNERSHIP, "It waits for something.")
    Integration.objects.update(paused_at=Now(), rights_lost_at=Now(), problem="No issues.")
    causes = []

    for gone in ({"paused_at": None}, {"rights_lost_at": None}, {"problem": ""}):
        for each in Delivery.Cause.values:
            Delivery.objects.release(each)
        causes.append((Delivery.objects.get().held_for, Integration.objects.get().stop[0]))
        Integration.objects.update(**gone)

    assert causes == [(each, each) for each in ("pause", "rights", "integration")]


def test_integrations_are_probed_some_at_a_time_until_told_to_stop(
    client, code_host, clock, monkeypatch
):
    monkeypatch.setattr(holds, "PROBES", 2)
    build.acme(code_host)
    code_host.fail("410")
    send_some(client, 1)
    for number in range(4):
        owner = build.organization(f"org{number}")
        holds.block(build.integration(owner, code_host), "Issues are turned off.")
    clock.advance(minutes=61)
    due = Integration.objects.filter(probe_at__lte=clock.now())
    answers = iter([True, True, True, False])

    stopped = holds.probe(lambda: next(answers))
    left = due.count()

    assert left == 2
    assert stopped + holds.probe() == 1
    assert not due.exists()


def test_a_paused_integration_is_not_probed(client, code_host, clock):
    build.acme(code_host)
    code_host.fail("410")
    send_some(client, 2)
    holds.pause(Integration.objects.get())
    clock.advance(minutes=61)

    during = holds.probe()
    holds.resume(Integration.objects.get())

    assert (during, holds.probe()) == (0, 1)


def test_what_meets_a_pause_on_its_way_is_held_and_costs_no_turn(
    client, code_host, settings, clock
):
    settings.HUB_ISSUE_RATE = "1/minute"
    build.acme(code_host)
    code_host.fail("500", path="token")
    send_some(client, 2)
    clock.advance(minutes=2)
    Integration.objects.update(paused_at=Now())

    for each in Delivery.objects.all():  # as if they were chosen just before
        forwarding.forward(each.report_id)
    met = list(Delivery.objects.values_list("status", "held_for"))
    Integration.objects.update(paused_at=None)
    swept = catching_up.catch_up()

    assert met == [("held", "pause")] * 2
    assert swept == 2
    assert statuses() == ["pending"] * 2
    assert [each.outcome for each in Attempt.objects.filter(delivery=Delivery.objects.last())] == [
        "held"
    ]


@pytest.mark.slow
def test_the_backlog_of_one_installation_keeps_no_other_waiting(
    client, code_host, clock, monkeypatch
):
    monkeypatch.setattr(turns, "BATCH", 20)
    build.acme(code_host)
    zeta = with_zeta(code_host)
    code_host.fail("500", path="token", times=28)
    send_some(client, 24)
    send_some(client, 4, host="docs.zeta.dev")
    clock.advance(minutes=2)
    Delivery.objects.filter(integration=zeta).update(due_at=clock.now())

    ids = turns.due_ids()

    due = [Delivery.objects.get(report=each).integration_id == zeta.pk for each in ids]
    assert due == [False, True] * 4 + [False] * 6
    acmes = [each for each, is_zetas in zip(ids, due, strict=True) if not is_zetas]
    assert acmes == sorted(acmes, key=lambda each: Delivery.objects.get(report=each).due_at)


def test_all_that_waits_is_tried_in_batches(client, code_host, monkeypatch):
    monkeypatch.setattr(retry_deliveries, "BATCH", 3)
    build.acme(code_host)
    code_host.fail("500", path="token", times=7)
    send_some(client, 7)

    call_command("retry_deliveries", "--now")

    assert statuses() == ["sent"] * 7


def with_zeta(code_host) -> Integration:
    """A second organization, on an installation of its own: docs.zeta.dev goes to zeta/docs."""
    code_host.add_organization("zeta")
    code_host.add_installation("zeta", repositories=[code_host.add_repository("zeta", "docs")])
    zeta = build.organization("zeta")
    build.domain(zeta, "docs.zeta.dev")
    return build.integration(zeta, code_host, "zeta/docs")
