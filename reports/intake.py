"""Intake: stores a well-formed report, or counts it as a duplicate of an earlier one."""

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from core.errors import ApiError
from orgs.models import Domain, Site
from orgs.ownership import claim_covering
from reports import accounts
from reports.models import Account, Report
from reports.screening import SecretNotice, page, without_secrets
from reports.shape import ReportBody
from reports.signals import is_unwanted

Claim = Domain | Site


class Receipt(NamedTuple):
    """The result of `accept`."""

    report: Report
    is_duplicate: bool
    notices: list[SecretNotice]


class OptedOut(ApiError):
    """410: the owner of the page has opted out of reports."""

    status_code = 410
    default_code = "opted_out"
    default_detail = "The owner of this page does not accept reports about it. Nothing was saved."


def accept(
    body: ReportBody,
    *,
    idempotency_key: str | None = None,
    source: str = "",
    admit: Callable[[Claim | None], None] = lambda claim: None,
) -> Receipt:
    """Store a report, or count it as a duplicate of an earlier one. Raises `OptedOut`.

    `source` is the network it comes from, or empty if that is not to be counted. `admit` is called
    with the claim that covers the page before anything is stored, and raises to refuse the report.
    Saving the row makes it travel on: delivery listens to its `post_save`, in the same transaction.
    """
    notices: list[SecretNotice] = []
    address = page(body.doc_url, notices)
    claim = _claim(address["canonical_url"])
    admit(claim)  # before the expensive work on a long text
    fields = {**address, **_columns(body, notices)}
    dedup_key = _dedup_key(fields, idempotency_key or body.idempotency_key)
    try:
        report, is_duplicate = _store(fields, dedup_key, claim=claim, source=source)
    except IntegrityError:  # the same report was stored, or its owner deleted, in between
        claim = _claim(address["canonical_url"])
        report, is_duplicate = _store(fields, dedup_key, claim=claim, source=source)
    return Receipt(report, is_duplicate, notices)


def _store(
    fields: dict[str, Any], dedup_key: str, *, claim: Claim | None, source: str
) -> tuple[Report, bool]:
    """The stored report, and whether it existed before.

    Raises `IntegrityError` if another request stores the same report, or deletes the owner, between our
    query and our insert; a second try finds that.
    """
    owner_id = claim.organization_id if claim else None
    now = timezone.now()
    original = Report.objects.filter(dedup_key=dedup_key).first()
    if original and (
        counted := _repeated(original, _said(fields), now, owner_id=owner_id, source=source)
    ):
        return counted, True
    report = Report(
        **fields,
        organization_id=owner_id,
        dedup_key=dedup_key,
        received_at=now,
        last_received_at=now,
    )
    report.source = source
    with transaction.atomic():
        if original:
            Report.objects.filter(pk=original.pk).update(dedup_key=None)
        report.save(force_insert=True)
    return report, False


def _repeated(
    original: Report, said: Account, now: datetime, *, owner_id: str | None, source: str
) -> Report | None:
    """The earlier report, counted once more; None if this one must become a new report."""
    differs = original.words != said.words
    may_add = differs and accounts.may_add(original, said, source)
    with transaction.atomic():
        report = _locked(original) if differs else original
        if report is None or not _may_be_repeated(report, said, now, owner_id=owner_id):
            return None
        report.source = source
        return _count(report, said, now, owner_id=owner_id, may_add=may_add)


def _locked(original: Report) -> Report | None:
    """The current row of the same report, locked; None if its key belongs to another one now."""
    rows = Report.objects.select_for_update(no_key=True)
    return rows.filter(pk=original.pk, dedup_key=original.dedup_key).first()


def _may_be_repeated(report: Report, said: Account, now: datetime, *, owner_id: str | None) -> bool:
    """Whether the report may still count what arrives under its key; if not, that is a new report.

    It may not if it is too old, or if its page has changed owners, since the new owner has heard
    nothing yet. Other words also make a new report if nobody would read them here: if the report was
    discarded, or if its page has no owner now.
    """
    if report.received_at <= now - timedelta(days=settings.HUB_DEDUP_DAYS):
        return False
    repeats_words = report.words == said.words
    if report.organization_id not in (None, owner_id):
        return owner_id is None and repeats_words
    return repeats_words or not _is_unwanted(report)


def _is_unwanted(report: Report) -> bool:
    return any(unwanted for _, unwanted in is_unwanted.send(Report, report=report))


def _said(fields: dict[str, Any]) -> Account:
    """What this sender says, whether or not it becomes a further account."""
    names = {each.name for each in Account._meta.fields} & fields.keys()
    return Account(**{name: fields[name] for name in names})


def _claim(url: str) -> Claim | None:
    """The claim that covers the page, if any. Raises `OptedOut`."""
    claim = claim_covering(url)
    if claim and claim.opted_out_at:
        raise OptedOut(since=claim.opted_out_at)
    return claim


def _count(
    original: Report, said: Account, now: datetime, *, owner_id: str | None, may_add: bool
) -> Report:
    """Raise the counter and keep what differs; a report that had no owner may get one now."""
    changed = ["times_reported", "last_received_at"]
    if original.words != said.words:
        accounts.keep(original, said, now, may_add=may_add)
        changed += ["further_accounts", "accounts_not_kept"]
    if original.organization_id is None and owner_id:
        original.organization_id = owner_id
        changed.append(
            "organization_id"
        )  # never cleared: another request may have found the owner in between
    original.times_reported = F("times_reported") + 1
    original.last_received_at = now
    original.save(update_fields=changed)
    return original


def _dedup_key(fields: dict[str, Any], client_key: str | None) -> str:
    """A key that two reports share if one repeats the other. No client can send an `auto:` key."""
    scope = [fields["canonical_url"], fields["agent_name"]]
    if client_key:
        return f"key:{_sha256([*scope, client_key])}"
    return f"auto:{_sha256([*scope, fields['summary']])[:16]}"


def _sha256(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _columns(body: ReportBody, notices: list[SecretNotice]) -> dict[str, Any]:
    """The columns of a report from its body, without secrets, and what was removed.

    Absent fields keep their defaults.
    """
    sent = body.model_dump(exclude_none=True, exclude={"comment", "idempotency_key", "doc_url"})
    sent = without_secrets(sent, "", notices)
    agent = {f"agent_{name}": text for name, text in sent["agent"].items()}
    top = ("task_context", "submitted_at", "locale", "client_capabilities")
    return {
        **{name: sent[name] for name in top if name in sent},
        **sent["report"],
        **agent,
        "notices": [notice._asdict() for notice in notices],
    }
