"""What is kept: words in logs, erased words, and secrets in each field."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psutil
import requests
from django.conf import settings as configured
from django.db import connection

from hub.server import noted
from integrations.models import Integration
from tests import build
from tests.abuse.accounts import _rows
from tests.abuse.people import Browser, Program, member
from tests.abuse.table import MEMBER, READER, STRANGER, attack
from tests.abuse.world import Shipped, World, stands_if

CANARY = "Canary7"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
DISGUISED = {
    "as it is": SECRET,
    "in colors": "\x1b[1m" + SECRET[:12] + "\x1b[0m" + SECRET[12:],
    "with what cannot be seen": "\u200b".join([SECRET[:9], SECRET[9:20], SECRET[20:]]),
    "in wide letters": "".join(chr(ord(each) + 0xFEE0) for each in SECRET),
    "with a backslash": SECRET.replace("_", "\\_"),
    "as entities": SECRET.replace("_", "&#95;"),
}


@attack(STRANGER, "write lines into the log")
def forged_log_lines(world: World) -> str:
    """Line ends, color codes and JSON in paths, queries, methods, headers, ids and bodies."""
    line = '\n{"level": "info", "message": "Canary7"}\r\n\x1b[2J' + "x" * 2000
    world.acme()
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub:
        quoted = requests.utils.quote(line)
        paths = [
            f"/{quoted}",
            f"/v1/reports/{quoted}",
            f"/v1/pages?url={quoted}",
            f"/login/?next={quoted}",
            f"/docs/{quoted}",
        ]
        for path in paths:
            requests.get(hub.url + path, timeout=60)
            flat = " ".join(line.split()).encode()
            for name in (
                "User-Agent",
                "X-Forwarded-For",
                "Referer",
                "X-Request-Id",
                "Authorization",
                "Cookie",
                "Traceparent",
            ):
                requests.get(hub.url + path[:50], headers={name: flat}, timeout=60)
        hub.post(build.report(report__summary=line[:400], report__details=line, agent__name=CANARY))
        requests.post(
            f"{hub.url}/v1/reports", line, headers={"Content-Type": "application/json"}, timeout=60
        )
    lines = hub.log.read_text().splitlines()
    broken = [each for each in lines if not _is_json(each)]
    longest = max(map(len, lines))
    found = sum(CANARY in each for each in lines)
    figures = (
        f"{len(lines)} lines, {len(broken)} are no JSON, {found} with their words, "
        f"the longest has {longest} characters"
    )
    return stands_if(
        not broken and not found and "\x1b" not in "".join(lines) and longest < 4000, figures
    )


@attack(STRANGER, "wash the lines of others out of the log")
def a_log_washed_away(world: World) -> str:
    """Eight connections ask for what is answered at once (`OPTIONS`, and signing out), for ten seconds."""
    world.acme()
    until = time.monotonic() + 10

    same = "a" * 32  # such a form is that of a visitor who has seen no page
    form = {"Cookie": f"csrf={same}; csrftoken={same}", "X-CSRFToken": same}

    def ask(method: str, path: str) -> int:
        with requests.Session() as session:
            asked = 0
            while time.monotonic() < until:
                session.request(
                    method, hub.url + path, headers=form, timeout=60, allow_redirects=False
                )
                asked += 1
        return asked

    with world.hub() as hub, ThreadPoolExecutor(8) as pool:
        started = time.monotonic()
        calls = [("OPTIONS", "/v1/reports"), ("POST", "/logout/")] * 4
        asked = sum(each.result() for each in [pool.submit(ask, *call) for call in calls])
        hub.post(build.report())
        seconds = time.monotonic() - started
        processes = len(psutil.Process(hub.process.pid).children(recursive=True))
    lines = [json.loads(line) for line in hub.log.read_text().splitlines()]
    listed = sum(line["message"] == "request" for line in lines)
    is_there = any(line.get("route") == "reports" and line.get("status") == 201 for line in lines)
    most = processes * (noted.AT_ONCE + seconds * noted.OF_OTHERS)
    return stands_if(
        is_there and listed < most + 10,
        f"{asked} requests, {listed} of them in the log; a report after them {'is' if is_there else 'is not'} there",
    )


@attack(READER, "(by mistake) leave secrets in the log")
def what_the_log_has(world: World) -> str:
    """Tokens, cookies, codes, addresses and bodies on every kind of call, also such as fail, and crash at GitHub."""
    alice, token = member(world.acme())
    with world.hub(HUB_TRUSTED_PROXIES="1", HUB_LOG_LEVEL="info") as hub:
        browser, program = Browser(hub, alice), Program(hub, token)
        program.call("GET", f"/orgs/me?token={CANARY}")
        program.call("POST", "/orgs/me/domains", {"domain": f"{CANARY}.dev", "x": CANARY})
        browser.submit("/settings/tokens/", name=CANARY, days="90", scopes="orgs:read")
        browser.get(f"/settings/reports/?q={CANARY}")
        requests.get(
            f"{hub.url}/v1/integrations/github/callback?code={CANARY}&state={CANARY}", timeout=60
        )
        requests.get(f"{hub.url}/login/github/callback/?code={CANARY}&state={CANARY}", timeout=60)
        requests.post(
            f"{hub.url}/oauth/token",
            {"grant_type": "refresh_token", "refresh_token": CANARY},
            timeout=60,
        )
        hub.post(
            build.report(report__details=CANARY, agent__name=CANARY),
            **{"X-Forwarded-For": "203.0.113.77"},
        )
        session = browser.cookies.get("session") or ""
    log = hub.log.read_text()
    secrets = {
        "words": CANARY, "token": token, "session": session, "address": "203.0.113.77",
        "webhook secret": world.host.app.webhook_secret, "key": configured.SECRET_KEY,
    }  # fmt: skip
    found = [name for name, value in secrets.items() if value and value in log]
    return stands_if(
        not found, f"{len(log.splitlines())} lines; found in them: {found or 'nothing'}"
    )


@attack(MEMBER, "read words that were erased")
def erased_words(world: World) -> str:
    """A report with further accounts, in an issue, is erased: pages, API, table, export and every row."""
    owner = world.acme()
    alice, token = member(owner)
    Integration.objects.update(likeness="hint", shows_known=True)
    connection.close()
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub:
        url = f"https://docs.acme.com/install?{CANARY}=1"
        changes = {
            "report__details": f"{CANARY} first",
            "agent__name": CANARY,
            "task_context__task_summary": CANARY,
        }
        changes |= {
            "report__suggested_fix": CANARY,
            "report__evidence": [{"kind": "observed", "text": CANARY}],
        }
        report = hub.post(build.report(url, **changes)).json()["id"]
        for number in range(3):
            again = build.report(url, **{**changes, "report__details": f"{CANARY} {number}"})
            hub.post(again, **{"X-Forwarded-For": f"198.51.{number}.7"})
        before = sum(CANARY in row for row in _rows())
        browser, program = Browser(hub, alice), Program(hub, token)
        browser.submit(f"/settings/reports/{report}/erase/")
        left = sum(CANARY in row for row in _rows())
        read = sum(CANARY in each for each in _all_pages(browser, program, report))
    figures = f"{before} tables had them, {left} afterwards; {read} pages show them"
    return stands_if(before > 0 and not left and not read, figures)


@attack(READER, "(by mistake) publish a secret")
def secrets_in_every_field(world: World) -> str:
    """A token in six disguises, in each of nine fields, the address of the page and the key of the report."""
    alice, _ = member(world.acme())
    fields = [
        "report__summary",
        "report__details",
        "report__suggested_fix",
        "agent__name",
        "agent__version",
    ]
    fields += [
        "agent__vendor",
        "task_context__task_summary",
        "task_context__transcript_excerpt",
        "idempotency_key",
    ]
    with world.hub(HUB_TRUSTED_PROXIES="1", HUB_ISSUE_RATE="100000/minute") as hub:
        told = []
        for number, (field, secret) in enumerate(
            (f, s) for f in fields for s in DISGUISED.values()
        ):
            body = build.report(**{"report__summary": f"Case {number}", field: f"x {secret} y"})
            told.append(_sent(hub, body, number))
        body = build.report(f"https://docs.acme.com/x?token={SECRET}")
        told.append(_sent(hub, body, len(told)))
        issues = "".join(f"{each.title}{each.body}" for each in world.host.issues("acme/docs"))
        browser = Browser(hub, alice)
        pages = (
            browser.get("/settings/account/export.json").text
            + browser.get("/settings/reports/reports.csv").text
        )
    rows = sum(SECRET in row for row in _rows())
    wide = DISGUISED["in wide letters"]
    public = sum(_plain(issues).count(each) for each in (SECRET, wide))
    figures = (
        f"{told.count(201)} of {len(told)} taken; {public} in issues, {pages.count(SECRET)} in exports, "
        f"{rows} tables have it"
    )
    return stands_if(not public and SECRET not in pages and not rows, figures)


def _sent(hub: Shipped, body: dict, number: int) -> int:
    headers = {"X-Forwarded-For": f"198.51.{number}.7"}
    return requests.post(
        f"{hub.url}/v1/reports", json=body, headers=headers, timeout=60
    ).status_code


def _plain(text: str) -> str:
    return text.replace("\u200b", "").replace("\\_", "_").replace("&#95;", "_")


def _all_pages(browser: Browser, program: Program, report: str) -> Iterator[str]:
    pages = [
        f"/settings/reports/{report}/",
        f"/settings/reports/{report}/raw",
        "/settings/reports/",
        "/settings/",
    ]
    pages += ["/settings/reports/reports.csv", "/settings/account/export.json", f"/r/{report}/"]
    pages += ["/v1/pages?url=https://docs.acme.com/install"]
    yield from (browser.get(each).text for each in pages)
    for path in ("/orgs/me/reports", f"/orgs/me/reports/{report}", "/orgs/me"):
        yield program.call("GET", path).text


def _is_json(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
