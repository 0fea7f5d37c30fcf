"""Nothing more fits on the disk of the database."""

from collections.abc import Iterator
from contextlib import closing, suppress
from random import Random

import psycopg

from tests.chaos import disk
from tests.chaos.faults import fault
from tests.chaos.world import DATABASE, World

SEGMENTS = 50  # of the WAL, more than the disk has room for


@fault("disk full", seconds=(3, 20), needs=disk.lacks)
def full(world: World, random: Random) -> Iterator[None]:
    with world.away(DATABASE):
        world.disk.fill()
        yield
        world.disk.drain()
        world.database.revive()


@fault("disk full for the WAL", databases={"postgresql"}, seconds=(3, 15), needs=disk.lacks)
def full_for_the_wal(world: World, random: Random) -> Iterator[None]:
    """What is left of it is used up: then PostgreSQL ends all connections, and itself if it cannot recover."""
    with world.away(DATABASE):
        with closing(psycopg.connect(world.database.url, autocommit=True)) as own:
            world.disk.fill()
            _use_up_the_wal(own)
        yield
        world.disk.drain()
        world.database.revive()


def _use_up_the_wal(own: psycopg.Connection) -> None:
    with suppress(psycopg.OperationalError):
        for _ in range(SEGMENTS):
            own.execute("SELECT pg_logical_emit_message(true, 'chaos', 'one more')")
            own.execute("SELECT pg_switch_wal()")
        raise RuntimeError("PostgreSQL had room for any number of segments.")
