"""PostgreSQL: of two acts on one report, one is done while the other stands still, wherever that may be.

The end is as if one had followed the other.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from core.errors import ApiError
from hub.postgresql.base import DatabaseWrapper
from integrations.delivery import discarding, trying_again
from integrations.models import Delivery
from orgs.models import Membership
from reports import erasing
from reports.models import Report
from tests import build
from tests.hostile.tenants import Rows
from tests.waiting import is_somebody_waiting_for_a_lock

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgresql]

Act = Callable[[], object]


def delivery() -> Delivery:
    return Delivery.objects.select_related("report", "integration", "lead").get()


ACTS: dict[str, Act] = {
    "try it again": lambda: trying_again.try_again(delivery(), by=Membership.objects.get()),
    "try it again in its turn": lambda: trying_again.try_in_turn(delivery()),
    "discard": lambda: discarding.discard(delivery()),
    "erase": lambda: erasing.erase(Report.objects.get()),
}


class Halt:
    """Stops a thread before the statement with this number; commits count, too."""

    def __init__(self, number: int):
        self.left = number
        self.is_there, self.go_on = threading.Event(), threading.Event()

    def pass_by(self) -> None:
        if self.left == 0:  # it has halted
            return
        self.left -= 1
        if self.left == 0:
            self.is_there.set()
            self.go_on.wait(120)

    def before(self, execute: Callable, *statement: Any) -> Any:
        self.pass_by()
        return execute(*statement)


def commit(database: DatabaseWrapper, plain=DatabaseWrapper._commit) -> None:
    for wrapper in database.execute_wrappers:
        wrapper.__self__.pass_by()
    plain(database)


@pytest.fixture
def refused(code_host, monkeypatch) -> Rows:
    """A report that GitHub has refused, and that would be sent now."""
    monkeypatch.setattr(DatabaseWrapper, "_commit", commit)
    build.member(build.acme(code_host))
    code_host.fail("422")
    build.send(Client())
    assert delivery().status == "failed"
    return Rows()


def run(act: Act, halt: Halt | None = None) -> threading.Thread:
    """Begin it in a session of its own. What cannot be done is refused."""

    def work() -> None:
        try:
            with connection.execute_wrapper((halt or Halt(0)).before), suppress(ApiError):
                act()
        finally:
            connection.close()
            if halt:
                halt.is_there.set()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def in_turn(first: Act, second: Act) -> None:
    """Do both, each to its end."""
    for each in (first, second):
        run(each).join()


def in_the_middle(first: Act, second: Act, halt: Halt) -> None:
    """Do the second where the first halts; or up to where it waits for the first, which then goes on."""
    one = run(first, halt)
    halt.is_there.wait(120)
    other = run(second)
    while other.is_alive() and not is_somebody_waiting_for_a_lock():
        other.join(0.01)
    halt.go_on.set()
    one.join()
    other.join()


@pytest.fixture
def end(refused, code_host) -> Callable[[Act], tuple[object, ...]]:
    """A function that does something; what has become of the report then, and how many new issues."""

    def done(acts: Act) -> tuple[object, ...]:
        refused.restore()
        earlier = len(code_host.issues("acme/docs"))
        acts()
        now, issues = delivery(), code_host.issues("acme/docs")
        return now.status, now.held_for, now.report.summary, len(issues) - earlier

    return done


@pytest.mark.parametrize("first", ACTS)
@pytest.mark.parametrize("second", ACTS)
def test_the_end_is_that_of_one_after_the_other(end, first, second):
    one, other = ACTS[first], ACTS[second]
    known = [end(partial(in_turn, one, other)), end(partial(in_turn, other, one))]
    halt = Halt(number := 1)
    while (found := end(partial(in_the_middle, one, other, halt))) and not halt.left:
        assert found in known, f"before statement {number}"
        halt = Halt(number := number + 1)
    assert number > 1
