"""Two Hubs under their production server, with the same rows: on the test's database, and on SQLite."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from django.db import connection

from sandbox import CodeHost
from tests.hostile.sweep import Sweep
from tests.hostile.tenants import Rows, sqlite_beside, tenants
from tests.hub_process import HubProcess


@contextmanager
def served(
    host: CodeHost,
    folder: Path,
    *,
    of: type[HubProcess] = HubProcess,
    number: int = 4,
    **given: str,
) -> Iterator[Sweep]:
    """Of `number` organizations; one Hub only where the test's database is SQLite itself."""
    people = tenants(host, number)
    with ExitStack() as stack:
        others = []
        hubs = [of(log=folder / "hub.log", **given)]
        if connection.vendor == "postgresql":
            others = [stack.enter_context(sqlite_beside(folder))]
            url = f"sqlite:///{others[0].settings_dict['NAME']}"
            hubs.append(of(log=folder / "beside.log", **given, DATABASE_URL=url))
        kept = Rows(*others)
        for each in hubs:
            stack.enter_context(each)
        yield Sweep(hubs, people, kept)
