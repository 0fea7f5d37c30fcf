"""How times are said on the pages."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from core import times
from hub.templatetags import hub_time

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("apart", "past", "future"),
    [
        ({}, "just now", "just now"),
        ({"seconds": 1}, "just now", "in a moment"),
        ({"seconds": 59}, "just now", "in a moment"),
        ({"seconds": 60}, "1 min ago", "in 1 min"),
        ({"minutes": 59, "seconds": 59}, "59 min ago", "in 59 min"),
        ({"hours": 1}, "1 h ago", "in 1 h"),
        ({"hours": 23, "minutes": 59}, "23 h ago", "in 23 h"),
        ({"hours": 24}, "yesterday", "tomorrow"),
        ({"hours": 35}, "yesterday", "tomorrow"),
        ({"hours": 36}, "yesterday", "in 2 days"),
        ({"hours": 36, "seconds": 1}, "20 Nov", "in 2 days"),
        ({"days": 6}, "16 Nov", "in 6 days"),
        ({"days": 7}, "15 Nov", "29 Nov"),
        ({"days": 300}, "26 Jan", "18 Sep 2027"),
        ({"days": 400}, "18 Oct 2025", "27 Dec 2027"),
    ],
)
def test_a_time_is_said_as_people_say_it(apart, past, future):
    assert times.in_words(NOON - timedelta(**apart), NOON) == past
    assert times.in_words(NOON + timedelta(**apart), NOON) == future


def test_a_time_of_another_zone_is_the_same_moment():
    at = datetime(2026, 11, 22, 0, 30, tzinfo=timezone(timedelta(hours=2)))  # the day before in UTC

    assert times.in_words(at, NOON) == "13 h ago"
    assert times.in_words(at, NOON + timedelta(days=1)) == "21 Nov"
    assert 'datetime="2026-11-21T22:30:00+00:00" title="21 Nov 2026, 22:30 UTC"' in hub_time.ago(at)


def test_the_clocks_of_summer_change_nothing():
    """The last Sunday of March: an hour that some zones do not have."""
    before = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)

    assert times.in_words(before, before + timedelta(hours=2)) == "2 h ago"
    assert times.in_words(before, before + timedelta(hours=24)) == "yesterday"


def test_no_time_is_nothing():
    assert hub_time.ago(None) == ""
