"""Lets nothing that comes later count with what an organization received before it was deleted."""

from typing import Any

from django.db.models.signals import pre_delete
from django.dispatch import receiver

from orgs.models import Organization
from reports.models import Report


@receiver(pre_delete, sender=Organization, dispatch_uid="forget-keys-of-what-it-received")
def forget_keys(instance: Organization, **kwargs: Any) -> None:
    """What repeats one of its reports is a new report, so that the next owner of the page receives only that."""
    Report.objects.filter(organization=instance).update(dedup_key=None)
