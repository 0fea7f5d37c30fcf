"""A flood of one source takes its share of an installation's pace, and no more."""

import re
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from core import batches, client_address
from core.prepared import PreparedStatement
from hub.screen.export import as_json
from integrations import github_api
from integrations.delivery import catching_up, holds, pacing, turns
from integrations.github_api import issues
from integrations.github_api.answers import GitHubAnswer
from integrations.models import Delivery, Installation, Integration
from integrations.setup import trial_report
from reports.models import Report
from tests import build
from tests.plans import plan_of, plans_of

pytestmark = pytest.mark.django_db(transaction=True)

FLOODER, HONEST = "198.51.100.7", "203.0.113.9"


@pytest.fixture(autouse=True)
def behind_a_proxy(settings):
    settings.HUB_TRUSTED_PROXIES = 1
    settings.HUB_ISSUE_RATE = "20/minute;400/hour"


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


def send(client, sender: str, number: int = 1, host: str = "docs.acme.com") -> None:
    for each in range(number):
        body = build.report(f"https://{host}/", report__summary=f"{sender} says {each}")
        build.send(client, body, X_Forwarded_For=sender)


def titles(code_host) -> list[str]:
    issues = sorted(code_host.issues("acme/docs"), key=lambda issue: issue.number)
    return [issue.title.removeprefix("[docs] ") for issue in issues]


def sent_by(code_host, sender: str) -> int:
    return sum(title.startswith(f"{sender} ") for title in titles(code_host))


OTHER_FLOODER = "192.0.2.7"
TOO_QUICK = GitHubAnswer(422, {}, {"errors": [{"message": "was submitted too quickly"}]})


@pytest.fixture
def junk_is_refused(monkeypatch) -> list[str]:
    """GitHub calls "too quick" what a flooder says; returns the bodies of these, as they come."""
    post, asked = issues.post, []

    def refuse(repository, path, fields, *rest):
        if HONEST in fields["title"]:
            return post(repository, path, fields, *rest)
        asked.append(fields["body"])
        return TOO_QUICK

    monkeypatch.setattr(issues, "post", refuse)
    return asked


def test_texts_of_one_source_that_are_called_too_quick_take_its_share_alone(
    acme, client, code_host, junk_is_refused
):
    """An attack: each of them kept everybody else's waiting for a minute, thirty for hours."""
    send(client, FLOODER, 30)
    send(client, HONEST, 4)
    call_command("retry_deliveries")

    assert sent_by(code_host, HONEST) == 4
    assert len(junk_is_refused) <= 5


def test_what_is_called_too_quick_of_two_sources_is_believed_for_a_minute(
    acme, client, code_host, clock, junk_is_refused
):
    for flooder in (FLOODER, OTHER_FLOODER):
        send(client, flooder)
    send(client, HONEST)
    call_command("retry_deliveries")
    at_once = sent_by(code_host, HONEST)
    clock.advance(seconds=61)
    call_command("retry_deliveries")

    assert (at_once, len(junk_is_refused)) == (0, 4)
    assert sent_by(code_host, HONEST) == 1


def test_a_limit_of_github_that_takes_a_report_in_between_is_none(
    acme, client, code_host, junk_is_refused
):
    for sender in (FLOODER, HONEST, OTHER_FLOODER):
        send(client, sender)

    assert len(junk_is_refused) == 2
    assert Installation.objects.get().left_alone_until is None


@pytest.mark.parametrize("source", [None, "-"])
def test_a_limit_of_github_that_lets_nobody_through_is_asked_twice_a_minute(
    acme, client, clock, junk_is_refused, source
):
    for network in range(12):
        send(client, f"198.51.{network}.7")
    if source:
        Delivery.objects.update(source=source)
    for _ in range(5):
        clock.advance(seconds=61)
        call_command("retry_deliveries")

    assert Delivery.objects.waiting().count() == 12
    assert len(junk_is_refused) <= 2 * 6


