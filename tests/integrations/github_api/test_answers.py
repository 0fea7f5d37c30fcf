"""What an answer says: how long to wait, what is left, what time it is, and why it is a no."""

from datetime import UTC, datetime, timedelta

import pytest

from integrations.github_api.answers import (
    GitHubAnswer,
    date,
    limit_left,
    making_sense,
    raise_for_limit,
)
from integrations.github_api.errors import Limited, OutcomeUnknown, Unreachable

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
        (429, {"retry-after": "Fri, 20 Nov 2026 13:05:00 +0100"}, 300),
        (429, {"retry-after": "Fri, 31 Dec 9999 23:59:59 -2359"}, 60),
        (429, {"retry-after": f"Fri, 20 Nov {'9' * 30} 12:05:00 GMT"}, 60),
        (
            403,
            {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOON.timestamp()) + 90)},
            90,
        ),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 5000}, 3600),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"}, 60),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1000"}, 60),
        (403, {"x-ratelimit-remaining": "0"}, 60),
        (429, {}, 60),
    ],
)
def test_how_long_to_wait(status, headers, seconds):
    with pytest.raises(Limited) as limited:
        raise_for_limit(GitHubAnswer(status, {"date": DATE, **headers}, {}))

    assert limited.value.wait == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "message",
    [
        "API rate limit exceeded",
        "You have exceeded a secondary rate limit.",
        "You have triggered an abuse detection mechanism. Please wait a few minutes.",
    ],
)
def test_a_limit_may_be_told_in_words_alone(message):
    with pytest.raises(Limited):
        raise_for_limit(GitHubAnswer(403, {}, {"message": message}))


@pytest.mark.parametrize(
    "errors", [["Body was submitted too quickly"], [{"message": "was submitted too quickly."}]]
)
def test_a_422_may_be_a_limit(errors):
    with pytest.raises(Limited) as limited:
        raise_for_limit(GitHubAnswer(422, {}, {"message": "Validation Failed", "errors": errors}))

    assert limited.value.wait == timedelta(seconds=60)


@pytest.mark.parametrize(
    "answer",
    [
        GitHubAnswer(422, {}, {"message": "was submitted too quickly"}),
        GitHubAnswer(422, {}, {"errors": ["'was submitted too quickly' is too long"]}),
        GitHubAnswer(403, {"x-ratelimit-remaining": "10"}, {"message": "Repository was archived."}),
        GitHubAnswer(404, {"retry-after": "120"}, {}),
        GitHubAnswer(201, {"x-ratelimit-remaining": "0"}, {}),
    ],
)
def test_what_is_no_limit(answer):
    assert raise_for_limit(answer) is None


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("4999", 4999),
        ("0", 0),
        ("", None),
        ("-1", None),
        ("1e3", None),
        ("٣", None),
        ("9" * 9, None),
    ],
)
def test_how_many_calls_are_left(text, left):
    assert limit_left(GitHubAnswer(201, {"x-ratelimit-remaining": text}, {})) == left


def test_an_answer_may_be_silent_about_what_is_left():
    assert limit_left(GitHubAnswer(201, {}, {})) is None


def test_the_time_is_githubs():
    assert date(GitHubAnswer(200, {"date": DATE}, {})) == NOON
    assert date(GitHubAnswer(200, {"date": "Fri, 20 Nov 2026 13:00:00 +0100"}, {})) == NOON


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"date": ""},
        {"date": "noon"},
        {"date": "Fri, 99 Nov 2026 12:00:00 GMT"},
        {"date": "Fri, 31 Dec 9999 23:59:59 -2359"},
        {"date": f"Fri, 20 Nov {'9' * 30} 12:00:00 GMT"},
    ],
)
def test_where_github_tells_no_time_ours_counts(headers):
    before = datetime.now(UTC)

    assert before <= date(GitHubAnswer(200, headers, {})) <= datetime.now(UTC)


TITLE = {"resource": "Issue", "field": "title", "code": "missing_field"}


@pytest.mark.parametrize(
    ("body", "message", "reason"),
    [
        ({"message": "Not Found"}, "Not Found", "Not Found"),
        ({"message": "Invalid", "errors": [TITLE]}, "Invalid", "title missing_field"),
        ({"errors": [TITLE, "Too many"]}, "", "title missing_field; Too many"),
        ({"message": None}, "", "422"),
        ({}, "", "422"),
        ([], "", "422"),
        (None, "", "422"),
    ],
)
def test_why_it_is_a_no(body, message, reason):
    answer = GitHubAnswer(422, {}, body)

    assert (answer.message, answer.reason) == (message, reason)


@pytest.mark.parametrize(
    "read",
    [
        lambda body: body["missing"],
        lambda body: body["list"]["name"],
        lambda body: body["list"][1],
        lambda body: body["null"].get("login"),
    ],
)
def test_an_answer_of_another_shape_is_as_good_as_none(read):
    with pytest.raises(Unreachable) as told, making_sense():
        read({"list": [0], "null": None})

    assert str(told.value) == "GitHub's response could not be understood."


def test_errors_of_github_stay_what_they_are():
    with pytest.raises(OutcomeUnknown, match="Perhaps"), making_sense():
        raise OutcomeUnknown("Perhaps")
