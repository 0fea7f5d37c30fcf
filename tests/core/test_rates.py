"""Counting what comes in."""

import logging
import os
import re
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction

import pytest

from core import rates, redis_client
from core.telling import Telling
from core.windows import Full, Windows
from tests.hub_process import ROOT, free_port
from tests.redis_server import Relay, serving
from tests.waiting import wait_until

AWAY = (
    "Redis is unavailable: rate limits are counted in this process only, and nobody can sign in from "
    "a terminal"
)
AT_ONCE = """
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import django

django.setup()
from core import rates, redis_client

together = Barrier(32)

def report(_):
    together.wait()
    try:
        rates.check("20/minute", "x")
    except Exception as error:
        return type(error).__name__
    return "taken"

sys.setswitchinterval(1e-6)
with ThreadPoolExecutor(32) as threads:
    answers = list(threads.map(report, range(32)))
print(answers.count("taken"), answers.count("RateLimited"))
"""


def alarms(caplog) -> list[str]:
    return [each.message for each in caplog.records if each.levelno >= logging.WARNING]


@pytest.fixture(params=["this process", pytest.param("redis", marks=pytest.mark.slow)])
def counted_in(request) -> None:
    """The tests that use it hold for both."""
    if request.param == "redis":
        request.getfixturevalue("redis")


def test_each_key_is_counted_by_itself(counted_in):
    rates.check("1/minute", "address", "a")
    rates.check("1/minute", "address", "b")

    with pytest.raises(rates.RateLimited):
        rates.check("1/minute", "address", "a")


def test_every_limit_of_several_counts(counted_in):
    rates.check("5/minute;2/hour", "x")
    rates.check("5/minute;2/hour", "x")

    with pytest.raises(rates.RateLimited) as refused:
        rates.check("5/minute;2/hour", "x")

    assert int(refused.value.headers["Retry-After"]) > 60


def test_what_a_narrow_limit_refuses_is_not_taken_from_the_wide_one(counted_in):
    def ask(address: str) -> None:
        rates.check_all(rates.Limit("4/minute", ("all",)), rates.Limit("2/minute", (address,)))

    for _ in range(2):
        ask("a")
    for _ in range(10):
        with pytest.raises(rates.RateLimited):
            ask("a")

    ask("b")
    ask("b")
    with pytest.raises(rates.RateLimited):
        ask("c")


def test_a_limit_may_be_given_several_times_over():
    for _ in range(20):
        rates.check_all(rates.Limit("2/minute", ("x",), times=10))

    with pytest.raises(rates.RateLimited):
        rates.check_all(rates.Limit("2/minute", ("x",), times=10))


@pytest.mark.parametrize(
    ("rate", "part", "taken"),
    [("30/minute", "1/10", 3), ("25/minute", "1/10", 2), ("3/hour", "1/10", 1)],
)
def test_a_limit_may_be_a_part_of_a_rate_and_is_at_least_one(rate, part, taken):
    for _ in range(taken):
        rates.check_all(rates.Limit(rate, ("x",), times=Fraction(part)))

    with pytest.raises(rates.RateLimited):
        rates.check_all(rates.Limit(rate, ("x",), times=Fraction(part)))


def test_a_rate_of_nothing_is_nothing_in_part_as_well(counted_in):
    with pytest.raises(rates.RateLimited):
        rates.check_all(rates.Limit("0/minute", ("x",), times=Fraction(1, 10)))


def test_what_is_known_to_be_too_much_is_refused_without_counting(counted_in):
    limits = rates.Limit("2/minute", ("all",)), rates.Limit("1/minute", ("a",))
    for _ in range(3):
        rates.refuse_known(*limits)
    rates.check_all(*limits)
    with pytest.raises(rates.RateLimited):
        rates.check_all(*limits)

    with pytest.raises(rates.RateLimited) as refused:
        rates.refuse_known(*limits)
    rates.refuse_known(limits[0])

    assert 58 <= int(refused.value.headers["Retry-After"]) <= 60


