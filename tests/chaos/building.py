"""Builds the world of a run, and takes it down again."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections
from django.test import Client

from hub import settings as of_the_hub
from integrations.models import Integration
from orgs.models import Membership
from tests import build, redis_server
from tests.chaos import wall_clock
from tests.chaos.code_host import ChaosHost, furnish
from tests.chaos.disk import Disk
from tests.chaos.queue_worker import QueueWorker
from tests.chaos.world import PROCESSES, Hub, PostgreSQLServer, SQLiteFile, World
from tests.conftest import callbacks, settings_for
from tests.dns_server import DNSServer

PACE = "120/minute;7000/hour"  # of issues through one installation: GitHub's limits are not the subject


class Member(NamedTuple):
    """Somebody of an organization, with a token and a session of theirs."""

    organization: str
    account: str
    token: str
    session: str


@contextmanager
def built(
    folder: Path, vendor: str, *, organizations: int, queue: bool
) -> Iterator[tuple[World, list[Member]]]:
    """Everything runs while the block does."""
    with ExitStack() as stack:
        disk = stack.enter_context(Disk(folder / "disk").mounted())
        database = (
            PostgreSQLServer(disk.folder) if vendor == "postgresql" else SQLiteFile(disk.folder)
        )
        stack.callback(database.end)
        host, dns = ChaosHost(), DNSServer()
        furnish(host, organizations)
        stack.enter_context(host.serving())
        for name, value in settings_for(host).items():
            setattr(settings, name, value)
        settings.HUB_DNS_SERVERS = stack.enter_context(dns.serving())
        settings.HUB_ISSUE_RATE = PACE
        settings.HUB_TRUSTED_PROXIES = 1
        use(database.url)
        call_command("migrate", verbosity=0)
        members = [
            each for number in range(organizations) for each in _organization(host, dns, number)
        ]
        connection.close()
        redis = None
        more = {"DATABASE_URL": database.url}
        if vendor == "postgresql" and shutil.which("redis-server"):
            redis = stack.enter_context(redis_server.serving())
            more |= {"REDIS_URL": redis.url, "HUB_PROCESSES": str(PROCESSES)}
        if queue:
            more["HUB_FORWARDING"] = "queue"
        clock = None if wall_clock.lacks() else wall_clock.WallClock(folder)
        if clock:
            more |= clock.environment
        hub = Hub(folder / "hub.log", **more)
        host.app.callback_urls += callbacks(hub)
        host.app.webhook_url = f"{hub.url}/v1/webhooks/github"
        world = World(folder, database, host, dns, redis, hub, disk, clock)
        stack.callback(_end, world)
        hub.start()
        if queue:
            world.queue_worker = QueueWorker(hub, hub.log)
        yield world, members


def use(url: str) -> None:
    """Let this process use this database, with the options of the Hub's settings."""
    of_the_hub.env.ENVIRON["DATABASE_URL"] = url
    connection.close()
    connections.settings["default"].update({"CONN_MAX_AGE": 0} | of_the_hub._database())
    del connections["default"]


def _end(world: World) -> None:
    if world.queue_worker:
        world.queue_worker.end()
    if world.hub.process.poll() is None:
        world.hub.stop()


def _organization(host: ChaosHost, dns: DNSServer, number: int) -> list[Member]:
    account = f"acme{number}"
    owner = build.organization(account)
    mine = build.integration(owner, host, f"{account}/docs")
    Integration.objects.filter(pk=mine.pk).update(
        likeness=("fold", "hint", "off")[number % 3],
        when_reported_again=("reopen", "comment", "issue", "nothing")[number % 4],
        alerts=True,
    )
    claim = build.domain(owner, f"docs.{account}.com")
    dns.txt(claim.record_name, claim.record_value)
    return [
        _member(host, owner, account, f"{login}{number}", role)
        for login, role in (("alice", Membership.Role.OWNER), ("bob", Membership.Role.MEMBER))
    ]


def _member(host: ChaosHost, owner, account: str, login: str, role: str) -> Member:
    host.grant(login, f"{account}/docs", "push")
    host.grant(login, f"{account}/guide", "push")
    user = build.member(owner, login, role=role, github_id=host.account(login).id)
    browser = Client()
    browser.force_login(user)
    session = browser.cookies[settings.SESSION_COOKIE_NAME].value
    return Member(owner.pk, account, build.token(user), session)
