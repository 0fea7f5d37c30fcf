"""Signing in, and installing the app: one-time states, other people's states, and where a browser is led."""

import re
import secrets
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from math import ceil
from typing import Any
from urllib.parse import parse_qs, urlsplit

import requests
from django.contrib.sessions.models import Session
from django.db import connection
from django.utils import timezone

from integrations.models import Integration
from orgs.models import User
from tests import build
from tests.abuse.people import Browser, Program, member
from tests.abuse.table import MEMBER, OTHER, SITE, STRANGER, attack
from tests.abuse.world import Shipped, World, stands_if
from tests.plain_browser import Browser as Visitor
from tests.waiting import wait_until

CALLBACK = "/v1/integrations/github/callback"
EXCHANGE = "/login/oauth/access_token"
SLOTS = 16  # of calls to GitHub: half of the threads
PATIENCE = 5  # seconds after which nobody waits for a report to be taken
AWAY = [
    "https://evil.example/",
    "//evil.example/",
    "///evil.example/",
    "/\\evil.example/",
    "\\\\evil.example/",
    "http:evil.example",
    "javascript:alert(1)",
    "https://127.0.0.1@evil.example/",
    "/%09/evil.example/",
    "\t//evil.example/",
]


@attack(STRANGER, "use what was meant for one installation many times")
def a_state_used_six_times_at_once(world: World) -> str:
    """The state of one installation comes back six times in the same moment."""
    acme = build.organization()
    _, token = member(acme, github_id=world.host.account("alice").id)
    with world.hub() as hub, ThreadPoolExecutor(6) as pool:
        state = begin(hub, token)
        codes = [code_of(world, "alice") for _ in range(6)]
        answers = Counter(pool.map(lambda code: come_back(hub, state, code), codes))
    made = Integration.objects.count()
    connection.close()
    figures = f"{dict(answers)}; {made} integration"
    return stands_if(answers[200] == 1 and made == 1 and max(answers) < 500, figures)


@attack(OTHER, "be given the installation of somebody else")
def states_that_are_not_mine(world: World) -> str:
    """The state of another organization, one that was altered, none, and the installation of another account."""
    world.host.add_organization("initech")
    world.host.add_repository("initech", "manual")
    theirs = world.host.add_installation("initech").id
    _, token = member(build.organization(), github_id=world.host.account("alice").id)
    _, other = member(
        build.organization("evil"), "charlie", github_id=world.host.account("charlie").id
    )
    with world.hub() as hub:
        mine = begin(hub, token)
        answers = [
            come_back(hub, begin(hub, other), code_of(world, "alice")),
            come_back(hub, f"{mine[:-1]}_", code_of(world, "alice")),
            come_back(hub, "", code_of(world, "alice")),
            come_back(hub, mine, code_of(world, "alice"), installation_id=theirs),
            come_back(hub, mine, code_of(world, "charlie")),
        ]
    made = Integration.objects.count()
    connection.close()
    stands = answers == [403, 400, 400, 403, 403] and not made
    return stands_if(stands, f"{answers}; {made} integrations")


@attack(SITE, "have alice receive their reports, or give them hers")
def a_callback_in_somebody_elses_browser(world: World) -> str:
    """charlie sends alice, who is signed in, the address that ends his installation."""
    alice, _ = member(build.organization(), github_id=world.host.account("alice").id)
    _, other = member(
        build.organization("evil"), "charlie", github_id=world.host.account("charlie").id
    )
    with world.hub() as hub:
        query = {"state": begin(hub, other), "code": code_of(world, "charlie")}
        answer = Browser(hub, alice).get(CALLBACK, params=query).status_code
    made = Integration.objects.count()
    connection.close()
    return stands_if(400 <= answer < 500 and not made, f"{answer}; {made} integrations")


@attack(SITE, "keep the neighbors of who looks at it from signing in")
def codes_in_pictures(world: World) -> str:
    """Pictures and links of a page end charlie's installation with codes that GitHub has not given."""
    _, token = member(build.organization("evil"), "charlie")
    looking, beside = "203.0.113.9", {"X-Forwarded-For": "203.0.113.77"}
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub:
        state = begin(hub, token)
        answers: Counter[str] = Counter()
        for kind in ["image"] * 6 + ["document"] * 6:
            asked = {"X-Forwarded-For": looking, "Sec-Fetch-Dest": kind}
            query = {"state": state, "code": "guess"}
            answer = requests.get(hub.url + CALLBACK, query, headers=asked, timeout=60)
            answers[f"{kind} {answer.status_code}"] += 1
        visitor, path = _begun(hub)
        ended = visitor.open(path, headers=beside, allow_redirects=False)
    connection.close()
    figures = f"{dict(answers)}; somebody beside signs in: {ended.status_code}"
    return stands_if(ended.headers.get("Location") == "/settings/", figures)


