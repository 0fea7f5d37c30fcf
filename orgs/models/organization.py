"""Organizations, which receive reports, and the people in them."""

from datetime import timedelta
from functools import reduce
from operator import or_
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Count, F, Q, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from core import clock
from core.ids import ULIDField

NOTICES_KEPT = 1000  # of each kind that an organization was told
LOOKED_AT = 100  # kinds of which an organization has more


class User(AbstractUser):
    """A person who has signed in."""


class Organization(models.Model):
    """One or more people who receive reports together."""

    id = ULIDField()
    name = models.CharField(max_length=255)
    created_at = models.DateTimeField(auto_now_add=True)
    left_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When its last owner left: what it has is being deleted, and then it.",
    )

    class Meta:
        indexes = [
            models.Index(
                fields=["left_at"], name="organization_left", condition=Q(left_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def tell(self, kind: "Notice.Kind", text: str) -> None:
        """Leave a notice for its members."""
        self.notices.create(kind=kind, at=clock.now(), text=text)


class NoticeQuerySet(models.QuerySet["Notice"]):
    """Queries over notices."""

    def some_of_each_kind(self, number: int) -> list["Notice"]:
        """The newest of each kind, and of the others as many as make it `number`; newest first."""
        place = Window(RowNumber(), partition_by="kind", order_by=F("pk").desc())
        most = max(number, len(Notice.Kind) + 1)  # those of an older version have none
        found: Any = self.annotate(place=place).order_by("place", "-pk")[:most]
        shown = [each for before, each in enumerate(found) if each.place == 1 or before < number]
        return sorted(shown, key=lambda each: each.pk, reverse=True)

    def over(self) -> Self:
        """Those of which an organization has more than `NOTICES_KEPT` of one kind, without the latest of these.

        Of at most `LOOKED_AT` kinds at a time.
        """
        counted = self.order_by().values("organization", "kind").annotate(number=Count("pk"))
        many = counted.filter(number__gt=NOTICES_KEPT).values_list("organization", "kind")
        first_kept = {each: self._first_kept(*each) for each in many[:LOOKED_AT]}
        over = [
            Q(organization=organization, kind=kind, pk__lt=pk)
            for (organization, kind), pk in first_kept.items()
            if pk
        ]
        return self.filter(reduce(or_, over)).order_by("pk") if over else self.none()

    def _first_kept(self, organization: str, kind: str) -> int | None:
        """None if there are no longer so many."""
        latest = self.filter(organization=organization, kind=kind).order_by("-pk")
        return latest.values_list("pk", flat=True)[NOTICES_KEPT - 1 : NOTICES_KEPT].first()


class Notice(models.Model):
    """Tells an organization about something that happened without its doing."""

    class Kind(models.TextChoices):
        """What it is about. What one person can cause often has a kind of its own, and so hides no other."""

        LOST = "lost", "Lapsed, or lapses soon"
        TAKEN = "taken", "Now somebody else's"
        BELOW = "below", "Below a name of yours"
        GAINED = "gained", "Now yours"
        UNPROVED = "unproved", "Not proved in time"
        GONE = "gone", "Claims of a former member"
        REFUSED = "refused", "A file that refuses reports"
        RIGHTS = "rights", "Push access"
        DECLINED = "declined", "An invitation"
        OPERATOR = "operator", "By an operator"

    organization = models.ForeignKey(Organization, models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=10, choices=Kind, blank=True, db_default="")
    at = models.DateTimeField()
    text = models.TextField()

    objects = NoticeQuerySet.as_manager()

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [models.Index(fields=["organization", "id"], name="notice_of_organization")]

    def __str__(self) -> str:
        return self.text


class Membership(models.Model):
    """A GitHub account's membership of an organization. An account belongs to exactly one."""

    class Role(models.TextChoices):
        """What the member may do."""

        OWNER = "owner"
        MEMBER = "member"

    organization = models.ForeignKey(Organization, models.CASCADE, related_name="memberships")
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="membership",
        help_text="Empty until the first sign-in.",
    )
    github_id = models.BigIntegerField(unique=True)
    login = models.CharField(max_length=255)
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(role__in=["owner", "member"]), name="membership_role"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.login} ({self.role}) in {self.organization_id}"

    @property
    def is_owner(self) -> bool:
        """Whether the member is an owner."""
        return self.role == self.Role.OWNER


class Invitation(models.Model):
    """An invitation of a GitHub account to an organization; it is deleted when answered.

    An account may have several; until it accepts one, its membership does not change.
    """

    organization = models.ForeignKey(Organization, models.CASCADE, related_name="invitations")
    github_id = models.BigIntegerField(db_index=True)
    login = models.CharField(max_length=255)
    role = models.CharField(max_length=10, choices=Membership.Role)
    invited_by = models.ForeignKey(
        Membership,
        models.CASCADE,
        related_name="+",
        help_text="The invitation ends when they are no longer an owner.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["created_at"], name="invitation_oldest")]
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "github_id"], name="invitation_once_per_organization"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.login} to {self.organization_id}"


class PersonalToken(models.Model):
    """What a person sees of a token that they made for a program.

    The token itself (hash, scopes, expiry) belongs to the identity provider; deleting that one revokes
    it. `orgs.people.tokens` creates both.
    """

    USE_NOTED_EVERY = timedelta(minutes=1)

    token = models.OneToOneField(
        "allauth_idp_oidc.Token", models.CASCADE, primary_key=True, related_name="personal"
    )
    name = models.CharField(max_length=100)
    ending = models.CharField(max_length=4, help_text="The last four characters of its value.")
    last_used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.name} (hub_…{self.ending})"

    def note_use(self) -> None:
        """Save when it was used, at most once a minute, so that most reads write nothing."""
        now = timezone.now()
        if self.last_used_at is None or self.last_used_at <= now - self.USE_NOTED_EVERY:
            PersonalToken.objects.filter(pk=self.pk).update(last_used_at=now)
