"""PostgreSQL: somebody leaves or joins while others, or they themselves, do something else."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from allauth.idp.oidc.models import Token
from django.db import IntegrityError, connection, transaction
from django.db.models.signals import pre_delete

from hub.screen import inviting
from integrations.models import OneTimeState
from orgs.models import Invitation, Membership, Organization, User
from orgs.people import leaving, members, tokens
from tests import build
from tests.waiting import is_somebody_waiting_for_a_lock, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgresql]


@pytest.fixture
def acme() -> Organization:
    return build.organization()


@pytest.fixture
def alice(acme) -> User:
    return build.member(acme)


@pytest.fixture
def begin() -> Iterator[Callable[..., Future]]:
    """Begins something in a thread; returns when that is done, or waits for a lock."""
    with ThreadPoolExecutor() as pool:

        def begun(act: Callable[..., object], *args: object) -> Future:
            def closing() -> object:
                try:
                    return act(*args)
                finally:
                    connection.close()

            future = pool.submit(closing)
            assert wait_until(lambda: future.done() or is_somebody_waiting_for_a_lock())
            return future

        yield begun


def test_a_token_that_is_made_while_its_person_joins_another_organization_is_gone(
    acme, alice, begin
):
    theirs = build.organization("theirs")
    boss = build.member(theirs, "boss")
    mine = alice.membership
    invited = Invitation.objects.create(
        organization=theirs,
        github_id=mine.github_id,
        login=mine.login,
        role="member",
        invited_by=boss.membership,
    )
    with transaction.atomic():
        tokens.issue(alice, "CI", scopes=tokens.SCOPES)
        joined = begin(inviting.join, mine, invited.pk, "member")
    joined.result()

    assert Membership.objects.get(user=alice).organization == theirs
    assert not Token.objects.exists()


@contextmanager
def when_deleted(row: User | Membership, act: Callable[[], object]) -> Iterator[None]:
    """Do something when the rows that are deleted with this one are known."""

    def deleted(instance: User | Membership, **kwargs: object) -> None:
        if instance.pk == row.pk:
            act()

    pre_delete.connect(deleted, sender=type(row))
    yield
    pre_delete.disconnect(deleted, sender=type(row))


@pytest.mark.parametrize("leaver", ["alice", "bob"])
def test_a_token_that_is_made_meanwhile_fails_and_not_the_leaving(acme, alice, begin, leaver):
    bob = build.member(acme, "bob", role="member")
    who, name = {"alice": (alice, "acme"), "bob": (bob, "bob")}[leaver]
    making: list[Future] = []

    with when_deleted(bob, lambda: making.append(begin(build.token, bob))):
        leaving.leave(who, name)

    assert isinstance(making[0].exception(), IntegrityError)
    assert not User.objects.filter(pk=bob.pk).exists()
    assert not Token.objects.exists()


@pytest.mark.parametrize("leaver", ["alice", "bob"])
def test_an_installation_that_is_begun_meanwhile_fails_and_not_the_leaving(
    acme, alice, begin, leaver
):
    bob = build.member(acme, "bob", role="member")
    who, name = {"alice": (alice, "acme"), "bob": (bob, "bob")}[leaver]
    bobs = Membership.objects.select_related("organization").get(user=bob)
    beginning: list[Future] = []

    with when_deleted(bobs, lambda: beginning.append(begin(OneTimeState.objects.begin, bobs))):
        leaving.leave(who, name)

    assert isinstance(beginning[0].exception(), IntegrityError)
    assert not User.objects.filter(pk=bob.pk).exists()
    assert not OneTimeState.objects.exists()


def test_who_signs_in_for_the_first_time_meanwhile_is_deleted_with_the_others(acme, alice, begin):
    Membership.objects.create(organization=acme, github_id=3, login="charlie")

    with transaction.atomic():
        charlie = User.objects.create(username="charlie")
        members.welcome(charlie, github_id=3, login="charlie")
        left = begin(leaving.leave, alice, "acme")
    left.result()

    assert not User.objects.exists()


def invitation(to: Organization, whom: User, *, by: User) -> Invitation:
    return to.invitations.create(
        github_id=whom.membership.github_id, login="alice", role="owner", invited_by=by.membership
    )


@pytest.fixture
def newcomer(acme) -> User:
    """The only member of an organization, who joins acme when `joining` says so."""
    return build.member(build.organization("newcomer"), "newcomer")


@contextmanager
def joining(acme: Organization, newcomer: User, *, by: User) -> Iterator[None]:
    """Somebody accepts an invitation, which takes as long as this context."""
    asked = invitation(acme, newcomer, by=by)
    with transaction.atomic():
        inviting.join(newcomer.membership, asked.pk, "owner")
        yield


def test_of_two_owners_who_leave_at_once_one_stays_even_if_the_other_has_just_joined(
    acme, alice, newcomer, begin
):
    second: list[Future] = []

    with when_deleted(newcomer, lambda: second.append(begin(leaving.leave, alice, "alice"))):
        with joining(acme, newcomer, by=alice):
            first = begin(leaving.leave, newcomer, "newcomer")
        first.result()

    assert isinstance(second[0].exception(), leaving.NotConfirmed)
    assert [each.user for each in acme.memberships.all()] == [alice]


def test_the_role_of_somebody_who_leaves_right_after_joining_does_not_change(
    acme, alice, newcomer, begin
):
    changed: list[Future] = []

    def change() -> None:
        role = Membership.Role.MEMBER
        members.change_role(newcomer.membership, role, by=alice.membership)

    with when_deleted(newcomer, lambda: changed.append(begin(change))):
        with joining(acme, newcomer, by=alice):
            left = begin(leaving.leave, newcomer, "newcomer")
        left.result()

    assert isinstance(changed[0].exception(), members.NoSuchMember)


def test_the_role_of_somebody_who_is_deleted_by_hand_meanwhile_does_not_change(acme, alice, begin):
    bob = build.member(acme, "bob").membership

    with transaction.atomic():
        Membership.objects.filter(pk=bob.pk).delete()
        changed = begin(lambda: members.change_role(bob, "member", by=alice.membership))

    assert isinstance(changed.exception(), members.NoSuchMember)


def test_who_accepts_a_second_invitation_has_the_organization_locked_that_they_have_just_joined(
    acme, alice, newcomer, begin, monkeypatch
):
    other = build.member(build.organization("initech"), "bob")
    second = invitation(other.membership.organization, newcomer, by=other)
    as_before = Membership.objects.get(user=newcomer)
    changed: list[bool] = []

    def change() -> None:
        members.change_role(alice.membership, "member", by=newcomer.membership)

    def then_change(organization: Organization) -> bool:
        changed.append(begin(change).done())
        return False

    with joining(acme, newcomer, by=alice):
        monkeypatch.setattr(inviting, "_is_empty", then_change)
        joined = begin(inviting.join, as_before, second.pk, "owner")

    assert isinstance(joined.exception(), inviting.InUse)
    assert changed == [False]


def test_an_installation_that_is_begun_for_an_organization_that_is_left_delays_only_its_deletion(
    acme, alice, newcomer, begin
):
    as_before = Membership.objects.select_related("organization").get(user=newcomer)
    asked, beginning = invitation(acme, newcomer, by=alice), []

    def first(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if sql.startswith('DELETE FROM "orgs_organization"') and not beginning:
            beginning.append(begin(OneTimeState.objects.begin, as_before))
        return execute(sql, *rest)

    with connection.execute_wrapper(first):
        joined = inviting.join(newcomer.membership, asked.pk, "owner")
    assert beginning[0].result()
    leaving.delete_left()

    assert joined == acme
    assert list(Organization.objects.all()) == [acme]


def test_who_accepts_a_role_that_is_just_being_changed_gets_the_one_that_they_accept(
    acme, alice, newcomer, begin
):
    asked = invitation(acme, newcomer, by=alice)

    with transaction.atomic():
        members.lock(acme.pk)
        joined = begin(inviting.join, newcomer.membership, asked.pk, "member")
        Invitation.objects.filter(pk=asked.pk).update(role="member")
    joined.result()

    now = Membership.objects.get(user=newcomer)
    assert (now.organization, now.role) == (acme, "member")


def test_who_accepts_an_invitation_that_is_just_being_withdrawn_does_not_join(
    acme, alice, newcomer, begin
):
    asked = invitation(acme, newcomer, by=alice).pk

    with transaction.atomic():
        inviting.withdraw(Invitation.objects.get(pk=asked), by=alice.membership)
        joined = begin(inviting.join, newcomer.membership, asked, "owner")

    assert isinstance(joined.exception(), inviting.Withdrawn)
    assert [each.user for each in acme.memberships.all()] == [alice]


@pytest.mark.parametrize("end", ["declined", "withdrawn"])
def test_an_invitation_that_is_just_being_accepted_is_accepted_and_nothing_else(
    acme, alice, newcomer, begin, end
):
    invited = invitation(acme, newcomer, by=alice)
    acts: dict[str, Callable[[], object]] = {
        "declined": lambda: inviting.decline(newcomer.membership, invited.pk),
        "withdrawn": lambda: inviting.withdraw(invited, by=alice.membership),
    }

    with transaction.atomic():
        inviting.join(newcomer.membership, invited.pk, "owner")
        other = begin(acts[end])

    assert isinstance(other.exception(), inviting.Withdrawn)
    assert Membership.objects.get(user=newcomer).organization == acme
    assert not acme.notices.exists()
