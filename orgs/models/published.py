"""What a claim and its host show in public."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Self, TypeVar

from django.db import models, transaction
from django.db.models.functions import Now

from core import as_shown, clock
from orgs.models.organization import Notice

REFUSED = (
    "says that you want no reports, so clients send none. Here, reports about it are still accepted: "
    "opt out here too, or change the file."
)
TOLD_AGAIN_AFTER = timedelta(days=1)  # if it has changed in between


C = TypeVar("C", bound="Published")


class Published(models.Model):
    """A claim, in so far as the public sees it, and its host's `docs-feedback.json`."""

    class Badge(models.TextChoices):
        """What the claim's badge shows."""

        NONE = "", "No badge"
        STATE = "state", "That reports are welcome"
        COUNT = "count", "How many reports your organization received in 30 days"

    badge = models.CharField(max_length=5, choices=Badge.choices, blank=True, default=Badge.NONE)
    file_due_at = models.DateTimeField(
        db_default=Now(), help_text="When its host's docs-feedback.json is read next."
    )
    refused_in_public_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When that file was seen to say that no reports are wanted.",
    )

    class Meta:
        abstract = True

    @transaction.atomic
    def choose_badge(self, badge: str, *, shown: Mapping[str, str] = as_shown.UNMARKED) -> str:
        """Show another badge, or none, and return it; as it is if a form has left it so. Raises `ChangedMeanwhile`."""
        mine = type(self)._default_manager.filter(pk=self.pk)
        now = mine.select_for_update(no_key=True).values("badge").first()
        settled = as_shown.settle({"badge": badge}, now or {}, shown)
        mine.update(**settled)
        return str(settled["badge"])

    @transaction.atomic
    def note_refusal(self, refused: bool, where: str) -> None:
        """Note what the file at the URL `where` says, and tell the organization, once a day at most.

        Nothing if the claim is gone.
        """
        mine = type(self)._default_manager.filter(pk=self.pk)
        if not refused:
            mine.exclude(refused_in_public_at=None).update(refused_in_public_at=None)
        elif mine.filter(refused_in_public_at=None).update(refused_in_public_at=clock.now()):
            self._tell_of_refusal(f"{where} {REFUSED}")

    def _tell_of_refusal(self, words: str) -> None:
        organization = self.organization  # type: ignore[attr-defined]
        lately = organization.notices.filter(at__gt=clock.now() - TOLD_AGAIN_AFTER)
        if not lately.filter(text=words).exists():
            organization.tell(Notice.Kind.REFUSED, words)


class PublishedQuerySet(models.QuerySet[C]):
    """Queries over claims that count now."""

    def file_due(self) -> Self:
        """Those whose file is to be read, the longest waiting first."""
        return self.filter(file_due_at__lte=clock.now()).order_by("file_due_at")
