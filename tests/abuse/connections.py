"""Connections that say little, slowly, or nothing."""

import selectors
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import cycle, islice
from statistics import median
from typing import cast

import requests

from tests import build
from tests.abuse.table import STRANGER, attack
from tests.abuse.world import Fell, Shipped, World, milliseconds, stands_if

PROMISED = b"Host: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"
REPORT = b"POST /v1/reports HTTP/1.1\r\n" + PROMISED
WEBHOOK = b"POST /v1/webhooks/github HTTP/1.1\r\n" + PROMISED
SCRIPT = b"GET /static/admin/js/vendor/jquery/jquery.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
SECONDS = 12
HEALTHZ, INTAKE = 100, 1000  # milliseconds, for one of two; nothing may fail
GROWN = 200  # MiB
RATES = {f"HUB_{name}_RATE": "100000/minute" for name in ("REPORT", "NETWORK", "HOST", "TOTAL")}


@attack(STRANGER, "stop the Hub")
def silent_bodies(world: World) -> str:
    """32 requests whose bodies never come: each held a thread."""
    return _beside(world, 32, [WEBHOOK])


@attack(STRANGER, "stop the Hub")
def dripping_bodies(world: World) -> str:
    """500 requests whose bodies come byte by byte."""
    return _beside(world, 500, [REPORT, WEBHOOK], drip=b"x")


@attack(STRANGER, "stop the Hub")
def dripping_headers(world: World) -> str:
    """500 requests whose headers come byte by byte."""
    return _beside(world, 500, [b"GET / HTTP/1.1\r\nX-Long: "], drip=b"x")


@attack(STRANGER, "stop the Hub")
def silent_connections(world: World) -> str:
    """1,100 connections that send nothing: 1,024 were taken, and never ended."""
    return _beside(world, 1100, [b""])


@attack(STRANGER, "stop the Hub")
def silent_readers(world: World) -> str:
    """300 requests for long answers that nobody reads."""
    return _beside(world, 300, [SCRIPT], drip=None)


@attack(STRANGER, "leave no room for others")
def one_address_that_asks_all_the_time(world: World) -> str:
    """600 connections of one address, each with the next request as soon as the last is answered."""
    world.acme("docs.acme.com")
    with world.hub(HUB_TRUSTED_PROXIES="1", **RATES) as hub, _asking(hub, 600):
        return _forty_others_report(hub)


@attack(STRANGER, "leave no room for others")
def four_networks_that_search_all_the_time(world: World) -> str:
    """400 connections of four networks ask for what costs most of all pages; forty others report."""
    world.acme("docs.acme.com")
    search = "/v0/search/?q=the+of+and+to+a+in+is+it"
    with world.hub(HUB_TRUSTED_PROXIES="1", **RATES) as hub, _asking(hub, 400, search, 4):
        return _forty_others_report(hub)


@attack(STRANGER, "fill the memory")
def long_answers_that_nobody_takes(world: World) -> str:
    """Thousands of requests of five networks for the longest public file; nothing of the answers is read."""
    asked = [_asks("/llms-full.txt", f"192.0.{network}.1") for network in range(5)]
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub, ExitStack() as untaken:
        requests.get(f"{hub.url}/llms-full.txt", timeout=10)
        before = most = hub.resident()
        kept = refused = 0
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            for each in asked * 20:
                connection = untaken.enter_context(_opened(hub, each))
                connection.settimeout(10)
                is_kept = connection.recv(12) == b"HTTP/1.1 200"
                kept, refused = kept + is_kept, refused + (not is_kept)
            most = max(most, hub.resident())
    grown = (most - before) // 2**20
    return stands_if(grown < GROWN, f"{kept} kept waiting, {refused} refused; {grown} MiB")


class WithFewFiles(Shipped):
    """A Hub whose processes may open as many files as some systems let anybody, and no more."""

    wrapper = ("prlimit", "--nofile=1024:1024")


@attack(STRANGER, "stop the Hub")
def long_answers_where_files_are_few(world: World) -> str:
    """500 of two networks that nobody reads took all of 1,024 files; a report that came then was answered 500."""
    world.acme("docs.acme.com")
    asked = [_asks("/llms-full.txt", f"192.0.{network}.1") for network in range(2)]
    hub = world.hub(HUB_TRUSTED_PROXIES="1", kind=WithFewFiles, **RATES)
    with hub, ExitStack() as untaken:
        requests.get(f"{hub.url}/llms-full.txt", timeout=10)
        for each in islice(cycle(asked), 500):
            untaken.enter_context(_opened(hub, each))
            time.sleep(0.02)  # or they are refused, since too many wait
        return _forty_others_report(hub)


def _forty_others_report(hub: Shipped) -> str:
    statuses = [_report_from(hub, f"198.51.100.{number}") for number in range(40)]
    refused = sum(status != 201 for status, _ in statuses)
    times = [taken for _, taken in statuses]
    figures = f"{refused} of 40 others refused; p50 {median(times):.0f} ms, max {max(times):.0f} ms"
    return stands_if(not refused and median(times) < INTAKE, figures)


