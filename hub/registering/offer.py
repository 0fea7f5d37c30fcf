"""The one-time address on the running Hub: where the command and the page meet, in one row.

The command makes it, and waits. The first browser that opens it keeps it; GitHub's code comes back
to that browser, is stored encrypted with the token of the address, and is fetched by the command.
"""

import base64
import hashlib
import secrets
from datetime import timedelta

from cryptography.fernet import Fernet
from django.db import models
from django.db.models import ExpressionWrapper, Q

from core import clock

LIFETIME = timedelta(minutes=10)


def hashed(secret: str) -> str:
    """The SHA-256 of a secret, in hex."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _sealing(token: str) -> Fernet:
    """Encrypts for those who have the token, whose other hash is in the row."""
    key = hashlib.sha256(b"the code of GitHub, for " + token.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))


class OfferQuerySet(models.QuerySet):
    """Queries over the one offer."""

    def begin(self, *, name: str, organization: str, is_public: bool) -> str:
        """Make an address, which ends an earlier one; returns its token."""
        token = secrets.token_urlsafe(32)
        values = {
            "token_hash": hashed(token),
            "state_hash": "",
            "stage": Offer.Stage.OFFERED,
            "name": name,
            "organization": organization,
            "is_public": is_public,
            "code": "",
            "expires_at": clock.now() + LIFETIME,
        }
        self.update_or_create(pk=1, defaults=values)
        return token

    def of(self, token: str) -> "OfferQuerySet":
        """The offer with this token, if it is still the one there is; with `is_over`."""
        is_over = ExpressionWrapper(Q(expires_at__lte=clock.now()), models.BooleanField())
        return self.filter(token_hash=hashed(token)).annotate(is_over=is_over)

    def open(self, token: str) -> str | None:
        """Give the address to the browser that opens it first; returns the state for GitHub."""
        state = secrets.token_urlsafe(32)
        free = self.of(token).filter(stage=Offer.Stage.OFFERED, is_over=False)
        taken = free.update(stage=Offer.Stage.OPENED, state_hash=hashed(state))
        return state if taken else None

    def answer(self, token: str, *, state: str, code: str) -> bool:
        """Keep GitHub's code for the command; False unless the offer waits for it. Once only."""
        waiting = self.of(token).filter(
            stage=Offer.Stage.OPENED, state_hash=hashed(state), is_over=False
        )
        sealed = _sealing(token).encrypt(code.encode()).decode()
        return bool(waiting.update(stage=Offer.Stage.ANSWERED, code=sealed))

    def take_code(self, token: str) -> str | None:
        """GitHub's code, which is then forgotten; None while there is none."""
        offer = self.of(token).exclude(code="").first()
        if offer is None:
            return None
        self.of(token).update(code="")
        return _sealing(token).decrypt(offer.code).decode()

    def end(self, token: str, stage: "Offer.Stage") -> None:
        """Tell the page how it ended."""
        self.of(token).update(stage=stage, code="")


class Offer(models.Model):
    """An open address to register the Hub's GitHub App at; at most one row, the newest."""

    class Stage(models.TextChoices):
        """How far it is: nobody came, a browser did, GitHub's code did, and how it ended."""

        OFFERED = "offered"
        OPENED = "opened"
        ANSWERED = "answered"
        DONE = "done"
        FAILED = "failed"

    token_hash = models.CharField(max_length=64)
    state_hash = models.CharField(max_length=64, blank=True)
    stage = models.CharField(max_length=10, choices=Stage.choices, default=Stage.OFFERED)
    name = models.CharField(max_length=100)
    organization = models.CharField(max_length=100, blank=True)
    is_public = models.BooleanField(default=True)
    code = models.TextField(blank=True)  # encrypted, and for a second
    expires_at = models.DateTimeField()

    objects = OfferQuerySet.as_manager()
    is_over: bool  # an annotation of `of`

    def __str__(self) -> str:
        return f"{self.name}: {self.stage}"
