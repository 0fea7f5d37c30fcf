"""How long GitHub asks us to wait, in all the ways in which it may say so."""

from datetime import UTC, datetime, timedelta

import pytest

from integrations.github_api.answers import GitHubAnswer, raise_for_limit
from integrations.github_api.errors import Limited

DATE = "Fri, 20 Nov 2026 12:00:00 GMT"
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (403, {"retry-after": "120"}, 120),
        (429, {"retry-after": "0"}, 1),
        (429, {"retry-after": "-5"}, 60),
        (429, {"retry-after": "1e9"}, 60),
        (429, {"retry-after": "abc"}, 60),
        (429, {"retry-after": ""}, 60),
        (429, {"retry-after": "1000000000"}, 3600),
        (429, {"retry-after": "9" * 5000}, 3600),
        (429, {"retry-after": "Fri, 20 Nov 2026 12:05:00 GMT"}, 300),
        (429, {"retry-after": "Fri, 20 Nov 2026 11:00:00 GMT"}, 1),
        (429, {"retry-after": "Fri, 20 Nov 2026 12:05:00"}, 300),
        (
            403,
            {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOON.timestamp()) + 90)},
            90,
        ),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 5000}, 3600),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"}, 60),
        (403, {"x-ratelimit-remaining": "0"}, 60),
        (429, {}, 60),
    ],
)
def test_how_long_to_wait(status, headers, seconds):
    with pytest.raises(Limited) as limited:
        raise_for_limit(GitHubAnswer(status, {"date": DATE, **headers}, {}))

    assert limited.value.wait == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "message", ["API rate limit exceeded", "You have exceeded a secondary rate limit."]
)
def test_a_limit_may_be_told_in_words_alone(message):
    with pytest.raises(Limited):
        raise_for_limit(GitHubAnswer(403, {}, {"message": message}))


@pytest.mark.parametrize(
    "answer",
    [
        GitHubAnswer(403, {"x-ratelimit-remaining": "10"}, {"message": "Repository was archived."}),
        GitHubAnswer(404, {"retry-after": "120"}, {}),
        GitHubAnswer(201, {"x-ratelimit-remaining": "0"}, {}),
    ],
)
def test_what_is_no_limit(answer):
    assert raise_for_limit(answer) is None
