"""`manage.py maintain`: retries and periodic work, as long as it runs."""

import os
import signal
import threading
from argparse import ArgumentParser

from django.core.management.base import BaseCommand

from hub.maintenance import PAUSE, Runner


class Command(BaseCommand):
    help = (
        "Retries what is due and runs periodic work until it is told to stop. Any number may run; "
        "one at a time works, and another takes over within a minute where it is killed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--with-parent", action="store_true", help="end when the process that started it ends"
        )

    def handle(self, *args, with_parent: bool, **options) -> None:
        runner = Runner()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: runner.stopping.set())
        if with_parent:
            parent = os.getppid()
            threading.Thread(target=_end_with, args=(parent, runner), daemon=True).start()
        runner.run()


def _end_with(parent: int, runner: Runner) -> None:
    while os.getppid() == parent:
        runner.stopping.wait(PAUSE)
    runner.stopping.set()
