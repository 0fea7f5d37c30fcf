"""Terminals in which people are signed in."""

from datetime import timedelta

from allauth.idp.oidc.models import Token
from django.conf import settings
from django.db import models, transaction
from django.utils import timezone


class TerminalQuerySet(models.QuerySet["Terminal"]):
    """Queries over terminals."""

    @transaction.atomic
    def sign_out(self) -> None:
        """Delete them, with their tokens; they are locked first, so that none gets new ones meanwhile."""
        found = list(self.select_for_update().order_by("pk").values_list("pk", flat=True))
        Token.objects.filter(of_terminal__terminal__in=found).delete()
        Terminal.objects.filter(pk__in=found).delete()


class Terminal(models.Model):
    """A terminal in which a person is signed in: all the tokens that come from one approval.

    Its refresh token is replaced each time it is used. All of them begin with the same secret, which is
    stored as a hash in `family`, so one that was used before is recognized.
    """

    USE_NOTED_EVERY = timedelta(minutes=1)

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="terminals")
    client = models.CharField(max_length=100, help_text="The name of the program.")
    family = models.CharField(max_length=64, unique=True, editable=False)
    scopes = models.JSONField(default=list)
    signed_in_at = models.DateTimeField(default=timezone.now)
    ends_at = models.DateTimeField(db_index=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    objects = TerminalQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.client}, signed in on {self.signed_in_at:%Y-%m-%d %H:%M} UTC"

    def note_use(self) -> None:
        """Save when it was used, at most once a minute, so that most reads write nothing."""
        now = timezone.now()
        if self.last_used_at is None or self.last_used_at <= now - self.USE_NOTED_EVERY:
            Terminal.objects.filter(pk=self.pk).update(last_used_at=now)


class TerminalToken(models.Model):
    """Which terminal a token of the identity provider belongs to."""

    token = models.OneToOneField(
        "allauth_idp_oidc.Token", models.CASCADE, primary_key=True, related_name="of_terminal"
    )
    terminal = models.ForeignKey(Terminal, models.CASCADE, related_name="tokens")

    def __str__(self) -> str:
        return f"{self.token_id} of {self.terminal_id}"