@attack(SITE, "sign somebody in as the attacker")
def a_sign_in_that_another_browser_began(world: World) -> str:
    """The address that ends charlie's sign-in at GitHub is opened in another browser, and in his once more."""
    with world.hub() as hub:
        his, hers = Visitor(hub.url), Visitor(hub.url)
        asked = his.send(his.open("/login/"))
        back = his.send(asked, login="charlie", redirects=False).headers["Location"]
        hers.open(back)
        led = hers.open("/settings/").url
        his.open(back)
        again = Visitor(hub.url)
        again.open(back)
        led_again = again.open("/settings/").url
    people = User.objects.count()
    connection.close()
    figures = f"led to {urlsplit(led).path} and {urlsplit(led_again).path}; {people} account"
    return stands_if("/login/" in led and "/login/" in led_again and people == 1, figures)


@attack(SITE, "show a page of theirs after a sign-in here")
def led_to_another_host(world: World) -> str:
    """Ten spellings of another host in `next`, before the sign-in, after it, and when one is signed in."""
    alice, _ = member(build.organization(), github_id=world.host.account("alice").id)
    with world.hub(HUB_SIGN_IN_RATE="1000/minute") as hub:
        signed_in, led = Browser(hub, alice), []
        for each in AWAY:
            visitor = Visitor(hub.url)
            form = visitor.open("/login/", params={"next": each})
            led.append(visitor.send(visitor.send(form, next=each), login="alice").url)
            for path in ("/login/", "/logout/"):
                answer = signed_in.get(path, params={"next": each})
                led.append(requests.compat.urljoin(hub.url, answer.headers.get("Location", "")))
        away = [each for each in led if urlsplit(each).netloc != urlsplit(hub.url).netloc]
    return stands_if(not away, f"{len(away)} of {len(led)} led away")


@attack(STRANGER, "know somebody's session before they sign in")
def a_session_that_was_set_before(world: World) -> str:
    """A cookie that an attacker has set is there at the sign-in; then the one of before signing out is sent."""
    fixed = "a" * 32
    with world.hub() as hub:
        visitor = Visitor(hub.url)
        visitor.cookies.set("session", fixed)
        visitor.sign_in("alice")
        mine = next(
            each.value for each in visitor.cookies if each.name == "session" and each.value != fixed
        )
        before = _opened(hub, mine)
        attacker = _opened(hub, fixed)
        visitor.send(visitor.open("/logout/"))
        after = _opened(hub, mine)
    figures = f"own {before}, the cookie that was set {attacker}, the own after signing out {after}"
    return stands_if((before, attacker, after) == (200, 302, 302), figures)


@attack(MEMBER, "get limits anew")
def an_account_that_comes_back(world: World) -> str:
    """alice uses up the looks at the DNS, deletes her account, signs in again, and goes on."""
    statuses: list[Counter[int]] = []
    with world.hub() as hub:
        for _ in range(2):
            visitor = Visitor(hub.url)
            visitor.sign_in("alice")
            call = visitor.calling(visitor.new_token())
            statuses.append(Counter(_claim(call, number).status_code for number in range(200)))
            visitor.send(visitor.open("/settings/account/delete/"), name="alice")
    first, second = statuses
    figures = f"first {dict(first)}, after coming back {dict(second)}"
    return stands_if(first[429] > 0 and not second[201], figures)


@attack(STRANGER, "fill the disk")
def sign_ins_that_are_begun_and_left(world: World) -> str:
    """Addresses of an IPv4 /24, and of an IPv6 /48, begin three sign-ins each, with a `next` of 2,000 characters."""
    v4, v6 = "198.51.100.{}", "2001:db8:7:{:x}::1"
    addresses = [each.format(number) for each in (v4, v6) for number in range(1, 254)] * 3
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub, ThreadPoolExecutor(4) as pool:
        page = requests.get(f"{hub.url}/login/", timeout=30)
        begin_at = partial(_status_of_begin, hub, page)
        flood = Counter(pool.map(begin_at, addresses))
        other = begin_at("203.0.113.9")
    kept = [len(each) for each in Session.objects.values_list("session_data", flat=True)]
    latest = Session.objects.latest("expire_date").expire_date - timezone.now()
    connection.close()
    figures = (
        f"{flood[302]} of {len(addresses)} begun, somebody else {other}; kept are {sum(kept) // 1000} KB, "
        f"until {ceil(latest / timedelta(minutes=1))} minutes later"
    )
    stands = flood[302] <= 600 and other == 302 and sum(kept) < 300_000
    return stands_if(stands and latest <= timedelta(minutes=10), figures)


