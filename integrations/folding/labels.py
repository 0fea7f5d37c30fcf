"""What is known of pairs of reports: what members have said, and what the rule has found and nobody has disputed.

Without pairs of which one was erased or is withheld.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet

from integrations.models import Delivery, Verdict
from orgs.models import Organization
from reports.models import Report

BATCH = 20  # pairs read at once: each of the two may take tens of kilobytes
KEPT = {"erased_at": None, "withheld_for": None}  # of a report whose text may be told


class Pairs(NamedTuple):
    """Pairs of one kind, and how each of them is told."""

    rows: QuerySet[Any]
    told: Callable[[Any], dict[str, Any]]


def kinds(organization: Organization | None = None) -> list[Pairs]:
    """All kinds of pairs, of one organization or of all."""
    mine = {"integration__organization": organization} if organization else {}
    said = Verdict.objects.filter(**mine, **_kept("report"), **_kept("other"))
    found = Delivery.objects.filter(**mine, **_kept("report"))
    hinted = found.filter(maybe_lead__isnull=False, **_kept("maybe_lead__report"))
    folded = found.folded().filter(**_kept("lead__report"))
    return [
        Pairs(said.select_related("report", "other"), _said),
        Pairs(_undisputed(hinted, "maybe_lead"), _hinted),
        Pairs(_undisputed(folded, "lead"), _folded),
    ]


def pairs_of(kind: Pairs) -> Iterator[dict[str, Any]]:
    """Each pair of a kind, the oldest first, read a batch at a time."""
    rows, last = kind.rows.order_by("pk"), 0
    while some := list(rows.filter(pk__gt=last)[:BATCH]):
        yield from map(kind.told, some)
        last = some[-1].pk


def _kept(report: str) -> dict[str, None]:
    return {f"{report}__{column}": value for column, value in KEPT.items()}


def _undisputed(deliveries: QuerySet[Delivery], lead: str) -> QuerySet[Delivery]:
    """Those of which no member has said that they are the same as this lead, or not."""
    other = OuterRef(f"{lead}__report")
    one_way = Verdict.objects.filter(report=OuterRef("report"), other=other)
    other_way = Verdict.objects.filter(report=other, other=OuterRef("report"))
    unsaid = deliveries.filter(~Q(Exists(one_way)), ~Q(Exists(other_way)))
    return unsaid.select_related("report", f"{lead}__report")


def _said(verdict: Verdict) -> dict[str, Any]:
    told = {"same": verdict.is_same, "folded": None, "with_all": verdict.with_all}
    found = {"rule": verdict.rule, "words": verdict.words, "at": verdict.made_at}
    return told | found | _texts(verdict.report, verdict.other)


def _hinted(delivery: Delivery) -> dict[str, Any]:
    told = {"same": None, "folded": False, "with_all": False, "at": delivery.created_at}
    lead = delivery.maybe_lead
    return told | _found(delivery) | (_texts(delivery.report, lead.report) if lead else {})


def _folded(delivery: Delivery) -> dict[str, Any]:
    told = {"same": None, "folded": True, "with_all": False, "at": delivery.folded_at}
    lead = delivery.lead
    return told | _found(delivery) | (_texts(delivery.report, lead.report) if lead else {})


def _found(delivery: Delivery) -> dict[str, Any]:
    return {"rule": delivery.likeness_rule, "words": delivery.likeness_words}


def _texts(report: Report, other: Report) -> dict[str, Any]:
    return {"report": _text(report), "other": _text(other)}


def _text(report: Report) -> dict[str, Any]:
    """A report as it was sent, without who sent it and what they were doing."""
    names = ("kind", "summary", "details", "evidence", "suggested_fix")
    return {
        "id": report.pk,
        "page": report.canonical_url,
        "received_at": report.received_at,
        "doc_url": report.doc_url,
        "agent": {"name": report.agent_name},
        "report": {name: getattr(report, name) for name in names},
    }
