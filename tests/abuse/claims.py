"""Claims of what is not theirs: other people's records, wildcards, shared names, and pages beside a claim."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import requests
from django.db import connection
from django.utils import timezone

from core import clock
from integrations.models import Delivery
from orgs.domains import claiming
from orgs.models import Domain
from orgs.people import members
from reports.models import Report
from tests import build
from tests.abuse.people import Browser, Program, member
from tests.abuse.table import FORMER, NAME_SERVER, OTHER, STRANGER, attack
from tests.abuse.world import Shipped, World, stands_if
from tests.dns_server import DNSServer

SHARED = [
    *("com", "co.uk", "github.io", "pages.dev", "s3.amazonaws.com", "netlify.app", "vercel.app"),
    *("blogspot.com", "readthedocs.io", "gitlab.io", "herokuapp.com", "kawasaki.jp", "uk.com"),
    *("github.com", "gist.github.com", "raw.githubusercontent.com", "acme.github.io"),
    *("localhost", "intern", "10.0.0.1", "[::1]", "0x7f.1", "2130706433", "hub.internal"),
    *("printer.local", "a.test", "x.onion", "https://docs.acme.com/", "docs.acme.com:443"),
    *(
        "*.acme.com",
        "_hub-challenge.acme.com",
        "a..b.com",
        "docs.acme.com\u0000",
        "a" * 300 + ".com",
    ),
    *("ｇｉｔｈｕｂ.com", "github.com.", "GITHUB.IO", "co。uk", "-a.com", "a@b.com", ""),
]
BESIDE = [
    *(
        "https://docs.acme.com.evil.dev/x",
        "https://evil.dev/docs.acme.com",
        "https://xdocs.acme.com/",
    ),
    *(
        "https://evil.dev/?https://docs.acme.com/",
        "https://evil.dev/#docs.acme.com",
        "//docs.acme.com/x",
    ),
    *(
        "https://docs.acme.com@evil.dev/",
        "https://docs.acme.com:x@evil.dev/",
        "https:docs.acme.com/x",
    ),
    *("https://evil.dev\\@docs.acme.com/", "https://a.docs.acme.com/", "https://acme.com/"),
    *(
        "https://docs.acme.com%2eevil.dev/",
        "https://docs.acme.com%00.evil.dev/",
        "docs.acme.com/install",
    ),
    *("javascript://docs.acme.com/%0aalert(1)", "ftp://docs.acme.com/", "https://docs.аcme.com/"),
    *(
        "https://acme.github.io/docs-old/",
        "https://acme.github.io/docs/../old/",
        "https://acme.github.io/",
    ),
    *("https://acme.github.io/docs/%2e%2e/old/", "https://acme.github.io/docs/..%2fold/../../old/"),
    *(
        "https://evil.github.io/docs/",
        "https://acme.github.io.evil.dev/docs/",
        "https://github.io/docs/",
    ),
]


@contextmanager
def _asking(world: World, dns: DNSServer) -> Iterator[Shipped]:
    """A Hub that asks this name server only."""
    with dns.serving() as address, world.hub(HUB_DNS_SERVERS=address) as hub:
        yield hub


def _claim(program: Program, name: str) -> dict[str, str]:
    """The record that proves it."""
    return program.call("POST", "/orgs/me/domains", {"domain": name}).json()["dns_record"]


def _verified(program: Program, name: str) -> str:
    answer = program.call("POST", f"/orgs/me/domains/{name}/verify")
    return str(answer.json().get("status", answer.status_code))


@attack(OTHER, "have a domain with somebody else's record")
def records_of_another_organization(world: World) -> str:
    """The record of acme is in the DNS as evil asks to verify, before and after acme does, and pieces of evil's."""
    _, acme = member(build.organization())
    _, evil = member(build.organization("evil"), "charlie")
    dns = DNSServer()
    with _asking(world, dns) as hub:
        record = _claim(Program(hub, acme), "docs.acme.com")
        own = _claim(Program(hub, evil), "docs.acme.com")["value"]
        dns.txt(
            record["name"], record["value"], own.upper(), own[:-1], f'"{own}"', f" {own}", f"{own}x"
        )
        said = [_verified(Program(hub, each), "docs.acme.com") for each in (evil, acme, evil)]
    return stands_if(said == ["pending", "verified", "pending"], f"evil, acme, evil: {said}")


@attack(NAME_SERVER, "prove a domain that is not theirs")
def wildcards_and_aliases(world: World) -> str:
    """A wildcard that says evil's record everywhere, an alias that leads in circles, and 60 records of others."""
    _, token = member(build.organization("evil"), "charlie")
    dns, names = DNSServer(), ("wild.dev", "loop.dev", "many.dev")
    with _asking(world, dns) as hub:
        evil = Program(hub, token)
        values = {name: _claim(evil, name)["value"] for name in names}
        dns.txt("*.wild.dev", values["wild.dev"])
        dns.alias("_hub-challenge.loop.dev", "_hub-challenge.loop.dev")
        dns.txt("_hub-challenge.many.dev", *(f"hub-verify={n:043}" for n in range(60)))
        said = [_verified(evil, name) for name in names]
    return stands_if(said == ["pending"] * 3, f"wildcard, loop, many: {said}")


