"""Starts, withholds and stops deliveries when reports change."""

from functools import partial

from django.db import transaction
from django.db.models.signals import post_save
from django.dispatch import receiver

from integrations.delivery import withholding
from integrations.delivery.task import forward_report
from integrations.models import Delivery
from reports.models import Account, Report
from reports.signals import is_unwanted, report_erased


@receiver(post_save, sender=Report, dispatch_uid="forward-report")
def forward_when_saved(sender, instance, raw, **kwargs):
    """Decides when to deliver; `forwarding.forward` decides everything else."""
    if not raw and Delivery.objects.create_for(
        instance
    ):  # True once per report, in its transaction
        transaction.on_commit(partial(forward_report.enqueue, instance.pk), robust=True)


@receiver(post_save, sender=Account, dispatch_uid="withhold-account")
def withhold_when_kept(sender, instance, created, raw, **kwargs):
    """Withhold a new further account if nobody may read it now."""
    if created and not raw:
        withholding.withhold_account(instance)


@receiver(report_erased, dispatch_uid="forget-what-was-erased")
def forget_when_erased(sender, report, **kwargs):
    """Erase the text that the delivery has kept."""
    if delivery := Delivery.objects.select_for_update().filter(report=report).first():
        delivery.forget_text()


@receiver(is_unwanted, dispatch_uid="discarded-is-unwanted")
def discarded_is_unwanted(sender, report, **kwargs):
    """Whether the report was discarded, so that its owner wants no more of it."""
    return Delivery.objects.held(Delivery.Cause.DISCARDED).filter(report=report).exists()