def test_a_flood_of_one_source_is_a_quarter_of_the_pace(acme, client, code_host, clock):
    send(client, FLOODER, 12)
    call_command("retry_deliveries")
    at_once = sent_by(code_host, FLOODER)
    clock.advance(seconds=61)
    call_command("retry_deliveries")

    assert (at_once, sent_by(code_host, FLOODER)) == (5, 10)


def test_neighbors_in_a_network_are_one_source(acme, client, code_host):
    for each in range(7):
        send(client, f"198.51.100.{each}")
        send(client, f"2001:db8:1:2::{each}")

    assert sum(title.startswith("198.51.100.") for title in titles(code_host)) <= 5
    assert sum(title.startswith("2001:db8:1:2:") for title in titles(code_host)) <= 5


def test_a_flood_keeps_no_honest_report_waiting(acme, client, code_host):
    send(client, FLOODER, 12)

    send(client, HONEST)

    assert titles(code_host)[-1] == f"{HONEST} says 0"
    assert Delivery.objects.filter(status="pending").count() == 7


def test_a_flood_of_five_sources_keeps_no_honest_report_waiting(acme, client, code_host):
    for each in range(5):
        for source in range(5):
            body = build.report(report__summary=f"Flood {source}, {each}")
            build.send(client, body, X_Forwarded_For=f"198.51.{source}.7")

    send(client, HONEST)

    assert titles(code_host)[-1] == f"{HONEST} says 0"


def test_an_hour_of_five_sources_leaves_room_for_others(acme, client, code_host, settings, clock):
    settings.HUB_ISSUE_RATE = "12/hour"
    for each in range(4):
        for source in range(5):
            body = build.report(report__summary=f"Flood {source}, {each}")
            build.send(client, body, X_Forwarded_For=f"198.51.{source}.7")
    call_command("retry_deliveries")
    flood = len(titles(code_host))

    send(client, HONEST)

    assert flood <= 10
    assert sent_by(code_host, HONEST) == 1


def test_a_released_flood_goes_behind_the_first_report_of_everybody(
    acme, client, code_host, settings, clock
):
    settings.HUB_ISSUE_RATE = "4/minute"
    holds.pause(Integration.objects.get())
    send(client, FLOODER, 6)
    send(client, HONEST, 2)
    holds.resume(Integration.objects.get())

    for _ in range(4):
        call_command("retry_deliveries")
        clock.advance(seconds=61)

    assert titles(code_host)[:4] == [
        f"{FLOODER} says 0", f"{HONEST} says 0", f"{FLOODER} says 1", f"{HONEST} says 1"
    ]  # fmt: skip


def test_as_many_sources_as_there_are_wait_once_each(acme, client, code_host, settings, clock):
    """A flood from many networks: an honest report waits for their first ones, not for all."""
    settings.HUB_ISSUE_RATE = "2/minute"
    for each in range(5):
        for source in range(4):
            body = build.report(report__summary=f"Flood {source}, {each}")
            build.send(client, body, X_Forwarded_For=f"198.51.{source}.7")
    Delivery.objects.update(due_at=F("due_at") - timedelta(seconds=30))
    send(client, HONEST)

    for _ in range(4):
        call_command("retry_deliveries")
        clock.advance(seconds=61)

    assert titles(code_host).index(f"{HONEST} says 0") <= 4


@pytest.mark.slow
def test_who_sends_many_a_day_waits_behind_no_flood_that_has_had_its_share(
    acme, client, code_host, clock
):
    send(client, HONEST, 5)
    clock.advance(hours=2)
    send(client, FLOODER, 12)
    Delivery.objects.filter(status="pending").update(due_at=clock.now() - timedelta(seconds=30))
    build.send(client, build.report(report__summary=f"{HONEST} says more"), X_Forwarded_For=HONEST)

    call_command("retry_deliveries")

    assert sent_by(code_host, HONEST) == 6  # though the flood's sixth is older
    assert sent_by(code_host, FLOODER) == 5


def test_what_has_no_source_is_never_held_back(acme, client, code_host):
    send(client, FLOODER, 12)
    Delivery.objects.filter(status="pending").update(source="")

    call_command("retry_deliveries")

    assert len(titles(code_host)) == 12


