"""How long each step of the client of Redis takes at most, and where it connects to."""

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from threading import Event, Thread
from time import monotonic

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


@contextmanager
def answering(say: Callable[[socket.socket], object]) -> Iterator[str]:
    """The URL of something that says the same to whatever it is asked, in a connection at a time."""

    def serve() -> None:
        with suppress(OSError):  # it was closed
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    while connection.recv(65536):
                        say(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        Thread(target=serve, daemon=True).start()
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def test_an_answer_that_drips_is_given_up_as_a_whole():
    over = Event()

    def drip(connection: socket.socket) -> None:
        connection.sendall(b"$1000\r\n")
        while not over.wait(0.1):
            connection.sendall(b"0")
        connection.shutdown(socket.SHUT_RDWR)

    with ThreadPoolExecutor(1) as pool, answering(drip) as url:
        asked = pool.submit(SharedWindows(url).waits, [ONE])
        late = wait([asked], timeout=10).not_done
        over.set()

        assert not late
        with pytest.raises(RedisError):
            asked.result()


def test_a_very_long_answer_is_not_read():
    said = []

    def say(connection: socket.socket) -> None:
        connection.sendall(b"$50000000\r\n")
        for _ in range(50):
            connection.sendall(bytes(1_000_000))
            said.append(1)

    with answering(say) as url, pytest.raises(RedisError):
        SharedWindows(url).waits([ONE])

    assert len(said) < 40


@pytest.mark.slow
def test_an_idle_connection_that_was_closed_is_made_anew(redis, monkeypatch):
    client = redis_client.client(redis.url)
    client.set("a", "b")
    monkeypatch.setattr(redis_client, "monotonic", lambda: monotonic() + 60)

    redis.stop()
    redis.start()

    assert client.set("a", "c")


def test_nobody_waits_for_longer_than_a_window_is(monkeypatch):
    monkeypatch.setattr(SharedWindows, "_asked", lambda *_: b"999999999999")

    assert SharedWindows("redis://127.0.0.1:1").waits([ONE]) == [ONE.seconds]


@pytest.mark.slow
def test_limits_are_counted_where_a_sentinel_says(redis):
    with redis_server.serving(redis_server.Sentinel, master=redis.port) as sentinel:
        SharedWindows(sentinel.url).waits([ONE])
        redis_client.client(sentinel.url).set("a", "b")

        assert redis.keys() == 2


@pytest.mark.slow
def test_a_late_answer_is_not_taken_for_that_to_the_next_question(redis):
    with redis_server.serving(redis_server.Sentinel, master=redis.port) as sentinel:
        windows = SharedWindows(sentinel.url)
        windows.waits([ONE])
        with redis.paused(), pytest.raises(RedisError):
            windows.waits([ONE])

        assert windows.waits([Window("two", 1, 60), Window("three", 1, 60)]) == [0, 0]


def test_a_sentinel_that_says_nothing_holds_nobody_up(settings):
    with ThreadPoolExecutor(1) as pool, socket.create_server(("127.0.0.1", 0)) as silent:
        client = redis_client.client(f"redis+sentinel://127.0.0.1:{silent.getsockname()[1]}/hub")
        asked = pool.submit(client.ping)
        late = wait([asked], timeout=10).not_done

    assert not late
    with pytest.raises(RedisError):
        asked.result()
