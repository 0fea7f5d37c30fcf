"""Holds and releases deliveries when claims change."""

from django.dispatch import receiver

from integrations.delivery import ownership_changes
from orgs.models.signals import domain_lost, domain_verified


@receiver(domain_verified, dispatch_uid="release-what-is-owned-again")
def release_when_verified(sender, organization, **kwargs):
    """Release what was held for pages that the organization has claimed."""
    ownership_changes.release_regained(organization)


@receiver(domain_lost, dispatch_uid="hold-what-is-no-longer-owned")
def hold_when_lost(sender, organization, **kwargs):
    """Hold what waits for pages that the organization has lost."""
    ownership_changes.hold_lost(organization)
