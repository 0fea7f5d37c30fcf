"""`manage.py demo`: the whole way of a report on this machine. `script/demo` sets the environment for it."""

import hashlib
import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from core.command import Group, HubCommand
from hub.management import demo_history
from hub.management.commands.sandbox import code_host, wait_for_interrupt
from hub.public import sample
from integrations.models import Installation, Integration
from integrations.ownership.site_claims import claim_site
from integrations.setup.configuration import configure
from orgs.models import Membership, Organization
from sandbox import Account, CodeHost, variants

FOLDER = settings.VAR_DIR / "demo"
START_TIMEOUT = 30  # seconds


class Command(HubCommand):
    help = (
        "Starts the Hub with a sandbox code host and an organization that has received reports for "
        "eight weeks, sends one more, and shows the issue that it became. Runs until Ctrl-C."
    )
    group = Group.TRY
    summary = "the whole way of a report on this machine; `script/demo` starts it"
    examples = {
        "demo": "as script/demo starts it, until Ctrl-C",
        "demo --once": "exit once the issue is open",
    }
    asks_the_database = False
    requires_system_checks = []  # `serve` makes them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="exit once the issue is open")

    def handle(self, *args: Any, once: bool, **options: Any) -> None:
        signal.signal(
            signal.SIGTERM, lambda *_: sys.exit(0)
        )  # so that the processes it started end too
        _start_afresh()
        host = code_host()
        with host.serving(port=urlsplit(settings.HUB_GITHUB_URL).port or 0):
            _migrate()
            _set_up(host)
            demo_history.write(host, sample.site())
            with _serving():
                demo_history.close(host)
                self._show(_send(variants.first(f"{sample.site()}/install")))
                Integration.objects.update(likeness=Integration.Likeness.FOLD)
                self._show_joined(_send(variants.again(f"{sample.site()}/install")))
                if not once:
                    self.stdout.write("\nServing until Ctrl-C.")
                    wait_for_interrupt()

    def _show(self, answer: dict) -> None:
        with urllib.request.urlopen(f"{_hub()}/v1/reports/{answer['id']}") as response:  # noqa: S310
            receipt = json.load(response)
        if not receipt["issue_url"]:
            raise CommandError(f"The report did not become an issue: {receipt}")
        code_host = f"{settings.HUB_GITHUB_URL}/_sandbox"
        self.stdout.write(
            f"Sign in as bob:     {code_host}/as/bob\n"
            f"Report a mistake:   {code_host}/docs/install\n"
            f"Let GitHub fail:    {code_host}/faults\n"
            f"Set up your own:    {code_host}/as/charlie, who publishes "
            f"https://charlie.{settings.HUB_PAGES_HOST}/docs/\n"
            f"The latest issue:   {receipt['issue_url']}\n"
            f"Its receipt:        {answer['receipt_url']}\n"
            f"Send your own:      POST {settings.HUB_BASE_URL}/v1/reports"
        )

    def _show_joined(self, answer: dict) -> None:
        self.stdout.write(f"Another, like it:   {answer['receipt_url']} joined the same issue")


def _start_afresh() -> None:
    """Delete the last demo, and make the app's key. Only ever in var/demo."""
    database = Path(settings.DATABASES["default"]["NAME"])
    if not settings.HUB_DEBUG or database.parent != FOLDER:
        raise CommandError("The demo is started by script/demo, which keeps it in var/demo.")
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    Path(settings.HUB_GITHUB_PRIVATE_KEY).write_bytes(pem)


def _migrate() -> None:
    """Migrate the new database; if no migration has changed since the last demo, by copying its empty one."""
    database = Path(settings.DATABASES["default"]["NAME"])
    empty = settings.VAR_DIR / f"demo-{_digest_of_migrations()}.sqlite3"
    if empty.exists():
        shutil.copyfile(empty, database)
        return
    call_command("migrate", verbosity=0, skip_checks=True)
    connection.close()  # now all is in the one file
    for old in settings.VAR_DIR.glob("demo-*.sqlite3"):
        old.unlink()
    shutil.copyfile(database, empty)


def _digest_of_migrations() -> str:
    digest = hashlib.sha256()
    for _, migration in sorted(MigrationLoader(None).disk_migrations.items()):
        digest.update(Path(inspect.getfile(type(migration))).read_bytes())
    return digest.hexdigest()[:16]


def _set_up(host: CodeHost) -> None:
    """Set up acme: alice is its owner and bob a member, issues go to acme/docs; its site and files are claimed.

    charlie has a repository, and nothing set up.
    """
    repository = host.add_repository("acme", "docs")
    host.grant("bob", repository, "push")
    installed = host.add_installation("acme", repositories=[repository])
    acme = Organization.objects.create(name="acme")
    owner = _member(acme, host.account("alice"), Membership.Role.OWNER)
    _member(acme, host.account("bob"), Membership.Role.MEMBER)
    Integration.objects.create(
        organization=acme,
        installation=Installation.objects.create(github_id=installed.id, account="acme"),
    )
    configure(owner, repo_owner="acme", repo_name="docs")
    claim_site(acme, f"{sample.site()}/")
    claim_site(acme, f"{settings.HUB_GITHUB_URL}/acme/docs/")
    host.add_repository("charlie", "docs")


def _member(organization: Organization, account: Account, role: Membership.Role) -> Membership:
    return Membership.objects.create(
        organization=organization, github_id=account.id, login=account.login, role=role
    )


@contextmanager
def _serving() -> Iterator[None]:
    """Run the production server as a separate process while the block runs."""
    process = subprocess.Popen([sys.executable, "manage.py", "serve"], cwd=settings.BASE_DIR)
    try:
        deadline = time.monotonic() + START_TIMEOUT
        while not _ready():
            if process.poll() is not None or time.monotonic() > deadline:
                raise CommandError(f"The Hub did not start on port {settings.HUB_PORT}.")
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait()


def _ready() -> bool:
    try:
        with urllib.request.urlopen(f"{_hub()}/readyz", timeout=5):  # noqa: S310
            return True
    except (URLError, ConnectionError):
        return False


def _send(report: dict) -> dict:
    """Send the report as an agent would, with the command line."""
    command = [sys.executable, "-m", "docfeedback", "report", "--file", "-", "--hub-url", _hub()]
    ended = subprocess.run(  # noqa: S603  (our own, with our own words)
        [*command, "--json"],
        input=json.dumps(report),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(settings.BASE_DIR / "clients/python/src")},
        check=False,
    )
    if ended.returncode:
        raise CommandError(f"The report was not sent: {ended.stdout}{ended.stderr}")
    return json.loads(ended.stdout)


def _hub() -> str:
    return f"http://127.0.0.1:{settings.HUB_PORT}"
