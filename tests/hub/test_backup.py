"""`manage.py backup`: one whole copy of an SQLite database, while others write."""

import sqlite3
import stat
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from core import backups
from hub import backup
from hub.management.commands import serve
from hub.setup import database
from orgs.models import Organization
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)


def back_up(file: Path, *arguments: str) -> str:
    out = StringIO()
    call_command("backup", str(file), *arguments, stdout=out)
    return out.getvalue()


def names(file: Path) -> list[str]:
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as copy:
        return [row[0] for row in copy.execute("SELECT name FROM orgs_organization ORDER BY name")]


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "backups").mkdir()
    return tmp_path / "backups"


@pytest.mark.sqlite
def test_a_copy_is_whole_private_and_alone(folder):
    build.organization("acme")

    said = back_up(folder / "hub.sqlite3")

    [file] = folder.iterdir()
    assert names(file) == ["acme"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert said.startswith("Saved ")
    assert said.splitlines()[0].endswith("The copy is whole.")
    at = said.split()[-1]
    assert said.splitlines()[1] == f"After restoring it: manage.py after_restore --taken-at {at}"


@pytest.mark.sqlite
def test_others_write_meanwhile_without_waiting(folder, monkeypatch):
    """The copy is of the moment at which it began; it neither stops writers nor starts anew for them."""
    monkeypatch.setattr(backup, "PAGES", 8)
    build.organization("before")
    steps: list[int] = []

    def write(left: int, total: int) -> None:
        assert stat.S_IMODE(next(folder.iterdir()).stat().st_mode) == 0o600
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout = 0")
        Organization.objects.create(name=f"meanwhile {len(steps)}")
        steps.append(left)

    backup.copy(Path(connection.settings_dict["NAME"]), folder / "copy", on_progress=write)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 5000")

    assert names(folder / "copy") == ["before"]
    assert Organization.objects.count() == 1 + len(steps)
    assert len(steps) > 5
    assert steps == sorted(steps, reverse=True)
    assert steps[-1] == 0


@pytest.mark.sqlite
def test_a_file_that_exists_is_replaced_only_by_force_and_only_by_a_whole_one(folder, monkeypatch):
    file = folder / "hub.sqlite3"
    back_up(file)
    build.organization("later")

    with pytest.raises(
        CommandError, match=r"exists\. Name another file, or replace it with --force"
    ):
        back_up(file)
    with monkeypatch.context() as patch:
        patch.setattr(backup, "_save", lambda path: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(CommandError, match=r"Nothing was saved in .*: disk full"):
            back_up(file, "--force")
    before = names(file)
    back_up(file, "--force")

    assert (before, names(file)) == ([], ["later"])
    assert list(folder.iterdir()) == [file]


@pytest.mark.sqlite
def test_a_damaged_database_is_told_and_not_kept(folder, tmp_path, monkeypatch):
    damaged = tmp_path / "damaged.sqlite3"
    with closing(sqlite3.connect(damaged)) as database:
        database.execute("CREATE TABLE words (word TEXT)")
        database.execute("CREATE INDEX by_word ON words (word)")
        database.execute("INSERT INTO words VALUES ('gone')")
        database.commit()
    content = damaged.read_bytes()
    damaged.write_bytes(content.replace(b"gone", b"here", 1))  # in the table, not in its index
    monkeypatch.setitem(connection.settings_dict, "NAME", str(damaged))

    with pytest.raises(
        CommandError,
        match=r"damaged, so nothing was saved\. SQLite says: row 1 missing from index by_word",
    ):
        back_up(folder / "hub.sqlite3")

    assert not list(folder.iterdir())


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("missing/hub.sqlite3", "There is no folder"),
        (".", "is a folder. Name a file in it."),
    ],
)
def test_a_place_that_cannot_be_is_refused(folder, name, sentence):
    with pytest.raises(CommandError, match=sentence):
        back_up(folder / name)


@pytest.mark.sqlite
@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal"])
def test_the_database_itself_is_never_replaced(ending):
    itself = Path(f"{connection.settings_dict['NAME']}{ending}")

    with pytest.raises(CommandError, match="belongs to the database itself"):
        back_up(itself, "--force")


@pytest.mark.postgresql
def test_on_postgresql_it_says_what_to_use(folder):
    with pytest.raises(CommandError, match="This Hub is on PostgreSQL: use pg_dump"):
        back_up(folder / "hub.sqlite3")


@pytest.fixture
def put_back(folder) -> None:
    """The database is a copy that was put in its place."""
    back_up(folder / "hub.sqlite3")
    with connection.cursor() as cursor:
        cursor.execute(backups.note(backups.BEGINNING + backups.MINUTE))
    yield
    backups.clear_note()


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "send",
    [
        serve._refuse_a_backup,
        *(lambda each=each: call_command(each) for each in ("maintain", "retry_deliveries")),
    ],
    ids=["serve", "maintain", "retry_deliveries"],
)
def test_nothing_is_sent_from_a_copy_before_after_restore(put_back, send):
    with pytest.raises(CommandError) as refused:
        send()

    assert str(refused.value) == (
        "The database is a backup of 1970-01-01T00:01:00Z, and what waits in it may have been sent since. "
        "Run `manage.py after_restore` before the Hub sends anything."
    )


@pytest.mark.sqlite
def test_a_copy_knows_when_it_was_taken(put_back, code_host):
    found = [each.text for each in database.database()]

    call_command("after_restore", stdout=StringIO())
    now = [each.text for each in database.database()]

    assert any(each.startswith("The database is a backup of 1970") for each in found)
    assert not any(each.startswith("The database is a backup") for each in now)
    backups.refuse_to_send()


@pytest.mark.sqlite
def test_the_database_that_is_backed_up_goes_on_as_it_is(folder):
    back_up(folder / "hub.sqlite3")

    assert backups.noted() is None
    with closing(sqlite3.connect(folder / "hub.sqlite3")) as copy:
        assert copy.execute("PRAGMA user_version").fetchone()[0] > 0
