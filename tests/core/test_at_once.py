"""Counting what is under way at once."""

import gc

import pytest

from core.at_once import AtOnce, TooManyAtOnce


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
