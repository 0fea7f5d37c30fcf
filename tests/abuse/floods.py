"""Floods: many reports about the pages of one owner, or requests for costly pages, and an honest one among them."""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from statistics import median
from urllib.parse import quote, urlencode

import requests
from django.db import connection
from django.utils import timezone

from core import client_address
from integrations.models import Delivery
from reports.models import Report
from tests import build
from tests.abuse._asking import asking
from tests.abuse.table import STRANGER, attack
from tests.abuse.world import Shipped, World, let_wait, milliseconds, stands_if
from tests.hub_process import ROOT
from tests.waiting import wait_until

FLOOD = 60  # reports, which is what one address may send in a minute
LASTS = 9.0  # seconds
WAITING = 400  # reports
FULL = 12  # issues after which each of four sources has its share of 20 in a minute
HONEST = "203.0.113.9"
SOON = 5.0  # seconds in which an honest report is an issue
FORM = "Content-Type: application/x-www-form-urlencoded"
PATIENCE = 20.0  # seconds after which nobody waits for it any more
CONNECTIONS = 100
OTHERS = 15  # reports
AT_ONCE = 1000  # milliseconds that half of the others' reports may take


@attack(STRANGER, "flood a repository")
def flood_of_one_source(world: World) -> str:
    """60 reports in 9 s from one address, which were 20 issues before anybody else's first."""
    world.acme()
    with world.hub(maintain=True, HUB_TRUSTED_PROXIES="1") as hub:
        return _flood(world, hub, ["198.51.100.7"])


@attack(STRANGER, "flood a repository")
def flood_of_one_source_through_the_queue(world: World) -> str:
    """The same, where workers send what is queued."""
    if connection.vendor == "sqlite":
        return "no workers on SQLite"
    world.acme()
    queue = {"HUB_TRUSTED_PROXIES": "1", "HUB_FORWARDING": "queue"}
    with world.hub(maintain=True, **queue) as hub, _worker(hub):
        return _flood(world, hub, ["198.51.100.7"])


@attack(STRANGER, "flood a repository")
def flood_of_five_sources(world: World) -> str:
    """Five addresses, of as many networks, send 60 reports each in 9 s."""
    world.acme()
    with world.hub(maintain=True, HUB_TRUSTED_PROXIES="1") as hub:
        return _flood(world, hub, [f"198.51.{n}.7" for n in range(5)])


@attack(STRANGER, "flood a repository")
def what_waits_before_a_network_that_sends_much(world: World) -> str:
    """Four networks let 400 reports each wait; one that sent as many today sends one more, which waited for hours."""
    owner = world.acme()
    before = timezone.now() - timedelta(hours=3)
    let_wait(owner, WAITING, source=client_address.source(HONEST))
    Delivery.objects.update(status="failed", last_tried_at=before)
    for number in range(4):
        let_wait(owner, WAITING, source=f"flood of {number}")
    with world.hub(maintain=True, HUB_TRUSTED_PROXIES="1") as hub:
        full = wait_until(lambda: Delivery.objects.filter(status="sent").count() >= FULL)
        begun = time.monotonic()
        sent = hub.post(build.report(), **{"X-Forwarded-For": HONEST}).json()["id"]
        mine = Delivery.objects.filter(report=sent)
        wait_until(lambda: mine.get().status == "sent")
        seconds, status = time.monotonic() - begun, mine.get().status
        issues = Delivery.objects.filter(status="sent").count()
    connection.close()
    figures = f"{status} after {seconds:.1f} s, beside {issues} issues"
    return stands_if(full and status == "sent" and seconds < SOON, figures)


@attack(STRANGER, "get around the limit of a claim")
def flood_of_many_subdomains(world: World) -> str:
    """900 reports about 50 names below a claimed domain, whose owner takes 600 a minute."""
    world.acme("acme.com")
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: _post(hub, f"10.0.{n % 200}.1", n, n % 50), range(900)))
    stored = Report.objects.count()
    connection.close()
    return stands_if(
        stored <= 600, f"{dict(Counter(answers))}: {stored} stored, where 600 are allowed"
    )


@attack(STRANGER, "shut a claim to its readers")
def flood_of_one_network(world: World) -> str:
    """One IPv6 /48 used up what may come about a claim with one repeat, and shut it to readers."""
    world.acme()
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub:
        flood = Counter(_post(hub, f"2001:db8:77:{n % 11:x}::1", 1) for n in range(620))
        honest = Counter(_post(hub, f"198.51.{n}.7", n) for n in range(20))
    figures = f"{flood[201]} of 620 taken; of 20 honest readers {honest[201]} get in"
    return stands_if(flood[201] <= 60 and honest[201] == 20, figures)


