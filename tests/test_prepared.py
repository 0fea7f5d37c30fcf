"""Each prepared statement answers as a plain queryset does, and by an index."""

import random
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import Q
from django.db.models.functions import Length
from django.utils import timezone

from core import ids
from core.prepared import PreparedStatement, insert, time_of
from integrations import receivers
from integrations.models import Delivery, Installation, Integration
from integrations.models import delivery as deliveries
from orgs import ownership
from orgs.domains import hosts
from orgs.models import Domain, Organization, Site
from reports import repeats, statements
from reports.models import AlreadyThere, Repeated, Report
from tests import build

pytestmark = pytest.mark.django_db

ROUNDS = 60
DRAW = random.Random(13)
NAMES = ["acme.com", "docs.acme.com", "v1.docs.acme.com", "acme.org", "example.co.uk"]
NOW = datetime(2026, 5, 17, 12, 0, 0, 123456, tzinfo=UTC)


def maybe(value: Any) -> Any:
    return DRAW.choice([None, value])


@pytest.fixture
def organizations() -> list[Organization]:
    return [build.organization(f"org {number}") for number in range(4)]


def as_claim(claim: Domain | Site | None) -> tuple | None:
    return claim and (claim.pk, claim.organization_id, claim.opted_out_at)


def answered(statement: PreparedStatement, *values: Any) -> tuple | None:
    """The row, with times as Django reads them."""
    row = statement.first(*values)
    return row and tuple(time_of(each) if isinstance(each, datetime) else each for each in row)


def test_domain(organizations):
    for _ in range(ROUNDS):
        Domain.objects.all().delete()
        for name in DRAW.sample(NAMES, 4):
            domain = build.domain(DRAW.choice(organizations), name, verified=DRAW.random() < 0.7)
            Domain.objects.filter(pk=domain.pk).update(
                registrable=DRAW.random() < 0.5, opted_out_at=maybe(NOW)
            )
        host = DRAW.choice(NAMES)
        names = [host, *hosts.parents(host)]

        plain = Domain.objects.exclude(verified_at=None).filter(
            Q(name=host) | Q(registrable=True, name__in=names)
        )

        expected = as_claim(plain.order_by(Length("name").desc()).first())
        assert answered(ownership.DOMAIN, names, host) == expected


def test_site(organizations):
    for _ in range(ROUNDS):
        Site.objects.all().delete()
        for path in ("/", "/repo/", "/other/"):
            site = build.site(DRAW.choice(organizations), DRAW.choice(["a.dev", "b.dev"]), path)
            Site.objects.filter(pk=site.pk).update(lapsed_at=maybe(NOW), opted_out_at=maybe(NOW))
        paths = DRAW.choice([["/"], ["/", "/repo/"], ["/none/"]])

        plain = Site.objects.live().filter(host="a.dev", path__in=paths)

        expected = as_claim(plain.order_by(Length("path").desc()).first())
        assert answered(ownership.SITE, "a.dev", paths) == expected


TEXTS = ["", "a", 'é\u2028\\ "%s', "a" * 500]
PIECES = [[], [{"kind": "quote", "text": 'é" \\u0041 %s'}], [{"kind": "quote", "text": "b"}]]


def drawn_report(organizations: list[Organization], key: str | None) -> Report:
    received_at = NOW - timedelta(
        days=DRAW.choice([0, 29, 30, 31]), microseconds=DRAW.choice([0, 1])
    )
    return Report(
        organization=maybe(DRAW.choice(organizations)),
        dedup_key=key,
        received_at=received_at,
        last_received_at=received_at,
        kind="broken",
        summary=DRAW.choice(TEXTS[:2]),
        details=DRAW.choice(TEXTS),
        evidence=DRAW.choice(PIECES),
        suggested_fix=DRAW.choice(TEXTS[:2]),
        agent_name="x",
        doc_url="https://acme.com/",
        canonical_url="https://acme.com/",
    )


def counted_alone(new: Report) -> tuple | None:
    repeated = repeats.count_in_same_words(new)
    return repeated and (repeated.report_id, repeated.received_at)


def counted_by_insert(new: Report) -> tuple | None:
    """For reports that nobody owns."""
    try:
        new.save(force_insert=True)
    except Repeated as repeated:
        return repeated.report_id, repeated.received_at
    except AlreadyThere:
        return None
    finally:
        transaction.set_rollback(False)
    new.delete()
    return None


@pytest.mark.parametrize("asked", [counted_alone, counted_by_insert])
def test_count(organizations, settings, asked):
    counted = 0
    for number in range(8 * ROUNDS):
        old = drawn_report(organizations, f"auto:{number}")
        Report.objects.bulk_create([old])
        new = drawn_report(organizations, DRAW.choice([old.dedup_key, None]))
        if DRAW.random() < 0.8:
            new.summary, new.details = old.summary, old.details
            new.evidence, new.suggested_fix = old.evidence, old.suggested_fix
        new.received_at = new.last_received_at = NOW
        if asked is counted_by_insert:
            new.organization = None

        plain = Report.objects.filter(
            dedup_key=new.dedup_key,
            received_at__gt=NOW - timedelta(days=settings.HUB_DEDUP_DAYS),
            summary=new.summary,
            details=new.details,
            evidence=new.evidence,
            suggested_fix=new.suggested_fix,
        )
        if new.organization_id:
            plain = plain.filter(organization=new.organization_id)
        expected = plain.values_list("pk", "received_at").first() if new.dedup_key else None

        assert asked(new) == expected
        old.refresh_from_db()
        assert old.times_reported == (2 if expected else 1)
        assert old.last_received_at == (NOW if expected else old.received_at)
        counted += bool(expected)
    assert 20 < counted < 4 * ROUNDS


