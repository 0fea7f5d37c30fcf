"""Browser sessions in the database, stored under a hash of the key in the cookie.

So nobody who can read the table can take over a session. One in which nobody is signed in ends soon: strangers can
begin as many as they like. One in which somebody is ends so long after the sign-in, whatever is done in it.
"""

import hashlib
from datetime import timedelta
from typing import Any

from allauth.socialaccount.internal.statekit import STATE_TTL
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends import db
from django.contrib.sessions.base_session import AbstractBaseSession
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from orgs.models import User


def at_rest(session_key: str) -> str:
    """The hash under which a session is stored, cut to the width of the column: 160 bits."""
    return hashlib.sha256(session_key.encode()).hexdigest()[:40]


class SessionStore(db.SessionStore):
    """Django's own session store, except that rows are stored under a hash, and end with the state of a sign-in."""

    def get_session_cookie_age(self) -> int:
        """Seconds: those of the state of a sign-in as long as nobody is signed in."""
        return super().get_session_cookie_age() if SESSION_KEY in self else STATE_TTL

    def _get_session_from_db(self) -> AbstractBaseSession | None:
        live = self.model.objects.filter(expire_date__gt=timezone.now())
        session = live.filter(session_key=at_rest(self.session_key or "")).first()
        if session is None:
            self._session_key = None
        return session

    def exists(self, session_key: str) -> bool:
        """Whether a session with this key exists."""
        return super().exists(at_rest(session_key))

    def create_model_instance(self, data: dict) -> AbstractBaseSession:
        """The row to save, with the hash of the key."""
        session = super().create_model_instance(data)
        session.session_key = at_rest(session.session_key)
        return session

    def delete(self, session_key: str | None = None) -> None:
        if key := session_key or self.session_key:
            super().delete(at_rest(key))


@receiver(user_logged_in, dispatch_uid="say-when-the-session-ends")
def end_in_time(request: HttpRequest, **kwargs: Any) -> None:
    """Fix when the session ends: Django's own would begin anew with each page that keeps something in it."""
    request.session.set_expiry(timezone.now() + timedelta(seconds=settings.SESSION_COOKIE_AGE))


def end_all(user: User) -> None:
    """End all sessions of a person, once `user` is saved: each has a hash of what stands for a password."""
    user.set_unusable_password()