@attack(NAME_SERVER, "prove a domain that is led to it")
def aliases_of_every_name(world: World) -> str:
    """acme leads all names below two of its own to evil, by a DNAME, and by a wildcard alias of two targets in turn."""
    acme = build.organization()
    build.domain(acme, "acme.com")
    _, token = member(build.organization("evil"), "charlie")
    dns, names = DNSServer(), ("docs.acme.com", "weighted.acme.com")
    dns.alias_below("docs.acme.com", "v.evil.dev")
    dns.alias("*.weighted.acme.com", "w.evil.dev", "acme.cdn.dev")
    with _asking(world, dns) as hub:
        evil = Program(hub, token)
        values = [_claim(evil, name)["value"] for name in names]
        for name, value in zip(("_hub-challenge.v", "w"), values, strict=True):
            dns.txt(f"{name}.evil.dev", value)
        said = Counter(_verified(evil, name) for name in names for _ in range(2))
        hub.post(build.report())
    owner = Report.objects.get().organization
    connection.close()
    figures = f"four looks: {dict(said)}; the report is {owner.name if owner else 'nobody'}'s"
    return stands_if(said == {"pending": 4} and owner == acme, figures)


@attack(OTHER, "have what many share, or what is inside of a network")
def names_that_are_shared(world: World) -> str:
    """38 public suffixes, shared hosts, addresses, local names, and spellings of them."""
    _, token = member(build.organization("evil"), "charlie")
    with world.hub(HUB_ASKING_RATE="1000/minute") as hub:
        evil = Program(hub, token)
        told = {
            name: evil.call("POST", "/orgs/me/domains", {"domain": name}).status_code
            for name in SHARED
        }
    claimed = list(Domain.objects.values_list("name", flat=True))
    connection.close()
    figures = f"{dict(Counter(told.values()))} of {len(SHARED)}; claimed: {claimed}"
    return stands_if(not claimed and set(told.values()) <= {400, 422}, figures)


@attack(OTHER, "have a domain that is somebody's, or that they left")
def a_domain_that_is_somebodys(world: World) -> str:
    """Fifty organizations wait for acme's domain, one asks to verify; acme removes its claim and claims it anew."""
    acme = build.organization()
    build.integration(acme, world.host)
    _, token = member(acme)
    others = [build.organization(f"evil{number}") for number in range(50)]
    for each in others:
        build.domain(each, "docs.acme.com", verified=False)
    Domain.objects.update(expires_at=timezone.now() + timedelta(days=9))
    _, evil = member(others[0], "charlie")
    dns = DNSServer()
    with _asking(world, dns) as hub:
        owner = Program(hub, token)
        value = _claim(owner, "docs.acme.com")["value"]
        dns.txt("_hub-challenge.docs.acme.com", value)
        _verified(owner, "docs.acme.com")
        taken = _verified(Program(hub, evil), "docs.acme.com")
        hub.post(build.report())
        issues = len(world.host.issues("acme/docs"))
        owner.call("DELETE", "/orgs/me/domains/docs.acme.com")
        renewed = _claim(owner, "docs.acme.com")["value"]
        again = _verified(owner, "docs.acme.com")
    figures = (
        f"evil is told {taken}, acme has {issues} issue; with the record of before {again}, "
        f"the value is {'another' if renewed != value else 'the same'}"
    )
    return stands_if(
        taken in ("409", "pending") and issues == 1 and again == "pending" and renewed != value,
        figures,
    )


@attack(OTHER, "have a domain back that they have sold")
def a_domain_that_was_sold(world: World) -> str:
    """acme has verified it; the Hub's resolver remembers the record of evil alone, who asks 20 times to verify."""
    acme, evil = build.organization(), build.organization("evil")
    build.domain(acme, "docs.acme.com")
    former = build.domain(evil, "docs.acme.com", verified=False)
    _, token = member(evil, "charlie")
    dns = DNSServer()
    dns.txt(former.record_name, former.record_value)
    with _asking(world, dns) as hub:
        said = Counter(_verified(Program(hub, token), "docs.acme.com") for _ in range(20))
        hub.post(build.report())
    owner = Report.objects.get().organization
    connection.close()
    figures = f"evil is told {dict(said)}; the report is {owner.name if owner else 'nobody'}'s"
    return stands_if(said == {"409": 20} and owner == acme, figures)


