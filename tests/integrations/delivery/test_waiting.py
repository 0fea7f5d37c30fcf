"""Why a delivery waits, and about until when."""

import re
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from core import counting
from integrations.delivery import backlog as backlogs
from integrations.delivery import line, pacing, waiting
from integrations.delivery.backlog import backlog
from integrations.delivery.waiting import Cause, why, whys
from integrations.models import Alert, Delivery, Installation, Integration
from reports.models import Report
from tests import build
from tests.plans import plans_of

pytestmark = pytest.mark.django_db(transaction=True)

NOON = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0)
CLOCK = r"(\d+ \w+, )?\d\d:\d\d UTC"


@pytest.fixture
def acme(code_host, settings):
    settings.HUB_TRUSTED_PROXIES = 1
    settings.HUB_ISSUE_RATE = "2/minute;5/hour"
    return build.acme(code_host)


def send(client, number: int = 1, sender: str = "") -> None:
    """Each from another network, unless a sender is given."""
    for _ in range(number):
        known = Report.objects.count()
        body = build.report(report__summary=f"Gone {known}")
        build.send(client, body, X_Forwarded_For=sender or f"203.0.{known}.7")


def waits() -> list[waiting.Wait | None]:
    """Why each delivery waits, oldest first."""
    deliveries = list(Delivery.objects.order_by("pk"))
    found = whys(deliveries)
    return [found.get(each.pk) for each in deliveries]


def stored(owner, number: int = 1, **columns) -> list[Delivery]:
    """Deliveries that wait, as if they had come a moment ago."""
    now = timezone.now()
    integration = Integration.objects.of(owner).get()
    made = []
    for _ in range(number):
        report = Report(
            organization=owner, received_at=now, last_received_at=now, kind="other", summary="Gone",
            doc_url="https://docs.acme.com/", canonical_url="https://docs.acme.com/",
            agent_name="agent-x",
        )  # fmt: skip
        Report.objects.bulk_create([report])  # no delivery of its own
        values = {"due_at": now, "created_at": now, **columns}
        made.append(Delivery.objects.create(report=report, integration=integration, **values))
    return made


def test_what_is_over_the_pace_says_the_pace_and_when(acme, client):
    send(client, 5)

    *sent, first, second, third = waits()

    assert sent == [None, None]
    assert (first.cause, second.cause) == (Cause.TURN, Cause.TURN)
    pace = "at most 2 issues a minute and 5 an hour go to acme"
    assert first.sentence == f"Waiting its turn: {pace}."
    assert second.sentence == f"Waiting its turn: 1 other goes first, and {pace}."
    assert "2 others go first" in third.sentence
    assert re.fullmatch("Within a minute.", first.when)
    assert re.fullmatch(rf"About {CLOCK}\.", third.when)
    assert first.at <= second.at < third.at
    assert all(each.is_in_line for each in (first, second, third))


def test_the_time_is_about_when_it_is_sent(acme, client, clock):
    send(client, 4)
    *_, third, fourth = waits()

    clock.advance(seconds=61)
    call_command("retry_deliveries")

    tried = Delivery.objects.order_by("pk").values_list("last_tried_at", flat=True)
    assert Delivery.objects.filter(status="sent").count() == 4
    assert abs(tried[2] - third.at) < timedelta(seconds=30)
    assert abs(tried[3] - fourth.at) < timedelta(seconds=30)


def test_the_rate_by_the_hour_counts_too(acme, client, clock, settings):
    settings.HUB_ISSUE_RATE = "100/minute;3/hour"
    send(client, 3)
    first_try = Delivery.objects.earliest("pk").last_tried_at
    clock.advance(minutes=20)
    send(client, 5)

    fourth, *_, eighth = waits()[3:]

    assert fourth.at == first_try + timedelta(hours=1)
    assert eighth.at == first_try + timedelta(hours=2)


def test_the_time_is_never_over(acme, client, clock):
    send(client, 3)
    before = waits()[-1]
    clock.advance(seconds=70)

    after = waits()[-1]

    assert before.at is not None
    assert (after.cause, after.at) == (Cause.NEXT, None)
    assert str(after) == "Next in line. It goes out within a minute."
    assert not after.is_in_line


def test_githubs_own_limit_is_told_apart(acme, client, code_host):
    code_host.fail("429", value=300)
    send(client, 2)

    tried, newcomer = waits()

    until = Installation.objects.get().left_alone_until
    for each in (tried, newcomer):
        assert each.cause == Cause.GITHUB
        assert re.fullmatch(rf"GitHub asked us to wait with acme until {CLOCK}\.", str(each))
        assert each.short.startswith("GitHub's limit, until")
        assert each.at == until
    assert newcomer.is_in_line


