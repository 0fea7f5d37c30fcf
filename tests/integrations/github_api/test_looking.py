"""A look for an issue misses none: what it remembers, what is listed late, and what moves meanwhile."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from core import deadlines
from integrations.github_api import looking
from integrations.github_api.answers import GitHubAnswer
from integrations.github_api.errors import Unfinished
from integrations.models import Repository
from tests.integrations.github_api.conftest import soon

HERE = Repository(1, 1, "acme/docs")
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)
AT_ONCE = -1.0  # a deadline that is over after each page


class Listed:
    """GitHub's list of a repository's issues, and its clock; `then` is called after each page with its number."""

    def __init__(self) -> None:
        self.updated: dict[int, datetime] = {}
        self.bodies: dict[int, str] = {}
        self.now = NOON + timedelta(hours=1)
        self.asked = 0
        self.then: Callable[[int], object] = lambda asked: None

    def add(self, number: int, at: datetime, body: str = "Other") -> None:
        self.updated[number], self.bodies[number] = at, body

    def get(self, repository: Repository, since: datetime, *, page: int) -> GitHubAnswer:
        since, size = since.replace(microsecond=0), looking.PAGE_SIZE
        end = size * page
        order = sorted(self.updated, key=lambda number: (self.updated[number], number))
        found = [number for number in order if self.updated[number] >= since]
        items = [self._item(number) for number in found[end - size : end]]
        headers = {"date": format_datetime(self.now, usegmt=True)}
        self.asked += 1
        self.then(self.asked)
        return GitHubAnswer(200, headers | ({"link": 'rel="next"'} if found[end:] else {}), items)

    def _item(self, number: int) -> dict:
        at = self.updated[number].strftime("%Y-%m-%dT%H:%M:%SZ")
        user = {"login": "hub[bot]", "type": "Bot"}
        there = {"number": number, "html_url": f"https://github.com/acme/docs/issues/{number}"}
        return {**there, "body": self.bodies[number], "updated_at": at, "user": user}


@pytest.fixture
def listed(monkeypatch, settings) -> Listed:
    settings.HUB_GITHUB_APP_ID, settings.HUB_GITHUB_APP_SLUG = "", "hub"
    looking.forget_read()
    new = Listed()
    monkeypatch.setattr(looking, "listed", new.get)
    monkeypatch.setattr(looking, "PAGE_SIZE", 2)
    monkeypatch.setattr(deadlines, "_result", lambda future, _: future.result())
    yield new
    looking.forget_read()


def mark(name: object) -> str:
    return f"<!-- hub:{name} -->"


def find(name: object, since: datetime = NOON, *, until: float | None = None, remembers=True):
    found = looking.find_issue(
        HERE, mark(name), since=since, now=NOON, deadline=until or soon(), remembers=remembers
    )
    return found and found.number


def test_what_lies_between_two_looks_is_read(listed):
    """Another process may have gone further with the first delivery than this one, which remembers."""
    for number in range(1, 11):
        listed.add(number, NOON + number * MINUTE, mark(number))

    with pytest.raises(Unfinished):
        find("lost", until=AT_ONCE)
    further = find("lost", NOON + 7 * MINUTE)

    assert further is None
    assert find(4) == 4


def test_a_look_goes_on_where_the_one_before_ended(listed):
    for number in range(1, 11):
        listed.add(number, NOON + number * MINUTE, mark(number))
    find("lost")
    listed.asked = 0

    assert (find(3), find(8, NOON + MINUTE), listed.asked) == (3, 8, 0)
    assert (find("lost"), listed.asked) == (None, 1)


def test_what_is_listed_late_is_read(listed):
    listed.now = NOON + 11 * MINUTE
    listed.add(1, NOON + 10 * MINUTE)
    before = find("late")
    listed.now += 3 * MINUTE
    listed.add(2, NOON + 9 * MINUTE + 30 * SECOND, mark("late"))

    assert (before, find("late")) == (None, 2)


def test_a_look_that_is_not_finished_goes_on_before_what_is_listed_late(listed):
    listed.now = NOON + 11 * MINUTE
    for number, minutes in enumerate((7, 8, 9.5, 10, 10.5), 1):
        listed.add(number, NOON + minutes * MINUTE)

    with pytest.raises(Unfinished) as first:
        find("late", until=AT_ONCE, remembers=False)
    with pytest.raises(Unfinished) as second:
        find("late", first.value.until, until=AT_ONCE, remembers=False)

    assert first.value.until == NOON + 8 * MINUTE - SECOND
    assert second.value.until == NOON + 9 * MINUTE


@pytest.mark.parametrize("at", [1, 2, 3, 4, 5])
def test_what_moves_between_pages_of_one_second_hides_nothing(listed, at):
    """One of the first page is updated after a page was read, so that the others move forward."""
    for number in range(1, 8):
        listed.add(number, NOON + SECOND, mark(number))
    listed.then = lambda asked: asked == at and listed.add(1, NOON + MINUTE, mark(1))

    find("lost")

    assert [find(number) for number in range(1, 8)] == [*range(1, 8)]


def test_pages_of_one_second_are_read_twice_and_then_what_follows(listed):
    for number in range(1, 6):
        listed.add(number, NOON + SECOND)
    listed.add(6, NOON + MINUTE)
    listed.add(7, NOON + 2 * MINUTE, mark("last"))

    assert (find("last"), listed.asked) == (7, 6)


def test_an_issue_is_remembered_by_its_last_mark_alone(listed):
    """Who may edit an issue of the Hub may write thousands of them."""
    listed.add(1, NOON, "".join(mark(number) for number in range(3000)))

    find("lost")

    assert [*looking._read[HERE.id].issues] == [mark(2999)]
    assert find(7, remembers=False) == 1


@pytest.mark.parametrize("remembers", [True, False])
def test_a_look_holds_no_more_than_is_remembered(listed, monkeypatch, remembers):
    monkeypatch.setattr(looking, "MOST_ISSUES", 3)
    held = []
    go_on = looking._Look._go_on_after
    monkeypatch.setattr(
        looking._Look,
        "_go_on_after",
        lambda look, answer: (go_on(look, answer), held.append(len(look.issues)))[0],
    )
    for number in range(1, 10):
        listed.add(number, NOON + number * MINUTE, mark(number))

    find("lost", remembers=remembers)

    assert max(held) <= (3 if remembers else 0)
    assert not looking._read


def test_what_is_found_at_the_deadline_is_found(listed, monkeypatch):
    """The caller stops to wait just when the page with the issue was noted."""

    def leave(future, _):
        future.result()
        raise deadlines.TooLate

    monkeypatch.setattr(deadlines, "_result", leave)
    listed.add(1, NOON + MINUTE, mark("there"))
    listed.add(2, NOON + 2 * MINUTE)

    assert find("there", remembers=False) == 1