def _status_of_begin(hub: Shipped, page: requests.Response, address: str) -> int:
    """Without a session, and with the token of a form that anybody may have."""
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)[1]
    form = {"csrfmiddlewaretoken": token, "next": f"/{secrets.token_urlsafe(1500)}"}
    cookie = f"csrf={page.cookies['csrf']}"
    headers = {"Origin": hub.url, "X-Forwarded-For": address, "Cookie": cookie}
    return requests.post(
        f"{hub.url}/login/github/", form, headers=headers, timeout=60, allow_redirects=False
    ).status_code


@attack(STRANGER, "keep everybody else waiting while GitHub is slow")
def sign_ins_while_github_drips(world: World) -> str:
    """Five networks end eight sign-ins each, which GitHub answers a byte a second; somebody else reports meanwhile."""
    world.acme()
    signing_in = {"HUB_TRUSTED_PROXIES": "1", "HUB_SIGN_IN_RATE": "1000/minute"}
    with world.hub(**signing_in) as hub, ThreadPoolExecutor(40) as pool:
        begun = [_begun(hub) for _ in range(40)]
        world.host.fail("drip", milliseconds=1000, method="*", path=EXCHANGE, times=40)
        flood = [
            pool.submit(_ended, browser, path, f"198.51.{number % 5}.7")
            for number, (browser, path) in enumerate(begun)
        ]
        wait_until(lambda: _exchanges(world) >= SLOTS)
        taken = sum(_is_taken(hub, number) for number in range(4))
        ended = sum(each.result() for each in flood)
    asked = _exchanges(world)
    figures = f"GitHub is asked {asked} times, {taken} of 4 reports taken, {ended} of 40 told"
    return stands_if((asked, taken, ended) == (SLOTS, 4, 40), figures)


@attack(STRANGER, "keep everybody from signing in")
def sign_ins_that_are_canceled(world: World) -> str:
    """Ten networks cancel 120 sign-ins each, of which GitHub is asked nothing; then somebody else signs in."""
    addresses = [f"198.51.{number}.7" for number in range(10)]
    signing_in = {"HUB_TRUSTED_PROXIES": "1", "HUB_SIGN_IN_RATE": "2000/minute"}
    with world.hub(**signing_in) as hub, ThreadPoolExecutor(4) as pool:
        ends = partial(_ends, hub, lambda _: "error=access_denied")
        canceled = sum(pool.map(ends, addresses), Counter())
        asked = _exchanges(world)
        led = Visitor(hub.url).sign_in("alice").url
    figures = f"{dict(canceled)}, GitHub is asked {asked} times; somebody else is led to {urlsplit(led).path}"
    return stands_if(canceled.total() == 1200 and led == f"{hub.url}/settings/", figures)


@attack(STRANGER, "keep everybody from signing in")
def codes_that_github_refuses(world: World) -> str:
    """Ten networks end 120 sign-ins each with a code that GitHub has not given; then somebody else signs in."""
    addresses = [f"198.51.{number}.7" for number in range(10)]
    signing_in = {"HUB_TRUSTED_PROXIES": "1", "HUB_SIGN_IN_RATE": "2000/minute"}
    with world.hub(**signing_in) as hub, ThreadPoolExecutor(4) as pool:
        guesses = sum(pool.map(partial(_ends, hub, lambda _: "code=guess"), addresses), Counter())
        asked = _exchanges(world)
        led = Visitor(hub.url).sign_in("alice").url
    figures = f"{dict(guesses)}, GitHub is asked {asked} times; somebody else is led to {urlsplit(led).path}"
    return stands_if(guesses.total() == 1200 and led == f"{hub.url}/settings/", figures)


@attack(STRANGER, "keep everybody from signing in")
def codes_for_another_page(world: World) -> str:
    """Ten networks end 120 sign-ins each with codes that GitHub has given one account for setting up the app."""
    return _from_ten_networks(world, lambda _: f"code={code_of(world, 'bob')}")


