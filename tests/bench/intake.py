"""`script/bench intake`: what a report costs, new and repeated, beside what others would build."""

import json
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from tests import redis_server
from tests.bench import databases, figures, rounds, servers
from tests.bench.figures import Goal, Sample, Thing
from tests.bench.outcome import Outcome
from tests.bench.peers import comments, schema
from tests.bench.rounds import Task
from tests.bench.servers import Hub, Peer, Server, new_row_count
from tests.conftest import new_code_host

NEW, OWNED, REPEATED = "new", "new, owned", "duplicate"
HUB, ALONE = "hub", "hub without Redis"
PLAIN, FAST, TEAM = "plain django", "fastapi", "drf"
ISSO, ISSO_WAL = "isso", "isso with WAL"
ON_POSTGRESQL, ON_SQLITE = "PostgreSQL", "SQLite"
FULL = "the Hub has journal_mode wal, synchronous 2"
JUDGED = 8  # connections that the contract is about

REPORT = {
    "protocol_version": "0",
    "doc_url": "https://docs.nobody%(host)d.dev/guide/%(page)d",
    "agent": {"name": "agent-x", "version": "1.4.2", "vendor": "Example"},
    "report": {
        "kind": "outdated",
        "summary": "Step %(n)d of the guide names a command that is gone",
        "details": "The guide says to run `acme install --all`. Version 4 has no such option, and "
        "answers with an error. The release notes say that `acme sync` does this now, "
        "also for those who had set it in their configuration.",
        "evidence": [{"kind": "error_message", "text": "error: unknown option --all"}],
        "suggested_fix": "Replace `acme install --all` by `acme sync`.",
    },
    "task_context": {"task_summary": "Installing the tools of a new project."},
}
SUMMARY_AGAIN = "Step %(page)d of the guide names a command that has another name now"


def body(what: str) -> str:
    """The template of what is sent; about a kilobyte."""
    sent = json.loads(json.dumps(REPORT))
    if what == OWNED:
        sent["doc_url"] = databases.OWNED_PAGE
    if what == REPEATED:
        sent["report"]["summary"] = SUMMARY_AGAIN
    return json.dumps(sent)


def comment() -> str:
    """The same words as a comment for Isso."""
    said = REPORT["report"]
    text = f"{said['summary']}\n\n{said['details']}\n\n{said['suggested_fix']}"
    return json.dumps({"author": "agent-x", "title": "Page %(page)d", "text": text})


def run(options: Namespace, folder: Path) -> Outcome:
    """Measure all that `options` ask for."""
    samples: list[Sample] = []
    notes: list[str] = []
    with ExitStack() as stack:
        redis = redis_of(stack, options)
        notes.append(_about_redis(redis))
        if "postgresql" in options.database:
            with _on_postgresql(options, redis) as tasks:
                samples += _measured(tasks, options)
        if "sqlite" in options.database:
            notes.append(_about_sqlite(folder))
            with _on_sqlite(options, folder, redis) as tasks:
                samples += _measured(tasks, options)
    is_equal = all(FULL in note for note in notes if note.startswith(ON_SQLITE))
    judged = [goal for goal in goals(samples) if is_equal or "Isso" not in goal.name]
    return Outcome("intake", samples, judged, notes)


def goals(samples: list[Sample]) -> Iterator[Goal]:
    """The figures of the contract that these rounds tell something about."""
    for name, what, peer, figure, bound, aim in (
        ("new, rate against plain Django", NEW, PLAIN, "rate", 0.60, 1.0),
        ("new, CPU against plain Django", NEW, PLAIN, "cpu_each", 2.5, 1.3),
        ("duplicate, rate against plain Django", REPEATED, PLAIN, "rate", 0.70, 1.0),
        ("duplicate, CPU against plain Django", REPEATED, PLAIN, "cpu_each", 2.2, 1.2),
        ("new, rate against the team's view in DRF", NEW, TEAM, "rate", 3.0, 5.0),
        ("new, rate against FastAPI with asyncpg", NEW, FAST, "rate", 0.60, 0.95),
        ("new on SQLite, rate against Isso", NEW, ISSO, "rate", 1.5, 2.9),
        ("new on SQLite, rate against Isso with WAL", NEW, ISSO_WAL, "rate", 1.5, 2.9),
    ):
        on = ON_SQLITE if peer in (ISSO, ISSO_WAL) else ON_POSTGRESQL
        ratios = figures.ratios(
            samples,
            Thing(HUB, f"{what}, {on}", JUDGED),
            Thing(peer, f"{what}, {on}", JUDGED),
            figure,
        )
        if ratios:
            yield Goal(name, ratios, bound, aim, at_most=figure == "cpu_each")


def redis_of(stack: ExitStack, options: Namespace) -> str:
    """The URL of a Redis server of its own; empty without one."""
    if not options.redis:
        return ""
    return stack.enter_context(redis_server.serving()).url


