"""`manage.py setup_github`: register the Hub's GitHub App, by a page with one button."""

import os
import re
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError
from django.urls import reverse

from core import private_files
from core.command import Group, HubCommand
from hub.registering import credentials, loopback, manifest
from hub.registering.manifest import Wish
from hub.registering.offer import LIFETIME, Offer
from hub.setup import database_state
from integrations import github_api

LOOK_EVERY = 1  # seconds
FETCH_TIMES, FETCH_TIMEOUT = 3, 15  # attempts, and seconds for each
LOGIN = re.compile(r"[A-Za-z0-9_-]{1,39}")
MINUTES = LIFETIME.seconds // 60

pause: Callable[[float], object] = threading.Event().wait


class Command(HubCommand):
    help = (
        "Registers the Hub's GitHub App: prints an address with one button that leads to GitHub, "
        "waits, and writes the app's keys to the file HUB_GITHUB_CREDENTIALS."
    )

    group = Group.SET_UP
    summary = "registers the GitHub App, and keeps its keys"
    examples = {
        "setup_github --organization acme": "register it by a page of the running Hub",
        "setup_github --port 8765": "by a page on this machine, before the Hub runs",
        "setup_github --print": "print the keys, for a secret store",
    }
    asks_the_database = False  # with --port

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--organization", default="", help="the organization to own the app")
        parser.add_argument("--name", default="", help="the app's name; GitHub's page asks again")
        parser.add_argument(
            "--private", action="store_true", help="to be installed on its owner's account only"
        )
        parser.add_argument(
            "--port", type=int, help="serve the page on 127.0.0.1 instead of on the running Hub"
        )
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--file", help="write to this file instead of HUB_GITHUB_CREDENTIALS")
        where.add_argument(
            "--print", action="store_true", help="print the keys instead, for a secret store"
        )

    def handle(self, *args: Any, port: int | None, **options: Any) -> None:
        _refuse_wrong_settings()
        _refuse_a_second_app()
        wish = _wish(options)
        self.target = None if options["print"] else _target(options["file"])
        self._warn()
        try:
            if port is None:
                self._on_the_hub(wish)
            else:
                self._on_loopback(wish, port)
        except DatabaseError as error:
            said = (
                f"The database cannot be used: {database_state.reason(error)}. Check DATABASE_URL."
            )
            raise CommandError(
                f"{database_state.why_unusable() or said} Or use --port, which needs no database."
            ) from None

    def _warn(self) -> None:
        base = urlsplit(settings.HUB_BASE_URL)
        is_reachable = base.scheme == "https" and base.hostname not in settings.LOOPBACK
        if settings.HUB_GITHUB_URL == "https://github.com" and not is_reachable:
            self._say(
                f"Warning: HUB_BASE_URL is {settings.HUB_BASE_URL}, which GitHub cannot reach. Set it to "
                "the public https address first: GitHub refuses this one for webhooks.\n"
            )

    def _on_the_hub(self, wish: Wish) -> None:
        """Offer the page on the running Hub, and wait for its row to change."""
        token = Offer.objects.begin(**wish._asdict())
        self._invite(settings.HUB_BASE_URL + reverse("setup-github", args=[token]))
        ended = Offer.Stage.FAILED
        try:
            self._save(self._fetch(self._wait(token, wish), wish), wish)
            ended = Offer.Stage.DONE
        except KeyboardInterrupt:
            raise CommandError(f"Stopped. {_if_created(wish)}") from None
        finally:
            with suppress(DatabaseError):  # what is to be said has been said
                Offer.objects.end(token, ended)

    def _wait(self, token: str, wish: Wish) -> str:
        """GitHub's code, once the page has it."""
        was_opened = False
        while True:
            offer = Offer.objects.of(token).first()
            if offer is None:
                raise CommandError(
                    f"setup_github was started again, so this address has ended. {_if_created(wish)}"
                )
            if code := Offer.objects.take_code(token):
                return code
            if offer.is_over and offer.stage == Offer.Stage.OFFERED:
                raise CommandError(_nobody_came())
            if offer.is_over:
                raise CommandError(_too_late(wish))
            if offer.stage == Offer.Stage.OPENED and not was_opened:
                was_opened = True
                self._say("The page is open. Waiting for GitHub …")
            pause(LOOK_EVERY)

    def _on_loopback(self, wish: Wish, port: int) -> None:
        """Serve the page here, and wait for GitHub to send the browser back."""
        try:
            serving = loopback.Loopback(port, wish)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or "ports are numbers from 0 to 65535"
            raise CommandError(
                f"This command cannot listen on 127.0.0.1 port {port}: {why}. Name another one with "
                "--port."
            ) from None
        with loopback.serving(serving) as server:
            self._invite(server.url)
            is_done = False
            try:
                if not server.has_code.wait(LIFETIME.total_seconds()):
                    raise CommandError(_too_late(wish))
                self._save(self._fetch(server.code, wish), wish)
                is_done = True
            except KeyboardInterrupt:
                raise CommandError(f"Stopped. {_if_created(wish)}") from None
            finally:
                server.end(is_done=is_done)

    def _invite(self, url: str) -> None:
        self._say(
            "Open this address in a browser in which you are signed in to GitHub. It works once, for "
            f"{MINUTES} minutes:\n\n    {url}\n\nWaiting …"
        )

    def _fetch(self, code: str, wish: Wish) -> github_api.RegisteredApp:
        """The app with its keys. To ask again is safe: GitHub says so if it has told them already."""
        self._say("GitHub has created the app. Fetching its keys …")
        for left in reversed(range(FETCH_TIMES)):
            try:
                deadline = time.monotonic() + FETCH_TIMEOUT
                return github_api.registered_app(code, deadline=deadline)
            except github_api.GitHubError as error:
                if not left or isinstance(error, github_api.Refused):
                    raise CommandError(f"{error} {_if_created(wish)}") from None
            pause(LOOK_EVERY)
        raise AssertionError

    def _save(self, app: github_api.RegisteredApp, wish: Wish) -> None:
        """Write or print the keys, and say what is next."""
        _refuse_another_owner(app, wish)
        values = _values(app)
        if self.target is None:
            self.stdout.write(credentials.as_text(values), ending="")
            self._say(f"\nThe app {app.slug} of {app.owner} is created: {app.url}\n{PRINTED}")
            return
        try:
            credentials.write(self.target, values)
        except OSError as error:
            self._show_unwritten(values, error, wish)
        self._say(
            f"The app {app.slug} of {app.owner} is created: {app.url}\n"
            f"Its keys are in {self.target}, which this user alone can read.{_where_to_look(self.target)}\n"
            "Now restart the Hub, then run `manage.py check_setup`."
        )

    def _show_unwritten(self, values: dict[str, str], error: OSError, wish: Wish) -> None:
        """The app exists and its keys are told once: show them to a person, never to a log."""
        problem = f"{self.target} could not be written: {error.strerror}."
        if not self.stdout.isatty():
            raise CommandError(f"{problem} {_if_created(wish)}") from None
        self.stdout.write(credentials.as_text(values))
        raise CommandError(
            f"{problem} The keys above are shown this once: save them to that file with mode 0600, or "
            f"delete the app at {manifest.apps_url(wish)} and start again."
        ) from None

    def _say(self, text: str) -> None:
        """Everything but the keys goes to stderr, so that `--print` can be sent on."""
        out = self.stdout if self.target else self.stderr
        out.write(text, str)  # not in red
        out.flush()


