"""What a claim that was won or lost means for the deliveries of its pages."""

from integrations.models import Delivery
from integrations.models.delivery import DeliveryQuerySet
from orgs.models import Organization

LOST = "This page is no longer yours to receive reports about."


def hold_lost(organization: Organization) -> int:
    """Stop what is waiting for pages that are not the organization's any more; how many."""
    lost = [each.pk for each in _of(organization).waiting() if not each.report.is_still_owned()]
    return Delivery.objects.filter(pk__in=lost).hold(Delivery.Cause.OWNERSHIP, LOST)


def release_regained(organization: Organization) -> int:
    """Let go on what was held for pages that are the organization's again; how many."""
    held = _of(organization).held(Delivery.Cause.OWNERSHIP)
    regained = [each.pk for each in held if each.report.is_still_owned()]
    return Delivery.objects.filter(pk__in=regained).release(Delivery.Cause.OWNERSHIP)


def _of(organization: Organization) -> DeliveryQuerySet:
    mine = Delivery.objects.filter(integration__organization=organization)
    return mine.select_related("report")
