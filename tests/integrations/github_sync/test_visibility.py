"""A repository that becomes private or public: of any number of issues, a few at a time."""

import threading
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from core import batches
from integrations.delivery import catching_up, holds
from integrations.github_api import RepositoryFacts
from integrations.github_sync import visibility
from integrations.models import Delivery, Integration, Visibility
from integrations.models.delivery import DeliveryQuerySet
from reports.models import Report
from tests import build
from tests.waiting import free_while_it_waits, is_somebody_waiting_for_a_lock, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

MANY = 9
PRIVATE = RepositoryFacts(1, "acme", "docs", is_private=True, has_issues=True, is_archived=False)
PUBLIC = PRIVATE._replace(is_private=False)


@pytest.fixture(autouse=True)
def few(monkeypatch) -> None:
    """So few are changed at once that a few are many."""
    monkeypatch.setattr(batches, "AT_ONCE", 4)
    monkeypatch.setattr(batches, "BATCH", 2)


@pytest.fixture(autouse=True)
def issues(code_host) -> None:
    """Issues in a public repository."""
    integration = build.integration(build.organization(), code_host)
    now = timezone.now()
    url = "https://docs.acme.com/"
    for number in range(1, MANY + 1):
        report = Report.objects.create(
            doc_url=url, canonical_url=url, received_at=now, last_received_at=now
        )
        Delivery.objects.create(
            report=report,
            integration=integration,
            status="sent",
            issue_number=number,
            repository_id=1,
            repository="acme/docs",
            repository_private=False,
        )
    Integration.objects.update(repository_id=1, repository_private=False)


def tell(facts: RepositoryFacts) -> None:
    with transaction.atomic():
        Integration.objects.update(repository_private=facts.is_private)
        visibility.apply(facts, installation_id=1)


def shown() -> int:
    return Delivery.objects.filter(repository_private=False).count()


def test_the_first_are_hidden_at_once_and_the_others_by_and_by():
    tell(PRIVATE)
    at_once = shown()

    assert visibility.finish() == MANY - 4
    assert (at_once, shown(), Visibility.objects.count()) == (MANY - 4, 0, 0)


def test_it_goes_on_where_it_was_interrupted():
    tell(PRIVATE)
    goes_on = iter([True, False])

    visibility.finish(lambda: next(goes_on))
    between = shown()
    visibility.finish()

    assert (between, shown(), Visibility.objects.count()) == (MANY - 6, 0, 0)


def test_what_is_private_again_meanwhile_shows_no_issue(monkeypatch):
    Delivery.objects.update(repository_private=True)
    tell(PUBLIC)
    later = iter([PRIVATE])

    def a_webhook_comes_in(seconds: float) -> None:
        for facts in later:
            tell(facts)

    monkeypatch.setattr(batches.time, "sleep", a_webhook_comes_in)
    visibility.finish()

    assert next(later, None) is None
    assert (shown(), Visibility.objects.count()) == (0, 0)


def test_what_only_the_integration_knows_to_be_private_is_not_shown():
    Delivery.objects.update(repository_private=True)
    tell(PUBLIC)
    Integration.objects.update(repository_private=True)

    visibility.finish()

    assert (shown(), Visibility.objects.count()) == (0, 0)


@pytest.mark.parametrize("is_there", [True, False])
def test_what_is_sent_for_who_had_not_been_told_shows_no_issue_either(is_there):
    """Whether GitHub has answered already or not; through another installation."""
    later = Delivery.objects.filter(issue_number=MANY)
    unsent = {} if is_there else {"status": "sending", "issue_number": None}

    with transaction.atomic():
        visibility.apply(PRIVATE, installation_id=4711)
        later.update(repository_private=False, lease_until=timezone.now(), **unsent)
    visibility.finish()

    assert Integration.objects.get().repository_private
    assert shown() == 0


def test_of_a_few_nothing_is_left_to_do():
    Delivery.objects.filter(issue_number__gt=4).delete()

    tell(PRIVATE)

    assert (shown(), Visibility.objects.count()) == (0, 0)


@pytest.mark.postgresql
def test_news_waits_for_the_batch_that_is_being_changed(monkeypatch):
    """Or what was asked before the news would be saved after it."""
    Delivery.objects.update(repository_private=True)
    tell(PUBLIC)
    asked, goes_on, told = threading.Event(), threading.Event(), threading.Event()
    shows = visibility._shown

    def slowly(now, pks):
        asked.set()
        assert goes_on.wait(60)
        return shows(now, pks)

    def finish():
        visibility.finish(lambda: not told.is_set())
        connection.close()

    def tell_it_is_private():
        tell(PRIVATE)
        told.set()
        connection.close()

    with ThreadPoolExecutor(2) as pool:
        monkeypatch.setattr(visibility, "_shown", slowly)
        finishing = pool.submit(finish)
        assert asked.wait(60)
        monkeypatch.setattr(visibility, "_shown", shows)
        telling = pool.submit(tell_it_is_private)
        waits = not told.wait(0.5)
        goes_on.set()
        telling.result()
        finishing.result()
    visibility.finish()

    assert waits
    assert shown() == 0


def pause() -> None:
    holds.pause(Integration.objects.get())


def catch_up() -> None:
    Integration.objects.update(paused_at=timezone.now())
    catching_up.catch_up()


@pytest.mark.postgresql
@pytest.mark.parametrize("change", [pause, catch_up])
def test_deliveries_that_are_held_are_locked_in_the_order_of_their_ids(change, monkeypatch):
    monkeypatch.setattr(batches, "BATCH", 4)
    Delivery.objects.filter(issue_number__gt=4).delete()
    Delivery.objects.update(status="pending", turn=100 - F("issue_number"))
    first, *others = Delivery.objects.order_by("pk").values_list("pk", flat=True)
    Delivery.objects.filter(pk=first).update(reason="its row is now the last in the table")

    assert free_while_it_waits(change, *rows(first, others)) == {*others}
    assert {each.status for each in Delivery.objects.all()} == {"held"}


@pytest.mark.postgresql
def test_deliveries_that_are_hidden_are_locked_in_that_order_too():
    """What it waits for is locked by somebody who may still need one with a higher id."""
    Delivery.objects.filter(issue_number__gt=4).delete()
    first, *others = Delivery.objects.order_by("pk").values_list("pk", flat=True)
    Delivery.objects.update(issue_number=100 - F("issue_number"))  # by which they are found

    assert free_while_it_waits(lambda: tell(PRIVATE), *rows(first, others)) == {*others}
    assert shown() == 0


def rows(first: int, others: Collection[int]) -> tuple[DeliveryQuerySet, DeliveryQuerySet]:
    return Delivery.objects.filter(pk=first), Delivery.objects.filter(pk__in=others)


@pytest.mark.postgresql
@pytest.mark.parametrize(
    "record",
    [lambda taken: taken.record("Title", "Body"), lambda taken: taken.record_target()],
    ids=["to be sent", "to be looked for"],
)
def test_what_is_sent_meanwhile_waits_for_the_news(record):
    """It is not among what the news changes, since it does not name the repository yet."""
    Delivery.objects.filter(issue_number__gt=1).delete()
    Delivery.objects.update(status="pending", issue_number=None, repository_id=None)
    taken = Delivery.objects.take(Delivery.objects.get().report_id)

    def record_and_close() -> None:
        record(taken)
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            tell(PRIVATE)
            recording = pool.submit(record_and_close)
            waits = wait_until(is_somebody_waiting_for_a_lock, 10)
        recording.result()

    assert waits
    assert (shown(), taken.repository_private) == (0, True)
