"""The sign-in from a terminal: guessed codes, approvals from elsewhere, and tokens that are used twice."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import requests
from django.db import connection

from orgs.models import Terminal, User
from tests import build
from tests.abuse.people import Browser, Program, member
from tests.abuse.table import FORMER, MEMBER, SITE, STRANGER, attack
from tests.abuse.world import Shipped, World, stands_if
from tests.orgs.terminals.terminal import CLI, DEVICE
from tests.waiting import wait_until

LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
GUESSES = 300


@attack(MEMBER, "approve, or be, a terminal of somebody else by guessing its code")
def guessed_codes(world: World) -> str:
    """300 guesses of the eight letters, and 300 of the device's own code, with one real sign-in waiting."""
    alice, _ = member(build.organization())
    with world.hub() as hub:
        _begin(hub)
        browser = Browser(hub, alice)
        pages = Counter(
            browser.get("/device/", params={"user_code": _guess(number)}).status_code
            for number in range(GUESSES)
        )
        polls = Counter(
            _post(hub, "token", grant_type=DEVICE, device_code=f"{number:040}").status_code
            for number in range(GUESSES)
        )
    signed_in = Terminal.objects.count()
    connection.close()
    figures = f"the page {dict(pages)}, the token {dict(polls)}; {signed_in} signed in"
    return stands_if(pages[200] <= 30 and not polls[200] and not signed_in, figures)


@attack(SITE, "have a terminal approved that is theirs")
def approval_from_another_site(world: World) -> str:
    """The form of the approval is sent without its token, with a foreign origin, as a link, and in a frame."""
    acme = build.organization()
    alice, _ = member(acme)
    with world.hub() as hub:
        codes = _begin(hub)
        form = {"user_code": codes["user_code"], "organization": acme.pk, "answer": "approve"}
        browser = Browser(hub, alice)
        evil = {"Origin": "https://evil.example", "Referer": "https://evil.example/"}
        told = [
            browser.post("/device/", form).status_code,
            browser.post("/device/", form, headers=evil).status_code,
            browser.submit("/device/", **form, csrfmiddlewaretoken="b" * 32).status_code,
        ]
        link = browser.get("/device/", params=form)
        framed = link.headers["Content-Security-Policy"], link.headers["X-Frame-Options"]
        waits = _poll(hub, codes).json()["error"]
    figures = f"{told}, a link asks first: {link.status_code}, the terminal is told {waits}"
    held = "frame-ancestors 'none'" in framed[0] and framed[1] == "DENY"
    return stands_if(told == [403] * 3 and waits == "authorization_pending" and held, figures)


@attack(STRANGER, "sign in with a code that was used")
def a_device_code_six_times_at_once(world: World) -> str:
    """An approved code is exchanged six times in one moment; then its approval is sent once more."""
    acme = build.organization()
    alice, _ = member(acme)
    with world.hub() as hub, ThreadPoolExecutor(6) as pool:
        codes = _begin(hub)
        _approve(hub, alice, codes)
        answers = Counter(
            each.status_code for each in pool.map(lambda _: _poll(hub, codes), range(6))
        )
        again = _approve(hub, alice, codes)
    signed_in = Terminal.objects.count()
    connection.close()
    figures = f"{dict(answers)}; approved again: {'Approved.' in again}; {signed_in} signed in"
    stands = answers[200] == 1 and signed_in == 1 and "Approved." not in again
    return stands_if(stands, figures)


@attack(STRANGER, "use a stolen refresh token")
def a_refresh_token_used_twice(world: World) -> str:
    """A thief refreshes with a copy, six times at once, after its owner did: the whole sign-in ends."""
    alice, _ = member(build.organization())
    with world.hub() as hub, ThreadPoolExecutor(6) as pool:
        tokens = _signed_in(hub, alice)
        own = _refresh(hub, tokens)
        thief = Counter(
            each.status_code for each in pool.map(lambda _: _refresh(hub, tokens), range(6))
        )
        after = Program(hub, own.json()["access_token"]).call("GET", "/orgs/me").status_code
    left = Terminal.objects.count()
    connection.close()
    figures = f"the owner {own.status_code}, the thief {dict(thief)}, then the owner {after}; {left} signed in"
    return stands_if(thief == {400: 6} and after == 401 and not left, figures)


