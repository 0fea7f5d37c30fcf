"""Intake: stores a well-formed report, or counts it as a duplicate of an earlier one."""

import hashlib
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime
from typing import Any, NamedTuple

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from core.errors import ApiError
from orgs.ownership import Claim, claim_covering
from reports import repeats
from reports.models import AlreadyThere, Report
from reports.screening import SecretNotice, page, without_secrets
from reports.shape import ReportBody


class Receipt(NamedTuple):
    """The result of `accept`."""

    id: str
    received_at: datetime
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
    new = _report(fields, dedup_key, claim, source)
    if repeated := repeats.count_in_same_words(new):
        return Receipt(*repeated, is_duplicate=True, notices=notices)
    try:
        stored = _stored(new)
    except IntegrityError:  # the same report was stored, or its owner deleted, in between
        claim = _claim(address["canonical_url"])
        new = _report(fields, dedup_key, claim, source)
        stored = _stored(new)
    return Receipt(stored.id, stored.received_at, stored is not new, notices)


def _report(fields: dict[str, Any], dedup_key: str, claim: Claim | None, source: str) -> Report:
    now = timezone.now()
    report = Report(
        **fields,
        organization_id=claim.organization_id if claim else None,
        dedup_key=dedup_key,
        received_at=now,
        last_received_at=now,
    )
    report.source = source
    return report


def _stored(new: Report) -> Report:
    """`new`, stored; or the earlier report with its key, which counts it.

    Raises `IntegrityError` if another request stores the same report, or deletes the owner, between our
    statements; a second try finds that.
    """
    try:
        return _saved(new)
    except AlreadyThere:
        original = Report.objects.filter(dedup_key=new.dedup_key).first()
    if original and (counted := repeats.count(original, new)):
        return counted
    with transaction.atomic():
        if original:
            Report.objects.filter(pk=original.pk).update(dedup_key=None)
        return _saved(new)


def _saved(new: Report) -> Report:
    """What nobody owns is a single statement, which needs no transaction of its own."""
    is_alone = not (new.organization_id or connection.in_atomic_block)
    with nullcontext() if is_alone else transaction.atomic():
        new.save(force_insert=True)
    return new


def _claim(url: str) -> Claim | None:
    """The claim that covers the page, if any. Raises `OptedOut`."""
    claim = claim_covering(url)
    if claim and claim.opted_out_at:
        raise OptedOut(since=claim.opted_out_at)
    return claim


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