@attack(STRANGER, "leave no room for others")
def costly_pages_of_one_address(world: World) -> str:
    """One address asks for a costly page, or sends the form, in 100 connections; others' reports took 2 s."""
    world.acme()
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub:
        receipt = hub.post(build.report()).json()["id"]
        took = {what: _took_beside(hub, asked) for what, asked in _costly(receipt).items()}
    figures = ", ".join(f"{ms:.0f} ms beside {what}" for what, ms in took.items())
    return stands_if(max(took.values()) < AT_ONCE, f"half of the others' reports took {figures}")


def _costly(receipt: str) -> dict[str, str]:
    """The requests, by what they ask for."""
    form = {"doc_url": "https://docs.acme.com/", "kind": "other", "summary": "x"}
    typed = urlencode(form | {"details": "é" * 20_000})
    words = quote("the of and to a in is it the of and to")
    return {
        "searches": _get(f"/v0/search/?q={words}"),
        "all docs": _get("/llms-full.txt"),
        "receipts": _get(f"/r/{receipt}/"),
        "forms": _request("POST /report/", f"{FORM}\r\nContent-Length: {len(typed)}\r\n") + typed,
    }


def _get(path: str) -> str:
    return _request(f"GET {path}")


def _request(line: str, headers: str = "") -> str:
    return (
        f"{line} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: 192.0.2.1\r\n"
        f"Accept: text/html\r\n{headers}\r\n"
    )


def _took_beside(hub: Shipped, request: str) -> float:
    """Milliseconds, the median of others' reports, while one address asks."""
    with asking(hub.port, CONNECTIONS, [request]):
        time.sleep(2)  # until all of its connections ask
        took = [_milliseconds_of_one(hub, f"203.0.{number}.77") for number in range(OTHERS)]
    return median(took)


def _milliseconds_of_one(hub: Shipped, address: str) -> float:
    report = build.report("https://nobody.dev/", report__summary=f"{time.monotonic_ns()}")
    return milliseconds(lambda: hub.post(report, **{"X-Forwarded-For": address}))


def _flood(world: World, hub: Shipped, addresses: list[str]) -> str:
    """What an honest report has to wait for, in the middle of a flood from `addresses`."""
    with ThreadPoolExecutor(len(addresses)) as pool:
        for _ in pool.map(lambda address: _send_all(hub, address), addresses):
            pass
    flood = len(world.host.issues("acme/docs"))
    begun = time.monotonic()
    hub.post(_report("Honest"), **{"X-Forwarded-For": HONEST})
    waited = _until_it_is_there(world, begun)
    most = 5 * len(addresses)
    return stands_if(
        waited < SOON and flood <= most,
        f"{flood} issues of {FLOOD * len(addresses)} reports of {len(addresses)} sources; "
        f"the honest one {f'after {waited:.1f} s' if waited < PATIENCE else 'not in 20 s'}",
    )


def _send_all(hub: Shipped, address: str) -> None:
    for number in _spread(range(FLOOD)):
        _post(hub, address, number)


def _spread(numbers: range) -> Iterator[int]:
    """Each at its time within `LASTS`."""
    begun = time.monotonic()
    for each in numbers:
        time.sleep(max(0.0, begun + each * LASTS / len(numbers) - time.monotonic()))
        yield each


def _post(hub: Shipped, address: str, number: int, name: int | None = None) -> int:
    host = "docs.acme.com" if name is None else f"a{name}.acme.com"
    report = _report(f"Flood of {address}: {number}", f"https://{host}/install")
    headers = {"X-Forwarded-For": address}
    return requests.post(
        f"{hub.url}/v1/reports", json=report, headers=headers, timeout=60
    ).status_code


def _report(summary: str, url: str = "https://docs.acme.com/install") -> dict:
    return build.report(url, report__summary=summary)


def _until_it_is_there(world: World, begun: float) -> float:
    """Seconds until the honest report is an issue; `PATIENCE` where it is none by then."""
    while (waited := time.monotonic() - begun) < PATIENCE:
        if _is_there(issue.title for issue in world.host.issues("acme/docs")):
            return waited
        time.sleep(0.05)
    return PATIENCE


def _is_there(titles: Iterable[str]) -> bool:
    return "[docs] Honest" in titles


@contextmanager
def _worker(hub: Shipped) -> Iterator[None]:
    worker = subprocess.Popen(
        [sys.executable, "manage.py", "db_worker", "--interval", "0.1", "--no-startup-delay"],
        cwd=ROOT,
        env=hub.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        worker.terminate()
        worker.wait(30)
