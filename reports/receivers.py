"""Lets go of the reports of an organization that is deleted."""

from collections.abc import Iterator
from typing import Any

from django.dispatch import receiver

from core import batches
from orgs.models import Organization
from orgs.models.signals import organization_left
from reports.models import Report


@receiver(organization_left, dispatch_uid="let-go-of-its-reports")
def let_go(organization: Organization, **kwargs: Any) -> Iterator[int]:
    """They stay, without its name."""
    mine = Report.objects.filter(organization=organization)
    while pks := list(mine.order_by().values_list("pk", flat=True)[: batches.BATCH]):
        yield Report.objects.filter(pk__in=pks).update(organization=None)
