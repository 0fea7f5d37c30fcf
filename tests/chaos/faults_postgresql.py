"""PostgreSQL is restarted, stopped or crowded, breaks connections off, or keeps what is locked."""

import math
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing
from random import Random

import psutil
import psycopg

from tests import postgresql
from tests.chaos.faults import Inject, Missed, fault
from tests.chaos.world import DATABASE, World

HERE = {"postgresql"}
MOST = 200  # connections that are tried, more than the server has room for
LOCKED = ["reports_report", "integrations_delivery", "integrations_integration", "hub_lease"]
ROUNDS = 50  # in which the Hub may be faster with the connections that were broken off
OTHERS = "backend_type = 'client backend' AND pid <> pg_backend_pid()"
BREAK_OFF = f"""
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE {OTHERS} AND application_name <> %s
"""


def _connect(world: World) -> psycopg.Connection:
    return psycopg.connect(world.database.url, autocommit=True)


def _restarted(mode: str) -> Inject:
    def inject(world: World, random: Random) -> Iterator[None]:
        with world.away(DATABASE):
            world.database.restart(mode)
            yield

    return inject


def _stopped(mode: str) -> Inject:
    def inject(world: World, random: Random) -> Iterator[None]:
        with world.away(DATABASE):
            world.database.stop(mode)
            yield
            world.database.start()

    return inject


for mode in ("fast", "immediate"):
    fault(f"PostgreSQL restarted ({mode})", databases=HERE)(_restarted(mode))
    fault(f"PostgreSQL stopped ({mode})", databases=HERE, seconds=(2, 15))(_stopped(mode))


@fault("PostgreSQL crashed", databases=HERE)
def crashed(world: World, random: Random) -> Iterator[None]:
    """One of its processes is killed; then it ends all others, and recovers."""
    server = psutil.Process(postgresql.pid())
    with world.away(DATABASE):
        with closing(_connect(world)) as own:
            victim = psutil.Process(own.info.backend_pid)
            victim.send_signal(signal.SIGKILL)
            psutil.wait_procs([victim], timeout=60)
        world.database.revive()
        yield
    if not server.is_running():
        raise RuntimeError("PostgreSQL did not recover by itself.")


@fault("PostgreSQL connections broken off", databases=HERE, weight=2)
def broken_off(world: World, random: Random) -> Iterator[None]:
    share = random.choice([0.3, 0.6, 1.0])
    with world.away(DATABASE), closing(_connect(world)) as own:
        pids = [pid for (pid,) in own.execute(f"SELECT pid FROM pg_stat_activity WHERE {OTHERS}")]
        if not pids:
            raise Missed("The Hub had no connection.")
        for pid in random.sample(pids, math.ceil(len(pids) * share)):
            own.execute("SELECT pg_terminate_backend(%s)", [pid])
        yield


@fault("PostgreSQL connections used up", databases=HERE, seconds=(3, 15))
def used_up(world: World, random: Random) -> Iterator[None]:
    """The Hub keeps none, and gets no new one."""
    with world.away(DATABASE), ExitStack() as taken:
        own = taken.enter_context(closing(_connect(world)))
        for _ in range(ROUNDS):
            _take_all(world, taken)
            if not own.execute(BREAK_OFF, ["chaos"]).fetchall():
                break
        else:
            raise RuntimeError("The Hub had always got new connections before.")
        yield


def _take_all(world: World, taken: ExitStack) -> None:
    for _ in range(MOST):
        try:
            one = psycopg.connect(world.database.url, application_name="chaos")
        except psycopg.OperationalError:
            return
        taken.enter_context(closing(one))
    raise RuntimeError("PostgreSQL has room for any number of connections.")


@fault("PostgreSQL table locked", databases=HERE, weight=2, seconds=(2, 12))
def table_locked(world: World, random: Random) -> Iterator[None]:
    table, mode = random.choice(LOCKED), random.choice(["ACCESS EXCLUSIVE", "EXCLUSIVE"])
    with world.away(DATABASE), closing(_connect(world)) as own, own.transaction():
        own.execute(f"LOCK TABLE {table} IN {mode} MODE")
        yield


@fault("PostgreSQL rows locked", databases=HERE, seconds=(2, 12))
def rows_locked(world: World, random: Random) -> Iterator[None]:
    """Those that every delivery asks for, or those that change most."""
    table = random.choice(["integrations_integration", "integrations_installation", "hub_lease"])
    with world.away(DATABASE), closing(_connect(world)) as own, own.transaction():
        if not own.execute(f"SELECT 1 FROM {table} FOR UPDATE").fetchall():
            raise Missed(f"{table} is empty.")
        yield
