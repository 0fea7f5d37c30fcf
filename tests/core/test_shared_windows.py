"""Counting in a Redis that all processes share."""

import os
import threading
import time

import pytest
from redis import exceptions as redis_errors

from core import shared_windows
from core.shared_windows import SharedWindows
from core.windows import Window

pytestmark = pytest.mark.slow

ONE, TWO = Window("one", 1, 60), Window("two", 2, 60)


def connections(windows: SharedWindows) -> int:
    return len(windows.client.client_list()) - 1  # the one that asks


def test_a_window_without_room_says_how_long_and_nothing_is_counted(redis):
    windows = SharedWindows(redis.url)

    assert windows.waits([ONE, TWO]) == [0, 0]
    for _ in range(3):
        wait, none = windows.waits([ONE, TWO])
        assert 55 < wait <= 60
        assert not none
    assert windows.waits([TWO]) == [0]
    assert windows.waits([TWO])[0] > 55


def test_hits_are_added_also_where_there_is_no_room(redis):
    windows = SharedWindows(redis.url)

    assert windows.add({TWO: 1, ONE: 5})[0] == 0
    wait, waits_longer = windows.add({ONE: 1, TWO: 1})

    assert 55 < wait <= 60
    assert 55 < waits_longer <= 60
    assert [windows.client.llen(f"{{hub}}/{key}") for key in ("one", "two")] == [1, 2]
    assert windows.waits([ONE])[0] > 55


def test_very_many_windows_are_added_some_at_a_time(redis, monkeypatch):
    windows = SharedWindows(redis.url)
    monkeypatch.setattr(shared_windows, "AT_ONCE", 3)

    waits = windows.add({Window(str(number), 1 + number % 2, 60): 1 for number in range(10)})

    assert [wait > 0 for wait in waits] == [True, False] * 5


def test_a_clock_that_was_put_back_does_not_count(redis):
    windows = SharedWindows(redis.url)
    windows.client.rpush("{hub}/two", int((time.time() + 3600) * 1000))

    assert windows.add({TWO: 1}) == [0]


def test_each_thread_has_one_connection_and_a_new_one_after_a_fork(redis):
    windows = SharedWindows(redis.url)
    for _ in range(5):
        windows.waits([TWO])
    assert connections(windows) == 1

    threads = [threading.Thread(target=windows.waits, args=[[TWO]]) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert connections(windows) == 1  # theirs ended with them

    child = os.fork()
    if not child:
        os._exit(0 if windows.waits([Window("of the child", 1, 60)]) == [0] else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert windows.waits([Window("of the parent", 1, 60)]) == [0]


def test_a_redis_that_was_restarted_is_asked_again_at_once(redis):
    windows = SharedWindows(redis.url)
    windows.waits([TWO])

    redis.stop()
    redis.start()  # it does not know the script either

    assert windows.waits([ONE]) == [0]


def test_a_redis_that_is_away_is_an_error_and_the_next_answer_is_that_of_the_next_question(redis):
    windows = SharedWindows(redis.url)
    windows.waits([ONE])
    redis.stop()
    for _ in range(2):
        with pytest.raises(redis_errors.ConnectionError):
            windows.waits([ONE, TWO])
    redis.start()

    assert windows.waits([TWO]) == [0]


def test_an_answer_that_comes_too_late_is_that_of_no_other_question(redis):
    windows = SharedWindows(redis.url)
    windows.waits([ONE])

    with redis.paused(), pytest.raises(redis_errors.TimeoutError):
        windows.waits([ONE, TWO])

    assert len(windows.waits([Window("other", 1, 60)])) == 1


def test_a_client_that_is_no_plain_one_counts_the_same(redis):
    """That of a cluster, which knows where a key is."""
    plain, windows = SharedWindows(redis.url), SharedWindows(redis.url)

    class Client(type(windows.client)):
        pass

    windows.client.__class__ = Client

    assert windows.waits([TWO]) == plain.waits([TWO]) == [0]
    assert windows.waits([TWO])[0] > 55
