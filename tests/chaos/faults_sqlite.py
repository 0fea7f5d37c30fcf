"""Another process has the file of SQLite."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from random import Random

from tests.chaos.faults import fault
from tests.chaos.world import DATABASE, World

HERE = {"sqlite"}
PATIENCE = 60  # seconds


def _connect(world: World) -> sqlite3.Connection:
    path = f"file:{world.database.path}"
    return sqlite3.connect(path, uri=True, timeout=PATIENCE, isolation_level=None)


@fault("SQLite locked", databases=HERE, weight=3, seconds=(2, 30))
def locked(world: World, random: Random) -> Iterator[None]:
    with world.away(DATABASE), closing(_connect(world)) as own:
        own.execute("BEGIN EXCLUSIVE")
        yield
        own.execute("ROLLBACK")


@fault("SQLite read for long", databases=HERE, seconds=(5, 30))
def read_for_long(world: World, random: Random) -> Iterator[None]:
    """What is written meanwhile stays beside the file. It keeps nobody from writing."""
    with closing(_connect(world)) as own:
        own.execute("BEGIN")
        own.execute("SELECT count(*) FROM reports_report").fetchone()
        yield
        own.execute("ROLLBACK")


@fault("SQLite locked again and again", databases=HERE)
def locked_again_and_again(world: World, random: Random) -> Iterator[None]:
    """For moments, each shorter than a writer waits: nothing may be refused."""
    with closing(_connect(world)) as own:
        for _ in range(20):
            own.execute("BEGIN EXCLUSIVE")
            time.sleep(random.uniform(0.01, 0.3))
            own.execute("ROLLBACK")
        yield
