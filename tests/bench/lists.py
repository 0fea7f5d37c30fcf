"""How long each list takes when there is much to list, and how much of the database it reads.

    python -m tests.bench.lists            SQLite, in a temporary folder
    python -m tests.bench.lists FILE       SQLite, in this file: filled once, and kept

HUB_TEST_DATABASE=postgresql measures on PostgreSQL. `script/bench scale` does both.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()

from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from core import rates
from integrations.api import report_list
from integrations.models import Delivery, Installation, Integration
from orgs.models import Domain, Organization, User
from reports.models import Report
from tests import build
from tests.bench.copying import copy, series

REPORTS, CLAIMS = 1_000_000, 100_000
EACH = 1000  # claims of one organization
SHARE = 5  # acme receives every fifth report
DAYS = 56  # in which all reports arrived, so that the overview shows all of them
TIMES = 5  # that each list is measured
PAGES = [
    "/settings/",
    "/settings/claims/",
    "/settings/claims/{claim}/",
    "/settings/reports/",
    "/admin/",
    "/admin/orgs/organization/",
    "/admin/orgs/organization/?q=acme",
    "/admin/orgs/organization/{acme}/change/",
    "/admin/orgs/domain/?p=190",
    "/admin/orgs/domain/?q=nothing",
    "/admin/reports/report/",
    "/admin/reports/report/?p=190",
    "/admin/reports/report/?q=nothing",
    "/admin/reports/report/?kind__exact=missing",
    "/admin/reports/account/",
    "/admin/integrations/delivery/",
    "/admin/integrations/delivery/?p=190",
    "/admin/integrations/delivery/?q=nothing",
    "/admin/integrations/delivery/?status__exact=failed",
    "/admin/integrations/integration/",
]
FILTERS = [
    "",
    "kind=broken",
    "kind=missing",
    "status=sent",
    "status=held",
    "status=failed",
    "status=sending",
    "status=none",
    "q=nothing",
    "q=step 1999",
    "q=https://docs.acme.com/7/install",
    "q=nothing&kind=missing&status=none",
]
DOWNLOADS = ["/settings/reports/reports.csv", "/settings/account/export.json"]
Get = Callable[[], Any]
AGO = {  # so many seconds ago
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f000', 'now', '-' || ({0}) || ' seconds')",
    "postgresql": "now() - ({0}) * interval '1 second'",
}
PAD = {"sqlite": "printf('%010d', i)", "postgresql": "lpad(i::text, 10, '0')"}
RANDOM = {"sqlite": "hex(randomblob(7))", "postgresql": "upper(substr(md5(random()::text), 1, 14))"}


class Measured(NamedTuple):
    """A list, its shortest time (what else the machine does makes the others longer), and what the database did for it.

    `read` is rows on PostgreSQL, thousands of virtual machine instructions on SQLite.
    """

    name: str
    milliseconds: float
    read: int


def fill(reports: int = REPORTS, claims: int = CLAIMS) -> Organization:
    """Store this many reports and claims; acme, which is returned, has a fifth of the reports."""
    owners = [build.organization("acme")]
    owners += [build.organization(f"organization-{n}") for n in range(1, max(2, claims // EACH))]
    for number, owner in enumerate(owners):
        _claims(owner, number, claims // len(owners))
    _reports(reports, len(owners))
    installation = Installation.objects.create(github_id=1, account="acme")
    for number, owner in enumerate(owners, 1):  # only now, or they would receive the first report
        fields = {"repository_id": number, "repo_owner": "acme", "repo_name": f"docs-{number}"}
        Integration.objects.create(organization=owner, installation=installation, **fields)
    _deliveries()
    build.member(owners[0])
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")  # as autovacuum does
    return owners[0]


def _claims(owner: Organization, number: int, count: int) -> None:
    now = timezone.now()
    Domain.objects.bulk_create(
        Domain(
            organization=owner, name=f"d{n}.o{number}.example", registrable=False, verified_at=now
        )
        for n in range(count)
    )


def _reports(count: int, owners: int) -> None:
    """Oldest first, as they would have come in: acme's are between those of the others."""
    now = timezone.now()
    first = Report.objects.create(
        received_at=now - timedelta(days=DAYS),
        last_received_at=now,
        doc_url="https://docs.acme.com/first",
        canonical_url="https://docs.acme.com/first",
        kind="outdated",
        summary="The first step",
        details="It is gone.\n" * 50,
        agent_name="agent-x",
    )
    ago = f"({count} - i) * {DAYS * 86_400 / count}"
    page = "'https://docs.acme.com/' || (i % 2000) || '/install'"
    copy(
        first,
        f"SELECT i, owner FROM ({series(count, 'i')}) AS numbers "
        "JOIN (SELECT id AS owner, row_number() OVER (ORDER BY created_at) AS number "
        "FROM orgs_organization) AS owners "
        f"ON number = CASE WHEN i % {SHARE} = 0 THEN 1 ELSE 2 + i % {owners - 1} END ORDER BY i",
        id=f"'01' || {PAD[connection.vendor]} || {RANDOM[connection.vendor]}",
        organization_id="owner",
        received_at=AGO[connection.vendor].format(ago),
        last_received_at=AGO[connection.vendor].format(ago),
        doc_url=page,
        canonical_url=page,
        kind="CASE WHEN i % 250000 = 5 THEN 'missing' WHEN i % 2 = 0 THEN 'broken' ELSE kind END",
        summary="'Step ' || i || ' is gone'",
    )
    first.delete()


