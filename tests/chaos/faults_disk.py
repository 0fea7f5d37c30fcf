"""Nothing more fits on the disk of the database."""

from collections.abc import Iterator
from contextlib import suppress
from random import Random

import psycopg

from tests.chaos import disk
from tests.chaos.faults import Inject, fault
from tests.chaos.world import DATABASE, World

SWITCHES = 8  # segments that may be there already for what is written next


def _full(*, breaks: bool) -> Inject:
    def inject(world: World, random: Random) -> Iterator[None]:
        with world.away(DATABASE):
            world.disk.fill()
            if breaks:
                _use_up_the_wal(world)
            yield
            world.disk.drain()
            world.database.revive()

    return inject


fault("disk full", seconds=(3, 20), needs=disk.lacks)(_full(breaks=False))
fault("disk full for the WAL", databases={"postgresql"}, seconds=(3, 15), needs=disk.lacks)(
    _full(breaks=True)
)


def _use_up_the_wal(world: World) -> None:
    """Until PostgreSQL cannot write any: then it ends all connections, and maybe itself."""
    with suppress(psycopg.OperationalError):
        for _ in range(SWITCHES):
            with psycopg.connect(world.database.url, autocommit=True) as own:
                own.execute("SELECT pg_logical_emit_message(true, 'chaos', 'one more')")
                own.execute("SELECT pg_switch_wal()")
