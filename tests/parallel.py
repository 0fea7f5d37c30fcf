"""Several workers share a run: what belongs together stays with one, and the longest comes first."""

import os

from xdist.scheduler import LoadScopeScheduling

from tests import selection

MOST = 4  # workers; more wait for each other
TOGETHER = (  # shares a browser and a Hub; the first that fits
    "tests/browser/test_gallery",
    "tests/browser/test_docs",
    "tests/browser/",
    "tests/faults/",
)
LONGEST = (
    *TOGETHER,
    "tests/hostile/",
    "tests/openapi/",
    "tests/hub/",
    "tests/upgrades/",
    "tests/clients/",
    "tests/deploy/",
    "tests/test_",
)  # the others are quick


def workers() -> int:
    """Some more than there are cores, since they wait; on PostgreSQL, where fewer tests run, as many."""
    more = 0 if selection.on_postgresql() else 2
    return min(MOST, (os.cpu_count() or 1) + more)


def place(nodeid: str) -> int:
    """Where a test comes in the order of a run."""
    return next((n for n, path in enumerate(LONGEST) if nodeid.startswith(path)), len(LONGEST))


class Scheduler(LoadScopeScheduling):
    """Hands out files, in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:
        together = [path for path in TOGETHER if nodeid.startswith(path)]
        return together[0] if together else nodeid.partition("::")[0]
