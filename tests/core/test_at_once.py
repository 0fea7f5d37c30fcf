"""Counting what is under way at once."""

import gc
from threading import Event, Thread

import pytest

from core.at_once import AtOnce, OneByOne, TooManyAtOnce


def test_one_key_has_so_many_at_once_and_leaves_room_for_others():
    looks = AtOnce(2, "Two looks are under way.")

    with looks.one("acme"), looks.one("acme"), looks.one("initech"):
        third = looks.one("acme")
        with pytest.raises(TooManyAtOnce) as refused:
            third.__enter__()

    assert (refused.value.status_code, refused.value.get_codes()) == (429, "rate_limited")
    assert refused.value.headers == {"Retry-After": "1"}
    assert str(refused.value.detail) == "Two looks are under way."


def test_nothing_is_kept_of_a_key_whose_blocks_have_ended():
    looks = AtOnce(1, "One look is under way.")

    with pytest.raises(ZeroDivisionError), looks.one("acme"):
        1 / 0  # noqa: B018
    with looks.one("acme"), pytest.raises(TooManyAtOnce), looks.one("acme"):
        pass

    assert looks._under_way == {}


def test_a_block_that_is_lost_is_no_bar():
    looks = AtOnce(1, "One look is under way.")

    def look():
        with looks.one("acme"):
            yield

    lost = look()
    next(lost)
    del lost
    gc.collect()

    with looks.one("acme"):
        pass


def test_long_blocks_run_one_after_the_other():
    blocks, order, runs = OneByOne(patience=60), [], Event()

    def second():
        runs.set()
        with blocks.one():
            order.append("second")

    other = Thread(target=second)
    with blocks.one():
        other.start()
        runs.wait()
        other.join(0.1)  # time enough for one that does not wait
        order.append("first")
    other.join()

    assert order == ["first", "second"]


def test_one_block_holds_up_nobody_for_good():
    blocks = OneByOne(patience=0.01)

    with blocks.one():
        with blocks.one():
            pass
        with blocks.one():  # the one before did not end what it had not begun
            assert not blocks._running.acquire(blocking=False)

    with pytest.raises(ZeroDivisionError), blocks.one():
        raise ZeroDivisionError
    assert blocks._running.acquire(blocking=False)
