"""PostgreSQL: somebody leaves while others, or they themselves, do something else."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from allauth.idp.oidc.models import Token
from django.db import IntegrityError, connection, transaction
from django.db.models.signals import pre_delete

from orgs.models import Membership, Organization, User
from orgs.people import leaving, members
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


@contextmanager
def when_deleted(user: User, act: Callable[[], object]) -> Iterator[None]:
    """Do something when the rows that are deleted with this account are known."""

    def deleted(instance: User, **kwargs: object) -> None:
        if instance.pk == user.pk:
            act()

    pre_delete.connect(deleted, sender=User)
    yield
    pre_delete.disconnect(deleted, sender=User)


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


def test_who_signs_in_for_the_first_time_meanwhile_is_deleted_with_the_others(acme, alice, begin):
    Membership.objects.create(organization=acme, github_id=3, login="charlie")

    with transaction.atomic():
        charlie = User.objects.create(username="charlie")
        members.welcome(charlie, github_id=3, login="charlie")
        left = begin(leaving.leave, alice, "acme")
    left.result()

    assert not User.objects.exists()