def _processes(redis: str) -> int:
    """Of each peer: as many as the Hub has."""
    return servers.PROCESSES if redis else 1


def _about_redis(url: str) -> str:
    alone = "Without Redis, the Hub has one process, since its processes must share their limits"
    if url:
        return f"Servers have {servers.PROCESSES} processes, and a Redis for limits. {alone}."
    return f"{alone}; so have its peers here."


def _measured(tasks: list[Task], options: Namespace) -> Iterator[Sample]:
    return rounds.measured(
        tasks, connections=options.connections, rounds=options.rounds, seconds=options.seconds
    )


@contextmanager
def _on_postgresql(options: Namespace, redis: str) -> Iterator[list[Task]]:
    server = databases.PostgreSQL()
    url = server.create("hub")
    databases.migrate(url)
    databases.own_pages(url, new_code_host())
    count = new_row_count(url)
    named = partial(_tasks, on=ON_POSTGRESQL)
    with ExitStack() as stack:
        hub = stack.enter_context(Hub(url, redis=redis, HUB_FORWARDING="queue"))
        measured = Server(HUB, hub.port, hub.process.pid, server.pid, count)
        tasks = named(measured, NEW, REPEATED)
        deliveries = partial(databases.rows, url, "integrations_delivery")
        tasks += named(measured._replace(rows=deliveries), OWNED)
        if redis and options.alone:
            alone = stack.enter_context(Hub(url, HUB_FORWARDING="queue"))
            tasks += named(Server(ALONE, alone.port, alone.process.pid, server.pid, count), NEW)
        if options.peers:
            for peer in _peers(stack, server, redis):
                tasks += named(peer, NEW, REPEATED)
        yield sorted(tasks, key=lambda task: [NEW, OWNED, REPEATED].index(_kind(task)))


def _kind(task: Task) -> str:
    return task.what.rpartition(", ")[0]


def _tasks(server: Server, *kinds: str, on: str) -> list[Task]:
    return [Task(server, f"{what}, {on}", body(what), adds=what != REPEATED) for what in kinds]


def _peers(stack: ExitStack, server: databases.PostgreSQL, redis: str) -> Iterator[Server]:
    """Plain Django, FastAPI, and with Redis the team's view, each on a database of its own."""
    servers.install()
    chosen = [(PLAIN, "plain", "wsgi", "report"), (FAST, "fast", "asgi", "report")]
    if redis:
        chosen.append((TEAM, "team", "wsgi", "peer_report"))
    for name, module, interface, table in chosen:
        url = server.create(module)
        environment = {"DATABASE_URL": url, "REDIS_URL": redis.replace("/0", "/1")}
        if name == TEAM:
            servers.prepare_team(environment)
        else:
            databases.execute(url, schema.TABLE)
        program = f"tests.bench.peers.{module}"
        peer = stack.enter_context(
            Peer(program, interface, environment, processes=_processes(redis))
        )
        rows = partial(databases.rows, url, table)
        yield Server(name, peer.port, peer.process.pid, server.pid, rows)


@contextmanager
def _on_sqlite(options: Namespace, folder: Path, redis: str) -> Iterator[list[Task]]:
    url = f"sqlite:///{folder / 'hub.sqlite3'}"
    databases.migrate(url)
    with ExitStack() as stack:
        hub = stack.enter_context(Hub(url, redis=redis))
        measured = Server(HUB, hub.port, hub.process.pid, None, new_row_count(url))
        tasks = _tasks(measured, NEW, REPEATED, on=ON_SQLITE)
        if options.peers:
            tasks += _isso(stack, folder, _processes(redis))
        yield tasks


def _isso(stack: ExitStack, folder: Path, processes: int) -> Iterator[Task]:
    """As it ships, and with the Hub's journal."""
    servers.install()
    for name, journal in ((ISSO, "delete"), (ISSO_WAL, "wal")):
        home = folder / journal
        environment = comments.prepare(home, journal)
        peer = stack.enter_context(Peer("isso.run", "wsgi", environment, processes=processes))
        rows = partial(databases.rows, f"sqlite:///{home}/comments.sqlite3", "comments")
        path = "/new?uri=/guide/%(page)d/"
        server = Server(name, peer.port, peer.process.pid, None, rows, path)
        yield Task(server, f"{NEW}, {ON_SQLITE}", comment())


def _about_sqlite(folder: Path) -> str:
    """How durable the Hub's SQLite is, by its own settings, beside Isso's."""
    pragmas = databases.pragmas(Hub(f"sqlite:///{folder / 'hub.sqlite3'}").environment())
    return (
        f"{ON_SQLITE}: the Hub has {pragmas}; Isso as it ships has journal_mode delete, synchronous 2. "
        "With synchronous 2 (FULL), what was answered survives a power cut with either journal."
    )
