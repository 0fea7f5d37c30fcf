"""Two processes that do the same at the same time, on a real database."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from allauth.idp.oidc.models import Token
from django.db import connection

from hub.screen import inviting
from orgs.models import Organization, PersonalToken, Terminal, User
from orgs.people import leaving, tokens
from orgs.terminals import codes, protocol
from tests import build
from tests.orgs.terminals import terminal

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(codes, "INTERVAL", 0)


@pytest.fixture
def alice():
    return build.member(build.organization())


def joining(user: User) -> Callable[[], object]:
    """The person accepts an invitation to another organization."""
    owner = build.member(build.organization("initech"), "bob").membership
    mine = {"github_id": user.membership.github_id, "login": "alice", "role": "member"}
    invitation = owner.organization.invitations.create(invited_by=owner, **mine)
    return lambda: inviting.join(user.membership, invitation.pk, "member")


LEAVING = {
    "joins another organization": joining,
    "deletes the account": lambda user: lambda: leaving.leave(user, "acme"),
}


def closing(act: Callable[[], object]) -> Callable[[], object]:
    """The same, and then the thread's connection is closed."""

    def closed() -> object:
        try:
            return act()
        finally:
            connection.close()

    return closed


def together(*acts: Callable[[], object]) -> list:
    """What each of these gives, begun at the same moment."""
    start = threading.Barrier(len(acts))

    def act(each: Callable[[], object]) -> object:
        start.wait()
        return closing(each)()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(act, acts))


def test_of_two_refreshes_at_once_one_is_answered_and_then_the_sign_in_ends(alice):
    signed_in = terminal.sign_in(alice)

    answers = together(*[lambda: terminal.refresh(signed_in)] * 4)

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


@pytest.mark.parametrize("how", ["joins another organization", "deletes the account"])
def test_who_leaves_while_a_code_is_exchanged_is_signed_in_nowhere(alice, monkeypatch, how):
    waiting = terminal.begin()
    terminal.answer(alice, waiting)
    left = threading.Thread(target=closing(LEAVING[how](alice)))

    def meanwhile(user: User) -> bool:
        left.start()
        left.join(0.5)  # it has to wait for this sign-in; this does not wait for it
        return True

    monkeypatch.setattr(protocol, "room_for", meanwhile)
    terminal.poll(waiting)
    left.join()

    assert not Terminal.objects.exists()
    assert not Token.objects.exists()
    assert not Organization.objects.filter(name="acme").exists()


def test_of_two_sign_ins_at_once_the_last_place_goes_to_one(alice, monkeypatch):
    monkeypatch.setattr(protocol, "MOST", 1)
    waiting = [terminal.begin() for _ in range(6)]
    for each in waiting:
        terminal.answer(alice, each)

    together(*[lambda each=each: terminal.poll(each) for each in waiting])

    assert Terminal.objects.count() == 1


def test_of_two_new_tokens_at_once_the_last_place_goes_to_one(alice, monkeypatch):
    monkeypatch.setattr(tokens, "MOST", 1)

    def issue() -> bool:
        with suppress(tokens.TooManyTokens):
            return bool(tokens.issue(alice, "CI", scopes=tokens.SCOPES))
        return False

    assert sorted(together(*[issue] * 6)) == [False] * 5 + [True]
    assert PersonalToken.objects.count() == 1


def test_signing_out_while_tokens_are_replaced_leaves_none(alice):
    signed_in = terminal.sign_in(alice)

    refreshed, _ = together(
        lambda: terminal.refresh(signed_in),
        lambda: Terminal.objects.filter(user=alice).sign_out(),
    )

    assert refreshed.status_code in (200, 400)
    assert not Token.objects.exists()


def test_deleting_the_account_while_tokens_are_replaced_leaves_none(alice):
    signed_in = terminal.sign_in(alice)

    refreshed, _ = together(
        lambda: terminal.refresh(signed_in), lambda: leaving.leave(alice, "acme")
    )

    assert refreshed.status_code in (200, 400)
    assert not Token.objects.exists()
    assert not Terminal.objects.exists()
