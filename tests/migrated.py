"""A database on SQLite is migrated once a run, and copied for each worker."""

import shutil

from django.conf import settings
from django.core.management import call_command
from django.db import connection

from tests.hostile.tenants import used_as_default
from tests.hub_process import alone


def copy() -> None:
    """Make this worker's database, with all tables."""
    migrated = settings.VAR_DIR / f"test-{settings.RUN}.sqlite3-migrated"
    with alone("migrated"):
        if not migrated.exists():
            begun = migrated.with_name(f"{migrated.name}-begun")
            database = connection.copy()
            database.settings_dict["NAME"] = begun
            with used_as_default(database):
                call_command("migrate", verbosity=0)
            database.close()
            begun.rename(migrated)
    shutil.copy(migrated, connection.settings_dict["TEST"]["NAME"])