def test_what_several_processes_count_for_themselves_is_heard_by_all(redis):
    limit = rates.Limit("3/minute", ("a",))
    for _ in range(2):
        rates.check_locally(limit)
    rates._telling.tell()
    rates.forget()  # as another process, which has heard nothing yet

    rates.check_locally(limit)
    rates._telling.tell()

    with pytest.raises(rates.RateLimited) as refused:
        rates.check_locally(limit)
    assert 1 <= int(refused.value.headers["Retry-After"]) <= 60
    with pytest.raises(rates.RateLimited):
        rates.refuse_known(limit)
    with pytest.raises(rates.RateLimited):
        rates.check_all(limit)


def test_a_burst_that_several_processes_take_at_once_is_over_a_limit_by_an_eighth(
    redis, settings, monkeypatch
):
    settings.HUB_PROCESSES = 4
    processes = [(Windows(), Full(), Telling(rates._tell, rates._close)) for _ in range(4)]
    for *_, telling in processes:
        monkeypatch.setattr(telling, "_process", os.getpid())  # nobody tells in time
    limit, taken = rates.Limit("64/minute", ("a",)), 0

    for process in processes * 64:
        for name, own in zip(("_windows", "_full", "_telling"), process, strict=True):
            monkeypatch.setattr(rates, name, own)
        with suppress(rates.RateLimited):
            rates.check_locally(limit)
            taken += 1

    assert 64 <= taken <= 64 + 8


def test_what_is_refused_here_is_told_to_nobody(redis):
    wide, narrow = rates.Limit("9/minute", ("all",)), rates.Limit("1/minute", ("a",))
    rates.check_locally(wide, narrow)
    for _ in range(5):
        with pytest.raises(rates.RateLimited):
            rates.check_locally(wide, narrow)

    rates._telling.tell()

    client = rates._redis(redis.url).client
    assert {client.llen(key) for key in client.scan_iter()} == {1}


def test_hits_are_told_by_themselves(redis):
    rates.check_locally(rates.Limit("9/minute", ("a",)))

    client = rates._redis(redis.url).client
    assert wait_until(lambda: list(client.scan_iter()) == [b"{hub}/a/9/60"])


def test_without_redis_each_process_counts_and_nothing_is_gathered():
    rates.check_locally(rates.Limit("1/minute", ("a",)))

    with pytest.raises(rates.RateLimited):
        rates.check_locally(rates.Limit("1/minute", ("a",)))
    assert not rates._telling._hits


def test_a_redis_that_is_away_is_said_once_and_limits_hold_in_this_process(settings, caplog):
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}"
    for _ in range(3):
        rates.check_locally(rates.Limit("3/minute", ("a",)))
        rates._telling.tell()

    with pytest.raises(rates.RateLimited):
        rates.check_locally(rates.Limit("3/minute", ("a",)))
    assert len(alarms(caplog)) == 1


def test_a_clock_that_is_put_back_refuses_nobody_for_long(redis):
    client = rates._redis(redis.url).client
    client.rpush("{hub}/a/1/60", int((time.time() + 3600) * 1000))

    rates.check("1/minute", "a")

    with pytest.raises(rates.RateLimited) as refused:
        rates.check("1/minute", "a")
    assert int(refused.value.headers["Retry-After"]) <= 60


def test_who_is_refused_is_not_looked_up_again_in_redis(redis):
    limit = rates.Limit("1/minute", ("a",))
    rates.check_all(limit)
    with pytest.raises(rates.RateLimited):
        rates.check_all(limit)
    client = rates._redis(redis.url).client
    asked = client.info("commandstats")["cmdstat_evalsha"]["calls"]

    for _ in range(10):
        with pytest.raises(rates.RateLimited):
            rates.refuse_known(limit)

    assert client.info("commandstats")["cmdstat_evalsha"]["calls"] == asked


@pytest.mark.slow
def test_a_redis_that_says_nothing_holds_nobody_up(settings):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.REDIS_URL = f"redis://127.0.0.1:{silent.getsockname()[1]}"
        rates.check("1/minute", "x")

        with pytest.raises(rates.RateLimited):
            rates.check("1/minute", "x")


