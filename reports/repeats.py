"""Repeats: what arrives under the key of an earlier report is counted there, or replaces it."""

from contextlib import suppress

from django.db import IntegrityError, transaction
from django.db.models import F

from orgs.models import Organization
from reports import accounts
from reports.models import Account, Repeated, Report, Statement
from reports.signals import is_true, is_unheard, is_unwanted


def tell(repeated: Repeated, source: str) -> None:
    """Save the earlier report again if somebody would act on that, since `post_save` decides."""
    about = {"report_id": repeated.report_id, "source": source}
    if repeated.organization_id and is_true(is_unheard, **about):
        with suppress(IntegrityError):  # the integration was removed in between
            _save_again(repeated.report_id, source)


def _save_again(report_id: str, source: str) -> None:
    """Save a report as it is, for those that listen to `post_save`."""
    with transaction.atomic():
        if report := Report.objects.filter(pk=report_id).first():
            report.source = source
            report.save(update_fields=["last_received_at"])


def count(original: Report, new: Report) -> Report | None:
    """The earlier report, counted once more; None if `new` must be stored in its place.

    Words that differ are kept. If the page has an owner only now, they receive the report. Raises `IntegrityError`
    if another request has found an owner since the earlier report was read: the page may have passed on meanwhile.
    """
    said = _said_by(new)
    may_add = original.words != said.words and accounts.may_add(original, said, new.source)
    with transaction.atomic():
        report = _locked(original)
        if report and report.organization_id != original.organization_id:
            raise IntegrityError("The report has an owner by now.")
        if report is None or not _may_be_repeated(report, new):
            return None
        report.source = new.source
        return _counted(report, said, new, may_add=may_add)


def _locked(original: Report) -> Report | None:
    """The current row of the same report, locked; None if its key belongs to another one now."""
    rows = Report.objects.select_for_update(no_key=True)
    return rows.filter(pk=original.pk, dedup_key=original.dedup_key).first()


def _may_be_repeated(report: Report, new: Report) -> bool:
    """Whether the report may still count what arrives under its key; if not, that is a new report.

    It may not if it is too old, or if its page has changed owners, since the new owner has heard
    nothing yet, and reads nothing that the old one has received; if that one was deleted, there may be a
    new one later. Other words also make a new report if nobody would read them here, such as with a report
    that was discarded, or if its page has no owner now. So do the same words if nobody can read the report.
    """
    if report.received_at <= new.too_old_to_repeat or report.was_anothers:
        return False
    repeats_words = report.words == new.words
    if report.organization_id not in (None, new.organization_id):
        is_there = Organization.objects.filter(pk=report.organization_id, left_at=None)
        return new.organization_id is None and repeats_words and is_there.exists()
    counts_anyway = repeats_words and report.withheld_for is None
    return counts_anyway or not is_true(is_unwanted, report=report, source=new.source)


def _said_by(new: Report) -> Account:
    """What its sender says, whether or not it becomes a further account."""
    return Account(**{each.name: getattr(new, each.name) for each in Statement._meta.fields})


def _counted(original: Report, said: Account, new: Report, *, may_add: bool) -> Report:
    """Raise the counter and keep what differs; a report that had no owner may get one now."""
    changed = ["times_reported", "last_received_at"]
    if original.words != said.words:
        accounts.keep(original, said, new.received_at, may_add=may_add)
        changed += ["further_accounts", "accounts_not_kept"]
    if original.organization_id is None and new.organization_id:
        changed += original.receive(new.organization_id)
    original.times_reported = F("times_reported") + 1
    original.last_received_at = new.received_at
    original.save(update_fields=changed)
    return original
