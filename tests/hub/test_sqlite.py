"""SQLite has one writer: threads that wait for it do not wait for one another besides. And it is a file."""

import gc
import os
import shutil
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
import requests
from django.db import OperationalError, connection, transaction

from hub import backup
from hub.maintenance import LEASE
from hub.models import Lease
from hub.sqlite3 import base
from tests import build
from tests.hub_process import HubProcess

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


@pytest.fixture
def only_for_reading(transactional_db, monkeypatch) -> Iterator[pytest.MonkeyPatch]:
    """The file may not be written, so SQLite opens it for reading; `undo` ends that."""
    opened = base.DatabaseWrapper.get_connection_params
    path = connection.settings_dict["NAME"]

    def read_only(self) -> dict[str, object]:
        return opened(self) | {"database": f"file:{path}?mode=ro"}

    connection.close()
    monkeypatch.setattr(base.DatabaseWrapper, "get_connection_params", read_only)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    yield monkeypatch
    monkeypatch.undo()
    connection.close()


def test_a_file_that_could_only_be_read_for_a_while_is_written_again(only_for_reading):
    with pytest.raises(OperationalError, match="readonly"):
        Lease.objects.take("one", holder="one", duration=LEASE)
    only_for_reading.undo()
    connection.close_if_unusable_or_obsolete()  # as between two requests

    assert Lease.objects.take("one", holder="one", duration=LEASE)


@pytest.mark.usefixtures("only_for_reading")
def test_a_hub_whose_database_can_only_be_read_is_not_ready(client):
    answer = client.get("/readyz")

    assert (answer.status_code, answer.content) == (503, b"The database takes no changes.\n")


def send(hub: HubProcess, number: int) -> int:
    report = build.report(report__summary=f"Step {number} is wrong")
    return requests.post(f"{hub.url}/v1/reports", json=report, timeout=30).status_code


def number_in(file: Path) -> int:
    own = sqlite3.connect(file)
    [number] = own.execute("SELECT count(*) FROM reports_report").fetchone()
    own.close()
    return number


@pytest.mark.slow
def test_nothing_is_accepted_into_a_file_that_was_moved_away_or_replaced(tmp_path, code_host):
    """Such as by a backup that is put back while the Hub runs: it would go on in the file from before."""
    file, aside, copy = (tmp_path / name for name in ("hub.sqlite3", "aside", "copy"))
    backup.copy(Path(connection.settings_dict["NAME"]), file)
    own = sqlite3.connect(file)
    own.execute("PRAGMA user_version = 0")  # it is no backup
    own.close()
    with HubProcess(DATABASE_URL=f"sqlite:///{file}") as hub:
        before = send(hub, 0)
        backup.copy(file, copy)
        file.rename(aside)
        away = send(hub, 1)
        is_made_anew = file.exists()
        shutil.copy(copy, file)
        replaced = send(hub, 2)
        ready = requests.get(f"{hub.url}/readyz", timeout=30).status_code
        aside.rename(file)
        after = send(hub, 3)

    assert (before, away, replaced, ready, after) == (201, 503, 503, 503, 201)
    assert not is_made_anew
    assert number_in(file) == 2
