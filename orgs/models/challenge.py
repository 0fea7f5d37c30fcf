"""The values that DNS records must have, now and before."""

import secrets
from urllib.parse import urlsplit

from django.conf import settings
from django.db import models

from orgs.models.organization import Organization

LONGEST = 300  # characters of the part that differs


def new_challenge() -> str:
    """The part of the value that differs, never the same twice.

    It names this Hub: whoever publishes it for another one, which passes it off as its own, can see that.
    """
    return f"{urlsplit(settings.HUB_BASE_URL).hostname}/{secrets.token_urlsafe(24)}"


def record_value(challenge: str) -> str:
    """The full value of the DNS record."""
    return f"hub-verify={challenge}"


class EarlierChallenge(models.Model):
    """A value that an organization was once asked to publish; never issued again."""

    organization = models.ForeignKey(
        Organization, models.CASCADE, related_name="earlier_challenges"
    )
    name = models.CharField(max_length=253)
    challenge = models.CharField(max_length=LONGEST, unique=True)

    class Meta:
        indexes = [models.Index(fields=["organization", "name"], name="earlier_challenge_of")]

    def __str__(self) -> str:
        return f"Earlier value for {self.name}"
