"""A delivery joins the issue of a lead, or leaves it: its row, whether others may join it, and who is told."""

from operator import attrgetter

from django.db import transaction

from core.locking import locked
from integrations.folding.looking import Alike
from integrations.folding.signals import delivery_folded, delivery_unfolded
from integrations.models import Delivery, Terms
from integrations.models.delivery import DeliveryQuerySet


@transaction.atomic
def fold(delivery: Delivery, alike: Alike) -> bool:
    """Let the delivery that is being tried join what it is like; False if that has no issue any more.

    Raises `LeaseLost`.
    """
    lead = Delivery.objects.get(pk=alike.lead.pk)
    if not delivery.fold(lead, rule=alike.rule, words=alike.words):
        return False
    _tell_folded([delivery.pk])
    return True


@transaction.atomic
def fold_under(deliveries: DeliveryQuerySet, lead: Delivery, *, by: str, words: str = "") -> int:
    """Let those without an issue join that of `lead`, because a member says so; returns how many.

    At most a batch: it is one transaction. None if the lead has no issue any more, or is among them.
    """
    there = Delivery.objects.leads().filter(pk=lead.pk).select_for_update(no_key=True)
    if there.values_list("pk").first() is None:
        return 0
    mine = deliveries.filter(integration=lead.integration_id).foldable()
    pks = [each.pk for each in mine.select_for_update(of=("self",), no_key=True)]
    folded = Delivery.objects.filter(pk__in=pks).fold_under(lead, by=by, words=words)
    _tell_folded(pks)
    return folded


@transaction.atomic
def unfold(deliveries: DeliveryQuerySet) -> int:
    """Let folded ones go their own way: they are due now; returns how many. At most a batch.

    Unless a verdict says otherwise, the next look may find the same lead again.
    """
    mine = locked(deliveries.folded().order_by("pk"))
    left = {each.pk: each.lead for each in mine.select_related("lead")}
    count = Delivery.objects.filter(pk__in=left).unfold()
    Terms.objects.filter(delivery__in=left).update(may_lead=True)
    for lead in sorted(set(left.values()), key=attrgetter("pk")):
        delivery_unfolded.send(Delivery, lead=lead)
    return count


def joined(lead: Delivery) -> DeliveryQuerySet:
    """What has joined the issue of a lead, the newest first. As a range, so that no database reads all by their id."""
    there = Delivery.objects.filter(lead__gte=lead.pk, lead__lte=lead.pk)
    return there.order_by("-lead", "-pk")


def _tell_folded(pks: list[int]) -> None:
    folded = Delivery.objects.filter(pk__in=pks).folded()
    Terms.objects.filter(delivery__in=pks).update(may_lead=False)
    for each in folded.select_related("report", "lead"):
        delivery_folded.send(Delivery, delivery=each)
