"""Not faster than a maintainer can bear, and GitHub allows."""

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from limits import parse_many

from integrations.models import Delivery, Installation
from orgs import clock


def claim(report_id: str) -> Delivery | None:
    """Claim a delivery, if its installation has room for one more now; else it waits its turn.

    The installation's row is locked while its deliveries are counted, so that no two processes
    take the last place.
    """
    with transaction.atomic(durable=True):  # what follows must not happen in a transaction
        installation = (
            Installation.objects.select_for_update(of=("self",))
            .filter(integrations__deliveries__report=report_id)
            .first()
        )
        if installation is None or not _has_room(installation):
            return None
        return Delivery.objects.claim(report_id)


def _has_room(installation: Installation) -> bool:
    """Whether one more may be sent now. Where not, the installation's row says until when."""
    this = Installation.objects.filter(pk=installation.pk)
    if this.filter(limited_until__gt=clock.now()).exists():
        return False
    tried = Delivery.objects.filter(integration__installation=installation)
    for item in parse_many(settings.HUB_ISSUE_RATE):
        window = timedelta(seconds=item.get_expiry())
        latest = tried.filter(last_tried_at__gt=clock.now() - window).order_by("-last_tried_at")
        times = latest.values_list("last_tried_at", flat=True)[item.amount - 1 : item.amount]
        if time := next(iter(times), None):
            this.update(limited_until=time + window)
            return False
    return True