@contextmanager
def _asking(
    hub: Shipped, number: int, path: str = "/v1/reports/x", networks: int = 1
) -> Iterator[None]:
    """So many connections of so many networks ask again and again."""
    done = threading.Event()
    asked = [_asks(path, f"192.0.{network}.1") for network in range(networks)]

    def ask() -> None:
        waiting = selectors.DefaultSelector()
        for each in islice(cycle(asked), number):
            waiting.register(_opened(hub, each), selectors.EVENT_READ, each)
        while not done.is_set():
            for key, _ in waiting.select(1):
                connection = cast(socket.socket, key.fileobj)
                if not _ask_again(connection, key.data):
                    waiting.unregister(connection)
                    connection.close()
                    waiting.register(_opened(hub, key.data), selectors.EVENT_READ, key.data)
        for key in list(waiting.get_map().values()):
            cast(socket.socket, key.fileobj).close()

    asker = threading.Thread(target=ask)
    asker.start()
    time.sleep(3)
    try:
        yield
    finally:
        done.set()
        asker.join()


def _asks(path: str, address: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: {address}\r\n\r\n".encode()


def _ask_again(connection: socket.socket, asked: bytes) -> bool:
    """Take an answer and ask once more; False where the Hub has closed the connection."""
    try:
        if connection.recv(64 * 1024):
            connection.sendall(asked)
            return True
    except OSError:
        pass
    return False


def _report_from(hub: Shipped, address: str) -> tuple[int, float]:
    """The status, and the milliseconds that it took."""
    body = build.report(f"https://nobody.dev/{address}")
    begun = time.perf_counter()
    answer = requests.post(
        f"{hub.url}/v1/reports", json=body, headers={"X-Forwarded-For": address}, timeout=30
    )
    return answer.status_code, (time.perf_counter() - begun) * 1000


def _beside(world: World, number: int, begun: list[bytes], drip: bytes | None = b"") -> str:
    """What normal load sees beside `number` connections that begin so, and `drip` once a second.

    With `drip` None they read nothing, either.
    """
    world.acme("docs.acme.com")
    with world.hub(**RATES) as hub, _connections(hub, number, begun, drip):
        seen = _normal_load(hub)
    figures = ", ".join(
        f"{name} p50 {median(times):.0f} ms, max {max(times):.0f} ms"
        for name, times in seen.items()
    )
    healthy = median(seen["/healthz"]) < HEALTHZ and median(seen["intake"]) < INTAKE
    return stands_if(healthy, f"{number} connections: {figures}")


def _normal_load(hub: Shipped) -> dict[str, list[float]]:
    """Milliseconds of each, one after the other, for `SECONDS`; the first that fails ends it."""
    seen: dict[str, list[float]] = {"/healthz": [], "/readyz": [], "intake": []}
    number, until = 0, time.monotonic() + SECONDS
    while time.monotonic() < until:
        number += 1
        for name, times in seen.items():
            try:
                times.append(milliseconds(lambda name=name, n=number: _call(hub, name, n)))
            except requests.RequestException as error:
                raise Fell(f"{name} after {len(times)} good ones: {error!r}") from None
    return seen


def _call(hub: Shipped, name: str, number: int) -> None:
    if name == "intake":
        body = build.report(f"https://nobody.dev/{number}")
        answer = requests.post(f"{hub.url}/v1/reports", json=body, timeout=5)
    else:
        answer = requests.get(f"{hub.url}{name}", timeout=5)
    answer.raise_for_status()


@contextmanager
def _connections(
    hub: Shipped, number: int, begun: list[bytes], drip: bytes | None
) -> Iterator[None]:
    """That many are open while the block lasts: those that the Hub closes are opened again."""
    done = threading.Event()
    connections = [_opened(hub, begun[n % len(begun)]) for n in range(number)]

    def keep() -> None:
        while not done.wait(1):
            for n, connection in enumerate(connections):
                if drip is not None and not _goes_on(connection, drip):
                    connection.close()
                    connections[n] = _opened(hub, begun[n % len(begun)])

    keeper = threading.Thread(target=keep)
    keeper.start()
    time.sleep(3)  # what they hold is measured, not that they all come at once
    try:
        yield
    finally:
        done.set()
        keeper.join()
        for connection in connections:
            connection.close()


def _opened(hub: Shipped, begun: bytes) -> socket.socket:
    connection = socket.socket()
    connection.settimeout(5)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", hub.port))
    connection.sendall(begun)
    connection.setblocking(False)
    return connection


def _goes_on(connection: socket.socket, drip: bytes) -> bool:
    """Send a little more; False where the Hub has answered or closed it."""
    try:
        connection.send(drip)
        connection.recv(1)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False
