"""SQLite has one writer: threads that wait for it do not wait for one another besides."""

import gc
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.db import OperationalError, connection, transaction

pytestmark = [pytest.mark.sqlite, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def by_hand():
    """Garbage is collected when the test says."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def write(is_waiting: Event, *, patience: int) -> bool:
    """Whether it had its turn to write; an error stays in a cycle, as one that has a traceback of itself does."""
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA busy_timeout = {patience}")
    is_waiting.set()
    try:
        with transaction.atomic():
            return True
    except OperationalError as error:
        error.itself = error
        return False


def test_who_has_the_lock_does_not_wait_for_those_who_wait_for_it(by_hand):
    """The attack: many reports at once while the file is locked for longer than they wait.

    What is left of them is collected by the thread whose turn comes, while they wait again.
    """
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            was_early = pool.submit(write, Event(), patience=10).result()
            is_waiting = Event()
            waits = pool.submit(write, is_waiting, patience=5000)
            is_waiting.wait()
            gc.collect()
        had_its_turn = waits.result()
        pool.submit(lambda: connection.close()).result()

    assert not was_early
    assert had_its_turn


def test_a_cursor_ends_with_an_error():
    with connection.cursor() as cursor:
        with pytest.raises(OperationalError, match="no such table"):
            cursor.execute("SELECT 1 FROM nowhere")
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            cursor.cursor.fetchone()