def test_after_githubs_limit_comes_the_line(acme):
    Installation.objects.update(left_alone_until=Now() + timedelta(minutes=5))
    Installation.objects.update(limited_until=F("left_alone_until"))
    stored(acme, 2, status="sending", lease_until=NOON, last_tried_at=timezone.now())
    deliveries = stored(acme, 20)

    first, last = why(deliveries[0]), why(deliveries[-1])

    assert first.at == Installation.objects.get().left_alone_until
    assert last.cause == Cause.GITHUB
    assert last.at > first.at
    assert re.fullmatch(rf"It goes out at about {CLOCK}\.", last.when)


def test_another_try_says_why_and_when(acme, client, code_host, settings):
    settings.HUB_ISSUE_RATE = "20/minute"
    code_host.fail("502", path="token")
    send(client)

    [wait] = waits()

    delivery = Delivery.objects.get()
    assert (wait.cause, wait.sentence, wait.at) == (Cause.RETRY, delivery.reason, delivery.due_at)
    assert "502" in wait.sentence
    assert wait.when == "The Hub tries again within a minute."
    assert not wait.is_in_line


def test_a_restored_one_is_not_tried_twice_within_a_minute(acme):
    [delivery] = stored(acme, due_at=timezone.now() + timedelta(minutes=3))

    wait = why(delivery)

    assert wait.sentence == "No report is tried twice within a minute."
    assert re.fullmatch(rf"The Hub tries again at about {CLOCK}\.", wait.when)
    assert re.fullmatch(rf"again at about {CLOCK}", wait.short)


def test_what_nobody_has_taken_is_late(acme):
    long_ago = timezone.now() - timedelta(minutes=12)
    first, second = stored(acme, 2, due_at=long_ago)

    for each in (why(first), why(second)):
        assert each.cause == Cause.LATE
        assert "background work is late" in each.when
        assert not each.is_in_line


def test_a_line_that_moves_is_not_late(acme):
    long_ago = timezone.now() - timedelta(minutes=12)
    stored(acme, status="sending", lease_until=timezone.now(), last_tried_at=timezone.now())
    first, second = stored(acme, 2, due_at=long_ago)

    assert why(first).cause == Cause.NEXT
    assert why(second).cause == Cause.TURN  # only one more goes out this minute


def test_alerts_are_counted_with_the_pace(acme, settings):
    settings.HUB_ISSUE_RATE = "1/hour"
    mine, now = Integration.objects.get(), timezone.now()
    Alert.objects.create(
        integration=mine, cause="lapsed", status="dropped", since=now, last_tried_at=now
    )
    [delivery] = stored(acme)

    wait = why(delivery)

    assert (wait.cause, wait.at) == (Cause.TURN, now + timedelta(hours=1))


def test_older_ones_go_first(acme, settings):
    settings.HUB_ISSUE_RATE = "20/minute"
    *_, last = stored(acme, 3)

    wait = why(last)

    assert str(wait) == "In line: 2 others go first. It goes out within a minute."


def test_a_source_that_has_used_up_its_share_is_told(acme, client, settings):
    settings.HUB_ISSUE_RATE = "20/minute"
    send(client, 7, sender="198.51.100.7")

    wait = waits()[-1]

    assert wait.cause == Cause.TURN
    assert "many reports came from its sender's network, and at most 20" in wait.sentence
    assert wait.at == Delivery.objects.earliest("pk").last_tried_at + timedelta(minutes=1)


def test_a_source_that_has_sent_little_is_not_blamed_for_a_full_pace(acme, client, settings):
    settings.HUB_ISSUE_RATE = "8/hour"
    send(client, 1, sender="198.51.100.7")
    send(client, 7)
    send(client, 1, sender="198.51.100.7")

    wait = waits()[-1]

    assert wait.sentence == "Waiting its turn: at most 8 issues an hour go to acme."
    assert wait.at == Delivery.objects.earliest("pk").last_tried_at + timedelta(hours=1)


def test_the_time_of_a_flood_is_about_when_its_share_is_sent(acme, client, clock, settings):
    settings.HUB_ISSUE_RATE = "20/minute"
    send(client, 12, sender="198.51.100.7")
    times = [each.at for each in waits() if each]

    for _ in range(2):
        clock.advance(seconds=61)
        call_command("retry_deliveries")

    tried = Delivery.objects.order_by("pk").values_list("last_tried_at", flat=True)[5:]
    assert len(times) == 7
    for time, at in zip(times, tried, strict=True):
        assert abs(time - at) < timedelta(seconds=30)


