"""Reading what one may not, and reading what one may in a way that costs much."""

import re
from collections import Counter
from difflib import unified_diff
from urllib.parse import quote

import requests
from django.db import connection

from integrations.models import Answer, Delivery, Integration
from tests import build
from tests.abuse.table import STRANGER, attack
from tests.abuse.world import Shipped, World, stands_if
from tests.waiting import wait_until

WORDS = "Only members of acme may read this"
IDS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


@attack(
    STRANGER, "find out which private repositories exist, and what became of reports about them"
)
def files_of_private_repositories(world: World) -> str:
    """Reports, receipts, pages and known problems of a claimed private file, beside those of nobody's file."""
    owner = world.acme()
    world.host.set_private("acme/docs", True)
    Integration.objects.update(repository_private=True, shows_known=True)
    host = world.host.url.partition("//")[2]
    build.site(owner, host.partition(":")[0], "/acme/docs/")
    connection.close()
    with world.hub() as hub:
        seen = [
            _all_of(hub, f"{world.host.url}/{name}/blob/main/install.md")
            for name in ("acme/docs", "acme/nothing", "nobody/nothing")
        ]
    figures = f"{len(set(seen))} sort of answer to {len(seen)} files"
    differ = [
        line
        for each in seen[1:]
        for line in unified_diff(seen[0].splitlines(), each.splitlines(), n=0)
    ]
    return stands_if(not differ, "\n".join([figures, *differ]))


@attack(STRANGER, "read receipts of others, and their words")
def guessed_receipts(world: World) -> str:
    """2,000 ids beside those of 20 receipts of the same moment; then a receipt itself, as a page and as JSON."""
    world.acme()
    with world.hub(HUB_TOTAL_RATE="1000000/minute") as hub, requests.Session() as session:
        ids = [
            hub.post(build.report("https://nobody.dev/x", report__summary=f"{WORDS} {n}")).json()[
                "id"
            ]
            for n in range(20)
        ]
        guesses = {
            each[:place] + letter + each[place + 1 :]
            for each in ids[:4]
            for place in range(10, 26)
            for letter in IDS
        } - set(ids)
        told = Counter(
            session.get(f"{hub.url}/v1/reports/{each}", timeout=60).status_code for each in guesses
        )
        texts = [
            session.get(f"{hub.url}/{path}", headers={"Accept": kind}, timeout=60).text
            for path in (f"r/{ids[0]}/", f"v1/reports/{ids[0]}")
            for kind in ("text/html", "application/json")
        ]
        alike = max(len(_common(a, b)) for a in ids for b in ids if a != b)
    leaks = sum(WORDS in each or "nobody.dev" in each for each in texts)
    figures = f"{dict(told)} of {len(guesses)} guesses, ids share {alike} of 26 characters, {leaks} of 4 have words"
    return stands_if(set(told) <= {404, 429} and not leaks and alike < 16, figures)


@attack(STRANGER, "learn all that is known, or keep others from asking")
def flood_of_questions(world: World) -> str:
    """600 questions about pages from one address, with other languages and types; then one from another."""
    world.acme()
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub, requests.Session() as session:

        def ask(number: int, address: str) -> int:
            headers = {"X-Forwarded-For": address, "Accept": "text/html;q=0." + "9" * (number % 50)}
            url = f"{hub.url}/v1/pages?url=https://docs.acme.com/{number}"
            return session.get(url, headers=headers, timeout=60).status_code

        flood = Counter(ask(number, "198.51.100.7") for number in range(600))
        other = ask(1, "203.0.113.7")
    figures = f"{dict(flood)}; another asks: {other}"
    return stands_if(flood[429] > 0 and other in (200, 404) and max(flood) < 500, figures)


