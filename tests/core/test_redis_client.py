"""How long each step of the client of Redis takes at most, and where it connects to."""

import socket
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event

import pytest
from redis.exceptions import RedisError

from core import rates, redis_client
from core.shared_windows import SharedWindows
from core.windows import Window
from tests import redis_server
from tests.waiting import wait_until

ONE = Window("one", 1, 60)


@pytest.fixture
def resolver(monkeypatch) -> Event:
    """The resolver of the system says nothing until this is set."""
    answers, look_up = Event(), socket.getaddrinfo

    def late(host, port, *which, **named):
        answers.wait(20)
        return look_up("127.0.0.1" if host == "redis.example" else host, port, *which, **named)

    monkeypatch.setattr(socket, "getaddrinfo", late)
    return answers


def test_a_name_server_that_says_nothing_holds_nobody_up(resolver, settings):
    settings.REDIS_URL = "redis://redis.example:6379"

    with ThreadPoolExecutor(16) as pool:
        asked = [pool.submit(rates.check, "1/minute", str(number)) for number in range(16)]
        late = wait(asked, timeout=10).not_done
        resolver.set()

    assert not late


@pytest.mark.slow
def test_an_address_that_comes_too_late_is_there_for_the_next_one(redis, resolver):
    windows = SharedWindows(redis.url.replace("127.0.0.1", "redis.example"))
    with pytest.raises(RedisError):
        windows.waits([ONE])

    resolver.set()

    assert wait_until(lambda: answers(windows))


def answers(windows: SharedWindows) -> bool:
    try:
        return bool(windows.waits([ONE]))
    except RedisError:
        return False


@pytest.mark.slow
def test_limits_are_counted_where_a_sentinel_says(redis):
    with redis_server.serving(redis_server.Sentinel, master=redis.port) as sentinel:
        SharedWindows(sentinel.url).waits([ONE])
        redis_client.client(sentinel.url).set("a", "b")

        assert redis.keys() == 2


def test_a_sentinel_that_says_nothing_holds_nobody_up(settings):
    with ThreadPoolExecutor(1) as pool, socket.create_server(("127.0.0.1", 0)) as silent:
        client = redis_client.client(f"redis+sentinel://127.0.0.1:{silent.getsockname()[1]}/hub")
        asked = pool.submit(client.ping)
        late = wait([asked], timeout=10).not_done

    assert not late
    with pytest.raises(RedisError):
        asked.result()
