"""An address that a repository had before it was renamed."""

from django.db import models

from orgs.models.organization import Organization


class FormerAddress(models.Model):
    """Where an organization's repository was: reports that it received there are about it still.

    Nobody else's reports are. If several of its repositories had the name, it is the last one's.
    """

    organization = models.ForeignKey(  # no constraint: the version before does not know of it
        Organization, models.CASCADE, related_name="former_addresses", db_constraint=False
    )
    host = models.CharField(max_length=253)
    path = models.CharField(max_length=255, help_text="As the claim had it: `/owner/repository/`.")
    repository_id = models.BigIntegerField(help_text="GitHub's number of the repository.")
    left_at = models.DateTimeField(help_text="When its claim moved on.")

    class Meta:
        verbose_name_plural = "former addresses"
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "host", "path"], name="former_address_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.host}{self.path}"
