"""A wall clock that can be moved while processes run. libfaketime would move what Python sleeps by, too."""

import shutil
import subprocess
import sys
from pathlib import Path

HOUR = 3600  # seconds
OFF = {  # by so much; members stay signed in, and the Hub looks for nothing at GitHub by the last one
    "an hour ahead": HOUR,
    "an hour behind": -HOUR,
    "nine hours ahead": 9 * HOUR,
}
SOURCE = Path(__file__).with_suffix(".c")


class WallClock:
    """The wall clock of processes that are started with `environment`; the others keep the real one."""

    def __init__(self, folder: Path) -> None:
        self._seconds = folder / "clock"
        self.move(0)
        library = folder / "clock.so"
        command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
        subprocess.run(command, check=True)
        self.environment = {"LD_PRELOAD": str(library), "CHAOS_CLOCK": str(self._seconds)}

    def move(self, seconds: int) -> None:
        """Show the real time and these seconds, negative ones as well, from now on."""
        with self._seconds.open("r+b" if self._seconds.exists() else "wb") as file:
            file.write(seconds.to_bytes(8, sys.byteorder, signed=True))


def lacks() -> str:
    """What this machine lacks for it, or nothing."""
    if not sys.platform.startswith("linux"):
        return "a clock is moved on Linux only"
    return "" if shutil.which("cc") else "no C compiler (apt install gcc)"
