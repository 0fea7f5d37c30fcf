"""`manage.py maintain`: retries and periodic work, until it is stopped."""

import os
import signal
import threading
from argparse import ArgumentParser
from typing import Any

from core import backups
from core.command import Group, HubCommand
from hub import logs
from hub.maintenance import PAUSE, Runner


class Command(HubCommand):
    help = (
        "Retries what is due and runs periodic work until it is stopped. Any number may run: one of "
        "them works, and another takes over within a minute if that one is killed."
    )
    group = Group.RUN
    summary = "retries and periodic work, until it is stopped"
    examples = {
        "maintain": "run it by itself, beside `serve --no-maintain`",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--with-parent",
            nargs="?",
            type=int,
            const=os.getppid(),
            metavar="PROCESS",
            help="exit when the process that started it exits; with its id also if it already has",
        )

    def handle(self, *args: Any, with_parent: int | None, **options: Any) -> None:
        backups.refuse_to_send()
        logs.write_behind()
        runner = Runner()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: runner.stopping.set())
        if with_parent:
            threading.Thread(target=_end_with, args=(with_parent, runner), daemon=True).start()
        runner.run()


def _end_with(parent: int, runner: Runner) -> None:
    while os.getppid() == parent:
        runner.stopping.wait(PAUSE)
    runner.stopping.set()
