"""A claim of a static-site URL, or of the pages of a repository."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce

from core import clock
from core.ids import ULIDField
from orgs.models.organization import Organization
from orgs.models.published import Published, PublishedQuerySet


class SiteQuerySet(PublishedQuerySet["Site"]):
    """Queries over claims of sites."""

    def live(self) -> Self:
        """Claims that have not lapsed."""
        return self.filter(lapsed_at__isnull=True)


class Site(Published):
    """A claim of a static-site URL or of a repository's own pages, proved by the GitHub App."""

    class Status(models.TextChoices):
        """Whether the claim still counts."""

        VERIFIED = "verified"
        LAPSED = "lapsed"

    id = ULIDField()
    organization = models.ForeignKey(Organization, models.CASCADE, related_name="sites")
    host = models.CharField(max_length=253, help_text="Such as alice.github.io, or github.com.")
    path = models.CharField(
        max_length=255, help_text="`/` or `/repository/`; on the code host `/owner/repository/`."
    )
    repository = models.CharField(
        max_length=255, help_text="The repository that publishes it: owner/name."
    )
    repository_id = models.BigIntegerField(
        null=True,
        blank=True,
        help_text="GitHub's number of the repository, if the claim is of its own pages on the code host.",
    )
    verified_at = models.DateTimeField()
    lapsed_at = models.DateTimeField(null=True, blank=True)
    opted_out_at = models.DateTimeField(
        null=True, blank=True, help_text="When it opted out of reports."
    )

    objects = SiteQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["file_due_at"],
                name="site_file_is_due",
                condition=Q(lapsed_at__isnull=True, repository_id__isnull=True),
            ),
            models.Index(
                fields=["repository_id"],
                name="site_of_repository",
                condition=Q(repository_id__isnull=False),
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "host", "path"], name="site_once_per_organization"
            ),
            models.UniqueConstraint(
                fields=["host", "path"],
                condition=Q(lapsed_at__isnull=True),
                name="site_one_live_owner",
            ),
            models.CheckConstraint(
                condition=Q(path__startswith="/", path__endswith="/"),
                name="site_path_between_slashes",
            ),
        ]

    def __str__(self) -> str:
        return self.url

    @property
    def url(self) -> str:
        """The URL of the site, or of the repository."""
        if self.is_repository:
            return f"{settings.HUB_GITHUB_URL}/{self.repository}/"
        return f"https://{self.host}{self.path}"

    @property
    def is_repository(self) -> bool:
        """Whether it is a repository's pages on the code host."""
        return self.repository_id is not None

    @property
    def status(self) -> "Site.Status":
        """Verified or lapsed."""
        return self.Status.LAPSED if self.lapsed_at else self.Status.VERIFIED

    def opt_out(self, out: bool) -> None:
        """Refuse reports about it from now on, or accept them again."""
        since = Coalesce("opted_out_at", clock.now()) if out else None
        Site.objects.filter(pk=self.pk).update(opted_out_at=since)
        self.refresh_from_db(fields=["opted_out_at"])
