"""The threads that answer requests."""

import asyncio
import gc
import multiprocessing
import threading
import time
import weakref
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hub.server import turns
from hub.server.overload import Overloaded
from hub.server.threads import Threads
from tests.waiting import wait_until

WAITING = 60  # calls


def ask(threads: Threads, conversation: Callable[[Threads], Coroutine[Any, Any, Any]]) -> Any:
    return asyncio.run(conversation(threads))


def names() -> set[int]:
    """The threads of this process, as the interpreter counts them."""
    return {each.ident for each in threading.enumerate() if each.ident}


def test_one_thread_does_all_that_comes_one_after_another():
    async def conversation(threads: Threads) -> list[int]:
        return [await threads.run(threading.get_ident) for _ in range(20)]

    assert len(set(ask(Threads(8, WAITING), conversation))) == 1


def test_the_thread_that_was_busy_last_is_taken_first():
    async def conversation(threads: Threads) -> None:
        begun, gates = threading.Barrier(4), [threading.Event() for _ in range(3)]

        def wait_for(gate: threading.Event) -> int:
            begun.wait(10)
            gate.wait(10)
            return threading.get_ident()

        working = [threads.run(lambda gate=gate: wait_for(gate)) for gate in gates]
        await asyncio.to_thread(begun.wait, 10)
        for gate, each in zip(gates, working, strict=True):
            gate.set()
            last = await each
        assert await threads.run(threading.get_ident) == last

    ask(Threads(3, WAITING), conversation)


def test_a_thread_that_lacks_what_it_needs_is_taken_last():
    """One that waited for a connection in vain, while others have theirs and rest."""
    poor: set[int] = set()

    async def conversation(threads: Threads) -> None:
        together = threading.Barrier(3)
        working = [threads.run(lambda: together.wait(10)) for _ in range(3)]
        await asyncio.gather(*working)
        poor.add(await threads.run(threading.get_ident))  # as it is found to be after the next
        assert await threads.run(threading.get_ident) in poor
        others = {await threads.run(threading.get_ident) for _ in range(5)}
        assert len(others) == 1
        assert not others & poor

    ask(
        Threads(3, WAITING, has_what_it_needs=lambda: threading.get_ident() not in poor),
        conversation,
    )


def test_a_thread_that_has_rested_or_ends_does_what_it_was_given_for_that(monkeypatch):
    monkeypatch.setattr("hub.server.threads.A_WHILE", 0.01)
    rested: list[int] = []
    threads = Threads(1, WAITING, lambda: rested.append(threading.get_ident()))

    async def conversation(threads: Threads) -> int:
        worked = await threads.run(threading.get_ident)
        assert await asyncio.to_thread(wait_until, lambda: rested)
        assert await threads.run(threading.get_ident) == worked
        return worked

    worked = ask(threads, conversation)
    [worker] = threads._workers
    worker.end()

    assert wait_until(lambda: worked not in names())
    assert len(rested) >= 2
    assert set(rested) == {worked}


def test_a_thread_whose_rest_fails_goes_on(monkeypatch, caplog):
    monkeypatch.setattr("hub.server.threads.A_WHILE", 0.01)

    def fail() -> None:
        raise ZeroDivisionError

    async def conversation(threads: Threads) -> bool:
        first = await threads.run(threading.get_ident)
        assert await asyncio.to_thread(wait_until, lambda: caplog.records)
        return await threads.run(threading.get_ident) == first

    assert ask(Threads(1, WAITING, fail), conversation)


def test_what_finds_no_thread_free_is_done_in_the_order_it_came():
    done: list[int] = []
    most_at_once: list[int] = []
    counted, now = threading.Lock(), set()

    def note(number: int) -> int:
        with counted:
            now.add(number)
            most_at_once.append(len(now))
        done.append(number)
        time.sleep(0.001)
        with counted:
            now.remove(number)
        return number

    async def conversation(threads: Threads) -> list[int]:
        return await asyncio.gather(*(threads.run(lambda n=n: note(n)) for n in range(50)))

    assert ask(Threads(1, WAITING), conversation) == done == list(range(50))
    assert sorted(ask(Threads(3, WAITING), conversation)) == list(range(50))
    assert max(most_at_once) <= 3


