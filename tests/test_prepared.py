"""Each prepared statement answers as a plain queryset does, and by an index."""

import random
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import reduce
from itertools import chain
from operator import or_
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import Count, F, Max, Min, Q
from django.db.models.functions import Length
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core import clock as database_clock
from core import ids
from core.prepared import PreparedStatement, find, insert, time_of
from hub.screen.setup_steps import COUNTS
from integrations.answers import known
from integrations.comments import again, listing
from integrations.delivery import line, pacing, turns
from integrations.folding import candidates, stored_terms, verdicts
from integrations.models import (
    Alert,
    Answer,
    Attempt,
    Comment,
    Delivery,
    Hold,
    Installation,
    Integration,
    PastTry,
)
from integrations.models import delivery as deliveries
from integrations.models import integration as integrations
from orgs import ownership
from orgs.domains import hosts
from orgs.models import Domain, Organization, Site
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


def claimed_at_random(organizations: list[Organization]) -> None:
    """Domains and sites, of which some count."""
    Domain.objects.all().delete()
    Site.objects.all().delete()
    for name in DRAW.sample(NAMES, 3):
        domain = build.domain(DRAW.choice(organizations), name, verified=DRAW.random() < 0.7)
        Domain.objects.filter(pk=domain.pk).update(
            registrable=DRAW.random() < 0.5, opted_out_at=maybe(NOW)
        )
    for path in DRAW.sample(["/", "/repo/", "/other/"], 2):
        site = build.site(DRAW.choice(organizations), "a.github.io", path)
        Site.objects.filter(pk=site.pk).update(lapsed_at=maybe(NOW), opted_out_at=maybe(NOW))


def test_a_report_is_inserted_as_nobodys_if_no_claim_covers_its_page(organizations):
    urls = [f"https://{name}/" for name in NAMES]
    urls += [f"https://a.github.io/{path}" for path in ("", "repo/x", "none/x")]
    urls += ["a/path.md", "https://github.com/acme/docs", "https://docs.github.com/"]
    seen: list[bool] = []
    for number in range(4 * ROUNDS):
        claimed_at_random(organizations)
        url = DRAW.choice(urls)
        new = drawn_report(organizations, f"auto:{number}")
        new.organization, new.unless_claimed = None, ownership.unclaimed(url)

        try:
            new.save(force_insert=True)
            inserted = True
        except AlreadyThere:
            transaction.set_rollback(False)
            inserted = False

        assert Report.objects.filter(pk=new.pk).exists() == inserted
        assert inserted == (ownership.claim_covering(url) is None)
        ownership.forget()
        seen.append(inserted)
    assert ROUNDS < sum(seen) < 3 * ROUNDS


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
        agent_name=DRAW.choice(["x", " x "]),
        doc_url="https://acme.com/",
        canonical_url="https://acme.com/",
    )


def counted(new: Report) -> tuple | None:
    """The report that is counted instead of inserting this one."""
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


def test_count(organizations, settings):
    repeated = 0
    for number in range(8 * ROUNDS):
        old = drawn_report(organizations, f"auto:{number}")
        Report.objects.bulk_create([old])
        new = drawn_report(organizations, DRAW.choice([old.dedup_key, None]))
        if DRAW.random() < 0.8:
            new.summary, new.details = old.summary, old.details
            new.evidence, new.suggested_fix = old.evidence, old.suggested_fix
        new.received_at = new.last_received_at = NOW

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

        assert counted(new) == expected
        old.refresh_from_db()
        assert old.times_reported == (2 if expected else 1)
        assert old.last_received_at == (NOW if expected else old.received_at)
        repeated += bool(expected)
    assert 20 < repeated < 4 * ROUNDS


def installed(organization: Organization, **columns: Any) -> Integration:
    installation = Installation.objects.create(github_id=next(build.github_ids), account="acme")
    return Integration.objects.create(
        organization=organization, installation=installation, **columns
    )


def delivered(report: Report, integration: Integration, **columns: Any) -> Delivery:
    return Delivery.objects.create(report=report, integration=integration, **columns)


CHOSEN = {"repository_id": 5, "repo_owner": "acme", "repo_name": "docs"}


