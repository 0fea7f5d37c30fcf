"""Reports that are to be lost, or to become two issues: forged marks, keys of others, and all at once."""

import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from django.db import connection

from integrations.delivery import forwarding
from integrations.models import Delivery
from reports.models import Report
from tests import build
from tests.abuse.table import STRANGER, attack
from tests.abuse.world import Fell, Shipped, World, stands_if
from tests.faults.world import let_pass
from tests.hub_process import ROOT

ROUNDS = 2  # of `retry_deliveries`, with an hour in between
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@attack(STRANGER, "have a report counted as sent that never was")
def a_mark_in_an_issue_of_theirs(world: World) -> str:
    """GitHub fails; before the next try a stranger opens an issue with the report's own mark in it, twice."""
    world.acme()
    with world.hub() as hub:
        world.host.fail("502")
        report = hub.post(build.report()).json()["id"]
        mark = forwarding.marker(report)
        world.host.create_issue("acme/docs", title="x", body=f"{mark}\n{mark}", user="charlie")
        _retry(hub)
    ours = [each for each in world.host.issues("acme/docs") if each.user != "charlie"]
    delivery = Delivery.objects.get()
    connection.close()
    figures = f"{delivery.status} as issue {delivery.issue_number}; {len(ours)} issue of the Hub"
    return stands_if(
        delivery.status == "sent" and len(ours) == 1 and delivery.issue_number == ours[0].number,
        figures,
    )


@attack(STRANGER, "have one report become many issues")
def one_report_while_github_fails(world: World) -> str:
    """The same report 60 times at once while GitHub makes issues and answers 502; then two processes try, twice."""
    world.acme()
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub, ThreadPoolExecutor(20) as pool:
        world.host.fail("502_after_creating", times=3)
        ids = Counter(pool.map(lambda number: _send(hub, number), range(60)))
        _retry(hub)
    issues, stored = len(world.host.issues("acme/docs")), Report.objects.count()
    connection.close()
    return stands_if(
        len(ids) == issues == stored == 1, f"{len(ids)} id, {stored} report, {issues} issue"
    )


@attack(STRANGER, "keep somebody's report out by sending its key first")
def keys_of_others(world: World) -> str:
    """The automatic key of a report that will come is sent as a stranger's own, in header and body, in six forms."""
    world.acme()
    true = build.report(report__summary="The true one", agent__name="agent-x")
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub:
        hub.post(true)
        key = str(Report.objects.values_list("dedup_key", flat=True).get())
        Report.objects.all().delete()
        connection.close()
        for number, each in enumerate(
            (key, key.upper(), f" {key}", key.partition(":")[2], f"key:{key}", f"auto:{key}")
        ):
            bait = build.report(report__summary=f"Bait {number}", idempotency_key=each.strip())
            hub.post(bait, **{"Idempotency-Key": each.strip()})
        answer = hub.post(true).json()
    return stands_if(
        not answer["is_duplicate"], f"the true one is a duplicate: {answer['is_duplicate']}"
    )


def _send(hub: Shipped, number: int) -> str:
    return str(hub.post(build.report(), **{"X-Forwarded-For": f"198.51.{number}.7"}).json()["id"])


def _retry(hub: Shipped) -> None:
    """Let two processes at a time try what is due, as an hour passes each time."""
    command = [sys.executable, "manage.py", "retry_deliveries"]
    for _ in range(ROUNDS):
        let_pass(hours=1)
        connection.close()
        both = [
            subprocess.Popen(command, cwd=ROOT, env=hub.environment(), **QUIET) for _ in range(2)
        ]
        if any(each.wait(120) for each in both):
            raise Fell("retry_deliveries failed")
