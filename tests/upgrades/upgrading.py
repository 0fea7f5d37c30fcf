"""The version from which upgrades are tested, and what later migrations may do."""

from collections.abc import Iterator

from django.db import connection, models
from django.db.migrations import Migration, operations
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from core.migrating import AddIndexWhileServing, RemoveIndexesWhileServing
from tests.upgrades.kept import Table, all_kept

BASELINE = all_kept()[-1].baseline  # the state of the latest release
CONTRACTS: dict[str, str] = {
    # "reports.0020_without_locale": "0.4: no code reads or writes it since 0.3",
}
CHANGED: dict[str, str] = {
    # "reports_report.locale": "0.3: it is the language alone",
}
LARGE = {
    ("integrations", "attempt"),
    ("integrations", "delivery"),
    ("reports", "account"),
    ("reports", "report"),
}
HARMLESS = (
    operations.AddIndex,
    operations.AlterModelManagers,
    operations.AlterModelOptions,
    operations.CreateModel,
    operations.RemoveConstraint,
    operations.RemoveIndex,
    operations.RenameIndex,
    operations.RunPython,
)


def later_migrations() -> Iterator[tuple[Migration, ProjectState]]:
    """Our migrations since the baseline in their order, each with the state before it."""
    loader = MigrationLoader(None)
    known = set().union(*(loader.graph.forwards_plan(each) for each in BASELINE.items()))
    for leaf in sorted(BASELINE):
        for target in loader.graph.leaf_nodes(leaf):
            for key in loader.graph.forwards_plan(target):
                if key[0] in BASELINE and key not in known:
                    known.add(key)
                    parents = loader.graph.node_map[key].parents
                    state = loader.project_state([each.key for each in parents], at_end=True)
                    yield loader.graph.nodes[key], state


def mistakes(migration: Migration, state: ProjectState) -> Iterator[str]:
    """What in a migration would break the version before it, or stop the Hub for long."""
    if f"{migration.app_label}.{migration.name}" in CONTRACTS:
        return
    made, locked = set(), False
    for operation in migration.operations:
        if locked and isinstance(operation, operations.RunPython):
            yield f"{migration}: {operation.describe()}: a table is locked meanwhile: run it before"
        if isinstance(operation, operations.CreateModel):
            made.add(operation.name_lower)
        if _table(operation) not in made and (mistake := _mistake(migration, operation, state)):
            yield f"{migration}: {operation.describe()}: {mistake}"
        adds = isinstance(operation, operations.AddField) and _table(operation) not in made
        locked = locked or (migration.atomic and adds)
        state = state.clone()
        operation.state_forwards(migration.app_label, state)


def _table(operation: Operation) -> str:
    return getattr(operation, "model_name_lower", "")


def _mistake(migration: Migration, operation: Operation, state: ProjectState) -> str:
    if isinstance(operation, operations.AddField):
        return (
            ""
            if _may_be_left_out(operation.field)
            else "the version before leaves it out: db_default or null"
        )
    if isinstance(operation, operations.AlterField):
        before = state.models[migration.app_label, _table(operation)].fields[operation.name]
        return _alteration(before, operation.field)
    if isinstance(operation, AddIndexWhileServing | RemoveIndexesWhileServing):
        if migration.atomic:
            return "its migration needs atomic = False"
        fields = getattr(operation, "state_operations", ())
        return next(filter(None, (_mistake(migration, each, state) for each in fields)), "")
    if (
        isinstance(operation, operations.AddIndex)
        and (migration.app_label, _table(operation)) in LARGE
    ):
        return "it locks a large table: use AddIndexWhileServing"
    if isinstance(operation, HARMLESS):
        return ""
    return "the version before may use it: do it one version later, and list it in CONTRACTS"


def _may_be_left_out(field: models.Field) -> bool:
    return field.null or field.has_db_default() or field.many_to_many


def _alteration(before: models.Field, after: models.Field) -> str:
    if before.null and not _may_be_left_out(after):
        return "the version before writes null: do it one version later, and list it in CONTRACTS"
    if after.unique and not before.unique:
        return "the version before may write it twice: list it in CONTRACTS"
    if _type(before) != _type(after) and not _is_wider(before, after):
        return "the version before knows another type: add a column instead"
    if before.has_db_default() and not _may_be_left_out(after):
        return "an earlier version leaves it out: list it in CONTRACTS"
    return ""


def _type(field: models.Field) -> object:
    if field.is_relation:  # of models that are known by their names only
        _, path, _, options = field.deconstruct()
        return path, str(options["to"]).lower()
    return field.db_parameters(connection)


def _is_wider(before: models.Field, after: models.Field) -> bool:
    return type(before) is type(after) and (before.max_length or 0) < (after.max_length or 0)


def losses(before: dict[str, Table], after: dict[str, Table]) -> list[str]:
    """What was in these tables and is not there any more, or is different, though no version says so."""
    found = []
    for table, columns in before.items():
        for name, values in columns.items():
            if f"{table}.{name}" in CHANGED:
                continue
            if name not in after.get(table, {}):
                found.append(f"{table}.{name} is gone")
            elif after[table][name] != values:
                found.append(f"{table}.{name} has changed")
    return found
