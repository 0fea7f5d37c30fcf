"""Counting what comes in."""

import socket

import pytest

from orgs import rates
from tests.hub_process import free_port


def test_each_key_is_counted_by_itself():
    rates.check("1/minute", "address", "a")
    rates.check("1/minute", "address", "b")

    with pytest.raises(rates.TooMany):
        rates.check("1/minute", "address", "a")


def test_every_limit_of_several_counts():
    rates.check("5/minute;2/hour", "x")
    rates.check("5/minute;2/hour", "x")

    with pytest.raises(rates.TooMany) as refused:
        rates.check("5/minute;2/hour", "x")

    assert int(refused.value.headers["Retry-After"]) > 60


def test_a_redis_that_says_nothing_holds_nobody_up(settings):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.REDIS_URL = f"redis://127.0.0.1:{silent.getsockname()[1]}"
        rates.check("1/minute", "x")

        with pytest.raises(rates.TooMany):
            rates.check("1/minute", "x")


def test_where_redis_is_away_this_process_counts_for_itself_and_says_so(settings, caplog):
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}"
    rates.check("1/minute", "x")

    with pytest.raises(rates.TooMany):
        rates.check("1/minute", "x")

    assert "Redis is away" in caplog.text
