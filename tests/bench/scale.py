"""`script/bench scale`: a new report and a duplicate, with nothing and with much in the database."""

from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.models import Model
from django.utils import timezone

from orgs.models import Domain, Organization
from reports.models import Report
from tests.bench import databases, figures, lists, rounds, tables
from tests.bench.copying import copy, series
from tests.bench.figures import Goal, Sample, Thing
from tests.bench.intake import JUDGED, NEW, REPEATED, body, redis_of
from tests.bench.outcome import Outcome
from tests.bench.rounds import Task, say
from tests.bench.servers import Hub, Server, new_row_count

CLAIMS = 10  # reports for each claim
ORGANIZATION = 10  # claims of each organization
EMPTY = "hub, empty"
SHUFFLED = "(n * 2654435761) % 4294967296"  # each number below 2^32 once, in no order
NUMBER = "substr(CAST(10000000000 + {} AS text), 2)"  # ten digits
FIRST = "0" * 26  # id of the organization that all others are copies of


def run(options: Namespace, folder: Path) -> Outcome:
    """Measure every size in turn, on each database; then the lists, where there is something to."""
    samples: list[Sample] = []
    more: dict[str, Any] = {}
    notes = [f"There is one claim for each {CLAIMS} reports."]
    for kind in options.database:
        with ExitStack() as stack:
            redis = redis_of(stack, options)
            server = databases.PostgreSQL() if kind == "postgresql" else None
            tasks = []
            for size in (0, *options.sizes):
                url = (
                    server.create(f"hub{size}") if server else f"sqlite:///{folder}/{size}.sqlite3"
                )
                tasks += _tasks(stack, url, size, redis, server)
            samples += rounds.measured(
                sorted(tasks, key=lambda task: task.what),
                connections=[c for c in options.connections if c == JUDGED] or options.connections,
                rounds=options.rounds,
                seconds=options.seconds,
            )
        if not options.quick:
            url = server.create("lists") if server else f"sqlite:///{folder}/lists.sqlite3"
            found = more[f"lists, {kind}"] = list(_lists(url, max(options.sizes)))
            notes += ["", f"Lists, {kind}, {max(options.sizes):,} reports:", _table(found)]
    return Outcome("scale", samples, list(goals(samples, options.sizes)), notes, more)


def goals(samples: list[Sample], sizes: list[int]) -> Iterator[Goal]:
    """The largest against the empty one."""
    for what in dict.fromkeys(each.thing.what for each in samples):
        large, empty = (Thing(name, what, JUDGED) for name in (_named(max(sizes)), EMPTY))
        if what.startswith(NEW) and (ratios := figures.ratios(samples, large, empty)):
            yield Goal(f"{what}, rate at {max(sizes):,} reports against empty", ratios, 0.90, 1.0)


def _named(size: int) -> str:
    return f"hub, {size:,} reports" if size else EMPTY


def _tasks(
    stack: ExitStack, url: str, size: int, redis: str, server: databases.PostgreSQL | None
) -> Iterator[Task]:
    databases.migrate(url)
    if size:
        say(f"filling {connection.vendor} with {size:,} reports")
        databases.use(url)
        fill(size, size // CLAIMS)
        connection.close()
    hub = stack.enter_context(Hub(url, redis=redis))
    pid = server.pid if server else None
    measured = Server(_named(size), hub.port, hub.process.pid, pid, new_row_count(url))
    for what in (NEW, REPEATED):
        on = "PostgreSQL" if server else "SQLite"
        yield Task(measured, f"{what}, {on}", body(what), adds=what != REPEATED)


def fill(reports: int, claims: int) -> None:
    """So many reports and verified claims, in one statement for each table.

    Half of the reports belong to somebody. The keys of duplicates are in no order, as real ones.
    """
    now, organizations = timezone.now(), max(1, claims // ORGANIZATION)
    owner = _id(f"n % {organizations} + 1")
    _copies(Organization(id=FIRST, name="Somebody"), organizations, id=_id("n"))
    _copies(
        Domain(organization_id=FIRST, name="first.example", registrable=True, verified_at=now),
        claims,
        id=_id("n"),
        organization_id=owner,
        name="'acme' || n || '.example'",
        challenge="'challenge-' || n",
    )
    page = "'https://docs.acme' || n || '.example/guide/' || (n % 500)"
    _copies(
        Report(
            received_at=now - timedelta(days=1),
            last_received_at=now,
            doc_url="https://docs.acme.example",
            canonical_url="https://docs.acme.example",
            kind="outdated",
            summary="The first step",
            details="It is gone, and nothing says what has come instead of it. " * 5,
            agent_name="agent-x",
        ),
        reports,
        id=_id("n"),
        organization_id=f"CASE WHEN n % 2 = 0 THEN {owner} END",
        dedup_key=f"'auto:' || {NUMBER.format(SHUFFLED)}",
        doc_url=page,
        canonical_url=page,
        summary="'Step ' || n || ' of the guide is gone'",
    )
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")


def _id(number: str) -> str:
    """An id in the form of a ULID, lower than all that are made today."""
    return f"'0000000000000000' || {NUMBER.format(number)}"


def _copies(row: Model, times: int, **changed: str) -> None:
    """Store `row`, and copies of it with these columns changed; `n` is 1, 2, 3 …"""
    row.save(force_insert=True)
    copy(row, series(times, "n"), **changed)


def _lists(url: str, reports: int) -> Iterator[lists.Measured]:
    """What the lists' own measurements say, with as many reports."""
    databases.migrate(url)
    databases.use(url)
    lists.fill(reports, reports // CLAIMS)
    for each in lists.measure():
        say(f"lists: {each}")
        yield each
    connection.close()


def _table(found: list[lists.Measured]) -> str:
    rows = [
        [f"{cell:,.1f}" if isinstance(cell, float) else str(cell) for cell in each]
        for each in found
    ]
    return tables.table(lists.Measured._fields, rows)