@pytest.mark.parametrize(
    ("rest", "why"),
    [("", "Connection refused"), ("/0?no_such_option=1", "no_such_option"), ("/not-a-number", "")],
)
def test_whatever_is_wrong_with_redis_this_process_counts_for_itself_and_says_so_once(
    settings, caplog, rest, why
):
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}{rest}"
    rates.prepare()

    for _ in range(50):
        rates.check("50/minute", "x")

    with pytest.raises(rates.RateLimited):
        rates.check("50/minute", "x")
    [line] = caplog.records
    assert (line.levelno, line.exc_info) == (logging.WARNING, None)
    assert re.fullmatch(rf"{AWAY} \(.*{why}.*(?<!\.)\)", line.message)


def test_many_that_find_redis_away_at_once_give_one_alarm(settings, caplog):
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}"

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda number: rates.check("1/minute", str(number)), range(100)))

    assert len(alarms(caplog)) == 1


def test_the_first_reports_of_a_new_process_all_at_once_are_taken_and_counted(redis):
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "hub.settings",
        "HUB_SECRET_KEY": "x",
        "REDIS_URL": redis.url,
    }

    ended = subprocess.run(
        [sys.executable, "-c", AT_ONCE],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert ended.stdout == "20 12\n", ended.stderr


def test_redis_counts_for_every_process_and_forgets_by_itself(redis):
    client = rates._redis(redis.url).client
    rates.check("2/minute", "x")
    rates.forget()  # as another process
    rates.check("2/minute", "x")

    with pytest.raises(rates.RateLimited) as refused:
        rates.check("2/minute", "x")

    assert 1 <= int(refused.value.headers["Retry-After"]) <= 60
    assert [0 < client.ttl(key) <= 60 for key in client.scan_iter()] == [True]


def test_a_redis_that_goes_and_comes_back_is_said_once_each_and_counted_in_again(
    redis, caplog, monkeypatch
):
    monkeypatch.setattr(rates, "REDIS_PAUSE", 0)
    rates.check("100/minute", "x")

    redis.stop()
    for _ in range(10):
        rates.check("100/minute", "x")
    redis.start()
    for _ in range(10):
        rates.check("100/minute", "x")

    away, back = alarms(caplog)
    assert away.startswith(f"{AWAY} (")
    assert back == "Redis is available again"
    client = rates._redis(redis.url).client
    [key] = client.keys()
    assert client.llen(key) == 10


REFUSING = {
    "full": ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0"),
    "a replica": ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"),
    "without the right": ("ACL SETUSER default -evalsha", "ACL SETUSER default +evalsha"),
}


@pytest.mark.parametrize("state", REFUSING)
def test_a_redis_that_answers_and_stores_nothing_is_said_once(redis, caplog, monkeypatch, state):
    monkeypatch.setattr(rates, "REDIS_PAUSE", 0)
    client = rates.redis_client(redis.url)
    refuse, allow = REFUSING[state]

    client.execute_command(*refuse.split())
    for _ in range(5):
        rates.check("100/minute", "x")
        with suppress(rates.RedisAway), rates.asking_redis(redis.url):
            client.get("x")
    away = alarms(caplog)
    client.execute_command(*allow.split())
    rates.check("100/minute", "x")

    assert len(away) == 1
    assert alarms(caplog)[1:] == ["Redis is available again"]


def test_an_answer_to_what_was_asked_before_redis_went_away_does_not_bring_it_back(settings):
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}"

    with rates.asking_redis(settings.REDIS_URL):
        rates.check("1/minute", "x")  # as another thread

    assert rates.redis_is_away()


def test_after_a_failover_redis_is_asked_where_its_name_leads_then(
    redis, caplog, monkeypatch, settings
):
    """The former one goes on answering, and may only be read."""
    monkeypatch.setattr(rates, "REDIS_PAUSE", 0)
    with serving() as new, Relay(redis.port) as name:
        settings.REDIS_URL = f"redis://127.0.0.1:{name.port}"
        rates.check("100/minute", "x")
        with rates.asking_redis(settings.REDIS_URL):
            rates.redis_client(settings.REDIS_URL).set("a", "b")
        with redis_client.client(redis.url) as former:
            former.replicaof("127.0.0.1", new.port)
        name.target = new.port

        for _ in range(3):
            rates.check("100/minute", "x")

        assert len(alarms(caplog)) == 2
        assert not rates.redis_is_away()
        assert new.keys() == 1
        rates.forget()
