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
