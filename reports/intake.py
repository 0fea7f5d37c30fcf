"""Intake: stores a well-formed report, or counts it as a duplicate of an earlier one."""

import hashlib
import logging
import secrets
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime
from typing import Any, NamedTuple

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from core.error_answers import Unavailable
from core.errors import ApiError
from core.prepared import again_if_stale
from core.watching import current, metrics
from orgs.ownership import Claim, Unclaimed, claim_covering, shared_name, unclaimed
from reports import repeats
from reports.models import TEST, AlreadyThere, Repeated, Report
from reports.screening import SecretNotice, page, without_secrets
from reports.shape import ReportBody

log = logging.getLogger(__name__)

TRIES = 5  # where others store the same report, or change its owner, at the same moment


class Receipt(NamedTuple):
    """The result of `accept`.

    `claimed`: whether an organization receives reports about the page now. `has_receiver`: whether one
    has received this report, or the first one that it repeats. `is_queued`: whether this one is to be sent
    on, and nothing has become of it yet.
    """

    id: str
    received_at: datetime
    is_duplicate: bool
    notices: list[SecretNotice]
    claimed: bool
    has_receiver: bool
    canonical_url: str
    is_queued: bool = False


class Stored(NamedTuple):
    """The report that was stored, or the earlier one that it repeats, and who has received it."""

    id: str
    received_at: datetime
    organization_id: str | None
    is_queued: bool = False


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
    is_test: bool = False,
) -> Receipt:
    """Store a report, or count it as a duplicate of an earlier one. Raises `OptedOut`.

    `source` is the network it comes from, or empty if that is not to be counted. `admit` is called
    with the claim that covers the page before anything else is done, and raises to refuse the report.
    It is called with None if the page is thought to be nobody's, and again if there is a claim after all.
    With `is_test` it is a test report (`Report.is_test`), and repeats none.
    Saving the row makes it travel on: delivery listens to its `post_save`, in the same transaction.
    """
    notices: list[SecretNotice] = []
    address = page(body.doc_url, notices)
    claim, unless_claimed = _admitted(address["canonical_url"], admit)
    _refuse_if_opted_out(claim)
    fields = {**address, **_columns(body, notices)}
    key = idempotency_key or body.idempotency_key
    dedup_key = _test_key() if is_test else _dedup_key(fields, key)
    for further_tries in reversed(range(TRIES)):
        new = _report(fields, dedup_key, claim, source)
        new.unclaimed_name = None if claim else shared_name(address["canonical_url"])
        new.unless_claimed = unless_claimed
        try:
            stored = _stored(new)
            break
        except IntegrityError as error:  # the same was stored, or its owner deleted, in between
            if not further_tries:
                raise _gave_up(error) from None
        claim = claim_covering(address["canonical_url"])
        if claim and unless_claimed:
            admit(claim)
        unless_claimed = None
        _refuse_if_opted_out(claim)
    is_duplicate = stored.id != new.id
    received_by = (claim is not None, stored.organization_id is not None)
    about = (*received_by, address["canonical_url"], stored.is_queued)
    return _noted(Receipt(stored.id, stored.received_at, is_duplicate, notices, *about), claim)


def _gave_up(error: IntegrityError) -> Unavailable:
    """What is answered where others were quicker at each try."""
    why = str(error).partition("\n")[0] or type(error).__name__
    log.error("A report was not stored in %s tries: %s", TRIES, why)
    return Unavailable(headers={"Retry-After": "1"})


def _admitted(
    url: str, admit: Callable[[Claim | None], None]
) -> tuple[Claim | None, Unclaimed | None]:
    """The claim that covers the page; or None, and what has to be true when the report is inserted.

    Admits the report, before the expensive work on a long text.
    """
    unless_claimed = unclaimed(url)
    if unless_claimed:
        try:
            admit(None)
        except ApiError:
            if not (claim := claim_covering(url)):
                raise
        else:
            return None, unless_claimed
    else:
        claim = claim_covering(url)
    admit(claim)
    return claim, None


def _noted(receipt: Receipt, claim: Claim | None) -> Receipt:
    kind = "duplicate" if receipt.is_duplicate else "new"
    metrics.reports.up(kind)
    current.note(
        outcome=kind,
        report=receipt.id,
        organization=claim.organization_id if claim else "",
        changed=current.REPORTS,
    )
    return receipt


def screened(body: ReportBody) -> tuple[dict[str, Any], list[SecretNotice]]:
    """The columns of a report as `accept` would store them, and the secrets removed. Stores nothing."""
    notices: list[SecretNotice] = []
    address = page(body.doc_url, notices)
    return {**address, **_columns(body, notices)}, notices


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


def _stored(new: Report) -> Stored:
    """Store `new`, or count it with the earlier report that it repeats.

    Raises `IntegrityError` if another request stores the same report, or deletes the owner, between our
    statements, or if there is a claim after all; a second try finds that.
    """
    try:
        return _saved(new)
    except Repeated as repeated:
        repeats.tell(repeated, new.source)
        return Stored(repeated.report_id, repeated.received_at, repeated.organization_id)
    except AlreadyThere:
        if new.unless_claimed and claim_covering(new.canonical_url):
            raise
        original = Report.objects.filter(dedup_key=new.dedup_key).first()
    if original and (counted := repeats.count(original, new)):
        return _facts(counted)
    with transaction.atomic():
        if original:
            Report.objects.filter(pk=original.pk).update(dedup_key=None)
        return _saved(new)


def _facts(report: Report) -> Stored:
    return Stored(report.id, report.received_at, report.organization_id, report.is_queued)


@again_if_stale
def _saved(new: Report) -> Stored:
    """What nobody owns is a single statement, which needs no transaction of its own."""
    already: AlreadyThere | None = None
    with transaction.atomic() if new.organization_id else nullcontext():
        try:
            new.save(force_insert=True)
        except AlreadyThere as error:  # nothing has failed that a transaction has to undo
            already = error
            if connection.in_atomic_block:
                transaction.set_rollback(False)
    if already:
        raise already
    return _facts(new)


def _refuse_if_opted_out(claim: Claim | None) -> None:
    if claim and claim.opted_out_at:
        raise OptedOut(since=claim.opted_out_at)


def _dedup_key(fields: dict[str, Any], client_key: str | None) -> str:
    """A key that two reports share if one repeats the other. No client can send an `auto:` or `test:` key."""
    scope = [fields["canonical_url"], fields["agent_name"]]
    if client_key:
        return f"key:{_sha256([*scope, client_key])}"
    return f"auto:{_sha256([*scope, fields['summary']])[:16]}"


def _test_key() -> str:
    return TEST + secrets.token_urlsafe(16)


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
