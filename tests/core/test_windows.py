"""What this process remembers of those that were counted."""

import time

import pytest

from core import windows
from core.windows import LOOKED_AT, Full, Window, Windows


class Watch:
    """The monotonic clock, standing still."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def watch(monkeypatch) -> Watch:
    stopped = Watch()
    monkeypatch.setattr(windows, "time", stopped)
    return stopped


def counted(windows: Windows, key: str, amount: int = 3, seconds: int = 60) -> bool:
    return windows.wait(Window(key, amount, seconds)) == 0


def test_a_window_moves_with_time(watch):
    seen = Windows()
    for watch.now in (1000, 1020, 1040):
        assert counted(seen, "a")

    watch.now = 1059
    assert seen.wait(Window("a", 3, 60)) == 1  # until the first of the three is a minute old
    watch.now = 1060
    assert counted(seen, "a")
    assert seen.wait(Window("a", 3, 60)) == 20
    watch.now = 1300
    assert [counted(seen, "a") for _ in range(4)] == [True, True, True, False]


def test_what_one_window_has_no_room_for_is_counted_in_none(watch):
    seen = Windows()
    wide, narrow = Window("all", 3, 60), Window("a", 1, 30)
    assert seen.wait(wide, narrow) == 0

    watch.now += 10
    assert [seen.wait(wide, narrow) for _ in range(5)] == [20] * 5
    assert seen.wait(wide, Window("b", 1, 30)) == 0
    assert seen.wait(wide, Window("c", 1, 30)) == 0
    assert seen.wait(wide, Window("d", 1, 30)) == 50
    assert len(seen) == 4  # nothing is remembered of who was refused


def test_what_is_full_is_known_until_there_may_be_room(watch):
    known = Full(most=3)
    windows = [Window(f"address {number}", 1, 60) for number in range(5)]
    known.note((window, 10.0) for window in windows)

    assert [known.look(window) for window in windows] == [0, 0, 10, 10, 10]
    assert known.look(windows[0], windows[4]) == 10
    watch.now += 9
    assert known.look(windows[4]) == 1
    watch.now += 1
    assert known.look(windows[4]) == 0


def test_nothing_is_allowed_where_nothing_is(watch):
    assert Windows().wait(Window("a", 0, 60)) == 60


def test_a_flood_of_addresses_fills_no_memory(watch):
    seen = Windows(most=100)
    for number in range(1000):
        counted(seen, f"address {number}")

    assert len(seen) == 100


def test_addresses_that_were_counted_long_ago_are_forgotten(watch):
    seen = Windows()
    for number in range(1000):
        counted(seen, f"address {number}")

    watch.now += 61
    for number in range(1000 // (LOOKED_AT - 1) + 1):
        counted(seen, f"later {number}")

    assert len(seen) < 1000 // (LOOKED_AT - 1) + 2


def test_somebody_who_used_up_their_share_gets_no_new_one_behind_a_flood_of_addresses(watch):
    seen = Windows(most=100)
    while counted(seen, "charlie"):
        pass

    for number in range(5000):
        counted(seen, f"address {number}")

    assert not counted(seen, "charlie")


def test_a_flood_of_addresses_costs_no_more_the_more_there_were():
    def cost(addresses: int) -> float:
        """CPU seconds of a thousand new ones behind so many."""
        seen = Windows(most=addresses)
        for number in range(addresses):
            counted(seen, f"address {number}")
        began = time.thread_time()
        for number in range(1000):
            counted(seen, f"new {number}")
        return time.thread_time() - began

    assert min(cost(8 * 500) for _ in range(3)) < 3 * min(cost(500) for _ in range(3))
