"""The clock of the Hub's machine is wrong."""

from collections.abc import Iterator
from random import Random

from tests.chaos import wall_clock
from tests.chaos.faults import Inject, fault
from tests.chaos.world import CLOCK, World


def _hubs(seconds: int) -> Inject:
    """On SQLite that is the database's clock, too."""

    def inject(world: World, random: Random) -> Iterator[None]:
        with world.away(CLOCK):
            world.clock.move(seconds)
            yield
            world.clock.move(0)

    return inject


for name, seconds in wall_clock.OFF.items():
    fault(f"the Hub's clock {name}", seconds=(3, 30), needs=wall_clock.lacks)(_hubs(seconds))
