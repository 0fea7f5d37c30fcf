"""Strikes what the plan says, when it says so, and keeps count."""

import threading
import time
import traceback
from collections import Counter
from random import Random

from tests.chaos.faults import Fault, Missed
from tests.chaos.journal import Journal
from tests.chaos.schedule import Planned
from tests.chaos.world import World


class Driver:
    """One thread for each track of the plan."""

    def __init__(
        self,
        world: World,
        journal: Journal,
        kinds: dict[str, Fault],
        planned: dict[str, list[Planned]],
    ) -> None:
        self._world, self._journal, self._kinds = world, journal, kinds
        self.injected: Counter[str] = Counter()
        self.missed: Counter[str] = Counter()
        self.left_out: dict[str, str] = {}
        self.errors: list[str] = []
        self.now: dict[str, str] = {}
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(track, each), name=f"faults {track}")
            for track, each in planned.items()
        ]

    def start(self) -> None:
        """The plan begins now."""
        self._begun = time.monotonic()
        for each in self._threads:
            each.start()

    def stop(self) -> None:
        """Heal what is injected, and inject nothing more."""
        self._stopping.set()
        for each in self._threads:
            each.join()

    def is_done(self) -> bool:
        """Whether all tracks have come to their end."""
        return not any(each.is_alive() for each in self._threads)

    def note_error(self, error: threading.ExceptHookArgs) -> None:
        """A thread of this program has ended with an exception."""
        trace = "".join(traceback.format_exception(error.exc_value))
        self.errors.append(f"{error.thread and error.thread.name}: {trace}")

    def _run(self, track: str, planned: list[Planned]) -> None:
        for each in planned:
            if self._stopping.wait(max(0.0, self._begun + each.at - time.monotonic())):
                return
            kind = self._kinds[each.name]
            if why := kind.needs():
                self.left_out[kind.name] = why
                continue
            self.now[track] = kind.name
            self._strike(kind, each)
            self.now.pop(track)

    def _strike(self, kind: Fault, planned: Planned) -> None:
        self._journal.say("fault", name=kind.name, seconds=planned.seconds)
        try:
            with kind.strike(self._world, Random(planned.seed)):
                self._stopping.wait(planned.seconds)
        except Missed as error:
            self.missed[kind.name] += 1
            self._journal.say("missed", name=kind.name, why=str(error))
        except Exception:  # the verdict tells it
            self.errors.append(f"{kind.name}: {traceback.format_exc()}")
            self._journal.say("error", name=kind.name, traceback=traceback.format_exc())
        else:
            self.injected[kind.name] += 1
            self._journal.say("healed", name=kind.name)
