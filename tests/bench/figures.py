"""What the rounds come to: medians, ranges, ratios, and whether the machine was quiet enough to tell."""

from collections.abc import Iterable
from statistics import median, quantiles
from typing import NamedTuple

OTHERS = 0.10  # of the machine: more than this for others, and the times tell nothing
WIDTH = 0.40  # (most - least) / median of the rounds of the same thing
FEW = 3  # rounds; fewer tell nothing about noise


class Thing(NamedTuple):
    """What is measured again in each round."""

    server: str
    what: str
    connections: int


class Sample(NamedTuple):
    """One round of one thing. CPU is in seconds, for all requests; latencies are in milliseconds."""

    thing: Thing
    round: int
    requests: int
    seconds: float
    cpu: float
    database_cpu: float
    others: float
    p50: float
    p99: float

    @property
    def rate(self) -> float:
        """Requests per second."""
        return self.requests / self.seconds

    @property
    def cpu_each(self) -> float:
        """Milliseconds of the server's CPU per request."""
        return self.cpu / self.requests * 1000

    @property
    def database_cpu_each(self) -> float:
        """Milliseconds of the database server's CPU per request."""
        return self.database_cpu / self.requests * 1000


class Range(NamedTuple):
    """The same figure of several rounds."""

    median: float
    least: float
    most: float

    @property
    def width(self) -> float:
        """How far the rounds are apart, as a part of their median."""
        return (self.most - self.least) / self.median if self.median else 0.0


class Goal(NamedTuple):
    """A figure of the contract: the ratio in each round, what it must be, and what it should be."""

    name: str
    ratios: list[float]
    bound: float
    aim: float
    at_most: bool = False

    @property
    def value(self) -> float:
        """The median of the rounds."""
        return median(self.ratios)

    @property
    def is_met(self) -> bool:
        """Whether the median is within the bound."""
        return self.value <= self.bound if self.at_most else self.value >= self.bound


def range_of(values: Iterable[float]) -> Range:
    """Median, least and most."""
    every = list(values)
    return Range(median(every), min(every), max(every))


def percentile(values: list[float], percent: int) -> float:
    """With one value only, that."""
    if len(values) < 2:
        return values[0]
    return quantiles(values, n=100, method="inclusive")[percent - 1]


def of(samples: Iterable[Sample], thing: Thing) -> list[Sample]:
    """The rounds of one thing, in order."""
    return sorted((each for each in samples if each.thing == thing), key=lambda each: each.round)


def things(samples: Iterable[Sample]) -> list[Thing]:
    """Each thing once, in the order of its first round."""
    return list(dict.fromkeys(each.thing for each in samples))


def ratios(
    samples: Iterable[Sample], thing: Thing, against: Thing, figure: str = "rate"
) -> list[float]:
    """`figure` of a thing against that of another, in each round that has both.

    Round by round, since what disturbs one of them mostly disturbs the one beside it too.
    """
    samples = list(samples)
    peers = {each.round: getattr(each, figure) for each in of(samples, against)}
    own = of(samples, thing)
    return [getattr(each, figure) / peers[each.round] for each in own if peers.get(each.round)]


def noise(samples: Iterable[Sample]) -> str:
    """Why these rounds tell nothing, as a sentence; empty where they do."""
    samples = list(samples)
    every = [of(samples, thing) for thing in things(samples)]
    if not every or min(map(len, every)) < FEW:
        return f"There were fewer than {FEW} rounds of something, which tells nothing about noise."
    others = median(each.others for each in samples)
    if others > OTHERS:
        return (
            f"Other processes used {others:.0%} of this machine (bound {OTHERS:.0%}): the times "
            "tell nothing. Stop them and run it again; CPU per request suffers least."
        )
    width = median(range_of(each.rate for each in rounds).width for rounds in every)
    if width > WIDTH:
        return (
            f"The rounds of the same thing differ by {width:.0%} (bound {WIDTH:.0%}): the times "
            "tell nothing. Run it again with more --rounds or --seconds."
        )
    return ""
