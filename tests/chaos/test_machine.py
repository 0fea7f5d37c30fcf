"""What faults break of the machine is broken, and well again: a disk that is full, a clock that is wrong."""

import errno
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.chaos import disk, wall_clock
from tests.chaos.disk import Disk
from tests.chaos.wall_clock import WallClock

HOUR = timedelta(hours=1)
CLOCKS = """
import sqlite3, time
from datetime import UTC, datetime
began = time.monotonic()
while input():
    time.sleep(0.01)
    of_sqlite = sqlite3.connect(":memory:").execute("SELECT datetime('now')").fetchone()[0]
    print(datetime.now(UTC).isoformat(), of_sqlite + "+00:00", time.monotonic() - began, flush=True)
"""


@pytest.fixture
def clock(tmp_path: Path) -> WallClock:
    if why := wall_clock.lacks():
        pytest.skip(f"NO CLOCK COULD BE MOVED: {why}")
    return WallClock(tmp_path)


def ask(process: subprocess.Popen) -> tuple[datetime, datetime, float]:
    """Its own time, that of its SQLite, and the seconds that it has run by its other clock."""
    process.stdin.write("?\n")
    process.stdin.flush()
    own, _, rest = process.stdout.readline().partition(" ")
    day, time, seconds = rest.split()
    return datetime.fromisoformat(own), datetime.fromisoformat(f"{day} {time}"), float(seconds)


@pytest.mark.slow
def test_the_wall_clock_of_a_process_that_runs_is_moved_and_no_other_clock(clock):
    with subprocess.Popen(
        [sys.executable, "-c", CLOCKS],
        env=os.environ | clock.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        began = datetime.now(UTC)
        said = {}
        for hours in (0, 1, -1, 0):
            clock.move(hours * 3600)
            said[hours] = ask(process)
        process.stdin.write("\n")
        process.stdin.close()

    took = datetime.now(UTC) - began
    for hours, (own, of_sqlite, seconds) in said.items():
        assert began <= own - hours * HOUR <= began + took
        assert abs(of_sqlite - own) < timedelta(seconds=2)
        assert 0 < seconds < HOUR.total_seconds()


@pytest.mark.slow
def test_a_full_disk_takes_nothing_until_it_is_drained(tmp_path):
    if why := disk.lacks():
        pytest.skip(f"NO DISK COULD BE FILLED: {why}")
    with Disk(tmp_path / "disk").mounted() as small:
        kept, refused = small.folder / "kept", small.folder / "refused"
        kept.write_bytes(b"x" * 100_000)
        small.fill()
        with pytest.raises(OSError) as error:  # noqa: PT011 (its number says it)
            refused.write_bytes(b"x" * 100_000)
        small.drain()
        refused.write_bytes(b"x" * 100_000)

        assert error.value.errno == errno.ENOSPC
        assert kept.stat().st_size == refused.stat().st_size == 100_000
