"""The terms of reports, stored when a delivery is first looked at, and made anew once their rule is old."""

import hashlib
import json
from collections.abc import Iterable
from functools import lru_cache

from core import prepared
from core.prepared import PreparedStatement
from integrations.likeness.terms import RULE, Terms, terms_of
from integrations.models import Delivery
from integrations.models import Terms as StoredTerms
from integrations.models.delivery import LeaseLost
from reports.models import Report

ANEW = (
    "DO UPDATE SET page = excluded.page, rule = excluded.rule, terms = excluded.terms RETURNING 1"
)


STORE = PreparedStatement(
    "Has this try still its lease? Then save the terms of its report. What is being erased has none any more.",
    f"""
    INSERT INTO integrations_terms (delivery_id, integration_id, page, rule, terms, may_lead)
    SELECT d.id, d.integration_id, %s, {RULE}, %s::jsonb, TRUE
    FROM integrations_delivery d WHERE d.id = %s AND d.status = 'sending' AND d.tries = %s
    FOR UPDATE OF d
    ON CONFLICT (delivery_id) {ANEW}
    """,  # noqa: S608  (no values)
)
KEPT = 600  # terms that a process has read: those of the leads of a page in a flood


def page_of(report: Report) -> str:
    """The page that a report is about, as it is compared."""
    return page_at(report.canonical_url)


def page_at(url: str) -> str:
    """The page at a canonical URL, as it is compared."""
    return hashlib.sha256(url.encode()).hexdigest()[:32]


def of(report: Report) -> Terms:
    """The terms of a report, from its text."""
    told = (report.summary, report.details, report.evidence, report.suggested_fix)
    return terms_of(*told, page_url=report.canonical_url)


@lru_cache(KEPT)
def read(stored: str) -> Terms:
    """What a statement has read, of this rule."""
    return Terms.from_json(json.loads(stored))


def store(delivery: Delivery, terms: Terms) -> None:
    """Save the terms of a delivery that is being tried. Raises `LeaseLost`."""
    page = page_of(delivery.report)
    stored = json.dumps(
        terms.as_json(), ensure_ascii=False
    )  # escaped, it is up to six times as long
    if STORE.first(page, stored, delivery.pk, delivery.tries) is None:
        raise LeaseLost(delivery.report_id)


def forget(deliveries: Iterable[Delivery]) -> None:
    """Delete their terms: their text was erased."""
    StoredTerms.objects.filter(delivery__in=deliveries).delete()


def put(delivery: Delivery, terms: Terms) -> None:
    """Save the terms of a delivery whose row is locked."""
    row = StoredTerms(
        delivery=delivery,
        integration_id=delivery.integration_id,
        page=page_of(delivery.report),
        rule=RULE,
        terms=terms.as_json(),
        may_lead=delivery.status != Delivery.Status.FOLDED,
    )
    prepared.insert(row, unique="delivery", on_conflict=ANEW)
