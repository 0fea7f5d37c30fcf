"""A Hub in a process of its own and a code host that fails, with time that tests move."""

from collections import Counter
from datetime import timedelta

import requests
from django.core.management import call_command
from django.db.models import DateTimeField, F

from hub.models import Lease
from integrations.delivery import catching_up, forwarding, holds
from integrations.models import Attempt, Comment, Delivery, Installation, Integration
from reports.models import Report
from sandbox import CodeHost
from tests import build
from tests.hub_process import HubProcess


def post(hub: HubProcess, number: int, host: str = "docs.acme.com") -> requests.Response:
    """Send a report that no other number sends."""
    body = build.report(f"https://{host}/{number}", report__summary=f"Gone {number}")
    return requests.post(f"{hub.url}/v1/reports", json=body, timeout=120)


def try_to_post(hub: HubProcess) -> object:
    """The answer to a report, or the error if the Hub is killed meanwhile."""
    try:
        return post(hub, 1)
    except OSError as error:
        return error


IN_A_MARK = {"created_at", "occasion"}  # of a comment, so that they stay


def let_pass(**duration: float) -> None:
    """Time passes: everything that the database remembers is that much longer ago."""
    for model in (Attempt, Comment, Delivery, Installation, Integration, Lease):
        times = [f.name for f in model._meta.concrete_fields if isinstance(f, DateTimeField)]
        moved = {name: F(name) - timedelta(**duration) for name in times if name not in IN_A_MARK}
        model.objects.update(**moved)


def settle(rounds: int = 6) -> None:
    """Let the Hub do by itself what it does in some hours."""
    for _ in range(rounds):
        let_pass(minutes=70)
        catching_up.catch_up()
        holds.probe()
        for _ in range(2):  # what the first sets free goes in the second
            call_command("retry_deliveries")


def what_became(report_id: str) -> Delivery:
    return Delivery.objects.get(report=report_id)


def check(code_host: CodeHost, accepted: list[str]) -> Counter[str]:
    """Nothing lost, nothing doubled; how many deliveries are where."""
    deliveries = {each.report_id: each for each in Delivery.objects.all()}
    issues = code_host.issues("acme/docs")
    marked = Counter(
        report_id
        for report_id in deliveries
        for issue in issues
        if forwarding.marker(report_id) in (issue.body or "")
    )

    assert Report.objects.filter(pk__in=accepted).count() == len(set(accepted))
    for report_id, delivery in deliveries.items():
        if delivery.status == Delivery.Status.SENT:
            assert marked[report_id] == 1, (report_id, marked[report_id])
        elif delivery.status == Delivery.Status.FOLDED:
            assert deliveries[delivery.lead.report_id].status == Delivery.Status.SENT
            assert marked[report_id] == 0, (report_id, marked[report_id])
        else:
            assert delivery.reason, (report_id, delivery.status)
            assert marked[report_id] <= 1
    assert len(issues) == marked.total(), "an issue without a row, or a row with two issues"
    return Counter(each.status for each in deliveries.values())
