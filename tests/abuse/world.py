"""What an attack finds: a code host, and the Hub with the settings that an operator gets."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import psutil
import requests
from django.core.management import call_command
from django.db import connection

from orgs.models import Organization
from sandbox import CodeHost
from tests import build
from tests.conftest import callbacks, settings_for
from tests.hub_process import ROOT, HubProcess


class Fell(Exception):
    """The attack did what it came for; the message says it in figures."""


class Shipped(HubProcess):
    """`script/serve`, with the defaults of every setting that is not given."""

    command = [str(ROOT / "script" / "serve")]

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
            server = psutil.Process(self.process.pid)
            every = [server, *server.children(recursive=True)]
            return sum(each.memory_info().rss for each in every)
        except psutil.NoSuchProcess:
            return 0


class World(NamedTuple):
    """A database of its own for each attack, and a sandbox with acme/docs that serves."""

    host: CodeHost

    def hub(self, *, maintain: bool = False, **environment: str) -> Shipped:
        """The Hub, to be entered by `with`; keywords are its environment."""
        hub = Shipped(maintain=maintain, **settings_for(self.host), **environment)
        self.host.app.callback_urls += callbacks(hub)
        return hub

    def acme(self, *domains: str) -> Organization:
        """An organization that is set up: issues about `domains` go to acme/docs."""
        owner = build.acme(self.host, *domains)
        connection.close()
        return owner


class Attack(NamedTuple):
    """`make` returns what it saw, in figures, where the Hub stands, and raises `Fell` where not."""

    name: str
    make: Callable[[World], str]


ATTACKS: list[Attack] = []


def attack(make: Callable[[World], str]) -> Callable[[World], str]:
    """Add an attack to those that `script/abuse` makes; its docstring says what it tries."""
    ATTACKS.append(Attack(make.__name__, make))
    return make


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
    call_command("flush", interactive=False, verbosity=0)
    connection.close()
