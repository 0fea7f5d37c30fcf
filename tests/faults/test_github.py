"""Whatever GitHub does: nothing lost, nothing doubled, and a reason in words."""

import random
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import count

import pytest
from django.core.management import call_command
from django.db import connection

from integrations.delivery import holds
from integrations.github_sync import reconciling
from integrations.models import Delivery, Installation, Integration
from tests.faults import world
from tests.hub_process import ROOT
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

IN_FIVE_MINUTES = format_datetime(datetime.now(UTC) + timedelta(minutes=5), usegmt=True)
FAULTS = {  # name: what is armed, and where the delivery is right after the POST of the report
    "500": (("500", {}), "pending, unknown"),
    "502 after creating": (("502_after_creating", {}), "pending, unknown"),
    "refused": (("refuse", {}), "pending, unknown"),
    "refused after creating": (("refuse", {"created": True}), "pending, unknown"),
    "reset mid-answer": (("reset_mid_answer", {}), "pending, unknown"),
    "slow drip": (("drip", {"milliseconds": 200}), "pending, unknown"),
    "hang": (("hang", {}), "pending, unknown"),
    "hang after creating": (("hang", {"created": True}), "pending, unknown"),
    "truncated 201": (("truncated", {}), "pending, unknown"),
    "201 without number": (("no_number", {}), "pending, unknown"),
    "301": (("301", {}), "sent"),
    "307": (("307", {}), "pending, unknown"),
    "308 after creating": (("308", {"created": True}), "pending, unknown"),
    "403 Retry-After: 120": (("403_retry_after", {"value": 120}), "pending"),
    "403 Retry-After: 1e9": (("403_retry_after", {"value": "1e9"}), "pending"),
    "403 Retry-After: abc": (("403_retry_after", {"value": "abc"}), "pending"),
    "429 with a date": (("429", {"value": IN_FIVE_MINUTES}), "pending"),
    "remaining 0": (("remaining_0", {"reset_in": 600}), "pending"),
    "403 of a proxy": (("answer", {"status": 403, "body": "<html>"}), "pending, unknown"),
    "401": (("401", {}), "sent"),
    "401 twice": (("401", {"times": 2}), "held"),
    "403 archived": (("403_archived", {}), "held"),
    "404": (("404", {}), "held"),
    "410": (("410", {}), "held"),
    "403 abuse detection": (("403_abuse", {}), "pending"),
    "422": (("422", {}), "failed"),
    "422 too quickly": (("422_too_quickly", {}), "pending"),
    "token refused": (("refuse", {"path": "token"}), "pending"),
    "token 500": (("500", {"path": "token"}), "pending"),
    "token 401": (("401", {"path": "token"}), "pending"),
    "token 404": (("404", {"path": "token"}), "held"),
    "token 404 of a proxy": (("answer", {"status": 404, "path": "token"}), "pending"),
    "token 403 abuse detection": (("403_abuse", {"path": "token"}), "pending"),
    "token 429": (("429", {"path": "token", "value": 120}), "pending"),
}


def state(delivery: Delivery) -> str:
    return delivery.status + (", unknown" if delivery.outcome_unknown_since else "")


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault(hub, host, tell, name):
    (kind, details), expected = FAULTS[name]
    host.fail(kind, **details)

    report_id = world.post(hub, 1).json()["id"]
    first = world.what_became(report_id)
    world.settle()
    last = world.what_became(report_id)

    tell(f"{state(first)} ({first.reason or 'no fault left'}) -> {state(last)}")
    assert state(first) == expected
    assert last.status == ("failed" if expected == "failed" else "sent")
    world.check(host, [report_id])


