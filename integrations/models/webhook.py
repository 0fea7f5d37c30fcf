"""Which webhooks were received, so that a replay and an answer of GitHub from before change nothing."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import NamedTuple, Self
from uuid import uuid4

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from core import clock
from integrations.models.integration import Installation, Integration

KEPT = timedelta(days=4)  # GitHub repeats one for three days at most
OF_NOBODY = timedelta(hours=1)  # longer than it takes to be asked about and chosen
LOOKED_BACK = timedelta(hours=3)  # for those of nobody; what is left is deleted with the others
LATEST = 500  # more than are saved at the same moment: one with a lower id may be committed later
SEVERAL = 0  # for a repository's number: some are not named; one may be chosen just now


class News(NamedTuple):
    """What a webhook brings news of, by GitHub's numbers: a repository, or a whole installation, or neither."""

    installation_id: int | None = None
    repository_id: int | None = None


class WebhookQuerySet(models.QuerySet["Webhook"]):
    """Queries over webhooks."""

    def is_new(self, delivery_id: str, news: Sequence[News]) -> bool:
        """True once for each `X-GitHub-Delivery`, if the surrounding transaction commits. Each of its news is a row."""
        first, *more = news
        is_new = self.get_or_create(delivery_id=delivery_id, defaults=first._asdict())[1]
        if is_new and more:
            self.bulk_create(
                self.model(delivery_id=str(uuid4()), **each._asdict()) for each in more
            )
        return is_new

    def newest(self) -> Collection[int]:
        """The ids of the latest, which are to be remembered before GitHub is asked anything."""
        return set(self.order_by("-pk").values_list("pk", flat=True)[:LATEST])

    def have_told(self, of: News, *, since: Collection[int], is_being_chosen: bool = False) -> bool:
        """Whether there is news of this repository, or of its installation, that is not among these `newest`.

        Then what GitHub was asked in between may be older. For a repository that an integration has, this is
        certain once the integration is locked. One that is being chosen may be among `SEVERAL`.
        """
        about = Q(installation_id=of.installation_id, repository_id=None)
        if is_being_chosen:
            about |= Q(installation_id=of.installation_id, repository_id=SEVERAL)
        if of.repository_id is not None:
            about |= Q(repository_id=of.repository_id)
        first = min(since) if len(since) == LATEST else 0  # of fewer, all were known
        later = self.filter(about, pk__gt=first)
        return later.exclude(pk__in=since).exists()

    def of_nobody(self) -> Self:
        """Those about what no organization has, `OF_NOBODY` later: strangers have GitHub send as many as they like."""
        installation = Installation.objects.filter(github_id=OuterRef("installation_id"))
        integration = Integration.objects.filter(repository_id=OuterRef("repository_id"))
        age = Q(received_at__lt=clock.now() - OF_NOBODY, received_at__gt=clock.now() - LOOKED_BACK)
        told = self.filter(age, installation_id__isnull=False).order_by("received_at")
        return told.exclude(Exists(installation)).exclude(Exists(integration))


class Webhook(models.Model):
    """A webhook that was received and applied."""

    delivery_id = models.CharField(max_length=64, unique=True)
    received_at = models.DateTimeField(db_default=Now(), db_index=True)
    installation_id = models.BigIntegerField(
        null=True,
        blank=True,
        help_text="GitHub's number of the installation that it brings news of, or of a repository of it.",
    )
    repository_id = models.BigIntegerField(
        null=True, blank=True, help_text="GitHub's number of the repository that it brings news of."
    )

    objects = WebhookQuerySet.as_manager()

    def __str__(self) -> str:
        return self.delivery_id
