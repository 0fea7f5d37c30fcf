"""A duration is said in its largest unit."""

from datetime import UTC, datetime, timedelta

import pytest

from core import durations

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        *((-5, "1 second"), (0.2, "1 second"), (59, "59 seconds"), (60, "1 minute")),
        *((3599, "59 minutes"), (7200, "2 hours"), (86_400, "1 day")),
    ],
)
def test_the_time_between_is_said_in_words(seconds, words):
    assert durations.in_words(BEGAN, BEGAN + timedelta(seconds=seconds)) == words


def test_what_has_not_ended_has_no_words():
    assert durations.in_words(BEGAN, None) == ""


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-0.2, "under 0.1 s"),
        (0.04, "under 0.1 s"),
        (1.24, "1.2 s"),
        (9.94, "9.9 s"),
        (9.95, "10 s"),
        (119.4, "119 s"),
        (120, "2 min"),
        (7199, "120 min"),
        (7200, "2 h"),
        (172_800, "2 days"),
    ],
)
def test_seconds_are_said_in_one_unit(seconds, said):
    assert durations.in_short(seconds) == said


def test_no_seconds_are_nothing():
    assert durations.in_short(None) == ""


def test_the_time_between_is_said_the_same_way():
    assert durations.between(BEGAN, BEGAN + timedelta(seconds=0.02)) == "under 0.1 s"
    assert durations.between(BEGAN, None) == ""
