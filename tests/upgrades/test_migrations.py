"""What migrations since the latest release may do: the version before runs beside them."""

from collections.abc import Iterator

import psycopg
import pytest
from django.db import OperationalError, connection, migrations, models
from django.db.backends.utils import CursorWrapper
from django.db.migrations.state import ModelState, ProjectState
from django.db.models.functions import Now

from core.migrating import AddIndexWhileServing, RemoveIndexesWhileServing
from tests.hub_process import database_url
from tests.upgrades import upgrading

ADD, ALTER = migrations.AddField, migrations.AlterField
INDEX = models.Index(fields=["text"], name="by_text")


def all_mistakes() -> list[str]:
    return [
        mistake
        for migration, state in upgrading.later_migrations()
        for mistake in upgrading.mistakes(migration, state)
    ]


def test_each_migration_leaves_the_version_before_it_running():
    """Which operations break it, and what to do instead: CONTRIBUTING.md, "A migration"."""
    assert not all_mistakes()


def test_migrations_of_before_the_rule_are_seen(monkeypatch):
    monkeypatch.setitem(upgrading.BASELINE, "integrations", "0002_attempt_oldest")

    seen = all_mistakes()

    assert [each for each in seen if "0003_rights: Add field rights_absences" in each]
    assert [each for each in seen if "0010_what_waits" in each or "0005_fair" in each]


def found(*operations, atomic: bool = True) -> list[str]:
    migration = migrations.Migration("0002_next", "reports")
    migration.operations, migration.atomic = list(operations), atomic
    state = ProjectState()
    fields = [
        ("id", models.BigAutoField(primary_key=True)),
        ("text", models.CharField(max_length=9)),
        ("note", models.TextField(null=True)),
        ("at", models.DateTimeField(db_default=Now())),
    ]
    state.add_model(ModelState("reports", "Report", fields))
    return list(upgrading.mistakes(migration, state))


ACCEPTED = [
    [ADD("report", "new", models.TextField(null=True))],
    [ADD("report", "new", models.TextField(db_default=""))],
    [ALTER("report", "text", models.CharField(max_length=9, help_text="Words."))],
    [ALTER("report", "text", models.CharField(max_length=10))],
    [ALTER("report", "note", models.TextField(db_default=""))],
    [
        migrations.CreateModel(
            "New", [("id", models.BigAutoField(primary_key=True)), ("text", models.TextField())]
        ),
        ADD("new", "more", models.TextField(default="")),
        migrations.AddIndex("new", INDEX),
    ],
    [migrations.RunPython(migrations.RunPython.noop)],
    [migrations.RemoveIndex("report", "by_text")],
]
REFUSED = [
    (migrations.RemoveField("report", "text"), "one version later"),
    (migrations.RenameField("report", "text", "words"), "one version later"),
    (migrations.DeleteModel("Report"), "one version later"),
    (migrations.RenameModel("Report", "Message"), "one version later"),
    (migrations.AlterModelTable("Report", "message"), "one version later"),
    (migrations.RunSQL("DROP TABLE reports_report"), "one version later"),
    (
        migrations.AddConstraint("report", models.UniqueConstraint(fields=["text"], name="once")),
        "one version later",
    ),
    (ADD("report", "new", models.TextField(default="")), "db_default or null"),
    (ADD("report", "new", models.TextField(blank=True, default="")), "db_default or null"),
    (ALTER("report", "note", models.TextField()), "writes null"),
    (ALTER("report", "text", models.CharField(max_length=9, unique=True)), "write it twice"),
    (ALTER("report", "text", models.CharField(max_length=8)), "another type"),
    (ALTER("report", "text", models.IntegerField()), "another type"),
    (ALTER("report", "at", models.DateTimeField()), "leaves it out"),
    (migrations.AddIndex("report", INDEX), "AddIndexWhileServing"),
    (AddIndexWhileServing("report", INDEX), "atomic = False"),
    (RemoveIndexesWhileServing(["by_text"]), "atomic = False"),
]


@pytest.mark.parametrize("operations", ACCEPTED, ids=lambda each: each[-1].describe())
def test_what_adds_is_accepted(operations):
    assert not found(*operations)


@pytest.mark.parametrize(
    ("operation", "why"), REFUSED, ids=lambda each: getattr(each, "describe", str)()
)
def test_what_breaks_the_version_before_is_refused(operation, why):
    [mistake] = found(operation)

    assert why in mistake


def test_rows_are_filled_before_a_table_is_locked_until_the_end():
    add = ADD("report", "new", models.TextField(null=True))
    fill = migrations.RunPython(migrations.RunPython.noop)

    [mistake] = found(add, fill)

    assert "locked meanwhile" in mistake
    assert not found(fill, add)
    assert not found(add, fill, atomic=False)


