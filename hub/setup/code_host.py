"""The code host that the database is of. Accounts, installations and repositories are numbers of that one.

On another host the same numbers are others', who would be signed in as the people of this one.
"""

from urllib.parse import urlsplit

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.db import models

from integrations.models import Installation
from orgs.models import Membership

NUMBERED = (SocialAccount, Membership, Installation)


class CodeHost(models.Model):
    """The address of the code host with which the database was last used: one row."""

    url = models.CharField(max_length=300)

    def __str__(self) -> str:
        return self.url


def problem() -> str:
    """That the database is of another code host than `HUB_GITHUB_URL`; empty if it is not, or has nobody yet."""
    used, now = CodeHost.objects.first(), settings.HUB_GITHUB_URL
    if used is None or _place(used.url) == _place(now):
        return ""
    if not any(each._default_manager.exists() for each in NUMBERED):
        return ""
    return (
        f"The database is of the code host {used}, and HUB_GITHUB_URL is {now}: people and installations there "
        "would be taken for those with the same numbers. Set it back, or use a new database. If it is the same "
        "host at a new address, run `manage.py rename_code_host`."
    )


def remember() -> None:
    """Note that the database is of `HUB_GITHUB_URL`."""
    now = settings.HUB_GITHUB_URL
    if not CodeHost.objects.filter(url=now).exists():
        CodeHost.objects.update_or_create(pk=1, defaults={"url": now})


def _place(url: str) -> str:
    """Where it is, as far as it tells hosts apart: those of this machine are trials, at any port."""
    parts = urlsplit(url)
    return "this machine" if parts.hostname in settings.LOOPBACK else parts.netloc