@pytest.fixture
def holds() -> None:
    """Of operators: in force, released and over, of what the reports here have and of something else."""
    ids = [*Organization.objects.order_by("pk").values_list("pk", flat=True)]
    values = {"page": ["https://acme.com/", "https://acme.com/x"], "agent": ["x", "X"],
              "source": ["f" * 16, "x"], "organization": ids[:2]}  # fmt: skip
    for kind in values:
        for number, value in enumerate(values[kind] * 2):
            Hold.objects.create(
                kind=kind,
                value=value,
                reason="Junk.",
                digest=f"{kind} {number}",
                released_at=DRAW.choice([None, NOW, NOW]),
                ends_at=DRAW.choice([None, *(NOW + timedelta(days=n * 10_000) for n in (-1, 1))]),
            )


def held_by(report: Report, source: str) -> int | None:
    """The hold that a plain queryset finds."""
    in_force = Hold.objects.unreleased().exclude(ends_at__lte=database_clock.now())
    told = {
        "page": report.canonical_url,
        "agent": report.agent_name.strip(),
        "source": source,
        "organization": report.organization_id,
    }
    same = [Q(kind=kind, value=value) for kind, value in told.items()]
    found = in_force.filter(reduce(or_, same)).order_by("pk").first()
    return found.pk if found else None


def test_target_and_unheard(organizations, holds):
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

        told = (report.canonical_url, report.agent_name, report.source)
        row = deliveries.TARGET.first(report.source, *told, report.organization_id, report.pk)
        assert again.is_unheard(report.pk, report.source) == bool(target) == bool(row)
        if target and row:
            before = Delivery.objects.filter(integration=target, source=report.source)
            last = before.order_by("-turn").values_list("turn", flat=True).first()
            found = Integration.from_db("default", deliveries.TARGET_COLUMNS, row[:-2])
            assert (found.pk, found.repository_id, found.stop, *row[-2:]) == (
                target.pk,
                target.repository_id,
                target.stop,
                0 if last is None else last + 1,
                held_by(report, report.source),
            )


def sent_at_random(report: Report, mine: Integration, number: int) -> Delivery:
    """A delivery whose issue is open or was closed, for some reason and some time ago."""
    state, reason = DRAW.choice(["", "open", "closed", "closed", "closed"]), ""
    if state == "closed":
        reason = DRAW.choice(["", *["completed"] * 5, "not_planned"])
    ago = timedelta(days=DRAW.choice([0, 2, 2]))
    return delivered(
        report,
        mine,
        status="sent",
        repository_id=DRAW.choice([5, 5, 5, 6]),
        issue_number=number,
        issue_state=state,
        issue_state_reason=reason,
        issue_closed_at=DRAW.choice([None, *[timezone.now() - ago] * 5]),
    )


def told_at_random(lead: Delivery) -> None:
    """What was said about this closing, or another one, or for something else."""
    if lead.issue_closed_at and DRAW.random() < 0.4:
        Comment.objects.create(
            integration=lead.integration,
            lead=lead,
            purpose=DRAW.choice(Comment.Purpose.values),
            occasion=lead.issue_closed_at - timedelta(days=DRAW.choice([0, 0, 1])),
        )


def test_what_came_again_is_unheard(organizations, holds):
    mine = installed(organizations[0], **CHOSEN)
    found = 0
    for number in range(6 * ROUNDS):
        Integration.objects.update(when_reported_again=DRAW.choice(Integration.Again.values))
        Hold.objects.update(released_at=DRAW.choice([None, NOW, NOW]))
        first, joined = (drawn_report(organizations, f"auto:{number} {each}") for each in range(2))
        first.organization = joined.organization = mine.organization
        Report.objects.bulk_create([first, joined])
        lead = sent_at_random(first, mine, number)
        told_at_random(lead)
        folded = {"status": "folded", "lead": lead, "folded_at": NOW}
        delivered(joined, mine, **folded)

        told = [Comment.Purpose.AGAIN, Comment.Purpose.REOPEN]
        known = Comment.objects.filter(lead=lead, occasion=lead.issue_closed_at, purpose__in=told)
        wanted = Integration.objects.exclude(when_reported_again="nothing").exists()
        closed = again.fixed().filter(pk=lead.pk).exists()
        is_known = known.exists()
        source = DRAW.choice(["", "f" * 16, "0" * 16])
        expected = closed and wanted and not is_known
        free = [expected and not held_by(each, source) for each in (first, joined)]

        assert [again.is_unheard(each.pk, source) for each in (first, joined)] == free
        again.note_repeat(joined.pk, source)
        assert known.exists() == (free[1] or is_known)
        assert not (free[1] and again.is_unheard(first.pk, source))  # nobody asks a second time
        found += free[1]
    assert found > 20


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