def test_an_index_that_is_added_while_serving_is_accepted():
    assert not found(AddIndexWhileServing("report", INDEX), atomic=False)


def test_indexes_that_are_removed_while_serving_are_accepted_with_nothing_else():
    narrower = ALTER("report", "text", models.CharField(max_length=8))

    assert not found(RemoveIndexesWhileServing(["by_text"]), atomic=False)
    [mistake] = found(RemoveIndexesWhileServing(["by_text"], [narrower]), atomic=False)
    assert "another type" in mistake


def test_what_a_version_says_that_it_contracts_is_accepted(monkeypatch):
    monkeypatch.setitem(upgrading.CONTRACTS, "reports.0002_next", "0.4")

    assert not found(migrations.RemoveField("report", "text"))


ADDED = "lease_by_holder_for_a_test"
ADDING = AddIndexWhileServing("lease", models.Index(fields=["holder"], name=ADDED))


@pytest.fixture
def states() -> Iterator[tuple[ProjectState, ProjectState]]:
    """What is known before the index and with it; it is removed at the end."""
    before, after = ProjectState(), ProjectState()
    for state in (before, after):
        fields = [
            ("name", models.CharField(max_length=100, primary_key=True)),
            ("holder", models.CharField(max_length=255)),
        ]
        state.add_model(ModelState("hub", "Lease", fields))
    ADDING.state_forwards("hub", after)
    yield before, after
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX IF EXISTS {ADDED}")


def add(states: tuple[ProjectState, ProjectState]) -> None:
    with connection.schema_editor(atomic=False) as editor:
        ADDING.database_forwards("hub", editor, *states)


@pytest.mark.django_db(transaction=True)
def test_an_index_is_added_and_removed_while_others_write(states):
    add(states)
    added = indexes("hub_lease")
    with connection.schema_editor(atomic=False) as editor:
        ADDING.database_backwards("hub", editor, *reversed(states))

    assert ADDED in added
    assert ADDED not in indexes("hub_lease")


@pytest.mark.django_db(transaction=True)
def test_an_index_is_kept_where_migrate_was_killed_before_it_was_recorded(states):
    add(states)

    add(states)

    assert ADDED in indexes("hub_lease")


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_an_index_that_was_left_invalid_is_made_anew(states):
    """As where somebody reads for longer than a migration waits, such as a backup."""
    with psycopg.connect(database_url()) as reader, connection.cursor() as cursor:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT 1 FROM hub_lease")
        cursor.execute("SET lock_timeout = '10ms'")
        with pytest.raises(OperationalError, match="lock timeout"):
            add(states)
        cursor.execute("RESET lock_timeout")
        left = is_valid()

    add(states)

    assert (left, is_valid()) == (False, True)


def is_valid() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = %s::regclass", [ADDED])
        return cursor.fetchone()[0]


@pytest.mark.django_db(transaction=True)
def test_indexes_are_removed_where_there_are_any_while_others_write():
    state, name = ProjectState(), "lease_by_holder_for_a_test"
    operation = RemoveIndexesWhileServing([name, "of_another_database"])
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE INDEX {name} ON hub_lease (holder)")

    with connection.schema_editor(atomic=False) as editor:
        operation.database_forwards("hub", editor, state, state)

    assert name not in indexes("hub_lease")


@pytest.mark.django_db
@pytest.mark.parametrize("model", sorted(upgrading.LARGE), ids=".".join)
def test_a_large_table_has_no_index_that_another_one_begins_with(model):
    """Each costs every row that is written. PostgreSQL's own for `LIKE 'x%'` are of nobody's questions."""
    found = indexes("_".join(model))

    whole = {name: columns for name, (columns, is_whole) in found.items() if is_whole}
    needless = [
        name
        for name, columns in whole.items()
        if any(
            other != name and [*more, ""][: len(columns)] == columns
            for other, more in whole.items()
        )
    ]
    assert not needless


def indexes(table: str) -> dict[str, tuple[list[str], bool]]:
    """The columns of each index, and whether it has every row."""
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, table)
        partial = _partial(cursor, table)
    return {
        name: (each["columns"], name not in partial)
        for name, each in found.items()
        if each["index"] or each["unique"]
    }


def _partial(cursor: CursorWrapper, table: str) -> set[str]:
    """The names of the indexes that have a condition."""
    if connection.vendor == "postgresql":
        cursor.execute(
            "SELECT indexname FROM pg_indexes WHERE tablename = %s AND indexdef LIKE '%% WHERE %%'",
            [table],
        )
    else:
        cursor.execute(
            "SELECT name FROM sqlite_master WHERE tbl_name = %s AND type = 'index' "
            "AND sql LIKE '%% WHERE %%'",
            [table],
        )
    return {name for (name,) in cursor.fetchall()}
