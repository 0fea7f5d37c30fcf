"""Members who ask for what is theirs, many times at once, so that there is nothing left for others."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median

import requests
from allauth.idp.oidc.models import Token
from django.db import connection
from django.test import Client
from django.utils import timezone

from integrations.models import Delivery, Integration
from orgs.models import Domain, User
from reports.models import Report
from tests import build
from tests.abuse._asking import asking
from tests.abuse.people import TOKEN, Browser, member, session_of
from tests.abuse.table import MEMBER, attack
from tests.abuse.world import Shipped, World, let_wait, milliseconds, stands_if
from tests.waiting import wait_until

EACH = 0.5  # seconds that GitHub takes for an answer
THREADS = 12  # of somebody who asks as often as they can
CONNECTIONS = 4  # as many as one organization has at once
BACKLOG = 150_000  # what one organization was sent, and waits
PRESSES = 200  # of one button
SLOW = 1000  # milliseconds, for one report of two
LOOKED_AT = 5000  # reports, to find those that match
REPORTS = "/v1/orgs/me/reports"
PAGE = "/settings/integration/"  # which asks GitHub


@attack(MEMBER, "leave no room for others")
def one_member_that_asks_all_the_time(world: World) -> str:
    """For the page that has GitHub asked, in twelve threads; others report, and ask for theirs."""
    acme = world.acme()
    others = build.organization("initech")
    mine, theirs = _session(build.member(acme)), _session(build.member(others, "charlie"))
    world.host.fail("slow", seconds=EACH, method="GET", path="/api/*", times=100_000)
    with world.hub() as hub, _asking(hub, mine) as answers:
        wait_until(lambda: sum(answers.values()) > 3 * THREADS)
        times = [milliseconds(lambda n=n: _post(hub, n)) for n in range(10)]
        beside = Counter(_get(hub, theirs, "/settings/") for _ in range(10))
    figures = (
        f"the member was told {dict(answers)}, others {dict(beside)}; "
        f"a report took {max(times):.0f} ms at most"
    )
    return stands_if(
        beside == {200: 10} and answers[429] > answers[200] and median(times) < SLOW, figures
    )


@attack(MEMBER, "leave no room for others")
def members_of_many_organizations_that_ask_all_the_time(world: World) -> str:
    """36 with 1,000 domains each, in five networks, ask for all of them, each in four connections."""
    asked = [
        f"GET /v1/orgs/me HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: 192.0.{number % 5}.1\r\n"
        f"Authorization: Bearer {_with_domains(number)}\r\n\r\n"
        for number in range(36)
    ]
    return _others_beside(world, CONNECTIONS * len(asked), asked)


@attack(MEMBER, "leave no room for others")
def members_of_ten_organizations_that_ask_what_costs_most(world: World) -> str:
    """Lists with filters, and a hundred reports discarded and restored, in four connections each and five networks."""
    asked = [each for number in range(10) for each in _costly(world, number)]
    return _others_beside(world, len(asked), asked)


@attack(MEMBER, "leave no room for others")
def owners_that_change_all_that_match_nothing(world: World) -> str:
    """Eight in eleven networks, in four connections each: 20,000 long addresses are looked through for a text."""
    acme = world.acme()
    let_wait(acme, 20_000)
    address = "https://docs.acme.com/" + "%E4%BD%A0" * 2000
    Report.objects.filter(organization=acme).update(canonical_url=address)
    owners = [session_of(build.member(acme, f"owner{number}")) for number in range(8)]
    form = f"all=discard&csrfmiddlewaretoken={TOKEN}"
    asked = [
        f"POST /settings/reports/change/?q=zzzzzzzz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"X-Forwarded-For: 192.0.{number % 11}.1\r\nCookie: session={owner}; csrf={TOKEN}\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(form)}\r\n\r\n{form}"
        for number, owner in enumerate(owners * CONNECTIONS)
    ]
    return _others_beside(world, len(asked), asked)


@attack(MEMBER, "keep an owner from acting")
def a_member_who_changes_something_all_the_time(world: World) -> str:
    """Eight connections, with tokens of bob, who is no owner, and of alice, who is: she revokes hers, removes bob."""
    acme = world.acme()
    alice, (bob, token) = build.member(acme), member(acme, "bob", role="member")
    stolen = build.token(alice)
    mine, theirs = Token.objects.get(user=alice).pk, bob.membership.pk
    connection.close()
    asked = [
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: 192.0.2.1\r\n"
        f"Authorization: Bearer {each}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
        for each in (token, stolen)
        for method, path in (("POST", f"{REPORTS}/x/discard"), ("GET", "/v1/orgs/me"))
    ]
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub, asking(hub.port, 8, asked):
        time.sleep(5)
        browser = Browser(hub, alice)
        browser.headers["X-Forwarded-For"] = "203.0.113.7"
        pages = [f"tokens/{mine}/revoke", f"account/members/{theirs}/remove"]
        told = [browser.submit(f"/settings/{each}/").status_code for each in pages]
    stay = acme.memberships.count(), Token.objects.count()
    connection.close()
    figures = f"alice's forms are told {told}; members and tokens that stay: {stay}"
    return stands_if(told == [302, 302] and stay == (1, 0), figures)


@attack(MEMBER, "stop the Hub")
def pause_and_resume_over_a_backlog(world: World) -> str:
    """Four connections of one member, with 150,000 reports that wait; each press changed all of them."""
    acme = world.acme()
    session = _session(build.member(acme))
    let_wait(acme, BACKLOG)
    with world.hub(maintain=True) as hub, _pressing(hub, session) as presses:
        wait_until(lambda: sum(presses.values()) > CONNECTIONS)
        taken: Counter[int] = Counter()
        times = [milliseconds(lambda n=n: taken.update([_sent(hub, n)])) for n in range(50)]
        beside = Counter(_get(hub, session, each) for each in ["/healthz", "/readyz"] * 25)
    figures = (
        f"{dict(presses)} presses; reports were told {dict(taken)}, after {max(times):.0f} ms at most, "
        f"and /healthz and /readyz answered {dict(beside)}"
    )
    stands = beside == {200: 50} and taken == {201: 50} and median(times) < SLOW
    return stands_if(stands, figures)


@attack(MEMBER, "use up what GitHub allows, and fill the disk")
def try_again_without_end(world: World) -> str:
    """Four connections press it for one report: each press was a call of GitHub, and a row for good."""
    acme = world.acme("docs.acme.com")
    session = _session(build.member(acme))
    world.host.set_issues("acme/docs", False)
    with world.hub() as hub:
        report = hub.post(build.report()).json()["id"]
        path = f"/settings/reports/{report}/try-again/"
        before = len(world.host.requests)
        with _pressed(hub, session, {path: {}}) as presses:
            wait_until(lambda: sum(presses.values()) > PRESSES)
        asked = len(world.host.requests) - before
    delivery = Delivery.objects.get()
    kept, tries = delivery.attempts.count(), delivery.tries
    connection.close()
    figures = (
        f"{sum(presses.values())} presses: {tries} attempts, {kept} kept, {asked} calls of GitHub"
    )
    return stands_if(tries <= 31 and kept <= 100 and asked < 5 * 31, figures)


@attack(MEMBER, "stop the Hub")
def discard_and_restore_a_backlog(world: World) -> str:
    """Four connections of one member, with 150,000 reports that are held, all that match each time."""
    acme = world.acme()
    session = _session(build.member(acme))
    let_wait(acme, BACKLOG)
    Integration.objects.update(paused_at=timezone.now())
    Delivery.objects.update(status="held", held_for="pause")
    connection.close()
    page = "/settings/reports/change/?status="
    buttons = {f"{page}held": {"all": "discard"}, f"{page}discarded": {"all": "restore"}}
    with world.hub(maintain=True) as hub, _pressed(hub, session, buttons) as presses:
        wait_until(lambda: sum(presses.values()) > CONNECTIONS)
        taken: Counter[int] = Counter()
        times = [milliseconds(lambda n=n: taken.update([_sent(hub, n)])) for n in range(50)]
    figures = f"{dict(presses)} presses; reports were told {dict(taken)}, after {max(times):.0f} ms at most"
    return stands_if(taken == {201: 50} and median(times) < SLOW, figures)


@contextmanager
def _pressing(hub: Shipped, session: str) -> Iterator["Counter[int]"]:
    """What *Pause* and *Resume* are answered, one after the other on each connection."""
    with _pressed(hub, session, {f"{PAGE}{each}/": {} for each in ("pause", "resume")}) as answers:
        yield answers


@contextmanager
def _pressed(
    hub: Shipped, session: str, buttons: dict[str, dict[str, str]]
) -> Iterator["Counter[int]"]:
    """What the buttons are answered, one after the other on each connection: addresses, and their forms."""
    token = "a" * 32
    cookies, headers = {"session": session, "csrf": token}, {"Origin": hub.url}

    def press(answers: "Counter[int]") -> None:
        for path, form in buttons.items():
            answer = requests.post(
                f"{hub.url}{path}",
                {"csrfmiddlewaretoken": token, **form},
                cookies=cookies,
                headers=headers,
                allow_redirects=False,
                timeout=60,
            )
            answers[answer.status_code] += 1

    with _all_the_time(press, CONNECTIONS) as answers:
        yield answers


@contextmanager
def _asking(hub: Shipped, session: str) -> Iterator["Counter[int]"]:
    """What those threads are answered, while the block runs."""

    def ask(answers: "Counter[int]") -> None:
        answers[_get(hub, session, PAGE)] += 1

    with _all_the_time(ask, THREADS) as answers:
        yield answers


@contextmanager
def _all_the_time(ask: Callable[["Counter[int]"], None], number: int) -> Iterator["Counter[int]"]:
    """`ask` in so many threads, over and over while the block runs; what they count."""
    answers: Counter[int] = Counter()
    stop = threading.Event()

    def keep_asking() -> None:
        while not stop.is_set():
            ask(answers)

    threads = [threading.Thread(target=keep_asking) for _ in range(number)]
    for each in threads:
        each.start()
    try:
        yield answers
    finally:
        stop.set()
        for each in threads:
            each.join()


def _with_domains(number: int) -> str:
    """The token of a member whose organization has as many domains as one may have."""
    owner = build.organization(f"org-{number}")
    names = (f"d{n}.org-{number}.dev" for n in range(1000))
    now = timezone.now()
    Domain.objects.bulk_create(
        Domain(organization=owner, name=each, registrable=False, verified_at=now) for each in names
    )
    token = build.token(build.member(owner, f"member-{number}"))
    connection.close()
    return token


def _others_beside(world: World, connections: int, asked: list[str]) -> str:
    """What the reports of others take while so many connections ask all the time."""
    others = {"X-Forwarded-For": "203.0.113.7"}
    with (
        world.hub(HUB_TRUSTED_PROXIES="1") as hub,
        asking(hub.port, connections, asked),
    ):
        time.sleep(3)  # until all of them ask
        reports = [build.report(f"https://docs.example/{n}") for n in range(60)]
        times = [milliseconds(lambda r=r: hub.post(r, **others)) for r in reports]
    figures = f"60 reports took {median(times):.0f} ms (median), {max(times):.0f} at most"
    return stands_if(median(times) < SLOW, figures)


def _costly(world: World, number: int) -> list[str]:
    """What the member of an organization asks for that has received many reports."""
    mine = build.organization(f"many{number}")
    build.integration(mine, world.host)
    let_wait(mine, LOOKED_AT)
    newest = Report.objects.filter(organization=mine).order_by("-pk")[:100]
    ids = json.dumps({"ids": [each.pk for each in newest]})
    token = build.token(build.member(mine, f"owner{number}"))
    connection.close()
    head = (
        f"HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: 192.0.{number % 5}.1\r\n"
        f"Authorization: Bearer {token}\r\n"
    )
    sent = f"{head}Content-Type: application/json\r\nContent-Length: {len(ids)}\r\n\r\n{ids}"
    return [
        *(f"POST {REPORTS}/{act} {sent}" for act in ("discard", "restore")),
        *(
            f"GET {REPORTS}?{each} {head}\r\n"
            for each in ("claim=docs.x.com&page=/x", "kind=broken")
        ),
    ]


def _session(user: User) -> str:
    client = Client()
    client.force_login(user)
    connection.close()
    return client.session.session_key or ""


def _get(hub: Shipped, session: str, page: str) -> int:
    return requests.get(hub.url + page, cookies={"session": session}, timeout=60).status_code


def _sent(hub: Shipped, number: int) -> int:
    report = build.report(f"https://docs.example/{number}")
    return requests.post(f"{hub.url}/v1/reports", json=report, timeout=60).status_code


def _post(hub: Shipped, number: int) -> None:
    hub.post(build.report(f"https://docs.example/{number}"))
