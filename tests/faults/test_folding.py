"""Reports about one problem, whatever happens meanwhile: one issue, nothing lost, nothing doubled."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from integrations.models import Delivery, Terms
from tests import build
from tests.faults import world
from tests.hub_process import ROOT
from tests.integrations.delivery.alike import AGAIN, PUSH, mode

pytestmark = pytest.mark.django_db(transaction=True)

KILLED = """
import os, signal, sys
import django
django.setup()
from integrations.delivery import forwarding, steps
from integrations.folding.signals import delivery_folded
def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)
{when}
forwarding.forward(sys.argv[1])
"""
BEFORE = "delivery_folded.connect(die)"  # in the transaction of the fold
AFTER = "steps.note = die"


def post(hub, words: dict[str, Any], **changes: Any) -> str:
    """The id of a report that was accepted."""
    body = build.report(**{**words, **changes})
    return requests.post(f"{hub.url}/v1/reports", json=body, timeout=120).json()["id"]


def several(hub, number: int) -> list[str]:
    """As many agents in words of their own, all at once."""

    def one(each: int) -> str:
        details = f"The command of step 3 exits with code {each}."
        return post(hub, AGAIN, report__details=details, agent__name=f"agent-{each}")

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(one, range(number)))


@pytest.fixture
def hub(hub):
    mode("fold")
    return hub


@pytest.mark.parametrize(("when", "status"), [(BEFORE, "sending"), (AFTER, "folded")])
def test_the_process_is_killed_while_a_report_joins_an_issue(hub, host, tell, when, status):
    lead = post(hub, PUSH)
    mode("hint")
    host.suspend(installation := host.installation_on(host.account("acme")))
    joins = post(hub, AGAIN)
    host.unsuspend(installation)
    mode("fold")
    Delivery.objects.filter(report=joins).update(status="pending", held_for="", reason="")

    code = KILLED.format(when=when)
    run = [sys.executable, "-c", code, joins]
    ended = subprocess.run(run, cwd=ROOT, env=hub.environment(), check=False)
    killed = world.what_became(joins)
    world.settle()

    last = world.what_became(joins)
    tell(f"{killed.status} -> {last.status}")
    assert ended.returncode < 0
    assert killed.status == status
    assert (last.status, last.lead.report_id) == ("folded", lead)
    assert not Terms.objects.get(delivery=last).may_lead
    assert world.check(host, [lead, joins]) == {"sent": 1, "folded": 1}


def test_several_at_once_join_one_issue(hub, host, tell):
    lead = post(hub, PUSH)
    joined = several(hub, 6)
    world.settle(1)

    outcomes = world.check(host, [lead, *joined])
    tell(f"{dict(outcomes)}")
    assert outcomes == {"sent": 1, "folded": 6}
    assert {each.lead.report_id for each in Delivery.objects.filter(status="folded")} == {lead}


def test_several_at_once_make_one_issue(hub, host, tell):
    ids = several(hub, 6)
    at_once = dict(world.check(host, ids))
    world.settle(2)

    outcomes = world.check(host, ids)
    tell(f"{at_once} -> {dict(outcomes)}")
    assert outcomes == {"sent": 1, "folded": 5}


@pytest.mark.parametrize("fault", ["502_after_creating", "500", "reset_mid_answer"])
def test_the_answer_about_the_lead_is_lost(hub, host, tell, fault):
    host.fail(fault)
    lead = post(hub, PUSH)
    first = world.what_became(lead)
    joins = post(hub, AGAIN)
    waits = world.what_became(joins)
    world.settle(2)

    tell(f"{first.status}, {waits.status} -> {world.what_became(joins).status}")
    assert first.outcome_unknown_since
    assert (waits.status, waits.last_tried_at) == ("pending", None)
    assert world.what_became(joins).lead == first
    assert world.check(host, [lead, joins]) == {"sent": 1, "folded": 1}
