"""What members have said about two reports: the same problem, or not. The latest word about a pair counts."""

from collections.abc import Callable, Collection, Iterator, Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from core import batches, clock
from core.prepared import PreparedStatement
from integrations.folding import stored_terms
from integrations.folding.candidates import Lead
from integrations.likeness.choosing import MOST_MEMBERS
from integrations.likeness.terms import RULE, Terms
from integrations.models import Delivery, Integration, Verdict
from integrations.models.delivery import DISMISSED
from integrations.models.verdict import VerdictQuerySet
from reports.models import Report

HOPS = 5  # from one lead to the one that it is the same as
AT_ONCE = 1000  # verdicts whose words are erased at once, or that are looked at for that

OTHERS = PreparedStatement(
    "Which reports has a member said not to be about the problem of this one?",
    """
    SELECT v.other_id FROM integrations_verdict v WHERE v.report_id = %s AND v.is_same = FALSE
    UNION ALL
    SELECT v.report_id FROM integrations_verdict v WHERE v.other_id = %s AND v.is_same = FALSE
    """,
)
SPLIT_OFF = PreparedStatement(
    "Which are the newest reports that a member has said not to be about the problem of this lead, and in "
    "what terms, but for those whose issue was dismissed?",
    f"""
    SELECT newest.report_id, t.terms FROM (
        SELECT v.id, v.other_id AS report_id FROM integrations_verdict v
        WHERE v.report_id = %s AND v.is_same = FALSE
        UNION ALL
        SELECT v.id, v.report_id FROM integrations_verdict v
        WHERE v.other_id = %s AND v.is_same = FALSE
        ORDER BY id DESC LIMIT {MOST_MEMBERS}
    ) newest
    JOIN integrations_delivery d ON d.report_id = newest.report_id
        AND NOT (d.issue_state = 'closed' AND d.issue_state_reason = ANY(%s))
    JOIN integrations_terms t ON t.delivery_id = d.id AND t.rule = {RULE}
    """,  # noqa: S608  (no values)
)


class Bookmark:
    """The last verdict that `forget_rest` has looked at."""

    last = 0


def others(report_id: str) -> set[str]:
    """The reports that a member has said are not about the problem of this one."""
    return {other for (other,) in OTHERS.rows(report_id, report_id)}


def are_apart(report_id: str) -> Q:
    """Whether a member has said of a delivery's report that it is not about the problem of this one.

    Looked up for each: all that was split off one report may be very many.
    """
    said = Verdict.objects.filter(is_same=False)
    return Q(
        Exists(said.filter(report=report_id, other=OuterRef("report")))
        | Exists(said.filter(report=OuterRef("report"), other=report_id))
    )


def split_off(lead: Lead, refused: Collection[str] = ()) -> list[Terms]:
    """The terms of what was said not to be the same as a lead: what is nearer to those does not join it.

    Without what was dismissed since then, since junk would keep all others from it. Without the reports in
    `refused`: what does not belong to those may join the lead, however near they are.
    """
    rows = SPLIT_OFF.rows(lead.report_id, lead.report_id, list(DISMISSED))
    return [stored_terms.read(terms) for report_id, terms in rows if report_id not in refused]


def real_lead(lead: Lead, integration: Integration, refused: Collection[str]) -> Lead | None:
    """The lead that a member has said is the same as this one, if it still is one; else this one.

    None if that is one of the reports in `refused`.
    """
    named = None if lead.number is None else _end_of(lead.report_id, integration)
    if named is not None:
        is_closed = named.issue_state == Delivery.IssueState.CLOSED
        lead = Lead(named.pk, named.report_id, named.issue_number, is_closed, lead.terms)
    return None if lead.report_id in refused else lead


def stays_alone(delivery: Delivery) -> bool:
    """Whether a member has split this one off by itself, so that it gets an issue of its own."""
    said = Verdict.objects.filter(report=delivery.report_id, is_same=False, with_all=False)
    return said.exists()


def lead_for(delivery: Delivery) -> Delivery:
    """The lead that others join instead of this one, since a member has named it as the same; else this one."""
    return _end_of(delivery.report_id, delivery.integration) or delivery


