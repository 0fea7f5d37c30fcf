"""Members say that two reports are the same problem, or not: what is sent follows, and a verdict is kept."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction

from core import batches, clock
from core.errors import ApiError
from integrations.delivery import ownership_changes, trying_again
from integrations.delivery.task import forward_report_now
from integrations.delivery.trying_again import BEING_SENT, NEVER_SENT, NO_REPOSITORY
from integrations.folding import joining, named_issues, verdicts
from integrations.folding.named_issues import CannotJoin
from integrations.models import Delivery
from integrations.models.delivery import ERASED
from integrations.models.hold import STOPPED_BY_OPERATOR
from orgs.models import Membership
from reports.models import Report

AT_ONCE = 1000  # split off by one request, so that it takes seconds at most
HEAD_START = timedelta(seconds=15)  # of the first of many, which has its issue by then
NOT_KNOWN = "It is not known yet whether GitHub opened the issue. Try again to find out."
CHANGED = "It was changed at the same moment. Look at it again."
SAID_BEFORE = "That was said before: it does not join that issue again."
NOTHING_LIKE_IT = "It has not joined the issue of another report, and none is said to be like it."
IS_LEAD = "Other reports have joined its issue. Split one of them off, or all of them."
NONE_JOINED = "No other report has joined its issue."


class CannotSplit(ApiError):
    """409: there is nothing from which the report could be split off."""

    status_code = 409
    default_code = "cannot_split"


def split(delivery: Delivery | None, *, by: Membership, shown: str | None = None) -> None:
    """Say that a report is not the same as the one whose issue it has joined, and send it by itself at once.

    Of one that is not folded: that it is not the same as what was said to be like it. `shown`: the id of the other
    report that the member was shown; if it is another one by now, nothing is changed. None if none was shown.
    Raises `CannotSplit` with the reason, and `rates.RateLimited` if the organization or the person has tried again
    too often.
    """
    if delivery is None:
        raise CannotSplit(NEVER_SENT)
    lead = verdicts.other_of(delivery)
    if lead is None:
        raise CannotSplit(_nothing_to_split(delivery))
    if shown not in (None, lead.report_id):
        raise CannotSplit(CHANGED)
    if delivery.status != Delivery.Status.FOLDED:
        _say_apart(delivery, lead, by)
        return
    trying_again.check_rate(by)
    if not _split([delivery.pk], lead, by):
        raise CannotSplit(CHANGED)
    forward_report_now.enqueue(delivery.report_id)


def split_all(lead: Delivery | None, *, by: Membership, until: datetime | None = None) -> int:
    """Split off all that has joined the issue of a report, at most `AT_ONCE`; returns how many.

    The first is sent at once. The others may join that one, or each other, but never this one again.
    `until`: when the newest joined that the member was asked about; what has joined since then stays, since a
    busy lead never stands still. None if nobody was asked. Raises as `split` does.
    """
    if lead is None:
        raise CannotSplit(NEVER_SENT)
    joined = lead.folded.filter(folded_at__lt=clock.after(until)) if until else lead.folded.all()
    ids = dict(joined.order_by("pk").values_list("pk", "report_id")[:AT_ONCE])
    if not ids:
        raise CannotSplit(CHANGED if lead.folded.exists() else NONE_JOINED)
    trying_again.check_rate(by)
    first = next(iter(ids))
    work = (_split(some, lead, by, first=first) for some in batches.of(list(ids)))
    count = sum(batches.at_leisure(lambda: True, work))
    forward_report_now.enqueue(ids[first])
    return count


def name(
    delivery: Delivery | None, issue_url: str, *, by: Membership, shown: str | None = None
) -> None:
    """Say that a report is the same as what an issue is about. It joins that, unless it has an issue of its own.

    Then it keeps that, and later reports like it join the issue that is named. `shown`: as for `split`, and empty
    if the member was shown that it is like none. Raises `CannotJoin` with the reason.
    """
    if delivery is None:
        raise CannotJoin(NEVER_SENT)
    if reason := obstacle(delivery):
        raise CannotJoin(reason)
    lead = named_issues.lead_at(issue_url, delivery)
    stays = delivery.status == Delivery.Status.SENT or delivery.lead_id == lead.pk
    if not stays and Delivery.objects.on_hold([delivery.pk]):  # whatever else holds it, too
        raise CannotJoin(STOPPED_BY_OPERATOR)
    with transaction.atomic():
        _lock_reports(delivery, lead)
        if shown is not None and _other_now(delivery) not in (shown, lead.report_id):
            raise CannotJoin(CHANGED)
        if not stays and not _join(delivery, lead, by):
            raise CannotJoin(CHANGED)
        verdicts.say([delivery], lead, is_same=True, by=by.login)


def obstacle(delivery: Delivery) -> str:
    """Why it cannot be named the same as another one, as a sentence; empty if it can."""
    if delivery.integration.repository_id is None:
        return NO_REPOSITORY
    if delivery.status == Delivery.Status.SENT:
        return ""
    if delivery.status == Delivery.Status.SENDING:
        return f"{BEING_SENT} Say it again in a moment."
    if delivery.report.erased_at:
        return ERASED
    if delivery.outcome_unknown_since:
        return NOT_KNOWN
    if delivery.held_for == Delivery.Cause.OPERATOR:
        return delivery.reason or STOPPED_BY_OPERATOR
    if not delivery.report.is_still_owned():
        return ownership_changes.LOST
    return ""


def _join(delivery: Delivery, lead: Delivery, by: Membership) -> int:
    """Let it join the lead, unless somebody has changed it meanwhile; how many joined.

    From one lead to another both are locked first, in one order: two that change places wait for each other.
    """
    mine = Delivery.objects.filter(pk=delivery.pk).exclude(held_for=Delivery.Cause.OPERATOR)
    if delivery.status == Delivery.Status.FOLDED:
        leads = Delivery.objects.filter(pk__in=[delivery.lead_id, lead.pk]).order_by("pk")
        list(leads.select_for_update(no_key=True).values_list("pk"))
        joining.unfold(mine.filter(lead=delivery.lead_id))
    words = delivery.likeness_words if delivery.maybe_lead_id == lead.pk else ""
    return joining.fold_under(mine, lead, by=by.login, words=words)


@transaction.atomic
def _say_apart(delivery: Delivery, lead: Delivery, by: Membership) -> None:
    """Say it of one that is not folded, unless it is by now, or is taken to be the same as another one."""
    _lock_reports(delivery, lead)
    mine = Delivery.objects.filter(pk=delivery.pk).exclude(status=Delivery.Status.FOLDED)
    now = mine.select_for_update(no_key=True).first()
    if now is None or verdicts.other_of(now) != lead:
        raise CannotSplit(CHANGED)
    verdicts.say([now], lead, is_same=False, by=by.login)


def _other_now(delivery: Delivery) -> str:
    """The id of the report that this one is taken to be the same as by now; empty if there is none."""
    now = Delivery.objects.select_related("lead", "maybe_lead").filter(pk=delivery.pk).first()
    other = verdicts.other_of(now) if now else None
    return other.report_id if other else ""


@transaction.atomic
def _split(pks: Sequence[int], lead: Delivery, by: Membership, *, first: int | None = None) -> int:
    """Split off those of one batch that are still folded; of many the `first` one goes ahead."""
    joined = lead.folded.filter(pk__in=pks).order_by("pk")
    _lock_reports(lead, *joined)
    mine = list(joined.select_for_update(no_key=True))
    verdicts.say(mine, lead, is_same=False, by=by.login, with_all=first is not None)
    theirs = Delivery.objects.filter(pk__in=[each.pk for each in mine])
    count = joining.unfold(theirs)
    if first is not None:
        theirs.exclude(pk=first).update(due_at=clock.now() + HEAD_START)
    return count


def _lock_reports(*deliveries: Delivery) -> None:
    """Lock their reports before anything else, in one order, as whoever erases or deletes them does."""
    reports = Report.objects.filter(pk__in=[each.report_id for each in deliveries])
    list(reports.order_by("pk").select_for_update(no_key=True).values_list("pk"))


def _nothing_to_split(delivery: Delivery) -> str:
    if delivery.folded.exists():
        return IS_LEAD
    return SAID_BEFORE if verdicts.was_split(delivery) else NOTHING_LIKE_IT
