"""Which fault comes when: a pure function of seed, length and database."""

from collections.abc import Iterable, Iterator
from random import Random
from typing import NamedTuple

from tests.chaos.faults import INSIDE, OUTSIDE, Fault

GAPS = {OUTSIDE: (0.5, 4.0), INSIDE: (4.0, 12.0)}  # seconds between two faults of a track
CALM = 2.0  # seconds without faults, at the beginning and at the end


class Planned(NamedTuple):
    """A fault, in seconds from the beginning, and the seed of what it draws."""

    at: float
    seconds: float
    name: str
    track: str
    seed: str


def plan(
    kinds: Iterable[Fault], *, seed: int, seconds: float, database: str
) -> dict[str, list[Planned]]:
    """What comes, by track. Every kind comes as often as its weight before any comes again."""
    here = [each for each in kinds if database in each.databases]
    return {
        track: list(
            _track([each for each in here if each.track == track], f"{seed} {track}", seconds)
        )
        for track in (OUTSIDE, INSIDE)
    }


def _track(kinds: list[Fault], seed: str, seconds: float) -> Iterator[Planned]:
    random = Random(seed)
    if not kinds:
        return
    at = CALM
    while True:
        for kind in _round(kinds, random):
            at += random.uniform(*GAPS[kind.track])
            length = random.uniform(*kind.seconds)
            left = seconds - CALM - at
            if left <= 0:
                return
            yield Planned(
                round(at, 2), round(min(length, left), 2), kind.name, kind.track, f"{seed} {at:.2f}"
            )
            at += length


def _round(kinds: list[Fault], random: Random) -> list[Fault]:
    bag = [kind for kind in kinds for _ in range(kind.weight)]
    return random.sample(bag, len(bag))


def table(planned: dict[str, list[Planned]]) -> str:
    """The plan for people."""
    rows = sorted(each for track in planned.values() for each in track)
    return "\n".join(
        f"{each.at:8.1f} s  {each.track:8} {each.name}"
        + (f", for {each.seconds:.1f} s" if each.seconds else "")
        for each in rows
    )
