"""A problem with an issue, a report that has joined it, and the answer of the page's owner."""

from django.utils import timezone

from integrations.models import Answer, Delivery
from reports.models import Report
from tests import build

TEXT = "Use --yes until 2.4."
LINK = "https://docs.acme.com/2.4#yes"


def report_of(client, summary: str, **changes) -> Delivery:
    """The delivery of a report that was just sent."""
    body = build.report(report__summary=summary, **changes)
    return Delivery.objects.get(report=build.send(client, body).json()["id"])


def join(delivery: Delivery, lead: Delivery) -> None:
    """As if it had joined the issue of the lead."""
    Delivery.objects.filter(pk=delivery.pk).update(
        status="folded",
        lead=lead,
        folded_at=timezone.now(),
        issue_number=None,
        issue_url="",
        held_for="",
    )


def answered(delivery: Delivery, text: str = TEXT, link: str = "") -> Answer:
    return Answer.objects.create(delivery=delivery, text=text, link=link, made_by="alice")


def told(client, report_id: str) -> tuple:
    """What the receipt says of the issue that is known, and of the answer."""
    receipt = client.get(f"/v1/reports/{report_id}").json()
    return receipt["known_issue"], receipt["answer"]


def only_report() -> Report:
    return Report.objects.get()