def test_a_flood_about_another_integration_of_the_installation_is_counted_too(
    acme, client, code_host
):
    neighbor = build.organization("neighbor")
    build.domain(neighbor, "docs.neighbor.dev")
    build.integration(neighbor, code_host)
    send(client, FLOODER, 5)

    send(client, FLOODER, 5, host="docs.neighbor.dev")
    send(client, HONEST, host="docs.neighbor.dev")

    assert sent_by(code_host, FLOODER) == 5
    assert sent_by(code_host, HONEST) == 1


def test_what_another_organization_of_the_installation_has_waiting_delays_nobody(
    acme, client, code_host, clock
):
    for network in range(45):
        send(client, f"198.51.{network}.7")
    Delivery.objects.waiting().update(due_at=F("due_at") - timedelta(minutes=1))
    clock.advance(seconds=61)
    neighbor = build.organization("neighbor")
    build.domain(neighbor, "docs.neighbor.dev")
    build.integration(neighbor, code_host)
    send(client, HONEST, 3, host="docs.neighbor.dev")
    before = len(titles(code_host))

    call_command("retry_deliveries")

    assert (before, len(titles(code_host))) == (20, 40)
    assert sent_by(code_host, HONEST) == 3


def test_of_many_organizations_of_an_installation_each_has_its_turn():
    now = timezone.now()
    waiting = [[(0, now + timedelta(hours=each), each, f"{each}")] for each in range(30)]

    drawn = [turns._one_by_one(waiting) for _ in range(300)]

    assert {len(each) for each in drawn} == {turns.IN_TURN}
    assert {pk for each in drawn for _, _, pk, _ in each} == set(range(30))


def test_a_long_backlog_has_no_more_turns_than_a_short_one_where_one_place_comes_free_at_a_time():
    earlier = timezone.now()
    long = [(0, earlier, each, "long") for each in range(70)]
    short = [(3, earlier + timedelta(hours=1), 100 + each, "short") for each in range(8)]

    firsts = [turns._one_by_one([long, [], short])[0][-1] for _ in range(200)]

    assert min(firsts.count("long"), firsts.count("short")) > 50


def test_who_repeats_a_report_that_was_nobodys_is_the_source_of_its_delivery(client, code_host):
    owner = build.organization()
    build.integration(owner, code_host)
    build.send(client, X_Forwarded_For=FLOODER)
    build.domain(owner, "docs.acme.com")

    build.send(client, X_Forwarded_For=HONEST)

    assert Delivery.objects.get().source == client_address.source(HONEST)


def test_the_networks_of_one_customer_are_one_source():
    """A /48 has 65,536 of them; an honest report would wait for the first of each."""
    assert client_address.source("2001:db8:1:2::/64") == client_address.source(
        "2001:db8:1:ffff::/64"
    )
    assert client_address.source("2001:db8:1:2::/64") != client_address.source("2001:db8:2:2::/64")


def test_a_test_report_comes_from_its_organization(acme, client, code_host):
    trial_report.send(build.member(acme).membership)

    sent = Delivery.objects.get()
    assert (sent.source, sent.status) == (client_address.source_of_organization(acme.pk), "sent")


def test_a_small_pace_still_sends_what_one_source_says(acme, client, code_host, settings, clock):
    settings.HUB_ISSUE_RATE = "1/minute"
    send(client, FLOODER, 3)

    for _ in range(2):
        clock.advance(seconds=61)
        call_command("retry_deliveries")

    assert sent_by(code_host, FLOODER) == 3


def test_a_source_is_no_address_and_another_each_day(acme, client, code_host, monkeypatch):
    today = client_address.source(FLOODER)
    later = client_address.timezone.now() + timedelta(days=1)
    monkeypatch.setattr(client_address.timezone, "now", lambda: later)

    assert len(today) == 16
    assert client_address.source(FLOODER) != today
    assert client_address.source("198.51.100.8") == client_address.source(FLOODER)
    assert client_address.source("198.51.101.7") != client_address.source(FLOODER)
    assert client_address.source("unknown") != client_address.source(FLOODER)