def deliveries_at_random(organizations: list[Organization]) -> list[Delivery]:
    """Of two integrations with one installation and one of another, tried at any time of the last hours."""
    one, other = (installed(each, **CHOSEN) for each in organizations[:2])
    neighbor = Integration.objects.create(
        organization=organizations[2], installation=one.installation, **CHOSEN
    )
    found = []
    for number in range(3 * ROUNDS):
        report = drawn_report(organizations, f"auto:{number}")
        Report.objects.bulk_create([report])
        ago = timedelta(seconds=DRAW.randrange(7200))
        sending = DRAW.random() < 0.5
        lease = timezone.now() + timedelta(seconds=DRAW.choice([-30, 30]))
        unknown, posted = (maybe(NOW), maybe(NOW)) if sending else (None, None)
        found.append(
            delivered(
                report,
                DRAW.choice([one, other, neighbor]),
                source=DRAW.choice(["", "f" * 16, "0" * 16]),
                status="sending" if sending else DRAW.choice(["pending", "failed"]),
                lease_until=lease if sending else None,
                last_tried_at=timezone.now() - ago,
                trying_since=maybe(NOW),
                posted_at=posted,
                repository_id=7 if unknown or posted else None,
                outcome_unknown_since=unknown,
                tries=DRAW.randrange(9),
            )
        )
    return found


def alerts_at_random() -> None:
    """Of any integration, tried at any time of the last hours, or never."""
    integrations = list(Integration.objects.all())
    for number in range(ROUNDS):
        ago = timedelta(seconds=DRAW.randrange(7200))
        Alert.objects.create(
            integration=DRAW.choice(integrations),
            cause=Alert.Cause.LAPSED,
            subject=f"docs{number}.example.com",
            since=timezone.now(),
            last_tried_at=maybe(timezone.now() - ago),
        )


def comments_at_random() -> None:
    """Below any issue, tried at any time of the last hours, or never."""
    leads = list(Delivery.objects.all())
    for _ in range(ROUNDS):
        ago, lead = timedelta(seconds=DRAW.randrange(7200)), DRAW.choice(leads)
        Comment.objects.create(
            integration_id=lead.integration_id,
            lead=lead,
            purpose=Comment.Purpose.AGAIN,
            occasion=timezone.now(),
            last_tried_at=maybe(timezone.now() - ago),
        )


def test_place(organizations, clock):
    several = deliveries_at_random(organizations)
    limits = [None, timezone.now() - timedelta(minutes=5), timezone.now() + timedelta(minutes=5)]
    for installation, limit in zip(Installation.objects.all(), limits, strict=False):
        Installation.objects.filter(pk=installation.pk).update(limited_until=limit)
    for minutes in (0, 6):
        clock.advance(minutes=minutes)
        for each in several[:20]:
            mine = Installation.objects.filter(integrations__deliveries=each.pk)
            is_limited = mine.filter(limited_until__gt=clock.now()).exists()
            installation = mine.get().pk
            row = pacing.PLACE.first(each.report_id)
            assert row
            assert (*row[:2], bool(row[2])) == (installation, each.source, is_limited)
    assert pacing.PLACE.first("0" * 26) is None


HERE = Q(integration__moved_at=None) | Q(last_tried_at__gt=F("integration__moved_at"))


def test_tried(organizations, clock):
    deliveries_at_random(organizations)
    alerts_at_random()
    comments_at_random()
    for integration in Integration.objects.all()[:2]:
        pacing.move(integration)
    assert PastTry.objects.filter(source="f" * 16).exists()
    for seconds in (60, 3600):
        clock.advance(seconds=DRAW.randrange(100))
        for installation in Installation.objects.all():
            long = timedelta(seconds=seconds)
            plain = Delivery.objects.filter(
                HERE, integration__installation=installation, last_tried_at__gt=clock.now() - long
            )
            own = Count("pk", filter=Q(source="f" * 16))
            expected = plain.aggregate(all=Count("pk"), own=own, first=Min("last_tried_at"))
            alerts, comments = (
                rows.objects.filter(
                    HERE,
                    integration__installation=installation,
                    last_tried_at__gt=clock.now() - long,
                ).aggregate(all=Count("pk"), first=Min("last_tried_at"))
                for rows in (Alert, Comment)
            )
            there = (installation.pk, long)
            past = PastTry.objects.filter(
                installation=installation, last_tried_at__gt=clock.now() - long
            ).aggregate(all=Count("pk"), own=own, first=Min("last_tried_at"))
            count, mine, first = pacing.TRIED.rows("f" * 16, *there * pacing.PARTS)[0]
            of_all = expected["all"] + alerts["all"] + comments["all"] + past["all"]
            assert (count, mine) == (of_all, expected["own"] + past["own"])
            parts = (expected, alerts, comments, past)
            firsts = [each["first"] for each in parts if each["first"]]
            assert (first and time_of(first)) == min(firsts, default=None)


