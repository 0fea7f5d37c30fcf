"""Waiting, and stopping in time."""

import threading
import time

import pytest

from core import deadlines
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def _two_slots(settings):
    settings.HUB_THREADS = 4
    deadlines._slots.cache_clear()
    yield
    deadlines._slots.cache_clear()


def in_a_minute() -> float:
    return time.monotonic() + 60


def test_what_comes_back_in_time_is_returned():
    assert deadlines.run(lambda: 7, deadline=in_a_minute()) == 7


@pytest.mark.parametrize("error", [ValueError, TimeoutError])
def test_what_it_raises_is_raised(error):
    def fail():
        raise error

    with pytest.raises(error):
        deadlines.run(fail, deadline=in_a_minute())


def test_at_the_deadline_its_caller_leaves():
    hang = threading.Event()

    with pytest.raises(deadlines.TooLate):
        deadlines.run(hang.wait, deadline=time.monotonic() + 0.05)

    hang.set()


def test_a_hung_thread_keeps_its_slot_until_it_ends():
    hang = threading.Event()
    for _ in range(2):
        with pytest.raises(deadlines.TooLate):
            deadlines.run(hang.wait, deadline=time.monotonic() + 0.05)

    with pytest.raises(deadlines.NoFreeSlot):
        deadlines.run(lambda: 7, deadline=in_a_minute())

    hang.set()
    assert wait_until(lambda: deadlines._slots()._value == 2)
    assert deadlines.run(lambda: 7, deadline=in_a_minute()) == 7


def test_a_gate_lets_nobody_through_after_its_caller_left():
    gate = deadlines.Gate(in_a_minute())
    gate.close()

    with pytest.raises(deadlines.TooLate):
        gate.go_through()

    assert not gate.passed


def test_a_gate_lets_nobody_through_after_the_deadline():
    gate = deadlines.Gate(time.monotonic() - 1)

    with pytest.raises(deadlines.TooLate):
        gate.go_through()


def test_a_gate_remembers_who_went_through():
    gate = deadlines.Gate(in_a_minute())

    gate.go_through()
    gate.close()

    assert gate.passed
