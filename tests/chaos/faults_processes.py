"""Processes of the Hub are killed, stopped or stand still; systemd starts them again."""

import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from random import Random

import psutil

from tests.chaos.faults import Inject, Missed, fault
from tests.chaos.world import DATABASE, MAINTAIN, SERVER, World
from tests.waiting import wait_until

BEYOND_A_LEASE = (62, 80)  # seconds: a delivery is taken for 60


@fault("server killed")
def server_killed(world: World, random: Random) -> Iterator[None]:
    """All its processes at once, as if the machine had failed."""
    with world.away(SERVER):
        world.hub.kill()
        world.hub.start()
        yield


@fault("master killed", seconds=(0, 2))
def master_killed(world: World, random: Random) -> Iterator[None]:
    """Only itself; systemd then kills what it has left behind."""
    with world.away(SERVER):
        left = world.hub.tree()[1:]
        world.hub.process.kill()
        world.hub.process.wait(120)
        yield
        for each in left:
            with suppress(psutil.NoSuchProcess):
                each.kill()
        psutil.wait_procs(left, timeout=60)
        world.hub.start()


@fault("server restarted")
def server_restarted(world: World, random: Random) -> Iterator[None]:
    with world.away(SERVER):
        world.hub.stop()
        world.hub.start()
        yield


def _worker(number: signal.Signals) -> Inject:
    def inject(world: World, random: Random) -> Iterator[None]:
        with world.away(SERVER):
            before = world.hub.workers()
            if not before:
                raise Missed("The server had no worker process.")
            random.choice(before).send_signal(number)
            if not wait_until(lambda: _is_whole(world, before)):
                raise RuntimeError("The server did not replace its worker process.")
            yield

    return inject


def _is_whole(world: World, before: list[psutil.Process]) -> bool:
    """It has as many worker processes as before, not all the same; systemd has started it if need be."""
    world.hub.revive()
    now = world.hub.workers()
    return len(now) >= len(before) and set(now) != set(before)


fault("worker process killed", weight=2)(_worker(signal.SIGKILL))
fault("worker process ended")(_worker(signal.SIGTERM))


def _maintain(number: signal.Signals) -> Inject:
    def inject(world: World, random: Random) -> Iterator[None]:
        process = world.hub.maintain()
        if process is None:
            raise Missed("It did not run.")
        with world.away(MAINTAIN):
            process.send_signal(number)
            yield
            if not wait_until(lambda: world.hub.maintain() not in (None, process)):
                raise RuntimeError("The server did not start `maintain` again.")

    return inject


fault("maintain killed", weight=2)(_maintain(signal.SIGKILL))
fault("maintain ended")(_maintain(signal.SIGTERM))


def _queue_worker(number: signal.Signals) -> Inject:
    def inject(world: World, random: Random) -> Iterator[None]:
        if world.queue_worker is None:
            raise Missed("Nothing is queued in this run.")
        struck = world.queue_worker.process
        struck.send_signal(number)
        struck.wait(60)
        yield

    return inject


fault("queue worker killed")(_queue_worker(signal.SIGKILL))
fault("queue worker ended")(_queue_worker(signal.SIGTERM))


def _stall(of: Callable[[World], list[psutil.Process]]) -> Inject:
    """A process that stands still may hold what others wait for in the database."""

    def inject(world: World, random: Random) -> Iterator[None]:
        if not (processes := of(world)):
            raise Missed("It did not run.")
        stalled = random.choice(processes)
        with world.away(SERVER), world.away(DATABASE):
            stalled.suspend()
            try:
                yield
            finally:
                stalled.resume()

    return inject


for name, of in (
    ("worker process", lambda world: world.hub.workers()),
    ("maintain", lambda world: [each for each in [world.hub.maintain()] if each]),
):
    fault(f"{name} stands still", seconds=(2, 15))(_stall(of))
    fault(f"{name} stands still beyond a lease", seconds=BEYOND_A_LEASE)(_stall(of))
