"""The way in: a well-formed report becomes a row, or raises the counter of its twin."""

import hashlib
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from orgs.errors import ApiError
from orgs.models import Organization
from orgs.ownership import claim_covering
from reports.models import Report
from reports.screening import Notice, page, without_secrets
from reports.shape import Body


class Receipt(NamedTuple):
    """What `accept` made of a report."""

    report: Report
    is_duplicate: bool
    notices: list[Notice]


class OptedOut(ApiError):
    status_code = 410
    default_code = "opted_out"
    default_detail = "The owner of this page takes no reports about it. Nothing was stored."


def accept(body: Body, *, idempotency_key: str | None = None) -> Receipt:
    """Store a report, or count it as a duplicate of the one that came first. Raises `OptedOut`.

    Saving the row is what makes it travel on: whoever forwards reports listens to its `post_save`,
    in the same transaction.
    """
    notices: list[Notice] = []
    fields = _columns(body, notices)
    dedup_key = _dedup_key(fields, idempotency_key or body.idempotency_key)
    try:
        report, is_duplicate = _store(fields, dedup_key)
    except IntegrityError:  # its twin came in between, or its owner went
        report, is_duplicate = _store(fields, dedup_key)
    return Receipt(report, is_duplicate, notices)


def _store(fields: dict[str, Any], dedup_key: str) -> tuple[Report, bool]:
    """The stored report, and whether it was there before.

    Raises `IntegrityError` where somebody else stores a twin, or deletes the owner, between our
    look and our insert; a second look finds that.
    """
    owner = _owner(fields["canonical_url"])
    now = timezone.now()
    with transaction.atomic():
        twin = Report.objects.filter(dedup_key=dedup_key).first()
        if twin and twin.received_at > now - timedelta(days=settings.HUB_DEDUP_DAYS):
            return _count(twin, now, owner=owner), True
        if twin:
            Report.objects.filter(pk=twin.pk).update(dedup_key=None)
        return _insert({**fields, "organization": owner}, dedup_key, now), False


def _owner(url: str) -> Organization | None:
    """Whose page it is. Raises `OptedOut`."""
    claim = claim_covering(url)
    if claim and claim.opted_out_at:
        raise OptedOut(since=claim.opted_out_at)
    return claim.organization if claim else None


def _insert(fields: dict[str, Any], dedup_key: str, now: datetime) -> Report:
    return Report.objects.create(
        **fields,
        dedup_key=dedup_key,
        received_at=now,
        last_received_at=now,
    )


def _count(twin: Report, now: datetime, *, owner: Organization | None) -> Report:
    """Raise the counter; a report that was nobody's may have found its owner since."""
    changed = ["times_reported", "last_received_at"]
    if twin.organization_id is None and owner:
        twin.organization = owner
        changed.append("organization")  # never back to nobody: another may have found it meanwhile
    twin.times_reported = F("times_reported") + 1
    twin.last_received_at = now
    twin.save(update_fields=changed)
    return twin


def _dedup_key(fields: dict[str, Any], client_key: str | None) -> str:
    """What two reports share if one repeats the other; no client can send another's `auto:` key."""
    scope = [fields["canonical_url"], fields["agent_name"]]
    if client_key:
        return f"key:{_sha256([*scope, client_key])}"
    return f"auto:{_sha256([*scope, fields['summary']])[:16]}"


def _sha256(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _columns(body: Body, notices: list[Notice]) -> dict[str, Any]:
    """The columns of a report that its sender fills, without secrets, and what was removed.

    What is absent stays at its default.
    """
    sent = body.model_dump(exclude_none=True, exclude={"comment", "idempotency_key", "doc_url"})
    sent = without_secrets(sent, "", notices)
    agent = {f"agent_{name}": text for name, text in sent["agent"].items()}
    top = ("task_context", "submitted_at", "locale", "client_capabilities")
    return {
        **page(body.doc_url, notices),
        **{name: sent[name] for name in top if name in sent},
        **sent["report"],
        **agent,
        "notices": [notice._asdict() for notice in notices],
    }
