"""Stores messages until the next page shows them."""

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage


class HostCookie(CookieStorage):
    """A cookie bound to this host, as the session's is, so that other hosts cannot write it."""

    cookie_name = settings.SESSION_COOKIE_NAME.replace("session", "messages")
