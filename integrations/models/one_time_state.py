"""One-time states of installations: what a browser has to bring back from GitHub."""

import hashlib
import secrets
from datetime import timedelta

from django.db import models
from django.utils.crypto import constant_time_compare

from core import clock, ids
from core.ids import ULIDField
from orgs.models import Membership, Organization, User

LIFETIME = timedelta(minutes=10)
KEPT = timedelta(days=1)  # so that a late browser can be told why it is refused


class OneTimeStateQuerySet(models.QuerySet["OneTimeState"]):
    """Queries over one-time states."""

    def begin(self, member: Membership) -> tuple["OneTimeState", str]:
        """A new state, and the text that the browser carries to GitHub and back."""
        self.filter(expires_at__lt=clock.now() - KEPT).delete()
        secret = secrets.token_urlsafe(32)
        state = self.create(
            organization=member.organization,
            member=member,
            secret_hash=_hashed(secret),
            expires_at=clock.now() + LIFETIME,
        )
        state.refresh_from_db()
        return state, f"{state.pk}.{secret}"

    def find(self, text: str) -> "OneTimeState | None":
        """The state that this text belongs to, even if it was used or has expired."""
        pk, _, secret = text.partition(".")
        state = ids.find(self.select_related("organization", "member"), pk)
        if state is None or not constant_time_compare(state.secret_hash, _hashed(secret)):
            return None
        return state

    def are_open_for(self, user: User) -> bool:
        """Whether this person has begun an installation in these ten minutes."""
        return self.filter(member__user=user, expires_at__gt=clock.now()).exists()


class OneTimeState(models.Model):
    """An OAuth `state`: lets one browser connect one installation to an organization, once, in ten minutes."""

    id = ULIDField()
    secret_hash = models.CharField(max_length=64, editable=False)
    organization = models.ForeignKey(Organization, models.CASCADE, related_name="+")
    member = models.ForeignKey(
        Membership, models.CASCADE, related_name="+", help_text="Who started it; deleted with them."
    )
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    claimed_installation = models.BigIntegerField(
        null=True,
        blank=True,
        help_text="What a browser named before it brought a code; not a proof.",
    )

    objects = OneTimeStateQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["expires_at"], name="state_oldest")]

    def __str__(self) -> str:
        return f"{self.id} for {self.organization_id}"

    def has_expired(self) -> bool:
        """Whether its ten minutes are over."""
        return OneTimeState.objects.filter(pk=self.pk, expires_at__lte=clock.now()).exists()

    def remember(self, installation_id: int) -> None:
        """Save which installation the browser named, for when it returns with a code."""
        OneTimeState.objects.filter(pk=self.pk).update(claimed_installation=installation_id)
        self.claimed_installation = installation_id

    def use_up(self) -> bool:
        """Use the state; True for the first caller only."""
        unused = OneTimeState.objects.filter(pk=self.pk, used_at=None, expires_at__gt=clock.now())
        return bool(unused.update(used_at=clock.now()))


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
