"""What is somebody else's: tokens in the wrong place, other people's ids, forms and scripts of other sites."""

import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import requests
from django.db import connection
from django.urls import URLPattern, URLResolver, get_resolver

from orgs.models import Invitation, Membership, Organization, User
from tests import build
from tests.abuse.people import Browser, Program, member
from tests.abuse.table import MEMBER, OTHER, SITE, STRANGER, attack
from tests.abuse.world import Shipped, World, stands_if
from tests.hub.test_every_call import CALLS, scope_of

WORDS = "Only members of acme may read this"
EVIL = {"Origin": "https://evil.example", "Referer": "https://evil.example/"}
OPEN_TO_ALL = {"v1/reports", "v1/webhooks/github", "oauth/device", "oauth/token", "oauth/revoke"}


@attack(STRANGER, "use a token that stands where logs and forms keep it")
def tokens_outside_of_the_header(world: World) -> str:
    """A valid token in the query, a form, JSON, a cookie, as a password, with another scheme and twice."""
    _, token = member(world.acme())
    with world.hub() as hub:
        url = f"{hub.url}/v1/orgs/me"
        ways: list[dict[str, Any]] = [
            {"params": {"access_token": token, "token": token}},
            {"data": {"access_token": token}},
            {"json": {"access_token": token, "Authorization": f"Bearer {token}"}},
            {"cookies": {"Authorization": f"Bearer {token}", "token": token, "session": token}},
            {"auth": ("alice", token)},
            {"auth": (token, "x-oauth-basic")},
            {"headers": {"Authorization": f"Token {token}"}},
            {"headers": {"Authorization": f"Bearer {token}, Bearer {token}"}},
            {"headers": {"X-Authorization": f"Bearer {token}", "X-Api-Key": token}},
        ]
        told = [requests.get(url, timeout=60, **each).status_code for each in ways]
        valid = Program(hub, token).call("GET", "/orgs/me").status_code
    return stands_if(set(told) == {401} and valid == 200, f"{told}; in the header {valid}")


@attack(MEMBER, "write with a token that only reads")
def a_token_that_reads_writes(world: World) -> str:
    """Every call of the API that changes something, with a token for reading; and the other way round."""
    acme = world.acme()
    user, _ = member(acme)
    tokens = {scope: build.token(user, [scope]) for scope in ("orgs:read", "orgs:write")}
    other = {"orgs:read": "orgs:write", "orgs:write": "orgs:read"}
    connection.close()
    with world.hub() as hub:
        told = Counter(
            Program(hub, tokens[other[scope_of(method, path)]])
            .call(method.upper(), path.removeprefix("/v1"), {})
            .status_code
            for method, path in CALLS
        )
    left = acme.domains.count()
    connection.close()
    return stands_if(told == {403: len(CALLS)} and left == 1, f"{dict(told)} of {len(CALLS)} calls")


@attack(OTHER, "read and change what is acme's")
def ids_of_others(world: World) -> str:
    """Every call of the API and every page of the settings with the ids of acme's report, claims and members."""
    acme = world.acme()
    alice, _ = member(acme)
    bob, token = member(build.organization("evil"), "charlie")
    with world.hub() as hub:
        ids = _ids_of(acme, alice, hub)
        program, browser, told = Program(hub, token), Browser(hub, bob), Counter[int]()
        for method, path in CALLS:
            if "/x" in path:
                for each in ids["str"]:
                    asked = path.removeprefix("/v1").replace("/x", f"/{each}")
                    told.update([_harmless(program.call(method.upper(), asked, {}))])
        for route in (each for each in _routes("settings/") if "<" in each):
            for path in _filled(route, ids):
                told.update([_harmless(browser.get(path)), _harmless(browser.submit(path))])
    kept = acme.domains.count(), Membership.objects.filter(organization=acme).count()
    connection.close()
    figures = f"{dict(told)}; acme still has {kept[0]} domain and {kept[1]} member"
    return stands_if(not told[200] and kept == (1, 1), figures)


@attack(OTHER, "find acme's words in lists, tables and exports")
def exports_of_others(world: World) -> str:
    """Every list, search, table and export of another organization, and every page of the operators."""
    acme = world.acme()
    member(acme)
    charlie, token = member(build.organization("evil"), "charlie")
    with world.hub() as hub:
        hub.post(build.report(report__summary=WORDS))
        browser, program = Browser(hub, charlie), Program(hub, token)
        pages = ["/settings/", "/settings/reports/", "/settings/reports/?q=Only"]
        pages += ["/settings/reports/reports.csv", "/settings/account/export.json"]
        pages += ["/settings/account/", "/settings/claims/", "/admin/", "/admin/reports/report/"]
        pages += ["/admin/orgs/user/", "/admin/login/"]
        answers = [browser.get(each) for each in pages]
        answers += [
            program.call("GET", f"/orgs/me/reports{q}") for q in ("", "?q=Only", "?status=none")
        ]
    leaks = sum(WORDS in each.text or "docs.acme.com" in each.text for each in answers)
    admin = [each.status_code for each in answers[7:11]]
    figures = f"{leaks} of {len(answers)} have its words; the operators' pages {admin}"
    return stands_if(not leaks and 200 not in admin, figures)


