"""Where a sentence waits for the next page."""

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage


class HostCookie(CookieStorage):
    """A cookie that is bound to this host as the session's is: strangers write nothing here."""

    cookie_name = settings.SESSION_COOKIE_NAME.replace("session", "messages")
