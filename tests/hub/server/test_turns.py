"""Whose call begins next."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random

import pytest

from hub.server import turns
from hub.server.turns import Call, Queue, Turns

THREADS = 32


@pytest.fixture
def passed(monkeypatch) -> Callable[[float], None]:
    """A function after whose call so many seconds have passed; no others do."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def let_pass(seconds: float) -> None:
        now[0] += seconds

    return let_pass


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.fixture
def added(loop) -> Callable[..., list[Call]]:
    def add(to: Turns, caller: str | None, number: int = 1) -> list[Call]:
        queue = Queue(caller, is_of_probes=False)
        calls = [Call(print, queue, loop.create_future(), print) for _ in range(number)]
        for each in calls:
            to.add(each)
        return calls

    return add


def begun(some: Turns, most: int = THREADS) -> list[Call]:
    """What begins now, in order, if so many threads are free."""
    calls: list[Call] = []
    while len(calls) < most and (call := some.next()):
        some.begin(call)
        calls.append(call)
    return calls


def spend(some: Turns, added, caller: str | None, seconds: float) -> None:
    """Let a call of somebody cost so much."""
    [call] = added(some, caller)
    some.begin(call)
    some.end(call, seconds)


def use_up(some: Turns, added) -> None:
    """Let somebody who has cost much have all of the quarter."""
    spend(some, added, "mallory", 1000)
    added(some, "mallory", THREADS // 4)
    begun(some)


def whose(calls: list[Call]) -> list[str | None]:
    return [each.queue.caller for each in calls]


def test_one_caller_has_a_quarter(passed, added):
    some = Turns(THREADS)
    added(some, "alice", THREADS)
    added(some, "bob", 1)

    assert whose(begun(some)) == ["alice", "bob", *["alice"] * (THREADS // 4 - 1)]


def test_each_caller_has_four_until_it_is_known_what_they_cost(passed, added):
    some = Turns(THREADS)
    for caller in "abcde":
        added(some, caller, THREADS)

    assert "".join(whose(begun(some))) == 4 * "abcde"


@pytest.mark.parametrize(
    ("number", "parts"),
    [(1, [8]), (2, [4, 4]), (3, [3, 3, 2]), (5, [2, 2, 2, 1, 1]), (20, 20 * [1])],
)
def test_all_who_have_cost_much_share_a_quarter(passed, added, number, parts):
    some = Turns(THREADS)
    for n in range(number):
        spend(some, added, f"eve {n}", 1)
        added(some, f"eve {n}", 10)

    assert Counter(whose(begun(some))) == {f"eve {n}": part for n, part in enumerate(parts)}


def test_what_some_who_have_cost_much_leave_of_the_quarter_is_for_the_others(passed, added):
    some = Turns(THREADS)
    for caller in ("eve", "mallory", "trudy"):
        spend(some, added, caller, 1)
        added(some, caller)
    begun(some)

    added(some, "eve", THREADS)
    eves = whose(begun(some))
    added(some, "mallory", THREADS)
    mallorys = whose(begun(some))

    assert (eves, mallorys) == (["eve"] * (THREADS // 4 - 3), ["mallory"])


def test_who_has_cost_much_has_a_turn_however_many_others_wait(passed, added):
    some = Turns(THREADS)
    spend(some, added, "eve", 1)
    for caller in ("alice", "eve", "bob", "carol"):
        added(some, caller)

    assert whose(begun(some)) == ["alice", "eve", "bob", "carol"]


def test_beyond_the_quarter_others_come_before_those_who_have_cost_much(passed, added):
    some = Turns(THREADS)
    use_up(some, added)
    spend(some, added, "eve", 1)
    added(some, "eve", 2)
    added(some, "alice", 2)

    assert whose(begun(some)) == ["alice", "alice", "eve", "eve"]


def test_who_has_cost_much_and_waits_for_nothing_has_a_part_while_their_calls_run(passed, added):
    some = Turns(THREADS)
    for caller in ("eve", "mallory"):
        spend(some, added, caller, 1)
    added(some, "eve", THREADS // 8)
    begun(some)

    added(some, "mallory", THREADS)

    assert whose(begun(some)) == ["mallory"] * (THREADS // 8)


def test_those_who_have_cost_much_take_turns(passed, added):
    some, order = Turns(THREADS), []
    for caller in ("eve", "mallory"):
        spend(some, added, caller, 1)
        added(some, caller, 3)

    while some:
        [call] = begun(some, 1)
        order.append(call.queue.caller)
        some.end(call, 1)

    assert order == ["eve", "mallory"] * 3


def test_half_of_what_was_spent_is_forgotten_in_ten_seconds(passed, added):
    some = Turns(THREADS)
    use_up(some, added)
    spend(some, added, "alice", 1.9)
    costly = []

    for _ in range(3):
        added(some, "alice")
        added(some, "bob")
        first, other = begun(some)
        costly.append(first.queue.caller == "bob")
        for each in (first, other):
            some.end(each, 0)
        passed(10)

    assert costly == [True, True, False]


def test_what_only_waits_costs_nothing(passed, added):
    some = Turns(THREADS)
    use_up(some, added)
    for _ in range(100):
        spend(some, added, "alice", 0)
    for caller in ("alice", "bob"):
        added(some, caller)

    assert whose(begun(some)) == ["alice", "bob"]


def test_probes_have_turns_and_costs_of_their_own(passed, added, loop):
    some = Turns(THREADS)
    use_up(some, added)
    spend(some, added, "alice", 100)
    added(some, "alice")
    probe = Call(print, Queue("alice", is_of_probes=True), loop.create_future(), print)
    some.add(probe)

    assert begun(some)[0] == probe


def test_what_has_no_name_costs_nothing_and_has_all_threads(passed, added):
    some = Turns(THREADS)
    spend(some, added, None, 100)

    calls = added(some, None, 2 * THREADS)

    assert begun(some) == calls[:THREADS]


def test_what_has_no_costs_has_a_quarter_beside_who_has_cost_much(passed, added, loop):
    some = Turns(THREADS)
    for caller in ("eve", "mallory"):
        spend(some, added, caller, 1)
        added(some, caller, THREADS)
    begun(some)
    queue = Queue("github", is_of_probes=False, has_costs=False)

    for _ in range(THREADS):
        some.add(Call(print, queue, loop.create_future(), print))
    calls = begun(some)
    some.end(calls[0], 100)

    assert whose(calls) == ["github"] * (THREADS // 4)
    assert whose(begun(some)) == ["github"]


def test_of_a_million_callers_few_are_remembered(passed, added):
    some = Turns(THREADS)
    for n in range(2 * turns.REMEMBERED):
        spend(some, added, str(n), 1)

    assert len(some._spent) == turns.REMEMBERED


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_lost_or_kept_in_any_order(passed, added, seed):
    chance, some = Random(seed), Turns(12)
    running: list[Call] = []
    left = 0
    for _ in range(2000):
        act = chance.randrange(4)
        if act == 0:
            left += len(added(some, chance.choice("abcdefgh"), chance.randrange(4)))
        elif act == 1:
            running += begun(some, 12 - len(running))
        elif act == 2 and running:
            some.end(running.pop(chance.randrange(len(running))), chance.random())
            left -= 1
        elif act == 3 and some:
            some.remove(some.last(Queue("a", is_of_probes=False)))
            left -= 1
        passed(chance.random())
        assert len(some) + len(running) == left
    while some or running:
        running += begun(some, 12 - len(running))
        some.end(running.pop(), 0)

    assert not some._waiting
    assert not some._running
