"""What may go wrong while the load runs: a register of faults by name.

    @fault("PostgreSQL restarted", databases={"postgresql"}, seconds=(2, 20))
    def postgresql_restarted(world: World, random: Random) -> Iterator[None]:
        with world.away("database"):
            world.database.stop("fast")
            yield                       # the driver waits here for as long as the plan says
            world.database.start()

What comes before the `yield` injects it, what comes after it heals it. It draws only from the `random`
that it gets. If there was nothing to strike, it raises `Missed`, before the `yield` or after it: then it
does not count as injected. Faults of one `track` follow each other; the two tracks overlap.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from pkgutil import iter_modules
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from tests import chaos

if TYPE_CHECKING:
    from tests.chaos.world import World

DATABASES = ("sqlite", "postgresql")
OUTSIDE, INSIDE = "outside", "inside"  # GitHub, DNS and clients; our own services and processes
MOMENTARY = (0.0, 0.0)

Inject = Callable[["World", Random], Iterator[None]]


class Missed(Exception):
    """There was nothing to strike; the message says why."""


class Fault(NamedTuple):
    """One kind. `needs` says what this machine lacks for it, or nothing."""

    name: str
    strike: Callable[["World", Random], AbstractContextManager[None]]
    track: str
    databases: frozenset[str]
    weight: int
    seconds: tuple[float, float]
    needs: Callable[[], str]


FAULTS: dict[str, Fault] = {}


def fault(
    name: str,
    *,
    track: str = INSIDE,
    databases: Collection[str] = DATABASES,
    weight: int = 1,
    seconds: tuple[float, float] = MOMENTARY,
    needs: Callable[[], str] = str,
) -> Callable[[Inject], Inject]:
    """Add a kind of fault. `weight` is how often it comes in one round of all kinds of its track.

    `seconds` is the least and the most that it lasts; without, it heals right away.
    """

    def add(inject: Inject) -> Inject:
        if name in FAULTS:
            raise ValueError(f"There are two faults {name!r}.")
        strike = contextmanager(inject)
        FAULTS[name] = Fault(name, strike, track, frozenset(databases), weight, seconds, needs)
        return inject

    return add


def load() -> dict[str, Fault]:
    """All kinds, by name."""
    for module in iter_modules(chaos.__path__):
        if module.name.startswith("faults_"):
            import_module(f"tests.chaos.{module.name}")
    return dict(sorted(FAULTS.items()))