def test_used(organizations, clock):
    deliveries_at_random(organizations)
    alerts_at_random()
    comments_at_random()
    pacing.move(Integration.objects.all()[0])
    clock.advance(seconds=DRAW.randrange(100))
    installations = list(Installation.objects.values_list("pk", flat=True))[:3]
    long = timedelta(hours=1)
    expected: dict[tuple[int, str], list[datetime]] = {}
    of_integrations = ((Delivery, None), (Alert, ""), (Comment, pacing.COMMENTS))
    for model, source in of_integrations:
        there = model.objects.filter(HERE, integration__installation__in=installations)
        for each in there.filter(last_tried_at__gt=clock.now() - long):
            key = each.integration.installation_id, each.source if source is None else source
            expected.setdefault(key, []).append(each.last_tried_at)
    past = PastTry.objects.filter(installation__in=installations)
    for each in past.filter(last_tried_at__gt=clock.now() - long):
        expected.setdefault((each.installation_id, each.source), []).append(each.last_tried_at)

    rows = pacing.USED.rows(*[installations, long] * pacing.PARTS)

    assert {(of, source): (count, time_of(first), time_of(last)) for of, source, count, first, last in rows} == {
        key: (len(times), min(times), max(times)) for key, times in expected.items()
    }  # fmt: skip


def test_due(organizations, clock):
    deliveries_at_random(organizations)
    clock.advance(minutes=DRAW.randrange(9))
    every = [each.pk for each in Integration.objects.order_by("pk")]
    for some in (*([each] for each in every), every[: line.LINES]):
        asked = [*some, *[None] * (line.LINES - len(some))]
        for most in (2, 500):
            columns = ("integration_id", "turn", "due_at", "pk", "source")
            plain = [
                row
                for each in some
                for row in Delivery.objects.in_turn()
                .filter(integration=each)
                .values_list(*columns)[:most]
            ]
            found = line.DUE.rows(*chain.from_iterable((each, most) for each in asked))
            timed = [(of, turn, time_of(at), *rest) for of, turn, at, *rest in found]
            assert sorted(timed) == sorted(plain)


def test_next_of_each(organizations, clock):
    deliveries_at_random(organizations)
    clock.advance(minutes=DRAW.randrange(9))
    every = [each.pk for each in Integration.objects.order_by("pk")]
    sources = sorted(set(Delivery.objects.values_list("source", flat=True)))
    for integration in every:
        waiting = Delivery.objects.waiting().filter(integration=integration)
        for full in ([], sources[:1], sources[1:], sources):
            due = Delivery.objects.in_turn().filter(integration=integration)
            others = (
                waiting.exclude(source__in=full).order_by("source").values_list("source", flat=True)
            )
            plain = [
                due.filter(source=source).values_list("pk", flat=True).first()
                for source in others.distinct()
            ]
            for most in (2, 500):
                asked = [*[integration] * 3, full, most]
                found = [pk for (pk,) in turns.NEXT_OF_EACH.rows(*asked)]
                assert found == plain[:most]


def test_newest_of_each_that_joined(organizations, clock):
    every = deliveries_at_random(organizations)
    leads = every[:3]
    for each in every[3:]:
        now = {
            "status": "folded",
            "lead": DRAW.choice(leads),
            "folded_at": NOW,
            "folded_by": "alice",
        }
        Delivery.objects.filter(pk=each.pk).update(lease_until=None, **now)
    for each in leads:
        newest = Delivery.objects.filter(lead=each).values("source").annotate(newest=Max("pk"))
        plain = list(newest.order_by("-source").values_list("newest", flat=True))
        for most in (2, 500):
            found = [pk for (pk,) in listing.NEWEST_OF_EACH.rows(*[each.pk] * 4, most)]
            assert found == plain[:most]


