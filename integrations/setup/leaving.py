"""Deletes the integration of an organization that is deleted, and what it has."""

from collections.abc import Iterator

from django.db import transaction
from django.db.models import QuerySet

from core import batches
from integrations.delivery import pacing
from integrations.models import Alert, Comment, Delivery, Integration, Verdict
from orgs.models import Organization


def deleted(organization: Organization) -> Iterator[int]:
    """Delete it in batches; yields how many rows in each.

    None of them is sent meanwhile, since the organization has no claims any more.
    """
    for integration in Integration.objects.filter(organization=organization):
        alerts, comments, verdicts, deliveries = (
            model.objects.filter(integration=integration)
            for model in (Alert, Comment, Verdict, Delivery)
        )
        followers = deliveries.filter(status=Delivery.Status.FOLDED)  # before their leads
        for rows in (alerts, comments, verdicts, followers, deliveries):
            while pks := list(rows.order_by().values_list("pk", flat=True)[: batches.BATCH]):
                yield _deleted(rows.model.objects.filter(pk__in=pks))
        integration.delete()


@transaction.atomic
def _deleted(rows: QuerySet) -> int:
    if rows.model is not Verdict:
        pacing.keep_tries(rows)
    return rows.delete()[0]
