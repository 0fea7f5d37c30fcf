"""A run is drawn from its seed."""

from itertools import pairwise

import pytest

from tests.chaos import faults
from tests.chaos.faults import DATABASES, INSIDE, OUTSIDE
from tests.chaos.schedule import plan

SECONDS = 1200.0


def drawn(seed: int = 1, database: str = "sqlite", seconds: float = SECONDS):
    kinds = faults.load().values()
    return plan(kinds, seed=seed, seconds=seconds, database=database)


def test_the_same_seed_draws_the_same_plan():
    assert drawn(7) == drawn(7)


def test_another_seed_draws_another_plan():
    assert drawn(7) != drawn(8)


@pytest.mark.parametrize("database", DATABASES)
def test_twenty_minutes_have_every_kind_of_the_database(database):
    names = {each.name for track in drawn(database=database).values() for each in track}

    assert names == {k.name for k in faults.load().values() if database in k.databases}


@pytest.mark.parametrize("track", [OUTSIDE, INSIDE])
def test_the_faults_of_a_track_follow_each_other_and_end_in_time(track):
    planned = drawn()[track]

    assert all(one.at + one.seconds < other.at for one, other in pairwise(planned))
    assert all(each.at + each.seconds < SECONDS for each in planned)


def test_a_moment_is_too_short_for_any():
    assert drawn(seconds=3) == {OUTSIDE: [], INSIDE: []}