@attack(STRANGER, "do more than the terminal was allowed")
def scopes_that_were_not_approved(world: World) -> str:
    """A terminal that may read asks for more as it begins, as it refreshes, and writes with what it has."""
    alice, _ = member(build.organization())
    with world.hub() as hub:
        begun = _post(hub, "device", scope="orgs:read orgs:admin").status_code
        tokens = _signed_in(hub, alice, "orgs:read")
        wrote = (
            Program(hub, tokens["access_token"]).call("POST", "/orgs/me/domains", {}).status_code
        )
        more = _refresh(hub, tokens, scope="orgs:read orgs:write")
        value = more.json().get("access_token", "")
        wrote_later = Program(hub, value).call("POST", "/orgs/me/domains", {}).status_code
    figures = (
        f"begin {begun}, write {wrote}, refresh {more.status_code}, write with it {wrote_later}"
    )
    return stands_if(begun == 400 and wrote == 403 and wrote_later in (401, 403), figures)


@attack(STRANGER, "keep everybody else from signing in from a terminal")
def codes_for_one_network(world: World) -> str:
    """Twenty addresses of an IPv4 /24, and of an IPv6 /48, ask for 30 codes each; then ten networks for one."""
    v4, v6 = "198.51.100.{}", "2001:db8:7:{}::1"
    addresses = [each.format(number) for each in (v4, v6) for number in range(20)] * 30
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub:
        flood = Counter(_begin_at(hub, each) for each in addresses)
        others = Counter(_begin_at(hub, f"203.0.{number}.9") for number in range(10))
    figures = f"{flood[200]} of {len(addresses)} codes, and then {others[200]} of 10 for others"
    return stands_if(flood[200] <= 240 and others[200] == 10, figures)


@attack(FORMER, "go on with tokens and sessions of before")
def tokens_of_who_was_deactivated_or_removed(world: World) -> str:
    """bob is removed from acme, charlie is deactivated; each has a token, a terminal and a browser."""
    acme = build.acme(world.host)
    people = [member(acme, "bob", role="member"), member(acme, "charlie", role="member")]
    with world.hub() as hub:
        terminals = [_signed_in(hub, user)["access_token"] for user, _ in people]
        browsers = [Browser(hub, user) for user, _ in people]
        report = hub.post(build.report()).json()["id"]
        _end(acme, hub, *(user for user, _ in people))
        read = f"/orgs/me/reports/{report}"
        programs = [Program(hub, each) for each in (*(t for _, t in people), *terminals)]
        answers = [each.call("GET", read).status_code for each in programs]
        pages = [each.get(f"/settings/reports/{report}/").status_code for each in browsers]
    figures = f"the report by tokens {answers}, in browsers {pages}"
    return stands_if(200 not in answers and 200 not in pages, figures)


def _end(acme: Any, hub: Shipped, removed: User, deactivated: User) -> None:
    """An owner removes the one, an operator deactivates the other."""
    alice, _ = member(acme)
    Browser(hub, alice).submit(f"/settings/account/members/{removed.membership.pk}/remove/")
    User.objects.filter(pk=deactivated.pk).update(is_active=False)
    connection.close()


def _guess(number: int) -> str:
    letters = [LETTERS[(number * 7 + place * number) % len(LETTERS)] for place in range(8)]
    return f"{''.join(letters[:4])}-{''.join(letters[4:])}"


def _post(hub: Shipped, endpoint: str, **fields: Any) -> requests.Response:
    form = {"client_id": CLI, **fields}
    return requests.post(f"{hub.url}/oauth/{endpoint}", form, timeout=60)


def _begin(hub: Shipped, scope: str = "orgs:read orgs:write") -> dict[str, Any]:
    return _post(hub, "device", scope=scope).json()


def _begin_at(hub: Shipped, address: str) -> int:
    form = {"client_id": CLI, "scope": "orgs:read"}
    forwarded = {"X-Forwarded-For": address}
    return requests.post(f"{hub.url}/oauth/device", form, headers=forwarded, timeout=60).status_code


def _poll(hub: Shipped, codes: dict[str, Any]) -> requests.Response:
    return _post(hub, "token", grant_type=DEVICE, device_code=codes["device_code"])


def _approve(hub: Shipped, user: User, codes: dict[str, Any]) -> str:
    """What the page says to whoever approves."""
    organization = user.membership.organization_id
    connection.close()
    form = {"user_code": codes["user_code"], "organization": organization, "answer": "approve"}
    return Browser(hub, user).submit("/device/", **form).text


def _signed_in(hub: Shipped, user: User, scope: str = "orgs:read orgs:write") -> dict[str, Any]:
    """The tokens of a terminal."""
    codes, got = _begin(hub, scope), {}
    _approve(hub, user, codes)

    def polled() -> bool:
        got.update(_poll(hub, codes).json())
        return "access_token" in got

    wait_until(polled)
    return got


def _refresh(hub: Shipped, tokens: dict[str, Any], **more: str) -> requests.Response:
    value = tokens["refresh_token"]
    return _post(hub, "token", grant_type="refresh_token", refresh_token=value, **more)
