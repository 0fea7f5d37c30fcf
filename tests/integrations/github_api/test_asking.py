"""Asking GitHub while a maintainer waits: how GitHub's answers become an answer of the Hub."""

import time
from collections import Counter
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import connection

from core.at_once import TooManyAtOnce
from core.rates import Limit, RateLimited
from integrations.github_api import (
    BadCode,
    Blocked,
    Busy,
    Limited,
    OutcomeUnknown,
    Suspended,
    TimedOut,
    Unreachable,
    asking,
    transport,
)
from integrations.models import Installation, Integration
from orgs.models import Membership, Organization
from tests import build

ACME = Membership(organization=Organization(pk="acme"), github_id=1)
INITECH = Membership(organization=Organization(pk="initech"), github_id=2)
IN_VAIN = "Nothing was saved; please try again."


def test_there_are_ten_seconds_for_all_that_is_asked(monkeypatch):
    monkeypatch.setattr(time, "monotonic", lambda: 1000.0)

    with asking.github(ACME) as deadline:
        assert deadline == 1010.0


@pytest.mark.parametrize(
    "error",
    [
        Unreachable("GitHub answered 500 when asked for a token."),
        Busy("Too many calls to GitHub are in progress."),
        TimedOut("GitHub took too long to answer."),
        Limited(timedelta(seconds=7)),
        OutcomeUnknown("GitHub answered 502 without an issue."),
        Blocked("acme/docs is archived."),
        Suspended("The app is suspended or no longer installed."),
        BadCode("GitHub does not accept this code. Please start over."),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_github_does_not_answer_is_a_502_in_words(error):
    with pytest.raises(asking.CodeHostUnavailable) as told, asking.github(ACME):
        raise error

    assert (told.value.status_code, told.value.default_code) == (502, "code_host_unavailable")
    assert str(told.value) == f"{error} {IN_VAIN}"


def test_an_answer_on_the_wire_becomes_one_of_the_hub(wire):
    wire.answer("GET /app", 503)

    with pytest.raises(asking.CodeHostUnavailable) as told, asking.github(ACME):
        transport.look_up(None, "/app")

    assert str(told.value) == f"GitHub answered 503 without the requested data. {IN_VAIN}"


def test_an_error_of_our_own_stays_one():
    with pytest.raises(ZeroDivisionError), asking.github(ACME):
        raise ZeroDivisionError


def test_one_question_of_an_organization_at_a_time():
    with asking.github(ACME), asking.github(INITECH), pytest.raises(TooManyAtOnce) as told:
        asking.github(ACME).__enter__()

    assert "already asking GitHub for your organization" in str(told.value)
    with asking.github(ACME):
        pass


def test_who_asks_too_often_is_told_to_wait(settings):
    settings.HUB_ASKING_RATE = "2/minute"
    for _ in range(2):
        with asking.github(ACME):
            pass

    with pytest.raises(RateLimited):
        asking.github(ACME).__enter__()
    with asking.github(INITECH):
        pass


@pytest.mark.django_db(transaction=True)
def test_several_readers_of_one_installation_leave_the_rest_of_it_to_deliveries(settings):
    """Each has an organization of their own, with the same company's installation."""
    settings.HUB_ASKING_RATE = "10/hour"
    acme, other = Installation(github_id=1, account="acme"), Installation(github_id=2)
    readers = [
        Membership(organization=Organization(pk=f"reader-{number}"), github_id=number)
        for number in range(10)
    ]
    owner = build.organization()
    acme.save()
    Integration.objects.create(
        organization=owner, installation=acme, repository_id=1, repo_owner="acme", repo_name="docs"
    )
    alice = Membership(organization=owner, github_id=99)
    asked: Counter[str] = Counter()

    for member in (*readers, alice):
        for _ in range(10):
            with suppress(RateLimited), asking.github(member, through=acme):
                asked["alice" if member is alice else "readers"] += 1

    assert asked == {"readers": 10, "alice": 10}
    for _ in range(5):  # what was refused counted for nobody
        with asking.github(readers[-1], through=other):
            pass


@pytest.mark.django_db(transaction=True)
def test_one_reader_of_an_installation_keeps_no_other_from_setting_up_theirs(settings):
    """Not even with a new organization: who leaves one and begins another stays the same person."""
    settings.HUB_ASKING_RATE = "10/hour"
    acme = Installation(github_id=1, account="acme")
    asked: Counter[str] = Counter()

    for organization, person in (("first", 1), ("second", 1), ("third", 2)):
        member = Membership(organization=Organization(pk=organization), github_id=person)
        for _ in range(10):
            with suppress(RateLimited), asking.github(member, through=acme):
                asked[organization] += 1

    assert asked == {"first": 5, "third": 5}


def test_other_limits_are_counted_with_its_own(settings):
    """What one of them refuses has used up none."""
    settings.HUB_ASKING_RATE = "2/minute"
    one = [Limit("1/minute", ("one",))]
    with asking.github(ACME, also=one, what="lists"):
        pass

    with pytest.raises(RateLimited, match="Too many lists"):
        asking.github(ACME, also=one, what="lists").__enter__()

    with asking.github(ACME):
        pass


def test_what_waits_for_another_question_is_not_counted():
    one = [Limit("1/minute", ("one",))]

    with asking.github(ACME), pytest.raises(TooManyAtOnce):
        asking.github(ACME, also=one).__enter__()

    with asking.github(ACME, also=one):
        pass


@pytest.mark.django_db(transaction=True)
def test_an_installation_that_github_wants_left_alone_is_not_asked_through():
    acme = Installation.objects.create(github_id=1, account="acme")

    with pytest.raises(asking.CodeHostUnavailable), asking.github(ACME, through=acme):
        raise Limited(timedelta(seconds=90))
    with pytest.raises(asking.CodeHostUnavailable) as told:
        asking.github(ACME, through=acme).__enter__()

    assert acme.is_left_alone()
    assert str(told.value) == (
        "GitHub's rate limit for acme is reached. Nothing was saved; try again in a few minutes."
    )
    with asking.github(ACME):  # through none, or another one
        pass


@pytest.mark.django_db(transaction=True)
def test_another_error_does_not_leave_the_installation_alone():
    acme = Installation.objects.create(github_id=1, account="acme")

    with pytest.raises(asking.CodeHostUnavailable), asking.github(ACME, through=acme):
        raise Unreachable("GitHub could not be reached.")

    assert not acme.is_left_alone()


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_no_database_connection_is_held_meanwhile():
    Installation.objects.exists()

    with asking.github(ACME):
        assert connection.connection is None