def _deliveries() -> None:
    """For all reports but every thousandth of an organization; most are sent, very few failed."""
    report = Report.objects.order_by("received_at")[1]
    integration = Integration.objects.get(organization=report.organization_id)
    first = Delivery.objects.create(report=report, integration=integration)
    copy(
        first,
        "SELECT reports_report.id AS report, integrations_integration.id AS integration, repository_id AS target, "
        "row_number() OVER (PARTITION BY reports_report.organization_id ORDER BY received_at) AS i, "
        "row_number() OVER (ORDER BY received_at) AS number FROM reports_report "
        "JOIN integrations_integration USING (organization_id) ORDER BY received_at",
        f"n.i % 1000 <> 0 AND n.report <> '{report.pk}'",
        id=f"{first.pk} + number",
        report_id="n.report",
        integration_id="n.integration",
        status="CASE WHEN i % 20000 = 19999 THEN 'failed' WHEN i % 10 = 1 THEN 'held' "
        "WHEN i % 10 = 2 THEN 'pending' ELSE 'sent' END",
        held_for="CASE WHEN i % 20000 <> 19999 AND i % 10 = 1 THEN 'ownership' ELSE '' END",
        issue_number="n.i",
        repository_id="n.target",
        repository="'acme/docs'",
        issue_url="'https://github.com/acme/docs/issues/' || i",
        title="'[docs] Step ' || i",
        body="'Step ' || i || ' is gone'",
        tries="1",
    )


def measure(times: int = TIMES) -> Iterator[Measured]:
    """Each list, on what `fill` stored."""
    settings.ALLOWED_HOSTS = ["testserver"]
    browser, api = _callers()
    for name, get in [*_pages(browser, api), *_downloads(browser)]:
        yield _measured(name, get, times)


def _callers() -> tuple[Client, Client]:
    """The owner of acme, who is an operator, too: in a browser, and with a token."""
    user = User.objects.get(membership__organization__name="acme")
    User.objects.filter(pk=user.pk).update(is_staff=True, is_superuser=True)
    browser = Client()
    browser.force_login(user)
    return browser, build.api(build.token(user))


def _pages(browser: Client, api: Client) -> Iterator[tuple[str, Get]]:
    acme = Organization.objects.get(name="acme")
    deep = {
        depth: _cursor(acme, depth)
        for depth in (0, Report.objects.filter(organization=acme).count() * 9 // 10)
    }
    claim = acme.domains.latest("name")
    for path in PAGES:
        get = partial(browser.get, path.format(acme=acme.pk, claim=claim.pk))
        if "?p=" in path and get().status_code == 302:
            continue  # there are not as many pages
        yield path, get
    for (depth, cursor), asked in product(deep.items(), FILTERS):
        path = f"/settings/reports/?{asked}&cursor={cursor}"
        yield f"/settings/reports/?{asked} after {depth:,}", partial(browser.get, path)
    yield "/v1/orgs/me", partial(api.get, "/v1/orgs/me")
    yield "/v1/orgs/me/reports", partial(api.get, "/v1/orgs/me/reports")


def _cursor(owner: Organization, depth: int) -> str:
    """Where the list goes on after so many reports."""
    ordered = Report.objects.filter(organization=owner).order_by("-received_at", "-id")
    at, last = ordered.values_list("received_at", "id")[depth]
    return str(report_list.Cursor(at, last))


def _downloads(browser: Client) -> Iterator[tuple[str, Get]]:
    for path in DOWNLOADS:
        yield path, partial(browser.get, path)


def _measured(name: str, get: Get, times: int) -> Measured:
    with counted() as work:
        took = [_milliseconds(name, get)]
    if name not in DOWNLOADS:  # counting takes some milliseconds itself
        took = [_milliseconds(name, get) for _ in range(times)]
    return Measured(name, min(took), work.read)


def _milliseconds(name: str, get: Get) -> float:
    rates.forget()
    begun = time.perf_counter()
    answer = get()
    for _piece in answer if answer.streaming else ():
        pass
    if answer.status_code != 200:
        raise ValueError(f"{name}: {answer.status_code}")
    return (time.perf_counter() - begun) * 1000


class Work:
    """What the database did: `read` is rows on PostgreSQL, thousands of instructions on SQLite."""

    read = 0


@contextmanager
def counted() -> Iterator[Work]:
    """Count what the database reads in this block."""
    work = Work()
    if connection.vendor == "sqlite":

        def thousand() -> None:
            work.read += 1

        connection.ensure_connection()
        connection.connection.set_progress_handler(thousand, 1000)
        yield work
        connection.connection.set_progress_handler(None, 0)
        return
    with transaction.atomic():
        before = _rows_read()
        yield work
        work.read = _rows_read() - before


def _rows_read() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(pg_stat_get_xact_tuples_returned(oid) "
            "+ pg_stat_get_xact_tuples_fetched(oid)), 0) FROM pg_class"
        )
        return int(cursor.fetchone()[0])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        if connection.vendor == "sqlite":
            path = sys.argv[1] if sys.argv[1:] else str(Path(folder) / "lists.sqlite3")
            connection.settings_dict["NAME"] = path
        call_command("migrate", verbosity=0)
        if not Organization.objects.exists():
            fill()
        for each in measure():
            print(f"{each.milliseconds:9.1f} ms {each.read:9,} read  {each.name}", flush=True)


if __name__ == "__main__":
    main()