def test_an_honest_report_does_not_wait_for_a_flood(acme, client, settings):
    settings.HUB_ISSUE_RATE = "20/minute"
    send(client, 7, sender="198.51.100.7")
    [honest] = stored(acme, source="another", turn=9)

    assert str(why(honest)) == "Next in line. It goes out within a minute."


def test_others_of_the_installation_go_first_too(acme, code_host):
    neighbor = build.organization("neighbor")
    code_host.add_to_installation(
        build.installed(code_host), code_host.add_repository("acme", "archive")
    )
    build.integration(neighbor, code_host, "acme/archive")
    stored(neighbor, 9)
    first, second = stored(acme, 2)

    assert "1 other goes first" in str(why(first))
    assert "3 others go first" in str(why(second))


def test_what_is_about_to_be_held_says_so(acme):
    [delivery] = stored(acme)

    Integration.objects.update(paused_at=Now())
    paused = why(delivery)
    Integration.objects.update(paused_at=None, repository_id=None, repo_owner="", repo_name="")
    disconnected = why(delivery)

    assert (paused.cause, "is paused" in paused.sentence) == (Cause.STOPPED, True)
    assert (disconnected.cause, disconnected.when) == (Cause.STOPPED, "")
    assert "No repository is chosen" in disconnected.sentence


def test_one_that_is_being_sent_does_not_wait_until_its_process_has_died(acme):
    [alive] = stored(acme, status="sending", lease_until=timezone.now() + timedelta(seconds=50))
    [dead] = stored(acme, status="sending", lease_until=timezone.now() - timedelta(seconds=50))

    assert why(alive) is None
    assert str(why(dead)) == f"{waiting.TAKEN_OVER} It goes out within a minute."


@pytest.mark.parametrize("status", ["sent", "held", "failed"])
def test_what_does_not_wait_says_nothing_and_asks_nothing(status, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert why(Delivery(status=status)) is None
        assert why(None) is None


def test_a_line_beyond_what_is_looked_at_has_a_time_at_least(acme, monkeypatch):
    for module in (line, waiting):
        monkeypatch.setattr(module, "LOOKED_AT", 3)
    stored(acme, 2, status="sending", lease_until=NOON, last_tried_at=timezone.now())
    last = stored(acme, 6)[-1]

    wait = why(last)

    assert "3 others or more go first" in wait.sentence
    assert re.fullmatch(rf"Not before {CLOCK}\.", wait.when)


def test_beyond_so_many_integrations_the_time_is_left_out(acme, monkeypatch):
    monkeypatch.setattr(line, "LINES", 0)
    [delivery] = stored(acme)

    wait = why(delivery)

    assert (wait.cause, wait.when, wait.at) == (Cause.TURN, "", None)


def test_a_page_of_fifty_costs_as_many_queries_as_one(acme, django_assert_num_queries):
    deliveries = stored(acme, 50)

    for some in (deliveries[:1], deliveries):
        with django_assert_num_queries(4):  # one for each rate
            assert len(whys(some)) == len(some)


def test_the_line_is_read_from_an_index(acme):
    [delivery] = stored(acme)

    plans = plans_of(lambda: why(delivery))

    read = [plan for plan in plans if "integrations_delivery" in plan.sql]
    assert len(read) == 3  # the line, and one for each rate
    assert [plan for plan in read if "delivery_turn" in plan]
    for plan in read:
        assert re.search("delivery_turn|delivery_pace|delivery_of_source", plan), plan
        assert not re.search(r"SCAN integrations_delivery|Seq Scan on integrations_delivery", plan)
    in_line = next(plan for plan in read if "delivery_turn" in plan)
    not_of_the_first = r"Sort  .*\n.*Sort Key.*\n.*Scan|integrations_delivery .*\n.*TEMP B-TREE"
    assert not re.search(not_of_the_first, in_line)  # only the first of each are sorted


def test_times_of_another_day_say_the_day():
    now = NOON.replace(hour=23, minute=59)

    assert waiting.clock_time(now + timedelta(seconds=30), now).startswith(
        f"{(now + timedelta(days=1)).day} "
    )
    assert waiting.clock_time(NOON, NOON) == "12:00 UTC"
    assert waiting.clock_time(NOON + timedelta(seconds=1), NOON) == "12:01 UTC"


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        ("20/minute", "at most 20 issues a minute"),
        ("20/minute;400/hour", "at most 20 issues a minute and 400 an hour"),
        ("1/5minute;9/day", "at most 1 issue every 5 minutes and 9 a day"),
    ],
)
def test_the_pace_in_words(settings, rate, words):
    settings.HUB_ISSUE_RATE = rate

    assert pacing.in_words() == words


