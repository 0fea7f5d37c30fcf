"""A member who lets much wait, and then has one act move all of it."""

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from statistics import median

import requests
from django.db import connection
from django.utils import timezone

from integrations.models import Delivery, Integration
from orgs import repository_pages
from orgs.models import Organization, Site
from tests import build
from tests.abuse.people import Browser, Program, member
from tests.abuse.sign_in import begin, code_of, come_back
from tests.abuse.table import MEMBER, attack
from tests.abuse.world import Shipped, World, let_wait, milliseconds, stands_if
from tests.plain_browser import Browser as Visitor
from tests.waiting import wait_until

BACKLOG = 20_000
RENAMES = 40
EVERY = 0.2  # seconds: all reports together have a limit, too
SLOW = 1000  # milliseconds, for one report of two
COST = 300  # milliseconds of computing, for one rename


@attack(MEMBER, "stop the Hub")
def an_organization_is_deleted_with_its_backlog(world: World) -> str:
    """20,000 reports wait; its last owner deletes the account, while others report and a colleague goes on."""
    acme = world.acme("docs.acme.com")
    alice, _ = member(acme)
    _, token = member(acme, "bob", role="member")
    Integration.objects.update(paused_at=timezone.now())
    let_wait(acme, BACKLOG)
    with world.hub(maintain=True, HUB_TRUSTED_PROXIES="1") as hub, ThreadPoolExecutor(2) as pool:
        gone = pool.submit(Browser(hub, alice).submit, "/settings/account/delete/", name="acme")
        colleague = pool.submit(_goes_on, Program(hub, token))
        told, times = _beside(hub, lambda: Organization.objects.exists())
        seen = colleague.result()
    left = Delivery.objects.count()
    connection.close()
    figures = (
        f"{gone.result().status_code}; others' reports were told {dict(told)}, after "
        f"{median(times):.0f} ms, {max(times):.0f} at most; the colleague {dict(seen)}; {left} rows left"
    )
    stands = set(told) == {201} and median(times) < SLOW and max(seen) < 500 and not left
    return stands_if(stands, figures)


@attack(MEMBER, "stop the Hub")
def a_repository_is_renamed_with_its_backlog(world: World) -> str:
    """20,000 reports about its files wait; GitHub says forty times at once that it has another name."""
    acme = world.acme()
    code_host = repository_pages.code_host_at(world.host.url)
    claim = build.site(acme, code_host.host, "/acme/docs/")
    docs = world.host.repository("acme/docs")
    Site.objects.filter(pk=claim.pk).update(repository_id=docs.id)
    let_wait(acme, BACKLOG, f"{world.host.url}/acme/docs/blob/HEAD/a.md")
    Integration.objects.update(paused_at=timezone.now())
    connection.close()
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub, ThreadPoolExecutor(RENAMES) as pool:
        world.host.app.webhook_url = f"{hub.url}/v1/webhooks/github"
        before = hub.cpu()
        renamed = pool.map(lambda n: world.host.rename(docs, f"docs-{n}"), range(RENAMES))
        told, times = _beside(hub, lambda: False, least=20)
        list(renamed)
        statuses = Counter(each.status for each in world.host.webhooks_sent[-RENAMES:])
        cost = (hub.cpu() - before) * 1000 / RENAMES
    figures = (
        f"{dict(statuses)}, {cost:.0f} ms of computing each; others' reports were told {dict(told)}, "
        f"after {median(times):.0f} ms, {max(times):.0f} at most"
    )
    stands = statuses == {202: RENAMES} and set(told) == {201} and median(times) < SLOW
    return stands_if(stands and cost < COST, figures)


@attack(MEMBER, "have more issues opened than the pace allows")
def an_organization_that_is_set_up_anew(world: World) -> str:
    """alice has 20 issues opened, deletes her account, and begins again with the same installation, four times."""
    return _rounds(world, _deletes)


@attack(MEMBER, "have more issues opened than the pace allows")
def an_organization_that_moves_away(world: World) -> str:
    """alice has 20 issues opened, and moves to the installation of her own account; then bob does the same."""
    return _rounds(world, _moves, ("alice", "bob"))


def _deletes(world: World, hub: Shipped, visitor: Visitor, token: str) -> None:
    visitor.send(visitor.open("/settings/account/delete/"), name="alice")


def _moves(world: World, hub: Shipped, visitor: Visitor, token: str) -> None:
    with suppress(ValueError):  # it is there
        world.host.add_repository("alice", "notes")
        world.host.add_installation("alice")
    other = build.installed(world.host, "alice").id
    come_back(hub, begin(hub, token), code_of(world, "alice"), installation_id=other)


def _rounds(
    world: World,
    leaves: Callable[[World, Shipped, Visitor, str], None],
    people: tuple[str, ...] = ("alice",) * 4,
) -> str:
    page = f"{world.host.url}/acme/docs/"
    world.host.grant("bob", "acme/docs", "push")
    here = build.installed(world.host).id
    issues = []
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub:
        for number, login in enumerate(people):
            visitor = Visitor(hub.url)
            visitor.sign_in(login)
            token = visitor.new_token()
            call = visitor.calling(token)
            come_back(hub, begin(hub, token), code_of(world, login), installation_id=here)
            call("POST", "orgs/me/integrations/github", repo_owner="acme", repo_name="docs")
            call("POST", "orgs/me/sites", url=page).raise_for_status()
            for n in range(20):
                report = build.report(f"{page}blob/main/{number}-{n}.md", report__summary=f"{n}")
                hub.post(report, **{"X-Forwarded-For": f"198.{number}.{n}.1"})
            issues.append(len(world.host.issues("acme/docs")))
            if login == "alice":
                leaves(world, hub, visitor, token)
    return stands_if(issues[0] == 20 == issues[-1], f"issues after each: {issues}; 20 a minute")


def _beside(
    hub: Shipped, goes_on: Callable[[], bool], least: int = 50
) -> tuple[Counter[int], list[float]]:
    """What others' reports are told, and after how many milliseconds, until that is over."""
    told: Counter[int] = Counter()
    times: list[float] = []

    def report() -> None:
        body = build.report(f"https://docs.example/{len(times)}")
        sender = {"X-Forwarded-For": f"198.18.{len(times) % 200}.1"}
        answer = requests.post(f"{hub.url}/v1/reports", json=body, headers=sender, timeout=60)
        told[answer.status_code] += 1

    def is_over() -> bool:
        times.append(milliseconds(report))
        time.sleep(EVERY)
        over = len(times) >= least and not goes_on()
        connection.close()
        return over

    wait_until(is_over, seconds=300)
    return told, times


def _goes_on(program: Program) -> Counter[int]:
    """What a colleague is answered who claims, chooses and looks meanwhile."""
    calls = [
        ("POST", "/orgs/me/domains", {"domain": "docs.acme.dev"}),
        ("GET", "/integrations/github/install", None),
        ("PATCH", "/orgs/me/integrations/github", {"likeness": "off"}),
    ]
    return Counter(program.call(*calls[n % len(calls)]).status_code for n in range(90))
