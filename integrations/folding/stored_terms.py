"""The terms of reports, stored when a delivery is first looked at, and made anew once their rule is old."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction

from core import prepared
from integrations.likeness.terms import RULE, Terms, terms_of
from integrations.models import Delivery
from integrations.models import Terms as StoredTerms
from integrations.models.delivery import LeaseLost
from reports.models import Report

ANEW = (
    "DO UPDATE SET page = excluded.page, rule = excluded.rule, terms = excluded.terms RETURNING 1"
)


def page_of(report: Report) -> str:
    """The page that a report is about, as it is compared."""
    return hashlib.sha256(report.canonical_url.encode()).hexdigest()[:32]


def of(report: Report) -> Terms:
    """The terms of a report, from its text."""
    told = (report.summary, report.details, report.evidence, report.suggested_fix)
    return terms_of(*told, page_url=report.canonical_url)


def read(stored: Mapping[str, Any] | str) -> Terms:
    """What a statement or a row has read."""
    return Terms.from_json(json.loads(stored) if isinstance(stored, str) else stored)


def store(delivery: Delivery, terms: Terms) -> None:
    """Save the terms of a delivery that is being tried. Raises `LeaseLost`.

    Its row is locked, so that no terms of a text are saved that is being erased.
    """
    with transaction.atomic():
        rows = Delivery.objects.filter(pk=delivery.pk, status=Delivery.Status.SENDING)
        mine = rows.filter(tries=delivery.tries).select_for_update()
        if mine.values_list("pk").first() is None:
            raise LeaseLost(delivery.report_id)
        put(delivery, terms)


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