def test_older(organizations, clock):
    for each in deliveries_at_random(organizations):
        due = each.created_at + timedelta(seconds=DRAW.randrange(-9, 3))
        Delivery.objects.filter(pk=each.pk).update(turn=DRAW.randrange(9), due_at=due)
    may_overtake = deliveries.MAY_OVERTAKE
    answers = Counter()
    for each in Delivery.objects.all():
        there = Delivery.objects.waiting().filter(
            integration__installation=each.integration.installation_id
        )
        plain = there.filter(turn__lte=each.turn, due_at__lt=each.created_at - may_overtake)
        assert Delivery.objects.has_older_waiting(each.report_id) == plain.exists()
        answers[plain.exists()] += 1
    assert len(answers) == 2
    assert not Delivery.objects.has_older_waiting("0" * 26)


def test_take(organizations, clock, holds):
    clock.advance(minutes=DRAW.randrange(9))
    for each in deliveries_at_random(organizations):
        mine = Delivery.objects.filter(pk=each.pk)
        may = mine.takeable().exists()

        taken = deliveries.TAKE.first(
            deliveries.LEASE, timedelta(minutes=30), each.report_id, each.report_id
        )
        assert taken == ((held_by(each.report, each.source),) if may else None)

        now = mine.annotate(now=clock.now()).get()
        if not may:
            assert (now.status, now.tries) == (each.status, each.tries)
            continue
        unknown = each.outcome_unknown_since or (each.status == "sending" and each.posted_at)
        assert (now.outcome_unknown_since or False) == (unknown or False)
        assert (now.status, now.tries) == ("sending", each.tries + 1)
        was_away = each.last_tried_at < now.last_tried_at - timedelta(minutes=30)
        since = None if was_away else each.trying_since
        assert now.trying_since == (since or now.last_tried_at)
        assert now.due_at == now.last_tried_at == now.started_at
        assert abs(now.now - now.due_at) < timedelta(minutes=1)


def test_on_hold(organizations, holds):
    some = deliveries_at_random(organizations)

    found = Delivery.objects.on_hold([each.pk for each in some[1:]])

    assert found == {each.pk for each in some[1:] if held_by(each.report, each.source)}


def test_record_and_succeed_and_end_an_attempt(organizations, clock):
    for each in deliveries_at_random(organizations)[:ROUNDS]:
        mine = Delivery.objects.filter(pk=each.pk)
        tries = DRAW.choice([each.tries, each.tries + 1])
        has_lease = mine.filter(status="sending", tries=tries).exists()
        like = DRAW.choice([(None, None, ""), (each.pk, 2, "`--é` %s in common")])
        there, now = DRAW.choice([5, 6]), DRAW.random() < 0.5
        Integration.objects.filter(pk=each.integration_id).update(
            repository_id=there, repo_owner="acme", repo_name="docs", repository_private=now
        )
        private = there == 6 or now
        sent = (5, "acme/docs", private, "Title é", "Body %s", *like)
        to = (5, "acme/docs", each.integration_id, 5)
        recorded = deliveries.RECORD.first(*to, *sent[3:], each.pk, tries)
        assert recorded == ((private,) if has_lease else None)
        names = ("repository_id", "repository", "repository_private", "title", "body")
        names += ("maybe_lead", "likeness_rule", "likeness_words")
        kept = mine.values_list(*names).get()
        assert mine.values_list(*names).get() == (sent if has_lease else kept)

        Attempt.objects.create(delivery=each, number=each.tries, started_at=NOW)
        ended = deliveries.END_ATTEMPT.first("refused", "é", each.pk, tries)
        attempt = Attempt.objects.get(delivery=each)
        assert bool(ended) == (tries == each.tries) == bool(attempt.ended_at)
        assert (attempt.outcome, attempt.reason) == (("refused", "é") if ended else ("", ""))

        if has_lease:
            mine.update(status="folded", lead=each, folded_at=NOW, folded_by="alice")
            assert deliveries.SUCCEED.first(each.pk, "https://x.dev/7", each.pk)
            columns = ("status", "issue_number", "issue_url", "lease_until", "held_for", "reason")
            columns += ("lead", "folded_at", "folded_by")
            assert mine.values_list(*columns).get() == (
                "sent",
                each.pk,
                "https://x.dev/7",
                None,
                "",
                "",
                None,
                None,
                "",
            )
    assert deliveries.SUCCEED.first(7, "https://x.dev/7", 0) is None


