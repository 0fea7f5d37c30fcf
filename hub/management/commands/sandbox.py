"""`manage.py sandbox`: the stand-in code host, for trying things out on this machine."""

import threading
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.db.models import Max

from hub.public import sample
from hub.registering import manifest
from integrations.github_api import private_key
from integrations.models import Delivery
from sandbox import App, CodeHost, Trial


def code_host() -> CodeHost:
    """The sandbox with this Hub's app registered, as in the settings; without one, if they have none.

    Raises `CommandError` in production: what it holds is lost when it stops.
    """
    if not settings.HUB_DEBUG:
        raise CommandError("The sandbox is for trials only. Set HUB_DEBUG=true to use it.")
    host = _with_people(CodeHost(app=_app() if settings.HUB_GITHUB_APP_ID else None))
    if site := sample.site():
        host.trial = Trial(site=f"{site}/", hub_url=settings.HUB_BASE_URL)
    return host


def _app() -> App:
    key = load_pem_private_key(private_key().encode(), password=None)
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return App(
        id=int(settings.HUB_GITHUB_APP_ID),
        slug=settings.HUB_GITHUB_APP_SLUG,
        client_id=settings.HUB_GITHUB_CLIENT_ID,
        client_secret=settings.HUB_GITHUB_CLIENT_SECRET,
        webhook_secret=settings.HUB_GITHUB_WEBHOOK_SECRET,
        webhook_url=manifest.webhook_url(),
        callback_urls=manifest.callback_urls(),
        public_key_pem=public.decode(),
    )


def _with_people(host: CodeHost) -> CodeHost:
    """alice owns acme, bob is a member of it, charlie is a stranger."""
    host.add_organization("acme")
    for login in ("alice", "bob", "charlie"):
        host.add_user(login)
    host.add_member("acme", "alice", role="admin")
    host.add_member("acme", "bob")
    return host


def add_docs(host: CodeHost) -> None:
    """Add the repository acme/docs, with the app if there is one. Its issues go on after those that this Hub knows.

    The sandbox forgets its issues when it stops, but no code host gives a number twice.
    """
    repository = host.add_repository("acme", "docs")
    if host.app.id:
        host.add_installation("acme", repositories=[repository])
    for _ in range(_last_known_issue(repository.id)):
        host.new_issue(repository, "Forgotten", body=None, user="alice").deleted = True


def _last_known_issue(repository_id: int) -> int:
    deliveries = Delivery.objects.filter(repository_id=repository_id)
    try:
        return deliveries.aggregate(last=Max("issue_number"))["last"] or 0
    except DatabaseError:
        return 0  # the database is not migrated yet


def wait_for_interrupt() -> None:
    """Wait until Ctrl-C is pressed."""
    with suppress(KeyboardInterrupt):
        threading.Event().wait()


class Command(BaseCommand):
    help = "Serves a stand-in code host on 127.0.0.1, with a repository acme/docs, until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=9000)

    def handle(self, *args: Any, port: int, **options: Any) -> None:
        host = code_host()
        add_docs(host)
        with _serving(host, port) as url:
            self.stdout.write(
                f"The sandbox code host is at {url}/acme/docs/issues. Press Ctrl-C to stop."
            )
            if not host.app.id:
                self.stdout.write(
                    "It has no GitHub App yet: create one with `manage.py setup_github`, with "
                    f"HUB_GITHUB_URL={url} for it and for the Hub."
                )
            self.stdout.flush()
            wait_for_interrupt()


@contextmanager
def _serving(host: CodeHost, port: int) -> Iterator[str]:
    try:
        url = host.start(port=port)
    except OSError as error:
        raise CommandError(
            f"The sandbox cannot listen on port {port}: {error.strerror}. Name another one with "
            "--port, and in HUB_GITHUB_URL."
        ) from None
    try:
        yield url
    finally:
        host.stop()