def test_suspended_then_unsuspended(hub, host, tell):
    host.suspend(installation := host.installation_on(host.account("acme")))
    report_id = world.post(hub, 1).json()["id"]
    suspended = world.what_became(report_id)
    world.settle(2)
    still = world.what_became(report_id)
    host.unsuspend(installation)
    world.settle(2)

    tell(f"{state(suspended)} ({suspended.reason}) -> {state(world.what_became(report_id))}")
    assert (suspended.status, still.status) == ("held", "held")
    assert world.what_became(report_id).status == "sent"
    world.check(host, [report_id])


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/api/v3/app/installations/*", 404), ("POST", "token", 422)],
    ids=["installation", "repository"],
)
def test_a_page_of_a_proxy_ends_nothing(hub, host, method, path, status):
    host.fail("answer", status=status, body="<html>", method=method, path=path)
    before = Integration.objects.values("problem", "repository_private").get()

    reconciling.reconcile()

    assert Integration.objects.values("problem", "repository_private").get() == before
    assert Installation.objects.get().suspended_at is None
    assert not host.faults.waiting()


def test_the_process_is_killed_after_the_issue_was_made(hub, host, tell):
    host.fail("slow", seconds=20)
    answers: list = []
    poster = threading.Thread(target=lambda: answers.append(world.try_to_post(hub)))
    poster.start()
    assert wait_until(lambda: host.issues("acme/docs"))
    hub.kill()
    poster.join()
    hub.start()
    killed = Delivery.objects.get()
    world.settle(1)

    tell(f"{state(killed)} -> {state(Delivery.objects.get())}")
    assert killed.status == "sending"
    assert Delivery.objects.get().status == "sent"
    assert len(host.issues("acme/docs")) == 1
    world.check(host, [killed.report_id])


def test_the_process_is_killed_before_the_post(hub, host, tell):
    host.fail("slow", seconds=20, path="token")
    poster = threading.Thread(target=world.try_to_post, args=(hub,))
    poster.start()
    assert wait_until(lambda: Delivery.objects.filter(posted_at__isnull=False).exists())
    assert wait_until(lambda: not host.faults.waiting())  # it hangs there
    hub.kill()
    poster.join()
    issues = host.issues("acme/docs")
    hub.start()
    killed = Delivery.objects.get()
    world.settle(2)

    tell(f"{state(killed)} -> {state(Delivery.objects.get())}")
    assert not issues
    assert Delivery.objects.get().status == "sent"
    world.check(host, [killed.report_id])


def test_two_retry_commands_at_once(hub, host, tell):
    host.fail("500", path="token", times=30)
    ids = [world.post(hub, number).json()["id"] for number in range(30)]
    world.let_pass(minutes=5)
    commands = [
        subprocess.Popen(
            [sys.executable, "manage.py", "retry_deliveries"],
            cwd=ROOT,
            env=hub.environment(),
            stdout=subprocess.DEVNULL,
        )
        for _ in range(2)
    ]
    ended = [command.wait(120) for command in commands]

    assert ended == [0, 0]
    assert world.check(host, ids) == {"sent": 30}
    tell("30 sent, once each")


def test_a_clock_an_hour_behind_finds_what_was_lost(hub, host, tell):
    world.post(hub, 0)
    host.clock_offset = timedelta(hours=-1)
    host.fail("502_after_creating")
    world.post(hub, 1)
    host.clock_offset = timedelta()
    world.settle(1)

    outcomes = world.check(host, [])
    tell(f"{dict(outcomes)}")
    assert outcomes == {"sent": 2}


def test_a_clock_that_makes_our_key_look_expired_loses_nothing(hub, host, tell):
    host.clock_offset = timedelta(hours=1)
    report_id = world.post(hub, 1).json()["id"]
    world.settle(1)
    meanwhile = world.what_became(report_id)
    host.clock_offset = timedelta()
    world.settle(2)

    tell(f"{state(meanwhile)} ({meanwhile.reason}) -> {state(world.what_became(report_id))}")
    assert meanwhile.status == "pending"
    assert world.what_became(report_id).status == "sent"
    world.check(host, [report_id])


def test_200_rounds_of_faults_in_random_order_with_8_threads(hub, host, tell):
    quick = [name for name in FAULTS if "hang" not in name and "drip" not in name]
    rounds = random.Random(20).choices(quick, k=195) + ["hang", "slow drip"] * 2 + ["hang"]
    random.Random(21).shuffle(rounds)
    numbers = count()

    def strike(name: str) -> str:
        kind, details = FAULTS[name][0]
        host.fail(kind, **details)
        Installation.objects.update(limited_until=None)
        holds.unsuspend(Installation.objects.get())  # or the first refusal would hold all the rest
        connection.close()
        return world.post(hub, next(numbers)).json()["id"]

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(strike, rounds))
    right_after = Counter(Delivery.objects.values_list("status", flat=True))
    host.faults.clear()
    world.settle(8)

    outcomes = world.check(host, ids)
    tell(f"{dict(right_after)} -> {dict(outcomes)}")
    assert len(set(ids)) == 200
    assert set(outcomes) <= {"sent", "failed"}
    assert outcomes["failed"] <= rounds.count("422")


def test_what_is_unrelated_is_answered_while_32_forwards_hang(hub, host, tell):
    host.fail("hang", times=32, seconds=30)
    with ThreadPoolExecutor(64) as pool:
        hanging = [pool.submit(world.post, hub, number) for number in range(32)]
        unrelated = [
            pool.submit(world.post, hub, number, "docs.nobody.dev") for number in range(32)
        ]
        answers = [each.result() for each in hanging + unrelated]

    assert {answer.status_code for answer in answers} == {201}
    host.faults.clear()
    call_command("retry_deliveries")
    world.settle()
    outcomes = world.check(host, [answer.json()["id"] for answer in answers])
    tell(f"64 answered 201 -> {dict(outcomes)}")
    assert outcomes == {"sent": 32}