def test_callers_take_turns():
    """The first of somebody waits for one of each other caller, however many these have."""
    done: list[str] = []

    async def conversation(threads: Threads) -> None:
        gate = threading.Event()
        calls = [threads.run(lambda: gate.wait(10), "alice")]
        for caller in ("alice", "bob"):
            calls += [threads.run(lambda c=caller: done.append(c), caller) for _ in range(3)]
        for caller in ("charlie", "dave"):
            calls.append(threads.run(lambda c=caller: done.append(c), caller))
        gate.set()
        await asyncio.gather(*calls)

    ask(Threads(1, WAITING), conversation)

    assert done == ["alice", "bob", "charlie", "dave", "alice", "bob", "alice", "bob"]


def test_whoever_has_most_waiting_makes_room_for_others():
    """They give up what came last; and once all have as many, so does whoever calls."""
    done: list[tuple[str, int]] = []

    async def conversation(threads: Threads) -> dict[tuple[str, int], asyncio.Future]:
        gate = threading.Event()
        holding = threads.run(lambda: gate.wait(10), "eve")

        def call(caller: str, number: int) -> asyncio.Future:
            return threads.run(lambda: done.append((caller, number)), caller)

        calls = {("alice", n): call("alice", n) for n in range(10)}
        calls |= {("bob", n): call("bob", n) for n in range(8)}
        calls |= {("charlie", 0): call("charlie", 0)}
        gate.set()
        results = await asyncio.gather(*calls.values(), return_exceptions=True)
        await holding
        assert not threads._turns
        return dict(zip(calls, results, strict=True))

    results = ask(Threads(1, 8), conversation)

    kept = {("alice", n) for n in range(3)} | {("bob", n) for n in range(4)}
    assert set(done) == kept | {("charlie", 0)}
    assert {each for each in results if not isinstance(results[each], Overloaded)} == set(done)


def test_what_waits_can_be_refused_and_nothing_of_it_is_kept():
    async def conversation(threads: Threads) -> list[object]:
        gate = threading.Event()

        def work() -> int:
            raise AssertionError("It was refused.")

        begun = threads.run(lambda: gate.wait(10), "alice")
        waits = [threads.run(each, "alice") for each in (lambda: 1, work, lambda: 3)]
        kept = weakref.ref(work)
        del work
        assert threads.refuse(waits[1], Overloaded("Too much"))
        assert not threads.refuse(waits[1], Overloaded("Too much"))
        assert not threads.refuse(begun, Overloaded("Too much"))
        assert kept() is None
        assert len(threads._turns) == 2
        gate.set()
        return await asyncio.gather(begun, *waits, return_exceptions=True)

    begun, first, refused, last = ask(Threads(1, WAITING), conversation)

    assert (begun, first, last) == (True, 1, 3)
    assert isinstance(refused, Overloaded)


def test_what_nobody_awaits_any_more_is_not_begun():
    done: list[int] = []

    async def conversation(threads: Threads) -> None:
        gate = threading.Event()
        begun = threads.run(lambda: gate.wait(10))
        waits = [threads.run(lambda n=n: done.append(n)) for n in range(6)]
        for each in waits[::2]:
            each.cancel()
        gate.set()
        await asyncio.gather(begun, *waits[1::2])
        assert not threads._turns
        assert not threads._turns._running

    ask(Threads(1, WAITING), conversation)

    assert done == [1, 3, 5]


class Held(NamedTuple):
    begun: list[int]
    calls: list[asyncio.Future]

    async def until_begun(self, number: int) -> None:
        assert await asyncio.to_thread(wait_until, lambda: len(self.begun) >= number)


