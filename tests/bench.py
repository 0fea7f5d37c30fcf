"""Timings over real sockets, against the Hub under its production server. Run by script/bench.

On a database of its own (SQLite in a temporary folder, or DATABASE_URL where it is set), with the
sandbox as the code host.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path
from statistics import quantiles

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

import django

django.setup()

import psutil
import requests
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from integrations.issue import rendering
from integrations.models import Delivery, Integration
from orgs.models import Organization, User
from reports import secrets
from reports.models import Report
from tests import build
from tests.conftest import new_code_host, settings_for
from tests.hub_process import ROOT, HubProcess

COUNT = 300
HANGING = 32
IDLE = 20  # seconds
REPORTS = 10_000
LISTS = [
    "/settings/",
    "/settings/reports/",
    "/settings/reports/?q=step 9&status=pending&kind=outdated",
    "/settings/claims/",
    "/admin/integrations/delivery/",
    "/admin/reports/report/",
    "/admin/reports/report/?q=step 9",
]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        if connection.vendor == "sqlite":
            connection.settings_dict["NAME"] = Path(folder) / "bench.sqlite3"
        call_command("migrate", verbosity=0)
        host = new_code_host()
        with host.serving(), HubProcess(**settings_for(host)) as hub:
            build.acme(host)
            connection.close()
            idle = measure("a new report about nobody's page", lambda n: post(hub, n, "nobody.dev"))
            measure("a duplicate of it", lambda n: post(hub, 0, "nobody.dev"))
            measure("a report that becomes an issue", lambda n: post(hub, n, "docs.acme.com"))
            host.fail("hang", times=HANGING, seconds=60)
            with ThreadPoolExecutor(HANGING) as pool:
                hanging = [
                    pool.submit(timed, lambda n: post(hub, 1000 + n, "docs.acme.com"), number)
                    for number in range(HANGING)
                ]
                time.sleep(1)
                busy = measure(
                    f"a report about nobody's page, while {HANGING} deliveries hang",
                    lambda n: post(hub, 2000 + n, "nobody.dev"),
                )
                slowest = max(each.result() for each in hanging)
            pages(hub)
            idle_maintain(hub)
            print(f"The slowest answer while its own delivery hung: {slowest:.1f} s (limit 12 s)")
            print(f"p99 while they hang, against idle: {busy / idle:.1f} times (limit 10)")
    pure()


def pages(hub: HubProcess) -> None:
    """The lists of the settings and the admin, of an organization with 10,000 reports (limit 200 ms)."""
    owner = Organization.objects.get(name="acme")
    user = build.member(owner)
    User.objects.update(is_staff=True, is_superuser=True)
    now = timezone.now()
    Report.objects.bulk_create(
        Report(
            organization=owner,
            received_at=now - timedelta(minutes=10 * number),
            last_received_at=now,
            doc_url=f"https://docs.acme.com/{number % 500}",
            canonical_url=f"https://docs.acme.com/{number % 500}",
            kind="outdated",
            summary=f"Step {number} is gone",
            details="It is gone.\n" * 50,
            agent_name="agent-x",
        )
        for number in range(REPORTS)
    )
    Delivery.objects.bulk_create(
        Delivery(report=report, integration=Integration.objects.get(), status="pending")
        for report in Report.objects.exclude(pk__in=Delivery.objects.values("report"))
    )
    browser = Client()
    browser.force_login(user)
    session = {"session": browser.session.session_key}
    connection.close()
    for path in LISTS:
        seen = partial(requests.get, f"{hub.url}{path}", cookies=session, timeout=30)
        measure(path, lambda n, see=seen: see().raise_for_status(), count=20)


def idle_maintain(hub: HubProcess) -> None:
    """What `maintain` costs where nothing is to be done (limit half a percent of a core)."""
    Delivery.objects.update(status="held", held_for="operator", reason="Not now.")
    connection.close()
    process = psutil.Popen(
        [sys.executable, "manage.py", "maintain"], cwd=ROOT, env=hub.environment()
    )
    time.sleep(10)  # it starts, and runs each of its jobs once
    before = process.cpu_times()
    time.sleep(IDLE)
    spent = sum(process.cpu_times()[:2]) - sum(before[:2])
    process.terminate()
    process.wait()
    print(f"maintain with nothing to do: {spent / IDLE:.2%} of a core (limit 0.5 %)")


def pure() -> None:
    """The parts that hostile text goes through, at the largest size that comes in."""
    text = "@a #1 www.x.y https://z.z GH-1 ``` <!-- \\" * 1600
    fields = dict.fromkeys(rendering.PLACEHOLDERS, text)
    render = rendering.render_issue
    measure("removing secrets from 64 KiB", lambda n: secrets.remove(text), count=20)
    measure("an issue of hostile text", lambda n: render("{details}", fields), count=20)


def post(hub: HubProcess, number: int, host: str) -> None:
    body = build.report(f"https://{host}/{number}", report__summary=f"Gone {number}")
    requests.post(f"{hub.url}/v1/reports", json=body, timeout=30).raise_for_status()


def timed(call: Callable[[int], object], number: int) -> float:
    """Seconds."""
    begun = time.perf_counter()
    call(number)
    return time.perf_counter() - begun


def measure(name: str, call: Callable[[int], object], count: int = COUNT) -> float:
    """Print the median and the 99th percentile of `count` calls in ms; the latter in seconds."""
    times = [timed(call, number) for number in range(count)]
    percentiles = quantiles(times, n=100)
    print(f"{name}: p50 {percentiles[49] * 1000:.1f} ms, p99 {percentiles[98] * 1000:.1f} ms")
    return percentiles[98]


if __name__ == "__main__":
    sys.exit(main())