PRINTED = (
    "Its keys are above, and nowhere else: give them to the Hub as the file HUB_GITHUB_CREDENTIALS, or as "
    "environment variables. Then restart the Hub, and run `manage.py check_setup`."
)


def _refuse_wrong_settings() -> None:
    """The app would be registered for another Hub than this one. A secret key may still be missing."""
    for sentence in settings.MISCONFIGURED:
        if not sentence.startswith("Set HUB_SECRET_KEY"):
            raise CommandError(sentence)


def _refuse_a_second_app() -> None:
    names = [name for name in credentials.NAMES if getattr(settings, name)]
    if names:
        file = (
            settings.HUB_GITHUB_CREDENTIALS and settings.BASE_DIR / settings.HUB_GITHUB_CREDENTIALS
        )
        files = [str(file)] if file and file.is_file() else []
        variables = [name for name in names if os.environ.get(name) or not files]
        steps = ["unset these variables"] * bool(variables) + ["move that file away"] * bool(files)
        raise CommandError(
            f"This Hub has an app already ({', '.join([*variables, *files])}). To replace it, "
            f"{', '.join(steps)} and start again. People then have to install the new app."
        )


def _wish(options: dict[str, Any]) -> Wish:
    name = options["name"] or manifest.default_name()
    if len(name) > manifest.LONGEST_NAME or not name.isprintable() or not name.strip():
        raise CommandError(
            f"--name must be 1 to {manifest.LONGEST_NAME} characters, without line ends."
        )
    if options["organization"] and not LOGIN.fullmatch(options["organization"]):
        raise CommandError("--organization must be the login of an organization, such as acme.")
    return Wish(name, options["organization"], not options["private"])


