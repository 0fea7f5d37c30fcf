"""The values that DNS records must have, now and before."""

import secrets

from django.db import models

from orgs.models.organization import Organization


def new_challenge() -> str:
    """The random part of the value, never the same twice."""
    return secrets.token_urlsafe(24)


def record_value(challenge: str) -> str:
    """The full value of the DNS record."""
    return f"hub-verify={challenge}"


class EarlierChallenge(models.Model):
    """A value that an organization was once asked to publish; never issued again."""

    organization = models.ForeignKey(
        Organization, models.CASCADE, related_name="earlier_challenges"
    )
    name = models.CharField(max_length=253)
    challenge = models.CharField(max_length=64, unique=True)

    class Meta:
        indexes = [models.Index(fields=["organization", "name"], name="earlier_challenge_of")]

    def __str__(self) -> str:
        return f"Earlier value for {self.name}"
