"""The code host's tokens: what is asked for, what is answered, and how long one is used."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial

import pytest

from integrations.github_api import Gone, Limited, Suspended, Unreachable, tokens, transport
from integrations.models import Repository
from tests.integrations.github_api.conftest import TOKEN, said
from tests.integrations.github_api.faults import LOST, NEVER_CONNECTED

ACME = Repository(1, 7, "acme/docs")
AWAY = "GitHub does not accept the Hub's key"
SUSPENDED = "The app is suspended or no longer installed for acme/docs."
MAY_NOT = (
    "The app may not write issues in acme/docs. Give it access to it and "
    "the permission Issues: read and write, then press Try again."
)
NO_TOKEN = "GitHub answered without a token when asked for one."


def test_a_hub_with_many_repositories_keeps_a_bounded_number_of_tokens(wire, monkeypatch):
    monkeypatch.setattr(tokens, "MOST", 3)

    for number in range(10):
        wire.answer_token(number)
        tokens.of(ACME._replace(name=f"acme/docs-{number}"))

    assert [each.name for each in tokens._tokens] == [f"acme/docs-{n}" for n in (7, 8, 9)]


def test_tokens_that_have_expired_are_forgotten(wire, monkeypatch):
    in_an_hour = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    wire.answer_token(1, expires_at=in_an_hour)
    wire.answer_token(2)
    tokens.of(ACME._replace(name="acme/before"))
    monkeypatch.setattr(tokens.time, "monotonic", lambda now=tokens.time.monotonic: now() + 3600)

    tokens.of(ACME)

    assert list(tokens._tokens) == [ACME]


def test_the_key_of_the_app_is_parsed_once(wire):
    transport._parsed.cache_clear()

    for number in range(3):
        wire.answer_token(number)
        tokens.of(ACME._replace(name=f"acme/docs-{number}"))

    assert transport._parsed.cache_info().misses == 1


def test_a_token_is_asked_for_one_repository_and_for_issues_only(wire):
    wire.answer_token()

    assert tokens.of(ACME) == "token-1"
    [sent] = wire.sent
    assert (sent.line, sent.query) == (TOKEN, {})
    assert sent.json == {"repository_ids": [7], "permissions": {"issues": "write"}}
    assert sent.headers["authorization"].startswith("Bearer ")


@pytest.mark.parametrize(
    ("status", "body", "headers", "error", "sentence"),
    [
        (401, {}, {}, Unreachable, f"{AWAY}. An operator of this Hub has to fix this."),
        (403, {"message": "This installation has been suspended"}, {}, Suspended, SUSPENDED),
        (404, {"message": "Not Found"}, {}, Suspended, SUSPENDED),
        (403, {}, {"Retry_After": "9"}, Limited,
         "GitHub's rate limit is reached; it asked us to wait 9 seconds."),
        (429, {}, {}, Limited, "GitHub's rate limit is reached; it asked us to wait 60 seconds."),
        (422, {"message": "There is at least one repository that does not exist"}, {}, Gone,
         MAY_NOT),
        (200, {"token": "token-1"}, {}, Unreachable, "GitHub answered 200 when asked for a token."),
        (307, "", {}, Unreachable, "GitHub answered 307 when asked for a token."),
        (410, {}, {}, Unreachable, "GitHub answered 410 when asked for a token."),
        (500, "", {}, Unreachable, "GitHub answered 500 when asked for a token."),
        (502, "<html>", {}, Unreachable, "GitHub answered 502 when asked for a token."),
        (503, "", {"Retry_After": "9"}, Unreachable, "GitHub answered 503 when asked for a token."),
    ],
)  # fmt: skip
def test_a_token_that_is_not_given(wire, status, body, headers, error, sentence):
    wire.answer(TOKEN, status, body, **headers)

    assert said(partial(tokens.of, ACME)) == (error, sentence)
    assert not tokens._tokens


@pytest.mark.parametrize("fault", NEVER_CONNECTED | LOST)
def test_a_token_that_does_not_arrive(wire, fault):
    wire.answer(TOKEN, body=(NEVER_CONNECTED | LOST)[fault])

    assert said(partial(tokens.of, ACME)) == (Unreachable, "GitHub could not be reached.")
    assert wire.lines == [TOKEN]


@pytest.mark.parametrize(
    "body",
    [
        "",
        '{"token": "token-1", "expi',
        [],
        {"token": "token-1"},
        {"expires_at": "2099-01-01T00:00:00Z"},
        {"token": "token-1", "expires_at": None},
        {"token": "token-1", "expires_at": "tomorrow"},
        {"token": "token-1", "expires_at": "2099-01-01T00:00:00"},
    ],
)
def test_an_answer_without_a_token_that_expires(wire, body):
    wire.answer(TOKEN, 201, body)

    assert said(partial(tokens.of, ACME)) == (Unreachable, NO_TOKEN)
    assert not tokens._tokens


@pytest.mark.parametrize(("hours", "minutes"), [(1, "-60"), (-1, "+60")])
def test_a_clock_that_is_wrong_is_named(wire, hours, minutes):
    theirs = datetime.now(UTC) + timedelta(hours=hours)
    wire.answer(TOKEN, 401, {}, Date=format_datetime(theirs, usegmt=True))

    off = f": this machine's clock is {minutes} minutes off GitHub's."
    sentence = f"{AWAY}{off} An operator of this Hub has to fix this."
    assert said(partial(tokens.of, ACME)) == (Unreachable, sentence)


@pytest.mark.parametrize(
    ("lives", "passed", "minted"), [(60, 0, 1), (60, 54, 1), (60, 56, 2), (6, 0, 1), (4, 0, 2)]
)
@pytest.mark.parametrize("their_clock", [timedelta(), timedelta(days=-3), timedelta(days=3)])
def test_a_token_is_used_until_five_minutes_before_it_expires(
    wire, monkeypatch, lives, passed, minted, their_clock
):
    now = datetime.now(UTC) + their_clock
    token = {"token": "token-1", "expires_at": (now + timedelta(minutes=lives)).isoformat()}
    for _ in range(minted):
        wire.answer(TOKEN, 201, token, Date=format_datetime(now, usegmt=True))

    tokens.of(ACME)
    later = tokens.time.monotonic() + passed * 60
    monkeypatch.setattr(tokens.time, "monotonic", lambda: later)
    tokens.of(ACME)

    assert wire.lines == [TOKEN] * minted


def test_one_that_is_forgotten_is_minted_anew_and_no_other(wire):
    other = ACME._replace(id=8)
    for number in (1, 2, 3):
        wire.answer_token(number)
    tokens.of(ACME)
    tokens.of(other)

    tokens.forget(ACME)

    assert [tokens.of(ACME), tokens.of(other)] == ["token-3", "token-2"]


@pytest.mark.parametrize("token", [None, "", 7, "two words", "é", "line\n"])
def test_what_is_no_token_is_not_kept(wire, token):
    wire.answer_token(token=token)
    wire.answer_token(2)

    first = said(partial(tokens.of, ACME))

    assert first == (Unreachable, NO_TOKEN)
    assert tokens.of(ACME) == "token-2"
