"""GitHub is slow about the repositories of some, and others have deliveries that wait."""

from datetime import timedelta

import pytest
from django.utils import timezone

from integrations.delivery import retries, turns
from integrations.models import Delivery, Integration
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

SLOW = ("a-slow", "b-slow", "c-slow")
LONG_AGO = timezone.now() - timedelta(days=1)


@pytest.fixture
def tried(monkeypatch) -> list[str]:
    """Whose deliveries were tried, one after the other. GitHub takes four seconds for each of the slow ones."""
    order: list[str] = []
    now = [0.0]

    def forward(report_id: str) -> None:
        delivery = Delivery.objects.get(report=report_id)
        order.append(delivery.integration.organization.name)
        now[0] += 4 if order[-1] in SLOW else 0.1
        Delivery.objects.filter(pk=delivery.pk).update(status="failed")

    monkeypatch.setattr(retries, "THREADS", 1)
    monkeypatch.setattr(retries, "forward", forward)
    monkeypatch.setattr(retries, "monotonic", lambda: now[0])
    return order


def waiting(code_host, name: str, *, times: int) -> int:
    """Deliveries of an organization that are due, older than all that follow; the id of its installation."""
    code_host.add_organization(name)
    manual = code_host.add_repository(name, "manual")
    code_host.add_installation(name, repositories=[manual])
    owner = build.organization(name)
    mine = build.integration(owner, code_host, f"{name}/manual")
    reports = Report.objects.bulk_create(
        Report(
            organization=owner, doc_url="x", canonical_url=f"{name}/{number}", kind="other",
            summary="x", agent_name="x", received_at=LONG_AGO, last_received_at=LONG_AGO,
        )
        for number in range(times)
    )  # fmt: skip
    Delivery.objects.bulk_create(
        Delivery(report=each, integration=mine, source=str(n)) for n, each in enumerate(reports)
    )
    return mine.installation_id


def a_round(slow: set[int]) -> None:
    retries.retry(turns.due_ids(slow), slow=slow)


def test_what_is_sent_quickly_goes_before_the_second_of_what_is_not(code_host, tried):
    waiting(code_host, "a-slow", times=5)
    waiting(code_host, "zeta", times=5)

    retries.retry(turns.due_ids())

    assert tried == ["a-slow", *["zeta"] * 5, *["a-slow"] * 4]


def test_of_a_slow_one_maintain_begins_one_in_a_round(code_host, tried):
    waiting(code_host, "a-slow", times=5)
    slow: set[int] = set()

    a_round(slow)

    assert tried == ["a-slow"]


def test_who_was_slow_comes_last_in_the_next_round(code_host, tried):
    numbers = {waiting(code_host, name, times=5) for name in SLOW}
    slow: set[int] = set()
    a_round(slow)
    tried.clear()

    waiting(code_host, "zeta", times=12)
    a_round(slow)

    assert slow <= numbers
    assert tried[:10] == ["zeta"] * 10


def test_there_are_no_more_slow_ones_in_a_round_than_there_are_threads(code_host, tried):
    slow = {waiting(code_host, name, times=5) for name in SLOW}

    a_round(slow)

    assert len(tried) == 1


def test_none_is_left_out_for_being_slow_and_who_is_quick_again_is_no_longer(code_host, tried):
    slow = {waiting(code_host, name, times=1) for name in (*SLOW, "zeta")}

    for _ in range(4):
        a_round(slow)

    assert sorted(tried) == [*SLOW, "zeta"]
    assert slow == {
        *Integration.objects.exclude(organization__name="zeta").values_list(
            "installation", flat=True
        )
    }


def test_slow_ones_have_a_place_in_a_batch_that_others_fill(code_host, monkeypatch):
    monkeypatch.setattr(turns, "BATCH", 10)
    monkeypatch.setattr(turns, "OF_SLOW", 2)
    slow = {waiting(code_host, "a-slow", times=5)}
    waiting(code_host, "y", times=6)
    waiting(code_host, "zeta", times=6)

    ids = turns.due_ids(slow)

    theirs = Delivery.objects.filter(integration__installation__in=slow)
    assert [each for each in ids if theirs.filter(report=each).exists()] == ids[8:]
    assert len(ids) == 10
