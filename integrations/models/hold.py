"""What an operator holds: a page, an agent, an organization, or a source until its day ends."""

import hashlib
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import OuterRef, Q
from django.db.models.functions import Now

from core import clock

LONGEST_REASON = 200
STOPPED_BY_OPERATOR = "An operator of this Hub has put this delivery on hold."
ORGANIZATION_STOPPED = "An operator of this Hub holds all that your organization receives, and decides when it is sent."


class HoldQuerySet(models.QuerySet["Hold"]):
    """Queries over holds."""

    def unreleased(self) -> Self:
        """Those that nobody has released; the day of a source among them may just have ended."""
        return self.filter(released_at=None)

    def of_page(self, address: str) -> "Hold | None":
        """The one of this page that is in force, if any."""
        return self.unreleased().filter(digest=digest(Hold.Kind.PAGE, address)).first()

    def of_organization(self, organization: str | OuterRef) -> Self:
        """Those in force of all that this organization receives, by its id: one at most."""
        return self.unreleased().filter(kind=Hold.Kind.ORGANIZATION, value=organization)

    def sources_in_force(self) -> Self:
        """Those of sources whose day is not over."""
        return self.unreleased().filter(kind=Hold.Kind.SOURCE).exclude(ends_at__lte=clock.now())

    def released(self) -> Self:
        """Those that are over, the earliest first."""
        return self.filter(released_at__isnull=False).order_by("released_at")

    def ended(self) -> Self:
        """Those whose day is over, though they are not marked as released yet."""
        return self.unreleased().filter(ends_at__lte=clock.now())


class Hold(models.Model):
    """Reports about a page, by an agent, from a source or to an organization are held until an operator releases them.

    They are accepted as always. Deliveries ask when they are created, and again when they are taken; comments,
    when they are written.
    """

    class Kind(models.TextChoices):
        """What its value is compared with."""

        PAGE = "page"
        AGENT = "agent"
        SOURCE = "source"
        ORGANIZATION = "organization"

    kind = models.CharField(max_length=12, choices=Kind)
    value = models.TextField(
        help_text="The address of the page, the name of the agent as it writes it, a source from "
        "Deliveries now, or the id of the organization."
    )
    reason = models.CharField(
        max_length=LONGEST_REASON, help_text="Members read it at each report that is held."
    )
    digest = models.CharField(max_length=64, editable=False)  # of kind and value: these may be long
    made_at = models.DateTimeField(db_default=Now(), editable=False)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The operator; empty once their account is deleted.",
    )
    ends_at = models.DateTimeField(
        null=True, blank=True, help_text="The end of the day of a source; others are released."
    )
    released_at = models.DateTimeField(null=True, blank=True)
    followed_at = models.DateTimeField(
        null=True, blank=True, help_text="When all that waited had been looked at."
    )

    objects = HoldQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["released_at"], name="hold_released")]
        constraints = [
            models.UniqueConstraint(
                fields=["digest"],
                condition=Q(released_at__isnull=True),
                name="hold_once_in_force",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pk}: {self.kind}"  # not its value, because the admin's history keeps this

    @property
    def words(self) -> str:
        """The reason of each delivery that it holds, for members."""
        return f"{STOPPED_BY_OPERATOR} {self.reason}"

    @property
    def words_of_all(self) -> str:
        """Why nothing is sent to an organization that is on hold, for its members."""
        return f"{ORGANIZATION_STOPPED} {self.reason}"


def digest(kind: str, value: str) -> str:
    """What two holds of the same have in common, in an index that takes no long texts."""
    return hashlib.sha256(f"{kind} {value}".encode()).hexdigest()
