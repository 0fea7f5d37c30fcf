"""DNS fails, clients are slow, webhooks are lost, late or sent again."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from random import Random

from tests.chaos.faults import OUTSIDE, Inject, Missed, fault
from tests.chaos.world import World

DNS_FAULTS = {
    "SERVFAIL": "SERVFAIL",
    "REFUSED": "REFUSED",
    "no such name": "NXDOMAIN",
    "no answer": "silence",
    "truncated": "truncated",
}
SLOW_CLIENTS = 60
HEAD = (
    b"POST /v1/reports HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"X-Forwarded-For: 198.51.100.%d\r\nContent-Length: 500\r\n\r\n"
)


def _asked_wrongly(answer: str) -> Inject:
    def inject(world: World, random: Random) -> Iterator[None]:
        asked = len(world.dns.asked)
        world.dns.fail_all(answer)
        yield
        world.dns.repair_all()
        if len(world.dns.asked) == asked:
            raise Missed("DNS was not asked meanwhile.")

    return inject


for name, answer in DNS_FAULTS.items():
    fault(f"DNS: {name}", track=OUTSIDE, seconds=(3, 12))(_asked_wrongly(answer))


def _webhooks(fate: str) -> Inject:
    def inject(world: World, random: Random) -> Iterator[None]:
        before = world.host.webhooks_spoiled
        world.host.late_by = random.uniform(1, 8)
        world.host.webhooks = fate
        yield
        world.host.webhooks = "sent"
        if world.host.webhooks_spoiled == before:
            raise Missed("GitHub sent no webhook meanwhile.")

    return inject


for fate in ("lost", "late", "replayed"):
    fault(f"webhooks {fate}", track=OUTSIDE, seconds=(5, 15), weight=2)(_webhooks(fate))


@fault("slow clients", track=OUTSIDE, seconds=(5, 15), weight=2)
def slow_clients(world: World, random: Random) -> Iterator[None]:
    """Sixty at a time that drip a body, a byte at a time, or send none at all."""
    stopping = threading.Event()
    dripping = threading.Thread(target=_drip, args=(world.hub.port, random.random(), stopping))
    dripping.start()
    yield
    stopping.set()
    dripping.join()


def _drip(port: int, share: float, stopping: threading.Event) -> None:
    clients = []
    for number in range(SLOW_CLIENTS):
        with suppress(OSError):  # the server may be away
            client = socket.create_connection(("127.0.0.1", port), timeout=5)
            client.sendall(
                HEAD % (number + 1) if number > share * SLOW_CLIENTS else b"POST /v1/rep"
            )
            clients.append(client)
    while not stopping.wait(0.5):
        for client in clients:
            with suppress(OSError):
                client.sendall(b" ")
    for client in clients:
        client.close()
