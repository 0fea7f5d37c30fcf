"""Finds what an operator still has to set up."""

import time
from collections.abc import Iterator
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.serialization import load_pem_private_key
from django.conf import settings
from django.db import DatabaseError, connection

from core import backups
from hub.server.health import unapplied
from integrations.github_api import GitHubError, app_slug, private_key
from orgs.domains.claiming import refused_today
from orgs.domains.txt_records import configured_servers

GITHUB_APP = ("APP_ID", "APP_SLUG", "CLIENT_ID", "CLIENT_SECRET", "PRIVATE_KEY", "WEBHOOK_SECRET")


GITHUB_TIMEOUT = 10  # seconds for GitHub's answer


def problems() -> list[str]:
    """One sentence for each problem, saying what to do."""
    return [*_address(), *_github_app(), *_dns(), *_database()]


def _address() -> Iterator[str]:
    base = urlsplit(settings.HUB_BASE_URL)
    is_trial = settings.HUB_DEBUG and base.hostname in settings.LOOPBACK
    if base.scheme != "https" and not is_trial:
        yield f"HUB_BASE_URL is {settings.HUB_BASE_URL}: set it to the public https address."
    if settings.HUB_DEBUG and not is_trial:
        yield "HUB_DEBUG is on, which is for trials on your own machine only: unset it."
    if settings.HTTPS and settings.HUB_TRUSTED_PROXIES < 1:
        yield (
            "HUB_TRUSTED_PROXIES is 0, and TLS ends in a proxy: all callers share its address and "
            "its limits. Set it to the number of proxies in front, 1 for one."
        )


def _github_app() -> Iterator[str]:
    names = [f"HUB_GITHUB_{name}" for name in GITHUB_APP]
    missing = [name for name in names if not getattr(settings, name)]
    for name in missing:
        yield f"{name} is empty: copy it from the settings page of your GitHub App."
    if "HUB_GITHUB_PRIVATE_KEY" in missing:
        return
    try:
        load_pem_private_key(private_key().encode(), password=None)
    except (OSError, ValueError) as error:
        yield f"HUB_GITHUB_PRIVATE_KEY is neither a PEM key nor the path of one: {error}."
        return
    yield from _what_github_says()


def _what_github_says() -> Iterator[str]:
    try:
        slug = app_slug(deadline=time.monotonic() + GITHUB_TIMEOUT)
    except GitHubError as error:
        yield f"{error} Check HUB_GITHUB_APP_ID and HUB_GITHUB_PRIVATE_KEY, and the network."
        return
    if slug.lower() != settings.HUB_GITHUB_APP_SLUG.lower():
        yield f"HUB_GITHUB_APP_SLUG is {settings.HUB_GITHUB_APP_SLUG}: GitHub calls the app {slug}."


def _dns() -> Iterator[str]:
    try:
        configured_servers()
    except ValueError as error:
        yield f"HUB_DNS_SERVERS is not a list of ip[:port], such as 192.0.2.1,192.0.2.2:5353: {error}."


def _database() -> Iterator[str]:
    try:
        outdated = unapplied()
    except DatabaseError as error:
        yield f"The database does not answer: {error}. Check DATABASE_URL."
        return
    if settings.HUB_FORWARDING == "queue" and connection.vendor == "sqlite":
        yield "HUB_FORWARDING is queue, which needs PostgreSQL: set DATABASE_URL, or leave it inline."
    if found := backups.problem():
        yield found
    if outdated:
        yield "The database is not up to date: run `manage.py migrate`."
        return
    for domain, why in refused_today():
        yield (
            f"{domain.organization} has {domain} verified, which could not be claimed today: {why} "
            "The claim stays; ask the organization, or delete it in /admin/, in the list of domains."
        )