def of_acme() -> backlogs.Backlog | None:
    return backlog(Integration.objects.select_related("installation").get())


def test_nothing_waits(acme, client):
    send(client, 2)

    assert of_acme() is None


def test_a_backlog_says_the_pace_and_when_the_last_goes_out(acme, client):
    send(client, 9)

    found = of_acme()

    assert (found.waiting, found.cause, found.needs_attention) == (7, Cause.TURN, False)
    pace = "at most 2 issues a minute and 5 an hour go to acme"
    assert found.sentence == f"7 reports wait their turn: {pace}."
    assert re.fullmatch(rf"The last goes out at about {CLOCK}\.", found.when)
    assert found.at == Delivery.objects.earliest("pk").last_tried_at + timedelta(hours=1)


def test_a_backlog_of_one(acme, client, settings):
    settings.HUB_ISSUE_RATE = "2/hour"
    send(client, 3)

    found = of_acme()

    assert found.sentence == "1 report waits its turn: at most 2 issues an hour go to acme."
    assert found.when.startswith("It goes out at about ")


def test_a_backlog_of_one_source_takes_its_share_of_the_pace(acme, client, settings):
    settings.HUB_ISSUE_RATE = "20/minute"
    send(client, 12, sender="198.51.100.7")

    found = of_acme()

    first = Delivery.objects.earliest("pk").last_tried_at
    assert (found.waiting, found.cause, found.at) == (7, Cause.TURN, first + timedelta(minutes=2))
    pace = "at most 20 issues a minute go to acme"
    network = "Many of them came from one network, which gets a quarter of that."
    assert found.sentence == f"7 reports wait their turn: {pace}. {network}"


def test_a_backlog_of_many_sources_is_as_late_as_the_one_that_has_most(acme, client, settings):
    settings.HUB_ISSUE_RATE = "20/minute"
    send(client, 12, sender="198.51.100.7")
    first = Delivery.objects.earliest("pk").last_tried_at
    Delivery.objects.filter(status="sent").update(last_tried_at=first)
    few = Delivery.objects.filter(status="pending").order_by("-pk")[:2]
    for delivery, source in zip(few, ("", "~"), strict=True):  # before and after all others
        Delivery.objects.filter(pk=delivery.pk).update(source=source)

    found = of_acme()

    assert found.at >= first + timedelta(minutes=2)
    assert found.sentence.endswith(
        "Many of them came from one network, which gets a quarter of that."
    )


def test_a_backlog_that_github_limits_needs_attention(acme, client, code_host):
    code_host.fail("429", value=300)
    send(client, 2)

    found = of_acme()

    assert (found.cause, found.needs_attention) == (Cause.GITHUB, True)
    assert re.fullmatch(
        rf"GitHub asked us to wait with acme until {CLOCK}\. 2 reports wait\.", str(found)
    )


def test_a_backlog_that_is_late_needs_attention(acme):
    stored(acme, 2, due_at=timezone.now() - timedelta(minutes=12))

    found = of_acme()

    assert (found.cause, found.needs_attention) == (Cause.LATE, True)
    assert found.sentence.startswith("2 reports are due, but not sent yet.")


def test_a_backlog_that_goes_out_now_or_is_tried_again(acme):
    stored(acme)

    soon = of_acme()
    Delivery.objects.update(due_at=Now() + timedelta(minutes=3))
    later = of_acme()

    assert (soon.cause, str(soon)) == (Cause.NEXT, "1 report goes out within a minute.")
    assert (later.cause, str(later)) == (Cause.RETRY, "1 report waits for another try.")


def test_what_is_held_or_will_be_is_no_backlog(acme):
    stored(acme)
    Integration.objects.update(paused_at=Now())

    assert of_acme() is None


def test_a_backlog_is_read_from_an_index_in_one_query(acme, monkeypatch):
    monkeypatch.setattr(counting, "MOST", 3)
    stored(acme, 9)
    integration = Integration.objects.select_related("installation").get()

    plans = plans_of(lambda: backlog(integration))
    found = backlog(integration)

    assert len(plans) == 3  # one for each rate
    assert "delivery_turn" in plans[-1]
    assert not re.search("Sort|TEMP B-TREE|Seq Scan|SCAN integrations", plans[-1])
    assert (found.waiting, found.sentence[:19]) == (4, "More than 3 reports")
