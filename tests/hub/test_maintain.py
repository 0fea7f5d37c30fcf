"""The work that nobody asks for."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import nullcontext
from datetime import timedelta

import psutil
import pytest
import requests
from django.db import DataError, InterfaceError, OperationalError, connection
from django.test import Client

from hub import maintenance
from hub.maintenance import JOBS, Job, Runner
from hub.models import Lease
from integrations.management.commands import retry_deliveries
from integrations.models import Delivery
from tests import build
from tests.hub_process import ROOT, HubProcess
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

MINUTE = timedelta(minutes=1)


def take(holder: str, name: str = "x") -> bool:
    return Lease.objects.take(name, holder=holder, duration=MINUTE)


def test_a_lease_is_one_holders_until_it_runs_out(clock):
    first = [take("alice"), take("bob"), take("alice")]
    clock.advance(seconds=61)
    later = [take("bob"), take("alice")]

    assert first == [True, False, True]
    assert later == [True, False]


def test_a_lease_that_was_given_back_is_free():
    take("alice")
    Lease.objects.give_back("x", holder="bob")
    still = take("bob")
    Lease.objects.give_back("x", holder="alice")

    assert not still
    assert take("bob")


def test_a_turn_comes_once_in_its_time(clock):
    turns = [Lease.objects.take_turn("x", every=MINUTE) for _ in range(3)]
    clock.advance(seconds=61)

    assert turns == [True, False, False]
    assert Lease.objects.take_turn("x", every=MINUTE)


def test_a_lease_is_free_once_the_clock_was_put_back_by_more_than_it_lasts(clock):
    clock.advance(hours=1)
    take("alice")
    Lease.objects.take_turn("y", every=MINUTE)
    clock.advance(hours=-1)

    assert Lease.objects.free({"x": MINUTE, "y": MINUTE}) == {"x", "y"}
    assert take("bob")
    assert Lease.objects.take_turn("y", every=MINUTE)
    assert not Lease.objects.free({"x": MINUTE, "y": MINUTE})


def test_a_runner_that_was_killed_is_replaced_within_a_minute():
    assert maintenance.LEASE + timedelta(seconds=maintenance.RENEW) < MINUTE


def state() -> list:
    """For the message of a test that waited in vain."""
    return [*Delivery.objects.values(), *Lease.objects.values()]


@pytest.mark.slow
def test_serve_brings_what_is_due_and_replaces_a_runner_that_was_killed(code_host):
    build.acme(code_host)
    code_host.fail("500", path="token", times=1000)
    with HubProcess(maintain=True) as hub:
        requests.post(f"{hub.url}/v1/reports", json=build.report(), timeout=20)
        Delivery.objects.update(due_at=Delivery.objects.get().created_at)
        tried = wait_until(lambda: Delivery.objects.filter(status="pending", tries=2).exists())
        code_host.faults.clear()
        [runner] = [
            each
            for each in psutil.Process(hub.process.pid).children(recursive=True)
            if "maintain" in each.cmdline()
        ]
        runner.kill()
        Lease.objects.update(until=Delivery.objects.get().created_at)  # as if its time had passed
        Delivery.objects.update(due_at=Delivery.objects.get().created_at)
        sent = wait_until(lambda: Delivery.objects.get().status == "sent")
        ended = hub.stop()

    assert tried, state()
    assert sent, state()
    assert len(code_host.issues("acme/docs")) == 1
    assert ended == 0


@pytest.mark.slow
def test_maintain_stops_when_told_and_gives_its_lease_back(code_host):
    environment = HubProcess().environment()
    process = subprocess.Popen([sys.executable, "manage.py", "maintain"], cwd=ROOT, env=environment)
    took = wait_until(lambda: Lease.objects.filter(name="maintain").exclude(holder="").exists())
    os.kill(process.pid, signal.SIGTERM)

    assert took
    assert process.wait(20) == 0
    assert Lease.objects.take("maintain", holder="next", duration=MINUTE)


@pytest.mark.slow
def test_retry_deliveries_can_go_on_until_it_is_interrupted(code_host):
    build.acme(code_host)
    code_host.fail("500", path="token")
    environment = HubProcess().environment()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "retry_deliveries", "--watch"], cwd=ROOT, env=environment
    )
    try:
        build.send(Client())
        Delivery.objects.update(due_at=Delivery.objects.get().created_at)
        sent = wait_until(lambda: Delivery.objects.get().status == "sent")
        process.send_signal(signal.SIGINT)

        assert sent
        assert process.wait(20) == 0
    finally:
        process.kill()  # or it would send what the next tests put down
        process.wait()


@pytest.mark.parametrize(
    ("error", "goes_on"),
    [(OperationalError("gone"), True), (InterfaceError("closed"), True), (DataError("x"), False)],
)
def test_retry_deliveries_goes_on_only_once_a_lost_database_is_back(monkeypatch, error, goes_on):
    def lost():
        raise error

    monkeypatch.setattr(retry_deliveries.holds, "probe", lost)

    with nullcontext() if goes_on else pytest.raises(DataError):
        retry_deliveries.Command()._watch()


def test_an_error_ends_one_piece_of_work_and_not_the_runner(monkeypatch, caplog):
    runner = Runner()
    runner._mine.set()
    ran = []
    monkeypatch.setattr("hub.maintenance.PAUSE", 0)
    jobs = [
        Job("broken", MINUTE, lambda go_on: 1 / 0),
        Job("x", MINUTE, lambda go_on: ran.append("x")),
    ]
    monkeypatch.setattr("hub.maintenance.JOBS", jobs)

    runner._round()
    runner._round()

    assert "ZeroDivisionError" in caplog.text
    assert ran == ["x"]  # once in its time


def test_a_round_with_nothing_to_do_asks_the_database_five_questions(django_assert_num_queries):
    runner = Runner()
    runner._mine.set()
    runner._round()

    with django_assert_num_queries(5):
        runner._round()


def test_retries_and_jobs_leave_each_other_time(client, code_host, monkeypatch):
    build.acme(code_host)
    code_host.fail("500", path="token")
    build.send(client)
    Delivery.objects.update(due_at=Delivery.objects.get().created_at)
    asked = len(code_host.requests)
    runner = Runner()
    runner._mine.set()
    monkeypatch.setattr("hub.maintenance.LONGEST_JOB", 0)

    runner._round()

    assert len(code_host.requests) == asked
    assert Delivery.objects.get().status == "pending"


def test_what_may_take_many_turns_has_short_ones(monkeypatch):
    """Deliveries wait for it."""
    left = []
    job = Job("x", MINUTE, lambda go_on: left.append(go_on()), longest=0)
    monkeypatch.setattr(maintenance, "JOBS", [job, Job("y", MINUTE, job.run)])
    runner = Runner()
    runner._mine.set()

    runner._run_jobs()

    assert left == [False, True]


def test_nothing_waits_for_servers_of_strangers(monkeypatch):
    """They may take their time, and can be very many."""
    asks, answers, sends = threading.Event(), threading.Event(), threading.Event()

    def ask(go_on):
        asks.set()
        answers.wait()

    jobs = [
        Job("x", MINUTE, ask, asks_strangers=True),
        Job("y", MINUTE, lambda go_on: asks.wait() and sends.set()),
    ]
    monkeypatch.setattr(maintenance, "JOBS", jobs)
    runner = Runner()

    def run():
        runner.run()
        connection.close()

    running = threading.Thread(target=run)
    running.start()
    try:
        sent = sends.wait(20)
    finally:
        for each in (asks, answers, runner.stopping):
            each.set()
        running.join()

    assert sent
    assert take("next", maintenance.RUNNER)  # given back


def test_these_take_as_long_as_strangers_make_them_take():
    beside = {job.name for job in JOBS if job.asks_strangers}

    assert beside == {"domains", "public files", "reconcile installations"}


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_each_job_runs(job):
    job.run(lambda: True)