@attack(SITE, "act as the person whose browser it is")
def forms_of_another_site(world: World) -> str:
    """Every address of the Hub is sent a form with the cookies of an owner, without the token of the form."""
    acme = world.acme()
    alice, _ = member(acme)
    with world.hub() as hub:
        ids = _ids_of(acme, alice, hub)
        browser, told = Browser(hub, alice), Counter[int]()
        acted = []
        for route in _routes(""):
            for path in _filled(route, ids):
                status = browser.post(path, {}, headers=EVIL).status_code
                told.update([status])
                if status < 300 and route.strip("^$") not in OPEN_TO_ALL:
                    acted.append(path)
    kept = acme.domains.count(), Membership.objects.filter(organization=acme).count()
    connection.close()
    return stands_if(
        not acted and kept == (1, 1) and told[403] > 40, f"{dict(told)}; acted: {acted}"
    )


@attack(SITE, "read in a script what a member may read")
def scripts_of_another_site(world: World) -> str:
    """Every address is asked with cookies and a foreign origin, and asked for leave first."""
    acme = world.acme()
    alice, _ = member(acme)
    open_, kept_by_caches, asked = [], [], 0
    with world.hub() as hub:
        ids = _ids_of(acme, alice, hub)
        browser = Browser(hub, alice)
        for route in _routes(""):
            for path in _filled(route, {**ids, "str": ids["str"][:1]}):
                asked += 1
                told = browser.get(path, headers=EVIL)
                leave = browser.options(
                    path, headers={**EVIL, "Access-Control-Request-Method": "PUT"}
                )
                granted = [
                    each for each in (told, leave) if "Access-Control-Allow-Origin" in each.headers
                ]
                if any("Access-Control-Allow-Credentials" in each.headers for each in granted):
                    open_.append(path)
                if granted and not path.startswith(("/v1/reports", "/v1/pages")):
                    open_.append(path)
                if path.startswith("/settings") and "no-store" not in told.headers.get(
                    "Cache-Control", ""
                ):
                    kept_by_caches.append(path)
    figures = f"{asked} addresses: {len(open_)} readable, {len(kept_by_caches)} of the settings may be cached"
    return stands_if(
        not open_ and not kept_by_caches, f"{figures} {open_[:3]} {kept_by_caches[:3]}"
    )


@attack(MEMBER, "leave an organization without an owner, or take it over")
def the_last_owners_at_once(world: World) -> str:
    """Two owners make each other members and remove each other at once, ten times; a member makes himself an owner."""
    acme = world.acme()
    without, took = 0, 0
    with world.hub() as hub, ThreadPoolExecutor(2) as pool:
        for _ in range(10):
            Membership.objects.all().delete()
            User.objects.all().delete()
            pair = [member(acme, login)[0] for login in ("alice", "bob")]
            low, _ = member(acme, "charlie", role="member")
            places = [f"/settings/account/members/{each.membership.pk}" for each in (*pair, low)]
            others = zip(pair, reversed(places[:2]), strict=True)
            list(pool.map(lambda each: _made_a_member(hub, *each), others))
            Browser(hub, low).submit(f"{places[2]}/role/", role="owner")
            Browser(hub, low).submit(f"{places[0]}/remove/")
            owners = set(Membership.objects.filter(role="owner").values_list("login", flat=True))
            connection.close()
            without += not owners
            took += "charlie" in owners
    return stands_if(
        not without and not took, f"{without} of 10 without an owner, {took} taken over"
    )


def _made_a_member(hub: Shipped, by: User, place: str) -> None:
    Browser(hub, by).submit(f"{place}/role/", role="member")


def _harmless(answer: requests.Response) -> int:
    """The status; 404 for a page that only leads away."""
    return 404 if answer.status_code in (302, 303) else answer.status_code


def _ids_of(acme: Organization, alice: User, hub: Shipped) -> dict[str, list[str]]:
    """Ids of what acme has, by the type that an address asks for."""
    report = hub.post(build.report(report__summary=WORDS)).json()["id"]
    claim = acme.domains.get()
    mine = alice.membership
    personal = alice.personal_tokens.first() if hasattr(alice, "personal_tokens") else None
    invited = Invitation.objects.create(
        organization=acme, github_id=77, login="bob", role="member", invited_by=mine
    )
    terminal = build.terminal(alice)
    connection.close()
    numbers = [mine.pk, invited.pk, terminal.pk, *([personal.pk] if personal else [])]
    return {"str": [report, claim.pk, claim.name], "int": [str(each) for each in numbers]}


def _routes(below: str) -> Iterator[str]:
    """The patterns of all addresses below this one, but for the operators' pages."""

    def walk(patterns: list[URLPattern | URLResolver], start: str) -> Iterator[str]:
        for each in patterns:
            here = start + str(each.pattern)
            if here.startswith("admin/"):
                continue
            if isinstance(each, URLResolver):
                yield from walk(each.url_patterns, here)
            elif not here.startswith("^"):
                yield here

    return (each for each in walk(get_resolver().url_patterns, "") if each.startswith(below))


def _filled(route: str, ids: dict[str, list[str]]) -> Iterator[str]:
    """Addresses of a pattern, with each of the ids in its first gap."""
    gaps = re.findall(r"<(?:(\w+):)?\w+>", route)
    if not gaps:
        yield f"/{route}"
        return
    for each in ids.get(gaps[0] or "str", ["x"]):
        once = re.sub(r"<[^>]*>", each, route, count=1)
        yield "/" + re.sub(r"<[^>]*>", "1", once)