@attack(STRANGER, "keep everybody from signing in")
def one_account_that_signs_in_all_the_time(world: World) -> str:
    """Ten networks end 120 sign-ins each, all as one account of GitHub; then somebody else signs in."""
    return _from_ten_networks(world, lambda asked: _agreed(asked, "bob"))


def _from_ten_networks(world: World, words: Callable[[str], str]) -> str:
    addresses = [f"198.51.{number}.7" for number in range(10)]
    signing_in = {"HUB_TRUSTED_PROXIES": "1", "HUB_SIGN_IN_RATE": "2000/minute"}
    with world.hub(**signing_in) as hub, ThreadPoolExecutor(4) as pool:
        ended = sum(pool.map(partial(_ends, hub, words), addresses), Counter())
        led = Visitor(hub.url).sign_in("alice").url
    figures = f"{dict(ended)}; somebody else is led to {urlsplit(led).path}"
    return stands_if(ended.total() == 1200 and led == f"{hub.url}/settings/", figures)


def _agreed(asked: str, login: str) -> str:
    """The words with which GitHub sends the browser of somebody back who is led to `asked`, and agrees."""
    answer = requests.get(f"{asked}&login={login}", allow_redirects=False, timeout=10)
    return f"code={parse_qs(urlsplit(answer.headers['Location']).query)['code'][0]}"


def _ends(hub: Shipped, words: Callable[[str], str], address: str) -> Counter[int]:
    """The statuses of 120 sign-ins that somebody at this address ends in these words, in a new browser each time.

    `words` gets the address at GitHub where the browser was led.
    """
    statuses: Counter[int] = Counter()
    forwarded = {"X-Forwarded-For": address}
    for _ in range(120):
        if not statuses[429]:  # which leaves the state as it was
            visitor = Visitor(hub.url)
            asked = visitor.send(visitor.open("/login/"), redirects=False).headers["Location"]
        state = parse_qs(urlsplit(asked).query)["state"][0]
        path = f"/login/github/callback/?{words(asked)}&state={state}"
        statuses[visitor.open(path, headers=forwarded, allow_redirects=False).status_code] += 1
    return statuses


def _begun(hub: Shipped) -> tuple[Visitor, str]:
    """A browser that GitHub sends back, and the path where to."""
    visitor = Visitor(hub.url)
    asked = visitor.send(visitor.open("/login/"))
    back = visitor.send(asked, login="alice", redirects=False).headers["Location"]
    return visitor, back.removeprefix(hub.url)


def _ended(visitor: Visitor, path: str, address: str) -> bool:
    """Whether somebody at this address is led back to the page for signing in."""
    forwarded = {"X-Forwarded-For": address}
    try:
        answer = visitor.open(path, headers=forwarded, allow_redirects=False)
    except requests.RequestException:
        return False
    return answer.headers.get("Location") == "/login/"


def _exchanges(world: World) -> int:
    return sum(each.path == EXCHANGE for each in world.host.requests)


def _is_taken(hub: Shipped, number: int) -> bool:
    report = build.report(f"https://docs.acme.com/{number}")
    forwarded = {"X-Forwarded-For": "203.0.113.9"}
    try:
        answer = requests.post(
            f"{hub.url}/v1/reports", json=report, headers=forwarded, timeout=PATIENCE
        )
    except requests.RequestException:
        return False
    return answer.status_code == 201


def _claim(call: Callable[..., requests.Response], number: int) -> requests.Response:
    return call("POST", "orgs/me/domains", domain=f"a{number}.dev")


def begin(hub: Shipped, token: str) -> str:
    """The state of a new installation."""
    answer = Program(hub, token).call("GET", "/integrations/github/install").json()
    return parse_qs(urlsplit(answer["install_url"]).query)["state"][0]


def code_of(world: World, login: str) -> str:
    """What GitHub gives to the browser of somebody who agrees."""
    authorize = f"{world.host.url}/login/oauth/authorize?client_id=client&login={login}"
    answer = requests.get(authorize, allow_redirects=False, timeout=10)
    return parse_qs(urlsplit(answer.headers["Location"]).query)["code"][0]


def come_back(hub: Shipped, state: str, code: str, **more: Any) -> int:
    query = {"state": state, "code": code, **more}
    return requests.get(
        f"{hub.url}{CALLBACK}", query, timeout=60, allow_redirects=False
    ).status_code


def _opened(hub: Shipped, session: str) -> int:
    browser = Browser(hub)
    browser.cookies.set("session", session)
    return browser.get("/settings/").status_code
