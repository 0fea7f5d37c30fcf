"""Hits that are gathered, and told to other processes."""

import os
import threading
from collections.abc import Iterator

import pytest

from core import telling
from core.telling import Hits, Telling
from core.windows import Window
from tests.waiting import wait_until

ONE, TWO = Window("one", 1, 60), Window("two", 2, 60)


def threads() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "telling"]


@pytest.fixture
def told() -> list[Hits]:
    return []


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    """No thread of these tests goes on."""
    yield
    assert not threads()


def test_hits_are_gathered_and_told_together(told, monkeypatch):
    hits = Telling(told.append, lambda: None)
    monkeypatch.setattr(hits, "_process", os.getpid())  # no thread
    hits.note([ONE, TWO])
    hits.note([TWO])

    hits.tell()
    hits.tell()

    assert told == [{ONE: 1, TWO: 2}]


def test_no_more_than_a_part_of_an_amount_is_not_told(told, monkeypatch):
    hits = Telling(told.append, lambda: None)
    monkeypatch.setattr(hits, "_process", os.getpid())  # no thread
    four, eight = Window("four", 4, 60), Window("eight", 8, 60)

    noted = [hits.note(windows, 1 / 4) for windows in ([eight], [eight, four], [eight], [four])]
    hits.tell()

    assert noted == [True, True, False, False]
    assert told == [{eight: 2, four: 1}]
    assert hits.note([eight, four], 1 / 4)


def test_of_what_is_being_told_nobody_has_heard_yet(monkeypatch):
    noted: list[bool] = []
    hits = Telling(lambda _: noted.append(hits.note([TWO], 1 / 2)), lambda: None)
    monkeypatch.setattr(hits, "_process", os.getpid())  # no thread
    hits.note([TWO], 1 / 2)

    hits.tell()

    assert noted == [False]
    assert hits.note([TWO], 1 / 2)


def test_one_thread_tells_them_until_it_is_ended(told):
    hits = Telling(told.append, lambda: told.append({}))
    for number in (1, 2):
        hits.note([ONE])
        assert wait_until(lambda number=number: len(told) == number)
    assert len(threads()) == 1

    hits.end()

    assert told == [{ONE: 1}, {ONE: 1}, {}]


def test_a_thread_that_is_ended_while_somebody_tells_ends():
    def ended_meanwhile(_: Hits) -> None:
        hits._over.set()
        hits._any.set()
        hits.tell()

    hits = Telling(ended_meanwhile, lambda: None)

    hits.note([ONE])

    assert wait_until(lambda: not threads())


def test_where_no_thread_can_be_started_hits_wait_for_one(told, monkeypatch, caplog):
    def refused(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    hits = Telling(told.append, lambda: None)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        hits.note([ONE])
    hits.note([ONE])

    assert wait_until(lambda: told)
    hits.end()
    assert told == [{ONE: 2}]
    assert len(caplog.records) == 1


def test_a_flood_of_windows_is_not_gathered_without_end(told, monkeypatch):
    monkeypatch.setattr(telling, "MOST", 3)
    hits = Telling(told.append, lambda: None)
    monkeypatch.setattr(hits, "_process", os.getpid())  # no thread

    hits.note([Window(str(number), 1, 60) for number in range(10)])
    hits.note([Window("0", 1, 60), Window("9", 1, 60)])
    hits.tell()

    assert told == [{Window("0", 1, 60): 2, Window("1", 1, 60): 1, Window("2", 1, 60): 1}]


def test_a_process_that_was_forked_tells_its_own(told):
    hits = Telling(told.append, lambda: None)
    hits.note([ONE])
    reader, writer = os.pipe()

    child = os.fork()
    if not child:
        try:
            hits._tell = lambda hits: os.write(writer, b"told")
            hits.note([ONE])
            wait_until(lambda: not hits._hits, 10)
            hits.end()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    hits.end()

    with os.fdopen(reader, "rb") as said:
        assert said.read() == b"told"