def test_outcome(organizations):
    every = deliveries_at_random(organizations)
    leads = every[ROUNDS:][:5]
    Delivery.objects.filter(pk=leads[0].pk).update(
        issue_url="https://x.dev/1", issue_state="closed", repository_private=False
    )
    for each in leads:
        if DRAW.random() < 0.5:
            Answer.objects.create(delivery=each, text="é %s", link="https://x.dev/", made_by="x")
    for each in every[:ROUNDS]:
        held_for = DRAW.choice(["", "discarded", "pause"])
        lead = None if held_for else DRAW.choice([None, *leads])
        mine = Delivery.objects.filter(pk=each.pk)
        mine.update(
            status="held" if held_for else "folded" if lead else DRAW.choice(["pending", "failed"]),
            held_for=held_for,
            lead=lead,
            folded_at=NOW if lead else None,
            issue_url=DRAW.choice(["", "https://x.dev/acme/former/issues/7"]),
            issue_state=DRAW.choice(["", "closed"]),
            repository_id=DRAW.choice([5, 6]),
            repository_private=DRAW.random() < 0.5,
        )

        with CaptureQueriesContext(connection) as queries:
            found = Delivery.objects.outcome_of(each.report_id)
            assert found
            known = (found.state, *issue_of(found))

        plain = mine.get()
        assert (known, len(queries)) == ((plain.state, *issue_of(plain)), 1)
        assert (found.lead_id, found.lead) == (plain.lead_id, plain.lead)
        answer = Answer.objects.filter(delivery=plain.lead_id or plain.pk)
        assert found.answer_found == answer.values_list("text", "link").first()
        plainly, receiver = plain.integration, found.integration
        assert receiver.repository == plainly.repository
        assert receiver.organization_id == plainly.organization_id
        assert receiver.repository_private == plainly.repository_private
    assert Delivery.objects.outcome_of("0" * 26) is None


def issue_of(delivery: Delivery) -> tuple[str | None, ...]:
    return (delivery.issue_url, delivery.public_issue_url(), delivery.public_issue_state())


def test_what_is_found_is_what_django_finds(organizations):
    for each in deliveries_at_random(organizations)[:ROUNDS]:
        for row in (each, each.report, each.integration, each.integration.installation):
            model = type(row)
            found = find(model, model._meta.pk.column, row.pk)
            known = model.objects.get(pk=row.pk)
            for field in model._meta.concrete_fields:
                ours, plain = getattr(found, field.attname), getattr(known, field.attname)
                assert (ours, type(ours)) == (plain, type(plain))
    assert find(Report, "id", "0" * 26) is None


def test_limit(organizations, clock):
    mine = installed(organizations[0]).installation
    clock.advance(minutes=5)

    mine.note_limit(7)

    mine.refresh_from_db()
    assert mine.limit_left == 7
    assert mine.limit_seen_at
    assert mine.limit_seen_at > timezone.now() + timedelta(minutes=4)


def test_counts_of_claims(organizations):
    for _ in range(ROUNDS):
        claimed_at_random(organizations)
        Domain.objects.filter(verified_at=None).update(lapsed_at=maybe(NOW))
        Domain.objects.exclude(verified_at=None).update(lapses_at=maybe(NOW))
        mine = DRAW.choice(organizations)
        proved = mine.domains.exclude(verified_at=None)
        live = mine.sites.filter(lapsed_at=None)
        lapses = mine.domains.exclude(lapsed_at=None, lapses_at=None)
        assert COUNTS.first(mine.pk, mine.pk) == (
            proved.count(),
            proved.aggregate(first=Min("name"))["first"],
            live.count(),
            sum(each.filter(opted_out_at=None).count() for each in (proved, live)),
            lapses.count() + mine.sites.exclude(lapsed_at=None).count(),
        )


