"""Words that are lost because somebody else was first, and words that stay although they were to go."""

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import StringIO
from itertools import count
from statistics import median
from typing import Any

import requests
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from integrations.models import Delivery
from orgs.models import Organization
from reports.models import Report
from tests import build
from tests.abuse.table import NOBODY, STRANGER, attack
from tests.abuse.world import Fell, Shipped, World, milliseconds, stands_if
from tests.waiting import wait_until

TRUE = "Step 3 fails: the flag was removed in version 4"
SLOW = 1000  # milliseconds, for one report of two
COST = 100  # milliseconds of computing, for one report
senders = count(1)


@attack(STRANGER, "keep a true report from its owner")
def junk_before_the_true_report(world: World) -> str:
    """A stranger sends what the true report will begin with, thirty times; nine times more after it."""
    owner = world.acme()
    with _behind_a_proxy(world) as hub:
        for number in range(31):
            _post(hub, f"lol {number}")
        _post(hub, TRUE)
        for number in range(9):
            _post(hub, f"afterwards {number}")
        shown = TRUE in _owners_page(hub, owner)
    return stands_if(shown, f"the true report is {'' if shown else 'not '}shown after 31 of junk")


@attack(STRANGER, "have a report kept, or lost, many times")
def the_true_report_fifty_times_at_once(world: World) -> str:
    """Behind one of junk: its words are kept, and once."""
    owner = world.acme()
    with _behind_a_proxy(world) as hub:
        _post(hub, "lol")
        with ThreadPoolExecutor(50) as pool:
            times = list(pool.map(lambda _: milliseconds(lambda: _post(hub, TRUE)), range(50)))
        shown = _owners_page(hub, owner).count("50 times, last")
    figures = f"shown {shown} times, as said 50 times; {_spread(times)}"
    return stands_if(shown == 1 and Report.objects.get().times_reported == 51, figures)


@attack(STRANGER, "fill the disk")
def a_hundred_accounts_of_60_kib(world: World) -> str:
    """One report is to fill the disk; or, where it is full, to have no room for the true one."""
    owner = world.acme()
    with _behind_a_proxy(world) as hub:
        _post(hub, "lol")
        before = _bytes_stored()
        cost = hub.cpu_of(lambda: [_post(hub, f"{n}", _large(n)) for n in range(100)]) / 100
        _post(hub, TRUE)
        stored = _bytes_stored() - before
        shown = TRUE in _owners_page(hub, owner)
    figures = f"{stored / 1024:.0f} KiB stored of 6,000; {cost:.0f} ms of computing a report"
    kept = "the true one is kept" if shown else "the true one is lost"
    return stands_if(shown and stored < 70 * 1024 and cost < COST, f"{figures}; {kept}")


@attack(NOBODY, "leave words behind that were erased")
def erased_while_it_is_sent(world: World) -> str:
    """The owner erases a report in the moment in which GitHub makes its issue."""
    owner = world.acme()
    world.host.fail("slow", seconds=3)
    with _behind_a_proxy(world) as hub, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(_post, hub, TRUE)
        wait_until(lambda: Delivery.objects.filter(posted_at__isnull=False).exists())
        _erase(hub, owner)
        answer.result()
    left = sum(TRUE in row for row in _rows())
    state = f"{Delivery.objects.get().status}, issue {Delivery.objects.get().issue_number}"
    figures = f"{left} rows with its words; the delivery is {state}"
    return stands_if(left == 0 and state == "sent, issue 1", figures)


@attack(STRANGER, "fill the disk, and stop reports while it is emptied")
def a_year_of_reports_about_nobodys_pages(world: World) -> str:
    """They are forgotten, and nobody who reports meanwhile has to wait."""
    world.acme()
    for _ in range(4):
        Report.objects.bulk_create(_old(5_000))
    connection.close()
    with _behind_a_proxy(world) as hub, ThreadPoolExecutor(1) as pool:
        pruning = pool.submit(_prune)
        times = []
        while not pruning.done() or not times:
            page = f"https://docs{len(times)}.example/"  # each within what one host may be sent
            times.append(milliseconds(lambda page=page: _post(hub, "", page=page)))
        took = pruning.result()
    left = Report.objects.filter(received_at__lt=timezone.now() - timedelta(days=365)).count()
    figures = f"{left} of 20000 left after {took / 1000:.1f} s; meanwhile {_spread(times)}"
    return stands_if(left == 0 and median(times) < SLOW, figures)


def _behind_a_proxy(world: World) -> Shipped:
    """So that each report comes from an address of its own, and no limit ends the attack."""
    return world.hub(HUB_TRUSTED_PROXIES="1")


def _post(
    hub: Shipped,
    details: str,
    evidence: Sequence[Any] = (),
    *,
    page: str = "https://docs.acme.com/x",
) -> None:
    """Send the report with these words, from a network that nobody else is in."""
    number = next(senders)
    report = build.report(page, report__details=details, report__evidence=[*evidence])
    hub.post(report, **{"X-Forwarded-For": f"198.{number // 250 % 250}.{number % 250}.1"})


def _large(number: int) -> list[dict[str, str]]:
    return [{"kind": "observed", "text": f"{number:03}" + "x" * 3900}] * 15


def _spread(times: list[float]) -> str:
    ordered = sorted(times)
    return f"{ordered[len(ordered) // 2]:.0f} ms a report, {ordered[-1]:.0f} ms at most"


def _owner(hub: Shipped, organization: Organization) -> requests.Session:
    """The browser of an owner who has signed in."""
    client = Client()
    client.force_login(build.member(organization))
    browser = requests.Session()
    browser.cookies.set("session", client.session.session_key or "")
    connection.close()
    return browser


def _owners_page(hub: Shipped, organization: Organization) -> str:
    address = f"{hub.url}/settings/reports/{Report.objects.get().pk}/"
    return _owner(hub, organization).get(address, timeout=60).text


def _erase(hub: Shipped, organization: Organization) -> None:
    browser = _owner(hub, organization)
    address = f"{hub.url}/settings/reports/{Report.objects.get().pk}/erase/"
    token = re.search(r'csrfmiddlewaretoken" value="([^"]+)', browser.get(address, timeout=60).text)
    if token is None:
        raise Fell("there is no page that erases")
    form = {"csrfmiddlewaretoken": token[1]}
    browser.post(address, form, headers={"Referer": address}, timeout=60).raise_for_status()


def _prune() -> float:
    try:
        return milliseconds(lambda: call_command("prune_reports", stdout=StringIO()))
    except CommandError as error:
        raise Fell(str(error)) from None
    finally:
        connection.close()


def _old(number: int) -> list[Report]:
    """Reports of long ago about a page that nobody has claimed."""
    at = timezone.now() - timedelta(days=400)
    words = {"summary": "x" * 80, "details": "x" * 500, "kind": "other"}
    page = {"doc_url": "https://docs.example/", "canonical_url": "https://docs.example/"}
    return [Report(received_at=at, last_received_at=at, **words, **page) for _ in range(number)]


def _rows() -> Iterator[str]:
    """Every row of every table, as text."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            yield from map(str, cursor.fetchall())


def _bytes_stored() -> int:
    return sum(len(row) for row in _rows())