@attack(FORMER, "keep from acme that somebody else has a name below its own")
def claims_that_hide_the_news(world: World) -> str:
    """bob claims 30 names for acme, proves none and leaves; evil proves docs.acme.com; then bob's end one by one."""
    acme = build.organization()
    alice, _ = member(acme)
    bob, his = member(acme, "bob", role="member")
    build.domain(acme, "acme.com")
    _, evil = member(build.organization("evil"), "charlie")
    dns = DNSServer()
    with _asking(world, dns) as hub:
        for number in range(30):
            _claim(Program(hub, his), f"w{number}.bob.dev")
        members.remove(bob.membership, by=bob.membership)
        record = _claim(Program(hub, evil), "docs.acme.com")
        dns.txt(record["name"], record["value"])
        taken = _verified(Program(hub, evil), "docs.acme.com")
        for each in Domain.objects.filter(name__endswith=".bob.dev"):
            Domain.objects.filter(pk=each.pk).update(expires_at=clock.now())
            claiming.drop_expired()
        told, left = acme.notices.count(), acme.domains.count()
        connection.close()
        shown = [
            "receive the reports about them: docs.acme.com." in Browser(hub, alice).get(page).text
            for page in ("/settings/", "/settings/news/")
        ]
    figures = f"docs.acme.com is {taken}; {told} notices, {left} claim left; said on Overview, on News: {shown}"
    return stands_if((taken, left) == ("verified", 1) and told == 32 and all(shown), figures)


@attack(STRANGER, "have reports about other pages become issues of acme")
def pages_beside_a_claim(world: World) -> str:
    """27 addresses that look like acme's pages: other hosts, user names, dots, escapes, paths and letters."""
    acme = world.acme()
    build.site(acme, "acme.github.io", "/docs/")
    connection.close()
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub:
        told = Counter(_report(hub, url, f"198.51.{number}.7") for number, url in enumerate(BESIDE))
        mine = _report(hub, "HTTPS://DOCS.acme.com:443/a/../install?utm_source=x#y", "203.0.113.1")
    matched = Report.objects.filter(organization=acme).exclude(
        canonical_url="https://docs.acme.com/install"
    )
    wrong = list(matched.values_list("doc_url", flat=True))
    sent = Delivery.objects.filter(status="sent").count()
    connection.close()
    figures = (
        f"{dict(told)}; {len(wrong)} were acme's {wrong[:2]}; its own page {mine}, {sent} issue"
    )
    return stands_if(not wrong and sent == 1 and set(told) <= {201, 400}, figures)


@attack(OTHER, "read what an earlier owner of the page has received")
def pages_of_a_deleted_organization(world: World) -> str:
    """acme receives a report and is deleted; evil claims its domain; the report is sent again, without its details."""
    acme = world.acme()
    alice, _ = member(acme)
    with world.hub() as hub:
        old = hub.post(build.report(report__details="Told to acme alone.")).json()["id"]
        Browser(hub, alice).submit("/settings/account/delete/", name="acme")
        evil = build.organization("evil")
        build.integration(evil, world.host)
        build.domain(evil, "docs.acme.com")
        _, token = member(evil, "charlie")
        again = hub.post(build.report()).json()["id"]
        read = [
            Program(hub, token).call("GET", f"/orgs/me/reports/{each}") for each in (old, again)
        ]
    issues = [issue.body for issue in world.host.issues("acme/docs")]
    told = sum(
        "Told to acme alone." in body for body in (*issues[1:], *(each.text for each in read))
    )
    figures = f"{len(issues)} issues; evil reads {[each.status_code for each in read]}, the old words {told} times"
    return stands_if(
        len(issues) == 2 and [each.status_code for each in read] == [404, 200] and not told, figures
    )


@attack(OTHER, "have part of a site with a repository that publishes nothing")
def a_repository_without_pages(world: World) -> str:
    """The docs team has all of acme.github.io; evil may push to acme/blog, which has no Pages, and claims /blog/."""
    team, evil = build.organization("team"), build.organization("evil")
    world.host.add_repository("acme", "acme.github.io")
    world.host.add_repository("acme", "blog", pages=False)
    build.integration(team, world.host, "acme/acme.github.io")
    build.integration(evil, world.host, "acme/blog")
    build.site(team, "acme.github.io", "/")
    _, token = member(evil, "charlie")
    with world.hub() as hub:
        told = Program(hub, token).call(
            "POST", "/orgs/me/sites", {"url": "https://acme.github.io/blog/"}
        )
        hub.post(build.report("https://acme.github.io/blog/post"))
    owner = Report.objects.get().organization
    connection.close()
    figures = (
        f"evil is told {told.status_code}; the report is {owner.name if owner else 'nobody'}'s"
    )
    return stands_if(told.status_code == 422 and owner == team, figures)


def _report(hub: Shipped, url: str, address: str) -> int:
    body = build.report(url, report__summary=f"About {url}"[:200])
    headers = {"X-Forwarded-For": address}
    return requests.post(
        f"{hub.url}/v1/reports", json=body, headers=headers, timeout=60
    ).status_code