def held(
    threads: Threads, caller: str | None, number: int, gate: threading.Event, **how: bool
) -> Held:
    """So many calls that have begun or wait, and that end with the gate."""
    begun: list[int] = []

    def work() -> None:
        begun.append(threading.get_ident())
        gate.wait(10)

    return Held(begun, [threads.run(work, caller, **how) for _ in range(number)])


@pytest.mark.parametrize("how", [{}, {"is_probe": True}])
def test_one_caller_has_a_quarter_of_the_threads_before_there_are_others(how):
    async def conversation(threads: Threads) -> None:
        gate = threading.Event()
        alice = held(threads, "alice", 20, gate, **how)
        await alice.until_begun(2)
        for _ in range(5):
            await threads.run(lambda: None, "bob")
        assert len(alice.begun) == 2
        gate.set()
        await asyncio.gather(*alice.calls)

    ask(Threads(8, WAITING), conversation)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_one_caller_has_one_thread_where_there_are_few(most):
    async def conversation(threads: Threads) -> list[int]:
        await threads.run(lambda: None, "bob")
        return await asyncio.gather(*(threads.run(threading.get_ident, "alice") for _ in range(9)))

    assert len(set(ask(Threads(most, WAITING), conversation))) == 1


def test_callers_without_a_name_may_have_all_threads_beside_others():
    async def conversation(threads: Threads) -> None:
        gate = threading.Event()
        await threads.run(lambda: None, "bob")
        unnamed = held(threads, None, 8, gate)
        await unnamed.until_begun(8)
        gate.set()
        await asyncio.gather(*unnamed.calls)

    ask(Threads(8, WAITING), conversation)


def test_nothing_is_kept_of_callers_who_have_their_answers():
    async def conversation(threads: Threads) -> None:
        for _ in range(40):
            calls = [threads.run(lambda: None, f"192.0.2.{n % 20}") for n in range(60)]
            await asyncio.gather(*calls, return_exceptions=True)
        assert not threads._turns._running
        assert not threads._turns._waiting

    ask(Threads(4, WAITING), conversation)


@pytest.fixture
def no_more_threads(monkeypatch) -> Callable[[int], None]:
    """A function that leaves the system so many more threads for requests."""
    start, left = threading.Thread.start, [0]

    def start_if_there_is_room(self: threading.Thread) -> None:
        if self.name == "request":
            if not left[0]:
                raise RuntimeError("can't start new thread")
            left[0] -= 1
        start(self)

    monkeypatch.setattr(threading.Thread, "start", start_if_there_is_room)

    def leave(number: int) -> None:
        left[0] = number

    return leave


def test_a_network_is_answered_after_a_time_in_which_the_system_started_no_thread(
    no_more_threads, caplog
):
    async def conversation(threads: Threads) -> list[int]:
        go_on = threading.Event()
        no_more_threads(1)
        working = threads.run(lambda: go_on.wait(10), "192.0.2.0/24")
        waiting = [threads.run(lambda n=n: n, "198.51.100.0/24") for n in range(4)]
        go_on.set()
        await working
        answered = await asyncio.wait_for(asyncio.gather(*waiting), 10)
        assert not threads._turns._running
        return answered

    assert ask(Threads(8, WAITING), conversation) == [0, 1, 2, 3]
    assert caplog.messages == ["The system starts no further thread; 1 answer"]


def test_what_comes_while_the_system_starts_no_thread_at_all_is_refused(no_more_threads):
    async def conversation(threads: Threads) -> int:
        for _ in range(3):
            with pytest.raises(Overloaded):
                await threads.run(lambda: 7, "192.0.2.0/24")
        assert not threads._turns
        assert not threads._turns._running
        no_more_threads(1)
        return await threads.run(lambda: 7, "192.0.2.0/24")

    assert ask(Threads(8, WAITING), conversation) == 7


