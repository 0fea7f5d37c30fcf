"""Reports that join the issue of an earlier one, and the Hub's work in the background."""

from django.db import transaction
from django.test import Client

from core import clock
from integrations.comments import sending
from integrations.delivery.forwarding import forward
from integrations.folding import joining
from integrations.folding.signals import delivery_folded
from integrations.models import Comment, Delivery, Integration
from sandbox import CodeHost
from tests import build

WORDS = "same page; `--force` and “unknown flag” in common"


def report(summary: str = "The install command is gone", **changes: object) -> Delivery:
    """A report that has become an issue."""
    body = build.report(report__summary=summary, **changes)
    answer = build.send(Client(), body)
    assert answer.status_code == 201, answer.content
    return Delivery.objects.get(report=answer.json()["id"])


def lead() -> Delivery:
    """The first report, which has an issue."""
    return Delivery.objects.order_by("pk").first() or report()


def fold(
    summary: str,
    words: str = WORDS,
    by: str = "",
    under: Delivery | None = None,
    **changes: object,
) -> Delivery:
    """Another report, which joins the issue of the first one, or of this one."""
    first = under or lead()
    Integration.objects.update(paused_at=clock.now())
    joined = report(summary, **changes)
    Integration.objects.update(paused_at=None)
    columns = Delivery.joining(first, 1, words, by=by)
    with transaction.atomic():
        Delivery.objects.filter(pk=joined.pk).update(**columns)
        delivery_folded.send(Delivery, delivery=Delivery.objects.get(pk=joined.pk))
    return joined


def unfold(delivery: Delivery) -> None:
    joining.unfold(Delivery.objects.filter(pk=delivery.pk))


def maintain() -> None:
    """One round."""
    sending.send_due()
    for report_id in Delivery.objects.waiting().values_list("report_id", flat=True):
        forward(report_id)


def comment() -> Comment:
    return Comment.objects.get()


def shown(host: CodeHost, number: int = 1) -> str:
    """What the one comment on the issue says."""
    [there] = host.comments("acme/docs", number)
    return there.body