def test_a_source_is_kept_for_two_days_and_its_turn_for_good(acme, client, code_host, clock):
    holds.pause(Integration.objects.get())
    send(client, FLOODER, 3)
    clock.advance(days=1, hours=23)
    kept = pacing.forget_sources()
    clock.advance(hours=1, minutes=1)

    assert (kept, pacing.forget_sources(lambda: False)) == (0, 0)
    assert (pacing.forget_sources(), pacing.forget_sources()) == (3, 0)
    assert list(Delivery.objects.order_by("pk").values_list("source", "turn")) == [
        ("-", 0), ("-", 1), ("-", 2)
    ]  # fmt: skip


def test_a_source_of_a_time_that_has_not_come_is_forgotten(acme, client, code_host):
    """The database's clock was ahead, and is put back: the hash would be kept for as much longer."""
    holds.pause(Integration.objects.get())
    send(client, FLOODER, 3)
    Delivery.objects.filter(turn__gt=0).update(created_at=F("created_at") + timedelta(days=30))

    assert (pacing.forget_sources(), pacing.forget_sources()) == (2, 0)
    assert [*Delivery.objects.order_by("pk").values_list("turn", flat=True)] == [0, 1, 2]
    assert Delivery.objects.exclude(source="-").get().turn == 0


@pytest.mark.slow
def test_a_flood_that_outlives_its_source_still_has_the_share_of_one(
    acme, client, code_host, clock
):
    holds.pause(Integration.objects.get())
    send(client, FLOODER, 30)
    clock.advance(days=2, minutes=1)
    pacing.forget_sources()
    holds.resume(Integration.objects.get())
    call_command("retry_deliveries")

    send(client, HONEST)

    assert sent_by(code_host, FLOODER) == 5
    assert sent_by(code_host, HONEST) == 1
    assert Installation.objects.get().limited_until is None


def test_many_sources_are_forgotten_batch_by_batch(acme, client, code_host, clock, monkeypatch):
    monkeypatch.setattr(batches, "BATCH", 2)
    send(client, FLOODER, 5)
    clock.advance(days=3)

    assert pacing.forget_sources() == 5


def test_no_one_is_told_a_source(acme, client, code_host):
    send(client, FLOODER)
    source = Delivery.objects.get().source

    assert len(source) == 16
    assert source not in "".join(as_json(acme))


@pytest.mark.parametrize("source", ["-", "flooder"])
@pytest.mark.parametrize(("ahead", "others"), [(-4, "xxyz"), (-1, "xyz"), (25, "xyz")])
def test_whatever_waits_of_sources_with_their_share_keeps_no_other_waiting(
    acme, clock, monkeypatch, source, ahead, others
):
    """Also of one that has sent so much today that the turns of the flood are before its own."""
    monkeypatch.setattr(turns, "AHEAD", 50)
    backlog(7, source=source, status="failed", last_tried_at=clock.now())  # its share
    backlog(turns.AHEAD + ahead, source=source, turn=3)
    for turn, other in enumerate("xxyz", 9):
        backlog(1, source=other, turn=turn)
    backlog(1, source="later", turn=1, due_at=clock.now() + timedelta(minutes=1))

    found = Delivery.objects.filter(report__in=turns.due_ids()).values_list("source", flat=True)

    assert "".join(found.order_by("turn")) == others


def test_no_more_sources_are_looked_at_than_so_many(acme, monkeypatch):
    monkeypatch.setattr(turns, "AHEAD", 1)
    monkeypatch.setattr(turns, "SOURCES", 2)
    backlog(1, source="flooder")
    for other in "xyz":
        backlog(1, source=other, turn=1)

    found = turns.next_of(Integration.objects.get(), {"flooder"})

    assert "".join(found.values_list("source", flat=True)) == "xy"


@pytest.mark.slow
def test_more_flooded_integrations_than_are_looked_at_keep_no_other_waiting(
    acme, client, code_host, monkeypatch
):
    monkeypatch.setattr(turns, "BATCH", 1)
    code_host.add_organization("zeta")
    code_host.add_installation("zeta", repositories=[code_host.add_repository("zeta", "docs")])
    zeta = build.organization("zeta")
    build.domain(zeta, "docs.zeta.dev")
    build.integration(zeta, code_host, "zeta/docs")
    send(client, FLOODER, 6)
    code_host.fail("500", path="token")
    github_api.forget_tokens()
    send(client, HONEST, host="docs.zeta.dev")
    Delivery.objects.filter(status="pending").update(due_at=F("created_at"))

    found = {report_id for _ in range(100) for report_id in turns.due_ids()}

    assert found == {Delivery.objects.get(integration__organization=zeta).report_id}


