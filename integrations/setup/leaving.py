"""Deletes the integration of an organization that is deleted, and what it has."""

from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from core import batches
from integrations.delivery import pacing
from integrations.models import Alert, Comment, Delivery, Integration, Verdict
from integrations.models.delivery import DeliveryQuerySet
from orgs.models import Organization


def deleted(organization: Organization) -> Iterator[int]:
    """Delete it in batches; yields how many rows in each.

    No report is sent meanwhile, since the organization has no claims any more.
    """
    for integration in Integration.objects.filter(organization=organization):
        deliveries = Delivery.objects.filter(integration=integration)
        others: list[QuerySet[Any]] = [
            each.objects.filter(integration=integration) for each in (Alert, Comment, Verdict)
        ]
        followers = deliveries.filter(status=Delivery.Status.FOLDED)  # before their leads
        for rows in (*others, followers, deliveries):
            while pks := list(rows.order_by().values_list("pk", flat=True)[: batches.AT_ONCE]):
                for some in batches.of(pks):
                    yield _deleted(rows.model._default_manager.filter(pk__in=some))
        integration.delete()


@transaction.atomic
def _deleted(rows: QuerySet[Any]) -> int:
    if isinstance(rows, DeliveryQuerySet):
        rows.lock()  # before their attempts, which are deleted first
    if rows.model is not Verdict:
        pacing.keep_tries(rows)
    return rows.delete()[0]
