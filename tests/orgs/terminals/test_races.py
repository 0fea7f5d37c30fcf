"""Two processes that do the same at the same time, on a real database."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from allauth.idp.oidc.models import Token
from django.db import connection

from orgs.models import Terminal
from orgs.people import leaving
from orgs.terminals import codes
from tests import build
from tests.orgs.terminals import terminal

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(codes, "INTERVAL", 0)


@pytest.fixture
def alice():
    return build.member(build.organization())


def together(*acts: Callable[[], object]) -> list:
    """What each of these gives, begun at the same moment."""
    start = threading.Barrier(len(acts))

    def act(each: Callable[[], object]) -> object:
        start.wait()
        try:
            return each()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(act, acts))


def test_of_two_refreshes_at_once_one_is_answered_and_then_the_sign_in_ends(alice):
    tokens = terminal.sign_in(alice)

    answers = together(*[lambda: terminal.refresh(tokens)] * 4)

    assert sorted(each.status_code for each in answers) == [200, 400, 400, 400]
    assert not Terminal.objects.exists()
    assert not Token.objects.exists()


def test_of_two_polls_at_once_one_signs_in(alice):
    waiting = terminal.begin()
    terminal.answer(alice, waiting)

    answers = together(*[lambda: terminal.poll(waiting)] * 4)

    assert sorted(each.status_code for each in answers) == [200, 400, 400, 400]
    assert Terminal.objects.count() == 1
    assert Token.objects.count() == 2


def test_signing_out_while_tokens_are_replaced_leaves_none(alice):
    tokens = terminal.sign_in(alice)

    refreshed, _ = together(
        lambda: terminal.refresh(tokens),
        lambda: Terminal.objects.filter(user=alice).sign_out(),
    )

    assert refreshed.status_code in (200, 400)
    assert not Token.objects.exists()


def test_deleting_the_account_while_tokens_are_replaced_leaves_none(alice):
    tokens = terminal.sign_in(alice)

    refreshed, _ = together(lambda: terminal.refresh(tokens), lambda: leaving.leave(alice, "acme"))

    assert refreshed.status_code in (200, 400)
    assert not Token.objects.exists()
    assert not Terminal.objects.exists()
