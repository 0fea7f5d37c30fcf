"""PostgreSQL: a report is erased while an attempt at its delivery ends, and neither is in the other's way."""

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test import Client

from core import clock
from integrations.delivery import discarding, trying_again
from integrations.models import Delivery, Integration
from integrations.models.delivery import ERASED, LeaseLost
from reports import erasing
from reports.models import Report
from tests import build
from tests.waiting import is_somebody_waiting_for_a_lock

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgresql]


@pytest.fixture
def attempt(code_host) -> Delivery:
    """One that has begun."""
    build.acme(code_host)
    Integration.objects.update(paused_at=clock.now())
    build.send(Client())
    Delivery.objects.update(status="pending", held_for="", due_at=clock.now())
    taken = Delivery.objects.take(Report.objects.get().pk)
    assert taken
    taken.begin_attempt()
    return taken


def erase_while(end: Callable[[], None]) -> list[Exception]:
    """Erase the report while its attempt ends; what the end has raised."""
    raised: list[Exception] = []

    def run() -> None:
        try:
            end()
        except Exception as error:
            raised.append(error)
        finally:
            connection.close()

    ending = threading.Thread(target=run)
    with transaction.atomic():
        list(Delivery.objects.select_for_update())
        ending.start()
        while ending.is_alive() and not is_somebody_waiting_for_a_lock():
            ending.join(0.01)
        erasing.erase(Report.objects.get())
    ending.join()
    return raised


def test_an_attempt_that_fails(attempt):
    [lost] = erase_while(lambda: attempt.fail("GitHub refused it."))

    assert isinstance(lost, LeaseLost)
    assert Delivery.objects.get().reason == ERASED


def test_an_attempt_that_succeeds(attempt):
    attempt.record("Title", "Body")

    assert erase_while(lambda: attempt.succeed(1, "https://x.example/1", adopted=False)) == []
    assert (Delivery.objects.get().status, Delivery.objects.get().body) == ("sent", "")


@pytest.fixture
def held(code_host) -> Delivery:
    """One that waits, as somebody has just read it."""
    build.acme(code_host)
    Integration.objects.update(paused_at=clock.now())
    build.send(Client())
    return Delivery.objects.select_related("report").get()


def test_one_that_is_discarded(held):
    [refused] = erase_while(lambda: discarding.discard(held))

    assert isinstance(refused, discarding.CannotDiscard)
    assert str(refused) == discarding.ERASED
    assert (Delivery.objects.get().status, Delivery.objects.get().reason) == ("failed", ERASED)


def test_one_that_is_discarded_with_others(held):
    mine = Delivery.objects.filter(pk=held.pk)

    assert erase_while(lambda: discarding.discard_all(mine)) == []
    assert (Delivery.objects.get().status, Delivery.objects.get().reason) == ("failed", ERASED)


@pytest.mark.parametrize("is_stopped", [True, False])
def test_one_that_is_tried_again(held, is_stopped):
    later = clock.now() + timedelta(hours=1)
    Integration.objects.update(paused_at=None)
    Delivery.objects.update(status="pending", held_for="", due_at=later)
    if is_stopped:
        Delivery.objects.update(status="failed")
    held.refresh_from_db()

    assert erase_while(lambda: trying_again.try_in_turn(held)) == []
    assert (Delivery.objects.get().status, Delivery.objects.get().reason) == ("failed", ERASED)