def test_what_is_next_is_read_from_an_index_however_much_waits(acme, client, code_host):
    integration = Integration.objects.get()

    next_ones = plan_of(turns.next_of(integration, set()))
    ahead, of_each = plans_of(lambda: turns.next_of(integration, {"a"}))

    assert "delivery_turn" in next_ones
    assert "delivery_turn" in ahead
    assert set(re.findall(r"delivery_[a-z]\w+", of_each)) == {"delivery_turn_of_source"}
    assert not re.search("Sort|TEMP B-TREE", next_ones + of_each)


def test_the_next_of_each_source_has_its_index_also_by_statistics_of_before(acme):
    """PostgreSQL has not heard of a backlog yet: it believes that one row waits, and sorts it."""
    integration = Integration.objects.get()
    backlog(500, source="sent", status="failed")
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE integrations_delivery")
    backlog(500, source="flooder")
    for number in range(20):
        backlog(1, source=f"other {number}", turn=9)
    explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    asked = PreparedStatement("What is the plan?", f"{explain} {turns.NEXT_OF_EACH.written}")
    PreparedStatement.every.remove(asked)

    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL enable_seqscan = off")  # the table is small
        rows = asked.rows(*[integration.pk] * 3, ["flooder"], turns.SOURCES)

    plan = "\n".join(str(row[-1]) for row in rows)
    assert set(re.findall(r"delivery_[a-z]\w+", plan)) == {"delivery_turn_of_source"}
    assert not re.search("Sort|TEMP B-TREE", plan)


def test_old_sources_are_found_by_an_index(acme):
    for rows in (pacing.with_an_old_source(), pacing.with_a_source_of_later()):
        assert "delivery_with_source" in plan_of(rows)


STOPS = [
    {"status": "pending"},
    {"status": "held", "held_for": "discarded"},
    {"status": "held", "held_for": "integration"},
]


def backlog(number: int, **columns) -> None:
    """So many reports more, whose deliveries are as the first one's, but for these columns."""
    now = timezone.now()
    known = {
        "received_at": now,
        "last_received_at": now,
        "doc_url": "x",
        "canonical_url": "x",
        "kind": "other",
        "summary": "x",
    }
    reports = Report.objects.bulk_create([Report(**known) for _ in range(number)])
    integration = Integration.objects.get(organization__name="acme")
    Delivery.objects.bulk_create(
        Delivery(report=each, integration=integration, **columns) for each in reports
    )


def steps(ask) -> int:
    """How many steps SQLite's machine takes for it."""
    counted = []
    connection.connection.set_progress_handler(lambda: counted.append(1), 1)
    ask()
    connection.connection.set_progress_handler(None, 0)
    return len(counted)


@pytest.mark.sqlite
def test_what_asks_each_second_or_minute_reads_no_backlog(acme, client, code_host, clock):
    Installation.objects.update(limited_until=clock.now() + timedelta(minutes=40))
    holds.block(Integration.objects.get(), "Issues are turned off.")
    asks = [turns.is_anything_due, turns.due_ids, catching_up.catch_up, holds.probe]
    counts = []

    for number in (50, 350):
        for stop in STOPS:
            backlog(number, **stop)
        counts.append([steps(ask) for ask in asks])

    assert not turns.is_anything_due()
    assert counts[1] == pytest.approx(counts[0], rel=0.2)