QUESTIONS: dict[str, tuple[PreparedStatement, list[Any]]] = {
    "COUNTS": (COUNTS, ["0" * 26, "0" * 26]),
    "DOMAIN": (ownership.DOMAIN, [["docs.acme.com", "acme.com"], "acme.com"]),
    "SITE": (ownership.SITE, ["a.github.io", ["/", "/x/"]]),
    "TARGET": (deliveries.TARGET, ["f" * 16, "", "", "", "0" * 26, "0" * 26]),
    "UNHEARD": (again.UNHEARD, ["0" * 26, timedelta(days=1), "f" * 16]),
    "PLACE": (pacing.PLACE, ["0" * 26]),
    "TRIED": (pacing.TRIED, ["f" * 16, *[1, timedelta(minutes=1)] * pacing.PARTS]),
    "USED": (pacing.USED, [[1, 2], timedelta(minutes=1)] * pacing.PARTS),
    "DUE": (line.DUE, [1, 9] * line.LINES),
    "NEXT_OF_EACH": (turns.NEXT_OF_EACH, [1, 1, 1, ["", "f" * 16], 9]),
    "NEWEST_OF_EACH_THAT_JOINED": (listing.NEWEST_OF_EACH, [1, 1, 1, 1, 9]),
    "OLDER": (deliveries.OLDER, [timedelta(seconds=5), "0" * 26]),
    "TAKE": (deliveries.TAKE, [timedelta(minutes=1), timedelta(hours=3), "0" * 26, "0" * 26]),
    "ON_HOLD": (deliveries.ON_HOLD, [[1, 2]]),
    "RECORD": (deliveries.RECORD, [1, "", 1, 1, "", "", None, None, "", 1, 1]),
    "OUTCOME": (deliveries.OUTCOME, ["0" * 26]),
    "SUCCEED": (deliveries.SUCCEED, [1, "", 1]),
    "END_ATTEMPT": (deliveries.END_ATTEMPT, ["", "", 1, 1]),
    "LIMIT": (integrations.LIMIT, [1, 1]),
    "STORE": (stored_terms.STORE, ["f" * 32, "{}", 1, 1]),
    "LEADS": (candidates.LEADS, [[""], 1, "f" * 32, 1, 1, NOW, "", "", NOW, NOW]),
    "MEMBERS": (candidates.MEMBERS, [1, 1]),
    "UNDER_WAY": (
        candidates.UNDER_WAY,
        [1, 1, "f" * 32, 1, timedelta(minutes=2)],
    ),
    "PROBLEMS": (known.PROBLEMS, [1, "", 1, "", "0" * 26, "0" * 26, "", 1]),
    "OTHERS": (verdicts.OTHERS, ["0" * 26, "0" * 26]),
    "SPLIT_OFF": (verdicts.SPLIT_OFF, ["0" * 26, "0" * 26, ["x"]]),
}


def test_every_statement_is_compared():
    known = [statement for statement, _ in QUESTIONS.values()]
    of_models = ("Which row has this", "Is there no row")  # `find` and `insert`, for any model
    written = [each for each in PreparedStatement.every if not each.question.startswith(of_models)]
    assert sorted(map(id, known)) == sorted(map(id, written))


CONDITIONS = {  # of an INSERT
    "NO_DOMAIN": (ownership.NO_DOMAIN, [NAMES, NAMES[0]]),
    "NO_SITE": (ownership.NO_SITE, ["a.github.io", ["/", "/x/"]]),
}


@pytest.mark.parametrize("name", [*QUESTIONS, *CONDITIONS])
def test_each_is_answered_from_an_index(name):
    if name in CONDITIONS:
        condition, values = CONDITIONS[name]
        written = f"SELECT 1 WHERE {condition}"
    else:
        statement, values = QUESTIONS[name]
        written = statement.written
    explain = "EXPLAIN QUERY PLAN " if connection.vendor == "sqlite" else "EXPLAIN "
    asked = PreparedStatement("What is the plan?", explain + written)
    PreparedStatement.every.remove(asked)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")  # the tables are empty

    plan = "\n".join(str(row[-1]) for row in asked.rows(*values))

    assert "Seq Scan" not in plan
    made_here = "CONSTANT|tried|waits|newest|page|leads|joined|compared|opened|found|shown|of_one"
    assert not re.findall(rf"SCAN (?!json_each|{made_here}|[ds]\b)\w+", plan)


def test_the_log_of_queries_has_the_text_however_often_it_was_asked(organizations):
    with CaptureQueriesContext(connection) as queries:
        for _ in range(10):
            ownership.DOMAIN.first(["docs.acme.com"], "docs.acme.com")

    assert len(queries) == 10
    assert all("docs.acme.com" in each["sql"] for each in queries)
