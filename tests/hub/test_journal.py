"""An attack: who always reads, in many connections, so that SQLite's journal never ends and fills the disk."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from django.db import OperationalError, connection, transaction

from hub.sqlite3 import journal
from tests import build

pytestmark = [pytest.mark.sqlite, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def short(monkeypatch) -> None:
    """What is written here is more than is kept."""
    monkeypatch.setattr(journal, "MOST", 64 * 1024)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def size() -> int:
    return Path(f"{connection.settings_dict['NAME']}-wal").stat().st_size


def write() -> None:
    for number in range(6):
        build.organization(f"{number}" * 100 * 1024)


def reader() -> sqlite3.Connection:
    """Another connection, which reads until it is told to `COMMIT`."""
    return read(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None))


def read(other: sqlite3.Connection) -> sqlite3.Connection:
    other.execute("BEGIN")
    other.execute("SELECT COUNT(*) FROM orgs_organization").fetchone()
    return other


def read_in_turns(begun: Event, stop: Event) -> None:
    """So that at each moment somebody reads."""
    this, other = reader(), reader()
    begun.set()
    while not stop.is_set():
        this.execute("COMMIT")
        this, other = other, read(this)
    this.close()
    other.close()


@pytest.fixture
def somebody_always_reads() -> Iterator[None]:
    begun, stop = Event(), Event()
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read_in_turns, begun, stop)
        begun.wait()
        yield
        stop.set()
        reading.result()


def test_the_journal_is_emptied_although_somebody_always_reads(somebody_always_reads, monkeypatch):
    monkeypatch.setattr(journal, "PATIENCE", 60_000)  # however slow the machine is
    write()
    assert size() > journal.MOST

    assert journal.shorten()

    assert size() == 0


def test_who_reads_for_long_keeps_others_from_writing_for_a_moment_only(monkeypatch):
    monkeypatch.setattr(journal, "PATIENCE", 1)
    reading = reader()
    write()

    assert not journal.shorten()

    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA busy_timeout").fetchone() == (5000,)
    assert build.organization("initech").pk
    reading.close()
    assert journal.shorten()
    assert size() == 0


def test_an_error_is_told_and_others_wait_as_long_as_before():
    write()

    with pytest.raises(OperationalError, match="database table is locked"), transaction.atomic():
        journal.shorten()

    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA busy_timeout").fetchone() == (5000,)


def test_a_short_journal_is_left_alone(monkeypatch):
    write()
    monkeypatch.setattr(journal, "MOST", size())

    assert not journal.shorten()

    assert size() == journal.MOST