def _end_of(report_id: str, integration: Integration) -> Delivery | None:
    """The last lead that members have named as the same, from one to the next; None if there is none.

    One that was dismissed is passed over: nobody is told of what joins it.
    """
    there = integration.deliveries.leads().filter(repository_id=integration.repository_id)
    seen, found, here = {report_id}, None, report_id
    for _ in range(HOPS):
        said = _named(here)
        named = there.filter(report=said.other_id).first() if said else None
        if named is None or named.report_id in seen:
            break
        here = named.report_id
        seen.add(here)
        if not named.is_dismissed:
            found = named
    return found


def other_of(delivery: Delivery) -> Delivery | None:
    """The one that a report is taken to be the same as: its lead, what was named, or what its issue names."""
    if delivery.lead_id:
        return delivery.lead
    hinted = delivery.maybe_lead
    if (named := named_as_same(delivery)) or hinted is None:
        return named
    said = Verdict.objects.between(delivery.report_id, hinted.report_id)
    return None if said.filter(is_same=False).exists() else hinted


def named_as_same(delivery: Delivery) -> Delivery | None:
    """The one that a member has named as the same, whether or not others may join it today."""
    said = _named(delivery.report_id)
    return Delivery.objects.filter(report=said.other_id).first() if said else None


def was_split(delivery: Delivery) -> bool:
    """Whether a member has said that it is not the same as another one."""
    return Verdict.objects.filter(report=delivery.report_id, is_same=False).exists()


def say(
    deliveries: Sequence[Delivery],
    lead: Delivery,
    *,
    is_same: bool,
    by: str,
    with_all: bool = False,
) -> None:
    """Write down that these reports are the same as the lead, or not. It replaces what was said before."""
    ids = [each.report_id for each in deliveries]
    before = Verdict.objects.filter(report__in=ids, other=lead.report_id)
    known = {each.report_id: each for each in before.noting_words()}
    Verdict.objects.filter(report=lead.report_id, other__in=ids).delete()
    said = {"is_same": is_same, "made_by": by, "made_at": clock.now(), "with_all": with_all}
    rows = [
        Verdict(
            integration_id=each.integration_id,
            report_id=each.report_id,
            other_id=lead.report_id,
            **said,
            **_found(each, lead, known.get(each.report_id)),
        )
        for each in deliveries
    ]
    columns = [*said, "rule", "words"]
    Verdict.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["report", "other"], update_fields=columns
    )


def forget_words(report: Report) -> None:
    """Erase what a report had in common with others: of `AT_ONCE` verdicts, and `forget_rest` does the rest."""
    some = Verdict.objects.about(report.pk).order_by().values_list("pk", flat=True)
    pks = list(some[:AT_ONCE])
    Verdict.objects.filter(pk__in=pks).exclude(words="").update(words="")


def forget_rest(go_on: Callable[[], bool] = lambda: True, bookmark: Bookmark | None = None) -> int:
    """Erase what erased reports still have in common with others, while `go_on` returns True; returns how many.

    Nobody is told it meanwhile. It begins where the last call with this bookmark has stopped.
    """
    return sum(batches.at_leisure(go_on, _forgotten(bookmark or Bookmark())))


def _forgotten(here: Bookmark) -> Iterator[int]:
    """Yields how many of each batch had words, in one pass over all verdicts."""
    while pks := _next(here.last):
        rows = Verdict.objects.filter(pk__gt=here.last, pk__lte=pks[-1])
        forgotten = _forget(rows)
        here.last = pks[-1]
        yield forgotten
    here.last = 0


@transaction.atomic
def _forget(rows: VerdictQuerySet) -> int:
    """Without those that a member is replacing at this moment, as the next pass has them again."""
    free = rows.with_erased_words().select_for_update(of=("self",), skip_locked=True)
    left = list(free.values_list("pk", flat=True))
    return Verdict.objects.filter(pk__in=left).update(words="") if left else 0


def _next(after: int) -> list[int]:
    rows = Verdict.objects.filter(pk__gt=after).order_by("pk")
    return list(rows.values_list("pk", flat=True)[:AT_ONCE])


def _found(delivery: Delivery, lead: Delivery, known: Verdict | None) -> dict[str, object]:
    """What the rule had found in common between them, now or when something was said before."""
    if lead.pk in (delivery.lead_id, delivery.maybe_lead_id) and delivery.likeness_rule:
        return {"rule": delivery.likeness_rule, "words": delivery.likeness_words}
    return {"rule": known.rule, "words": known.words_told} if known else {}


def _named(report_id: str) -> Verdict | None:
    return Verdict.objects.filter(report=report_id, is_same=True).latest_first().first()