def test_an_error_is_raised_where_the_result_is_awaited_and_the_thread_goes_on():
    async def conversation(threads: Threads) -> int:
        with pytest.raises(SystemExit):
            await threads.run(lambda: exit(3))
        return await threads.run(lambda: 7)

    assert ask(Threads(1, WAITING), conversation) == 7


def test_a_result_that_nobody_awaits_any_more_harms_nobody():
    async def conversation(threads: Threads) -> int:
        go_on = threading.Event()
        given_up = threads.run(lambda: go_on.wait(10))
        given_up.cancel()
        waits = threads.run(lambda: 7)
        go_on.set()
        return await waits

    assert ask(Threads(1, WAITING), conversation) == 7


def test_a_loop_that_has_ended_is_not_told():
    go_on, begun, over = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go_on.wait(10)
        over.set()

    async def leave(threads: Threads) -> None:
        threads.run(work)
        await asyncio.to_thread(begun.wait, 10)

    threads = Threads(1, WAITING)
    ask(threads, leave)
    go_on.set()

    assert over.wait(10)


def test_threads_that_nobody_uses_end():
    before = names()

    async def conversation(threads: Threads) -> None:
        await asyncio.gather(*(threads.run(lambda: time.sleep(0.01)) for _ in range(4)))

    ask(Threads(4, WAITING), conversation)
    gc.collect()

    deadline = time.monotonic() + 10
    while names() - before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not names() - before


def leave_in_the_middle(path: Path) -> None:
    """Ends while a thread works, as a worker does that is told to stop."""

    def work() -> None:
        begun.set()
        time.sleep(0.3)
        path.write_text("done")

    async def conversation() -> None:
        threads.run(work)
        await asyncio.to_thread(begun.wait, 10)

    threads, begun = Threads(1, WAITING), threading.Event()
    asyncio.run(conversation())


def test_a_process_that_ends_lets_its_threads_end_what_they_do(tmp_path):
    file = tmp_path / "file"
    process = multiprocessing.get_context("fork").Process(target=leave_in_the_middle, args=[file])

    process.start()
    process.join(20)

    assert process.exitcode == 0
    assert file.read_text() == "done"


def test_a_probe_holds_up_no_other_call_of_its_caller():
    """A monitor and readers may be in one network."""

    async def conversation(threads: Threads) -> None:
        gate = threading.Event()
        readers = held(threads, "alice", 1, gate)
        await readers.until_begun(1)
        probes = held(threads, "alice", 4, gate, is_probe=True)
        await probes.until_begun(1)
        for _ in range(5):
            await threads.run(lambda: None, "alice")
        assert not any(call.done() for call in readers.calls)
        gate.set()
        await asyncio.gather(*readers.calls, *probes.calls)

    ask(Threads(8, WAITING), conversation)


def test_what_counts_is_the_time_of_the_processor_that_a_thread_had(monkeypatch):
    monkeypatch.setattr(turns, "RUNNING", 0)
    monkeypatch.setattr(turns, "LITTLE", 0.02)

    def compute() -> None:
        end = time.thread_time() + 2 * turns.LITTLE
        while time.thread_time() < end:
            pass

    def wait() -> None:
        another = threading.Thread(target=compute)
        another.start()
        another.join()

    async def conversation(threads: Threads) -> list[str]:
        for work, caller in ((wait, "alice"), (compute, "eve"), (compute, "mallory")):
            await threads.run(work, caller)
        gate, end, order = threading.Event(), threading.Event(), []
        share = threads.run(lambda: end.wait(10), "mallory")  # of all who have cost much
        held = threads.run(lambda: gate.wait(10))
        calls = [threads.run(lambda c=c: order.append(c), c) for c in ("eve", "alice", "bob")]
        gate.set()
        await asyncio.gather(held, *calls)
        end.set()
        await share
        return order

    assert ask(Threads(2, WAITING), conversation) == ["alice", "bob", "eve"]