def _target(named: str | None) -> Path:
    """The file to write, which must be possible: later the app would exist, and its keys be lost."""
    file = named or settings.HUB_GITHUB_CREDENTIALS
    if not file:
        raise CommandError("HUB_GITHUB_CREDENTIALS is empty: name a --file, or --print the keys.")
    target = Path(file) if named else settings.BASE_DIR / file
    try:
        private_files.check_writable(target)
    except FileExistsError:
        raise CommandError(
            f"{target} is there already. Move it away, or name another --file."
        ) from None
    except OSError as error:
        raise CommandError(
            f"{target} cannot be written: {error.strerror}. Let this user write there, name another "
            "--file, or --print the keys."
        ) from None
    return target.resolve()


def _refuse_another_owner(app: github_api.RegisteredApp, wish: Wish) -> None:
    """Whoever got hold of the address could have answered with an app of their own."""
    if wish.organization and app.owner.lower() != wish.organization.lower():
        raise CommandError(
            f"The app {app.slug} belongs to {app.owner}, not to {wish.organization}: perhaps somebody "
            "else has opened the address. Nothing was saved. Run setup_github again."
        )


def _values(app: github_api.RegisteredApp) -> dict[str, str]:
    keys = (
        app.id,
        app.slug,
        app.client_id,
        app.client_secret,
        app.private_key,
        app.webhook_secret,
    )
    named = dict(zip(credentials.NAMES, map(str, keys), strict=True))
    return {credentials.CODE_HOST: settings.HUB_GITHUB_URL, **named}


def _where_to_look(target: Path) -> str:
    """What to set, where the Hub does not read this file by itself."""
    if target == (settings.BASE_DIR / settings.HUB_GITHUB_CREDENTIALS).resolve():
        return ""
    return f" Set HUB_GITHUB_CREDENTIALS={target} for the Hub."


def _nobody_came() -> str:
    return (
        f"Nobody opened the page within {MINUTES} minutes, and nothing was saved. Is the Hub running at "
        f"{settings.HUB_BASE_URL}? If your browser cannot reach it, use --port."
    )


def _too_late(wish: Wish) -> str:
    return f"Nobody came back from GitHub within {MINUTES} minutes. {_if_created(wish)}"


def _if_created(wish: Wish) -> str:
    return (
        "Nothing was saved. If GitHub has created an app, delete it at "
        f"{manifest.apps_url(wish)}, then run setup_github again."
    )