@attack(STRANGER, "hide what is known of a page, and what its owner answers")
def page_emptied_by_junk(world: World) -> str:
    """510 short reports about a page with one known problem, with and without terms; then all are discarded."""
    world.acme()
    Integration.objects.update(shows_known=True)
    with world.hub() as hub:
        sent = hub.post(build.report(report__summary="The flag --yes is gone")).json()["id"]
        wait_until(lambda: Delivery.objects.filter(report=sent, status="sent").exists())
    lead = Delivery.objects.get(report=sent)
    Answer.objects.create(delivery=lead, text="Use --force", made_by="alice")
    connection.close()
    rates = ("HUB_REPORT_RATE", "HUB_HOST_RATE", "HUB_TOTAL_RATE")
    free = dict.fromkeys(rates, "1000000/minute")
    with world.hub(HUB_FORWARDING="queue", **free) as hub:
        for number in range(510):
            words = f"zq{number} wibble{number} vopt{number}"
            hub.post(build.report(report__summary=words, agent__name=f"x{number}"))
        shown = [_answered(hub)]
        Delivery.objects.exclude(pk=lead.pk).discard()
        shown.append(_answered(hub))
        lead.terms.delete()
        shown.append(_answered(hub))
    junk = Delivery.objects.held("discarded").count()
    figures = f"{junk} waited and were discarded, answers shown: {shown}"
    return stands_if(shown == [1, 1, 1] and junk == 510, figures)


@attack(STRANGER, "stop the Hub with a header")
def headers_that_are_read_slowly(world: World) -> str:
    """Accept, languages, encodings, cookies, ranges, tags and dates of 7,000 characters, on six addresses."""
    world.acme()
    headers = {
        "Accept": ["text/html;q=0.1," * 430, "*/*;" * 1700, "a/b" + ";x=y" * 1600],
        "Accept-Language": ["de-" * 2300, "a;q=0." + "1" * 6000, "en," * 2300],
        "Accept-Encoding": ["gzip;q=1," * 700],
        "Cookie": ["a=b;" * 1700, '="\\' * 2000, "csrf=" + "a" * 6000, "session=" + "é" * 2000],
        "If-None-Match": ['"x",' * 1700, '"' + "\\" * 6000],
        "If-Modified-Since": ["1" * 6000, "Mon, " * 1400],
        "Range": ["bytes=" + "0-1," * 1700],
        "Authorization": ["Bearer " + "a" * 6000, "Bearer" + " " * 6000],
        "Forwarded": ["for=1;" * 1100],
    }
    paths = ["/", "/r/x/", "/v1/reports/x", "/v1/pages?url=x", "/v1/orgs/me", "/static/x.css"]
    with world.hub() as hub, requests.Session() as session:
        told, worst = Counter[int](), (0.0, "")
        for name, values in headers.items():
            for value in values:
                sent = {name: value.encode()}

                def ask(sent: dict = sent) -> None:
                    for path in paths:
                        told.update(
                            [session.get(hub.url + path, headers=sent, timeout=60).status_code]
                        )

                worst = max(worst, (hub.cpu_of(ask), name))
    figures = f"{dict(told)}; at most {worst[0]:.0f} ms of computing for six, by {worst[1]}"
    return stands_if(worst[0] < 1000 and max(told) < 500, figures)


def _answered(hub: Shipped) -> int:
    """How many problems of the page are shown with an answer."""
    page = {"url": "https://docs.acme.com/install"}
    told = requests.get(f"{hub.url}/v1/pages", params=page, timeout=60).json()
    return sum(each["answer"] is not None for each in told["problems"])


def _all_of(hub: Shipped, url: str) -> str:
    """All that a stranger learns of a page by reporting it, without what is random."""
    session = requests.Session()
    sent = session.post(f"{hub.url}/v1/reports", json=build.report(url), timeout=60).json()
    told = [
        session.get(f"{hub.url}{path}", headers={"Accept": kind}, timeout=60).text
        for path in (
            f"/r/{sent['id']}/",
            f"/v1/reports/{sent['id']}",
            f"/v1/pages?url={quote(url)}",
        )
        for kind in ("text/html", "application/json")
    ]
    told.append(session.get(f"{hub.url}/report/?page={quote(url)}", timeout=60).text)
    text = "\n".join([str({**sent, "received_at": ""}), *told])
    return _without_what_differs(text, sent["id"], url)


def _without_what_differs(text: str, report: str, url: str) -> str:
    for known in (report, url, quote(url), quote(url, safe="")):
        text = text.replace(known, "…")
    text = re.sub(r"20\d\d-\d\d-\d\dT[\d:.]+(Z|\+00:00)|\d+ \w+ 20\d\d, [\d:]+", "…", text)
    text = re.sub(r'(csrfmiddlewaretoken" value|nonce)="[^"]*"', "…", text)
    text = re.sub(r"just now|\d+ seconds? ago", "…", text)
    return re.sub(r"(acme/docs|acme/nothing|nobody/nothing)", "…", text)


def _common(one: str, other: str) -> str:
    """The beginning that both have."""
    length = next((n for n, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), len(one))
    return one[:length]