def installed(organization: Organization, **columns: Any) -> Integration:
    installation = Installation.objects.create(github_id=next(build.github_ids), account="acme")
    return Integration.objects.create(
        organization=organization, installation=installation, **columns
    )


def delivered(report: Report, integration: Integration, **columns: Any) -> Delivery:
    return Delivery.objects.create(report=report, integration=integration, **columns)


CHOSEN = {"repository_id": 5, "repo_owner": "acme", "repo_name": "docs"}


def test_target_and_undelivered(organizations):
    for organization in organizations[1:]:
        installed(
            organization,
            **DRAW.choice([{}, CHOSEN, CHOSEN]),
            problem=DRAW.choice(["", "It is archived."]),
            paused_at=maybe(NOW),
            rights_lost_at=maybe(NOW),
        )
    for number in range(4 * ROUNDS):
        report = drawn_report(organizations, f"auto:{number}")
        Report.objects.bulk_create([report])
        report.source = DRAW.choice(["", "f" * 16, "0" * 16])
        plain = Integration.objects.configured().of(report.organization_id or "")
        target = plain.first()
        if target and DRAW.random() < 0.5:
            delivered(report, target, source=report.source, turn=DRAW.randrange(9))
            target = None

        row = deliveries.TARGET.first(report.source, report.organization_id, report.pk)
        assert bool(receivers.UNDELIVERED.first(report.pk)) == bool(target) == bool(row)
        if target and row:
            before = Delivery.objects.filter(integration=target, source=report.source)
            last = before.order_by("-turn").values_list("turn", flat=True).first()
            found = Integration.from_db("default", deliveries.TARGET_COLUMNS, row[:-1])
            assert (found.pk, found.repository_id, found.stop, row[-1]) == (
                target.pk,
                target.repository_id,
                target.stop,
                0 if last is None else last + 1,
            )


def test_an_insert_is_that_of_django(organizations):
    for number in range(ROUNDS):
        report = drawn_report(organizations, f"auto:{number}")
        report.notices = DRAW.choice([[], [{"field": "/doc_url", "kind": "é"}]])
        report.task_context = DRAW.choice([{}, {"task_summary": '%s \\ " é'}])
        report.save(force_insert=True)
        ours = Report.objects.values().get(pk=report.pk)
        Report.objects.all().delete()

        Report.objects.bulk_create([report])

        assert Report.objects.values().get() == ours
        Report.objects.all().delete()


def test_an_insert_of_what_is_there_changes_nothing_and_breaks_no_transaction(organizations):
    mine = installed(organizations[0], **CHOSEN)
    report = drawn_report(organizations, "auto:1")
    Report.objects.bulk_create([report])
    with transaction.atomic():
        first = insert(Delivery(report=report, integration=mine), unique="report")
        again = insert(Delivery(report=report, integration=mine, tries=7), unique="report")
        known = Delivery.objects.get()

    assert (first, again, known.tries, known.status) == ((1,), None, 0, "pending")
    assert abs(known.created_at - timezone.now()) < timedelta(hours=1)  # by the database
    assert ids.is_id(report.pk)


QUESTIONS: dict[str, tuple[PreparedStatement, list[Any]]] = {
    "DOMAIN": (ownership.DOMAIN, [["docs.acme.com", "acme.com"], "acme.com"]),
    "SITE": (ownership.SITE, ["a.github.io", ["/", "/x/"]]),
    "COUNT": (statements.COUNT, [NOW, "auto:1", NOW, "", "", "[]", "", None, None]),
    "TARGET": (deliveries.TARGET, ["f" * 16, "0" * 26, "0" * 26]),
    "UNDELIVERED": (receivers.UNDELIVERED, ["0" * 26]),
}


def test_every_statement_is_compared():
    known = [statement for statement, _ in QUESTIONS.values()]
    written = [each for each in PreparedStatement.every if "INSERT" not in each.sql["sqlite"]]
    assert sorted(map(id, known)) == sorted(map(id, written))


@pytest.mark.parametrize("name", QUESTIONS)
def test_each_is_answered_from_an_index(name):
    statement, values = QUESTIONS[name]
    explain = "EXPLAIN QUERY PLAN " if connection.vendor == "sqlite" else "EXPLAIN "
    asked = PreparedStatement("What is the plan?", explain + statement.sql["postgresql"])
    PreparedStatement.every.remove(asked)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")  # the tables are empty

    plan = "\n".join(str(row[-1]) for row in asked.rows(*values))

    assert "Seq Scan" not in plan
    assert not re.findall(r"SCAN (?!json_each|CONSTANT)\w+", plan)