@pytest.mark.sqlite
def test_what_is_next_is_found_without_the_backlog_of_full_sources(
    acme, client, code_host, monkeypatch
):
    monkeypatch.setattr(turns, "AHEAD", 5)
    integration = Integration.objects.get()
    code_host.fail("500", path="token")
    send(client, HONEST)
    Delivery.objects.update(due_at=F("created_at"), turn=1)
    counts = []

    for other in range(40):
        backlog(1, source=f"other {other}", turn=1)
    full = {"-", "flooder"}

    for number in (50, 350):
        for source in full:
            backlog(number, source=source)
        counts.append(steps(lambda: list(turns.next_of(integration, full))))

    assert counts[1] == pytest.approx(counts[0], rel=0.1)


@pytest.mark.sqlite
def test_integrations_without_anything_waiting_cost_nothing(acme, client, code_host, monkeypatch):
    monkeypatch.setattr(turns.random, "randint", lambda *_: 0)  # where the look begins
    code_host.fail("500", path="token")
    send(client, FLOODER)
    Delivery.objects.update(due_at=F("created_at"))
    counts = []

    for number in (10, 100):
        for each in range(number):
            theirs = build.integration(build.organization(f"{number}-{each}"), code_host)
            theirs.installation = Installation.objects.create(github_id=number * 1000 + each)
            theirs.save()
        counts.append([steps(ask) for ask in (turns.is_anything_due, turns.due_ids)])

    assert len(turns.due_ids()) == 1
    assert counts[1] == pytest.approx(counts[0], rel=0.1)


def test_all_integrations_that_wait_are_found_from_wherever_the_look_begins(
    acme, client, code_host, monkeypatch
):
    code_host.fail("500", path="token")
    send(client, FLOODER)
    last = Integration.objects.get().pk

    for start in range(last + 1):
        monkeypatch.setattr(turns.random, "randint", lambda *_, start=start: start)
        assert turns._waiting_integrations() == [last]
    assert Delivery.objects.integrations_waiting(first=last + 1, most=5) == []
    assert Delivery.objects.integrations_waiting(first=0, most=0) == []


def test_the_integrations_that_wait_are_read_from_an_index(acme):
    [plan] = plans_of(lambda: Delivery.objects.integrations_waiting(first=0, most=5))

    assert "delivery_turn" in plan
    assert not {"Sort", "TEMP B-TREE"} & set(re.findall("Sort|TEMP B-TREE", plan))


@pytest.mark.sqlite
def test_who_goes_first_is_decided_without_the_backlog_of_others(acme, client, code_host):
    code_host.fail("500", path="token")
    theirs = build.integration(build.organization("zeta"), code_host)
    theirs.installation = Installation.objects.create(github_id=4711)
    theirs.save()
    send(client, FLOODER)
    newcomer = Delivery.objects.get()
    Delivery.objects.filter(pk=newcomer.pk).update(integration=theirs)
    counts = []

    for number in (50, 350):
        backlog(number, due_at=newcomer.created_at - timedelta(hours=1))
        counts.append(steps(lambda: Delivery.objects.has_older_waiting(newcomer.report_id)))

    assert counts[1] == pytest.approx(counts[0], rel=0.1)


def test_whether_anything_is_due_is_seen_for_each_installation(acme, client, code_host, clock):
    code_host.fail("500", path="token")
    send(client, FLOODER)
    states = []

    for change in (
        {"due_at": clock.now() + timedelta(hours=1)},
        {"due_at": clock.now()},
        {"status": "sending", "lease_until": clock.now() + timedelta(minutes=1)},
        {"status": "sending", "lease_until": clock.now() - timedelta(minutes=1)},
    ):
        Delivery.objects.update(**change)
        states.append(turns.is_anything_due())
    Installation.objects.update(limited_until=clock.now() + timedelta(minutes=5))

    assert states == [False, True, False, True]
    assert not turns.is_anything_due()


def test_what_is_held_is_found_by_an_index(acme):
    assert "delivery_held" in plan_of(holds.with_some_held())
    held = Integration.objects.get().deliveries.held(Delivery.Cause.PAUSE)
    assert "delivery_held" in plan_of(held)


def test_the_installation_that_is_limited_is_not_asked_for_what_is_next(
    acme, client, code_host, clock
):
    send(client, FLOODER, 8)
    Installation.objects.update(limited_until=clock.now() + timedelta(minutes=5))

    assert turns.due_ids() == []
