"""Deletes the integration of an organization that is deleted, and what it has; tells installations nobody needs."""

from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from core import batches, clock
from integrations.delivery import pacing
from integrations.github_sync import visibility
from integrations.models import (
    Alert,
    Comment,
    Delivery,
    Installation,
    Integration,
    PastTry,
    Verdict,
)
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
        with transaction.atomic():
            integration.delete()
            left, through = integration.repository_id, integration.installation.github_id
            visibility.leave(left, installation_id=through)


@transaction.atomic
def _deleted(rows: QuerySet[Any]) -> int:
    if isinstance(rows, DeliveryQuerySet):
        rows.lock()  # before their attempts, which are deleted first
    if rows.model is not Verdict:
        pacing.keep_tries(rows)
    return rows.delete()[0]


def unused_installations() -> QuerySet[Installation]:
    """Those that no organization has, whose pace and limits are over, and that reach no issue of who has moved on.

    Whose account has such an issue would only be known from all deliveries: once somebody has moved, all
    are kept on which the app is installed.
    """
    has = Integration.objects.filter(installation=OuterRef("pk"))
    tried = PastTry.objects.filter(installation=OuterRef("pk"))
    moved = Integration.objects.filter(moved_at__isnull=False)
    limited = Q(limited_until__gt=clock.now()) | Q(left_alone_until__gt=clock.now())
    unused = Installation.objects.filter(~Exists(has), ~Exists(tried)).exclude(limited)
    return unused.filter(Q(suspended_at__isnull=False) | ~Exists(moved))


def note_earlier_moves() -> None:
    """Note which integrations have moved under a version that did not: their issues are in an account that was left.

    It looks at all deliveries, so it is only asked where an installation is about to be deleted.
    """
    unused = Installation.objects.filter(integrations=None, suspended_at=None)
    left = {each.lower() for each in unused.values_list("account", flat=True)}
    pks = {
        pk
        for model in (Delivery, Alert)
        for pk, repository in _places(model.objects.filter(integration__moved_at=None))
        if repository.partition("/")[0].lower() in left
    }
    came = Installation.objects.filter(integrations=OuterRef("pk")).values("created_at")
    Integration.objects.filter(pk__in=pks, moved_at=None).update(moved_at=Subquery(came))


def _places(rows: QuerySet[Any]) -> QuerySet[Any]:
    """The integration and the repository of each issue."""
    sent = rows.filter(issue_number__isnull=False).order_by()
    return sent.values_list("integration", "repository").distinct()
