"""What an attack finds: a code host, and the Hub with the settings that an operator gets."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import requests
from django.db import connection
from django.utils import timezone

from integrations.models import Delivery, Integration
from orgs.models import Organization
from reports.models import Report
from sandbox import CodeHost
from tests import build
from tests.conftest import callbacks, empty_tables, settings_for
from tests.hub_process import HubProcess


class Fell(Exception):
    """The attack did what it came for; the message says it in figures."""


class Shipped(HubProcess):
    """What `script/serve` runs, with the defaults of every setting that is not given."""

    def environment(self) -> dict[str, str]:
        given = super().environment()
        kept = {"HUB_BASE_URL", "HUB_SECRET_KEY", "HUB_DNS_SERVERS", *self._environment}
        return {k: v for k, v in given.items() if not k.startswith("HUB_") or k in kept}

    def post(self, report: dict[str, Any], **headers: str) -> requests.Response:
        """Send a report; raises where it is not accepted."""
        answer = requests.post(f"{self.url}/v1/reports", json=report, headers=headers, timeout=60)
        answer.raise_for_status()
        return answer

    def resident(self) -> int:
        """Bytes of memory of all its processes; 0 once it was ended."""
        try:
            return sum(each.memory_info().rss for each in self._processes())
        except psutil.NoSuchProcess:
            return 0

    def cpu(self) -> float:
        """Seconds that all its processes have computed, however busy the machine is."""
        try:
            return sum(sum(each.cpu_times()[:2]) for each in self._processes())
        except psutil.NoSuchProcess:
            return 0.0

    def cpu_of(self, call: Callable[[], object]) -> float:
        """Milliseconds that its processes compute for what is called."""
        before = self.cpu()
        call()
        return (self.cpu() - before) * 1000

    def _processes(self) -> list[psutil.Process]:
        server = psutil.Process(self.process.pid)
        return [server, *server.children(recursive=True)]


class World(NamedTuple):
    """A database of its own for each attack, and a sandbox with acme/docs that serves."""

    host: CodeHost
    folder: Path  # for files, of all attacks

    def hub(
        self, *, maintain: bool = False, kind: type[Shipped] = Shipped, **environment: str
    ) -> Shipped:
        """The Hub, to be entered by `with`; keywords are its environment."""
        hub = kind(maintain=maintain, **settings_for(self.host), **environment)
        hub.log = self.folder / f"hub-{hub.port}.log"
        self.host.app.callback_urls += callbacks(hub)
        return hub

    def acme(self, *domains: str) -> Organization:
        """An organization that is set up: issues about `domains` go to acme/docs."""
        owner = build.acme(self.host, *domains)
        connection.close()
        return owner


def let_wait(
    owner: Organization,
    number: int,
    page: str = "https://docs.acme.com/",
    source: str = "a",
) -> None:
    """So many reports about a page that `owner` has received, all from one network, and that wait."""
    now = timezone.now()
    words = {"doc_url": page, "kind": "other", "summary": "x"}
    known = {"received_at": now, "last_received_at": now, "canonical_url": page}
    integration = Integration.objects.get(organization=owner)
    for first in range(0, number, 5000):
        some = Report.objects.bulk_create(
            Report(organization=owner, **words, **known) for _ in range(min(5000, number - first))
        )
        Delivery.objects.bulk_create(
            Delivery(report=each, integration=integration, source=source, turn=turn)
            for turn, each in enumerate(some, first)
        )
    connection.close()


def stands_if(holds: bool, figures: str) -> str:
    """`figures`, where what the attack tried did not happen; raises `Fell` with them otherwise."""
    if not holds:
        raise Fell(figures)
    return figures


def milliseconds(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return (time.perf_counter() - begun) * 1000


def forget_everything() -> None:
    """An empty database for the next attack."""
    empty_tables()
    connection.close()
