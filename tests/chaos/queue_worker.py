"""The worker of the queue, as systemd runs it: it ends where the database is away, and is started again."""

import threading
from subprocess import Popen

from tests.hub_process import HubProcess, start_worker

RESTART_AFTER = 2  # seconds, as deploy/systemd/hub-worker.service has it


class QueueWorker:
    """`db_worker` beside a Hub, until `end`."""

    def __init__(self, hub: HubProcess) -> None:
        self._hub = hub
        self._ending = threading.Event()
        self.process = start_worker(hub)
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
            self.process = process = start_worker(self._hub)
            if self._ending.is_set():  # meanwhile
                process.kill()
