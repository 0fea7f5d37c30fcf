"""Redis is gone, hangs, or has forgotten everything."""

from collections.abc import Iterator
from random import Random
from shutil import which

from tests.chaos.faults import fault
from tests.chaos.world import REDIS, World

HERE = {"postgresql"}  # one process of the server does without


def lacks() -> str:
    """What this machine lacks, or nothing."""
    return "" if which("redis-server") else "no Redis (apt install redis-server)"


@fault("Redis gone", databases=HERE, seconds=(2, 20), needs=lacks)
def gone(world: World, random: Random) -> Iterator[None]:
    with world.away(REDIS):
        world.redis.stop()
        yield
        world.redis.start()


@fault("Redis restarted, empty", databases=HERE, needs=lacks)
def restarted(world: World, random: Random) -> Iterator[None]:
    with world.away(REDIS):
        world.redis.kill()
        world.redis.start()
        yield


@fault("Redis hangs", databases=HERE, seconds=(2, 15), needs=lacks)
def hangs(world: World, random: Random) -> Iterator[None]:
    with world.away(REDIS), world.redis.paused():
        yield
