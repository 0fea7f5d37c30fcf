"""What becomes of deliveries when claims come and go."""

from django.dispatch import receiver

from integrations import claims
from orgs.signals import domain_lost, domain_verified


@receiver(domain_verified, dispatch_uid="release-what-is-owned-again")
def release_when_verified(sender, organization, **kwargs):
    claims.release_regained(organization)


@receiver(domain_lost, dispatch_uid="hold-what-is-no-longer-owned")
def hold_when_lost(sender, organization, **kwargs):
    claims.hold_lost(organization)
