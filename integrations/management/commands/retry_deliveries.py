"""`manage.py retry_deliveries`: retry what has not been delivered yet."""

import logging
import time
from argparse import ArgumentParser
from collections import Counter
from contextlib import suppress
from typing import Any

from django.db import DatabaseError, InterfaceError, connection

from core import backups, connections
from core.command import Group, HubCommand
from core.progress import Progress
from integrations.delivery import catching_up, holds
from integrations.delivery.retries import retry
from integrations.delivery.turns import BATCH, due_ids
from integrations.models import Delivery

log = logging.getLogger(__name__)

PAUSE = 1  # seconds between two looks of --watch


class Command(HubCommand):
    help = "Retries the deliveries that are due, in turn, and prints the results."
    group = Group.KEEP
    summary = "retries what has not been delivered"
    examples = {
        "retry_deliveries": "try what is due",
        "retry_deliveries --now": "try all that waits",
        "retry_deliveries --watch": "go on until Ctrl-C",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        when = parser.add_mutually_exclusive_group()
        when.add_argument("--now", action="store_true", help="also deliveries that are not due yet")
        when.add_argument("--watch", action="store_true", help="keep running until Ctrl-C")

    def handle(self, *args: Any, now: bool, watch: bool, **options: Any) -> None:
        backups.refuse_to_send()
        if not watch:
            self._report(self._retry_all() if now else self._retry_due())
            return
        with suppress(KeyboardInterrupt):
            while True:
                self._watch()
                time.sleep(PAUSE)

    def _watch(self) -> None:
        try:
            catching_up.catch_up()
            holds.probe()
            if outcomes := self._retry_due():
                self._report(outcomes)
        except (DatabaseError, InterfaceError) as error:
            if not connections.is_lost(error):
                raise
            log.exception("The database cannot be reached; trying again")
            connection.close()

    def _retry_due(self) -> Counter[str]:
        """All that is due, batch by batch; none twice."""
        outcomes: Counter[str] = Counter()
        tried: set[str] = set()
        while ids := [each for each in due_ids() if each not in tried]:
            tried.update(ids)
            outcomes += self._retry(ids)
        return outcomes

    def _retry_all(self) -> Counter[str]:
        """All that waits, each source's first before anybody's second, batch by batch."""
        outcomes: Counter[str] = Counter()
        waiting = Delivery.objects.takeable().order_by("turn", "due_at", "pk")
        ids = list(waiting.values_list("report_id", flat=True))
        for first in range(0, len(ids), BATCH):
            outcomes += self._retry(ids[first : first + BATCH])
        return outcomes

    def _retry(self, ids: list[str]) -> Counter[str]:
        progress = Progress(self.stderr, len(ids))
        return retry(ids, on_progress=progress.step)

    def _report(self, outcomes: Counter[str]) -> None:
        counts = ", ".join(f"{count} {status}" for status, count in sorted(outcomes.items()))
        self.stdout.write(f"{outcomes.total()} tried: {counts}." if outcomes else "Nothing is due.")
