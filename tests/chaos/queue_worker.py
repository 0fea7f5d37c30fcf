"""The worker of the queue, as systemd runs it: it ends where the database is away, and is started again."""

import threading
from pathlib import Path
from subprocess import Popen

from tests.hub_process import HubProcess, start_worker

RESTART_AFTER = 2  # seconds, as deploy/systemd/hub-worker.service has it


class QueueWorker:
    """`db_worker` beside a Hub, until `end`."""

    def __init__(self, hub: HubProcess, log: Path) -> None:
        self._hub, self._log = hub, log
        self._ending = threading.Event()
        self.process = self._start()
        self._keeper = threading.Thread(target=self._keep, args=[self.process], daemon=True)
        self._keeper.start()

    def end(self) -> None:
        """SIGKILL, for good."""
        self._ending.set()
        self.process.kill()
        self._keeper.join()

    def _keep(self, process: Popen) -> None:
        while True:
            process.wait()
            if self._ending.wait(RESTART_AFTER):
                return
            self.process = process = self._start()
            if self._ending.is_set():  # meanwhile
                process.kill()

    def _start(self) -> Popen:
        with self._log.open("ab") as log:
            return start_worker(self._hub, log)
