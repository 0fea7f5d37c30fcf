"""What is left to be done after a repository has become private or public."""

from django.db import models


class Visibility(models.Model):
    """Who may read a repository now, while some of the deliveries to it still say otherwise."""

    repository_id = models.BigIntegerField(unique=True, help_text="GitHub's number of it.")
    is_private = models.BooleanField()
    installation_id = models.BigIntegerField(
        help_text="GitHub's number of the installation through which it was heard of."
    )

    class Meta:
        verbose_name_plural = "visibilities"

    def __str__(self) -> str:
        return f"{self.repository_id} is {'private' if self.is_private else 'public'}"
