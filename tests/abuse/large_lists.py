"""Members who search and turn pages in a list of 40,000 reports."""

from collections import Counter
from statistics import median
from urllib.parse import quote

from django.db import connection
from django.utils import timezone

from orgs.models import Organization
from reports.models import Report
from tests import build
from tests.abuse.people import Browser, Program, member
from tests.abuse.table import MEMBER, attack
from tests.abuse.world import World, milliseconds, stands_if

MANY = 40_000  # reports of one organization
LIMIT = 3000  # milliseconds of computing, for one search or page


@attack(MEMBER, "stop the Hub by searching")
def costly_searches(world: World) -> str:
    """Long, empty, and wild words are looked for in 40,000 reports, while others report."""
    owner = world.acme()
    alice, token = member(owner)
    _fill(owner)
    words = [
        "%" * 200,
        "_" * 200,
        "a" * 2000,
        "x " * 1000,
        "\\" * 300,
        "%a%b%c%d%e%" * 50,
        "é" * 500,
        "'; --",
    ]
    with world.hub() as hub:
        browser, program = Browser(hub, alice), Program(hub, token)
        costs, told, times = [], Counter[int](), []
        for each in words:
            costs.append(hub.cpu_of(lambda q=each: told.update([_search(browser, program, q)])))
            times.append(milliseconds(lambda: hub.post(build.report("https://nobody.dev/x"))))
    figures = f"{max(costs):.0f} ms of computing at most for two, {dict(told)}; a report {median(times):.0f} ms"
    return stands_if(max(costs) < LIMIT and set(told) <= {200, 400, 429}, figures)


@attack(MEMBER, "stop the Hub by turning pages")
def deep_and_forged_pages(world: World) -> str:
    """The 50th page of 40,000 reports beside the first; twelve forged places to go on from; all as a table."""
    owner = world.acme()
    alice, token = member(owner)
    _fill(owner)
    with world.hub() as hub:
        program = Program(hub, token)
        cursor, costs = "", []
        for _ in range(50):
            before = hub.cpu()
            page = program.call("GET", f"/orgs/me/reports?cursor={cursor}").json()
            costs.append((hub.cpu() - before) * 1000)
            cursor = quote(page["next_cursor"] or "")
        forged = [
            "x",
            "0",
            "-1",
            "null",
            "%00",
            "A" * 4000,
            "2026-01-01",
            "../..",
            "{}",
            "é",
            "1e309",
            "' OR 1=1",
        ]
        told = Counter(
            program.call("GET", f"/orgs/me/reports?cursor={quote(each)}").status_code
            for each in forged
        )
        before = hub.resident()
        table = Browser(hub, alice).get("/settings/reports/reports.csv")
        grown = (hub.resident() - before) / 2**20
    first, last = median(costs[:5]), median(costs[-5:])
    figures = (
        f"{first:.0f} ms of computing for a first page, {last:.0f} ms for the 50th; forged {dict(told)}; "
        f"a table of {len(table.content) / 2**20:.0f} MB took {grown:.0f} MiB"
    )
    return stands_if(last < 3 * first + 30 and set(told) <= {200, 400, 404} and grown < 64, figures)


def _search(browser: Browser, program: Program, words: str) -> int:
    browser.get("/settings/reports/", params={"q": words})
    return program.call("GET", f"/orgs/me/reports?q={quote(words)}").status_code


def _fill(owner: Organization) -> None:
    """Reports of the organization that were never sent."""
    now = timezone.now()
    page = {"doc_url": "https://docs.acme.com/x", "canonical_url": "https://docs.acme.com/x"}
    for _ in range(MANY // 5000):
        Report.objects.bulk_create(
            Report(
                organization=owner,
                received_at=now,
                last_received_at=now,
                kind="other",
                summary="x" * 80,
                details="y" * 300,
                **page,
            )
            for _ in range(5000)
        )
    connection.close()
