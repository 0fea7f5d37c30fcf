"""What an operator holds is accepted, kept and sent when it is let go; nothing of it slips through."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import Sum
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core import batches, client_address
from core import clock as database_clock
from integrations.delivery import holds, operator_holds
from integrations.delivery.operator_holds import Bookmark, CannotHold
from integrations.models import Delivery, Hold, Installation, Integration
from integrations.models.delivery import DeliveryQuerySet
from orgs.models import Organization, User
from reports.models import Report
from tests import build
from tests.plans import plans_of

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "https://docs.acme.com/install"
WORDS = "An operator of this Hub has put this delivery on hold. A flood of made-up reports."


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


@pytest.fixture
def root(db) -> User:
    return User.objects.create(username="root", is_staff=True, is_superuser=True)


@pytest.fixture
def hold(root):
    def make(kind: str = "page", value: str = PAGE) -> Hold:
        checked = operator_holds.checked(kind, value)
        made = Hold(kind=kind, value=checked, reason="A flood of made-up reports.")
        operator_holds.make(made, by=root)
        return made

    return make


@pytest.fixture
def few(monkeypatch) -> None:
    """A request looks at four deliveries, two at a time."""
    monkeypatch.setattr(batches, "AT_ONCE", 4)
    monkeypatch.setattr(batches, "BATCH", 2)


def own_source() -> str:
    return client_address.source("127.0.0.1")


def held() -> list[tuple[str, str, str]]:
    rows = Delivery.objects.order_by("pk").values_list("status", "held_for", "reason")
    return list(rows)


def titles(code_host) -> list[str]:
    return [issue.title.removeprefix("[docs] ") for issue in code_host.issues("acme/docs")]


def test_others_say_the_same_as_a_network_that_is_held(acme, client, code_host, hold):
    """Else whoever sends it first, with nonsense, has their words held, too."""
    hold("source", own_source())
    junk = build.send(client, build.report(report__details="lol")).json()
    repeated = build.send(client, build.report(report__details="lol")).json()
    client.defaults["REMOTE_ADDR"] = "203.0.113.9"

    true = build.send(client, build.report(report__details="Use --yes")).json()

    assert (repeated["id"], repeated["is_duplicate"]) == (junk["id"], True)
    assert (true["is_duplicate"], true["status"]) == (False, "forwarded")
    assert "Use --yes" in code_host.issues("acme/docs")[0].body


def flood(client: Client, source: str, times: int) -> list[dict]:
    """What a network sends under one key, in other words each time."""
    client.defaults["REMOTE_ADDR"] = source
    bodies = [build.report(report__summary=f"From {source}, {number}") for number in range(times)]
    return [build.send(client, body, **{"Idempotency-Key": "k"}).json() for body in bodies]


def test_what_a_network_that_is_held_sends_under_one_key_is_one_report(acme, client, hold):
    hold("source", own_source())

    answers = flood(client, "127.0.0.1", 6)

    report = Report.objects.get()
    assert {each["id"] for each in answers} == {report.pk}
    assert (report.times_reported, report.further_accounts, report.accounts_not_kept) == (6, 3, 2)
    assert len(held()) == 1


def test_two_networks_that_are_held_take_no_key_from_each_other(acme, client, hold):
    hold("source", own_source())
    hold("source", client_address.source("203.0.113.9"))

    for _ in range(3):
        flood(client, "127.0.0.1", 2)
        flood(client, "203.0.113.9", 2)

    assert Report.objects.get().times_reported == 12


def test_a_network_that_is_held_takes_no_key_from_others(acme, client, hold, code_host):
    hold("source", own_source())
    flood(client, "127.0.0.1", 2)
    [true] = flood(client, "203.0.113.9", 1)

    answers = flood(client, "127.0.0.1", 3)

    assert {each["id"] for each in answers} == {true["id"]}
    assert titles(code_host) == ["From 203.0.113.9, 0"]


@pytest.mark.slow
def test_others_are_answered_while_a_network_that_is_held_floods_their_key(acme, client, hold):
    hold("source", own_source())
    senders = ["127.0.0.1", "203.0.113.9", "198.51.100.7"] * 4

    def send(number: int) -> int:
        own = Client(REMOTE_ADDR=senders[number])
        body = build.report(report__summary=f"Number {number}")
        try:
            return build.send(own, body, **{"Idempotency-Key": "k"}).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(len(senders)) as pool:
        answers = list(pool.map(send, range(len(senders))))

    assert answers == [201] * len(senders)
    assert Report.objects.count() <= 2
    assert Report.objects.aggregate(n=Sum("times_reported"))["n"] == len(senders)
    assert not Delivery.objects.exclude(report__dedup_key=None).get().held_for


def sent_again() -> None:
    call_command("retry_deliveries", "--now")


def waiting(code_host, *summaries: str, page: str = PAGE) -> None:
    """So many reports that wait, since GitHub was away when they came."""
    for summary in summaries:
        code_host.fail("500", path="token")
        build.send(Client(), build.report(page, report__summary=summary))
    Delivery.objects.update(due_at=timezone.now(), trying_since=None)


KINDS = ["page", "agent", "source", "organization"]


def value_of(kind: str) -> str:
    """What the reports here have, as an operator may write it."""
    return {
        "page": f"{PAGE}/?utm_source=x#there",
        "agent": "agent-x",
        "source": own_source(),
        "organization": f" {Organization.objects.get(name='acme').pk}",
    }[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_that_matches_is_accepted_and_held(acme, client, code_host, hold, kind):
    hold(kind, value_of(kind))

    answer = build.send(client)

    assert answer.status_code == 201
    assert held() == [("held", "operator", WORDS)]
    assert not titles(code_host)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("page", "https://docs.acme.com/"),
        ("agent", "Agent-X"),
        ("source", "0" * 16),
        ("organization", ""),
    ],
)
def test_what_does_not_match_is_sent(acme, client, code_host, hold, kind, value):
    hold(kind, value or build.organization("other").pk)

    build.send(client)

    assert len(titles(code_host)) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_what_waits_is_held_and_goes_when_it_is_released(acme, client, code_host, hold, kind):
    waiting(code_host, "one", "two")

    made = hold(kind, value_of(kind))
    now = held()
    sent_again()
    during = titles(code_host)
    operator_holds.release(made)
    sent_again()

    assert now == [("held", "operator", WORDS)] * 2
    assert not during
    assert sorted(titles(code_host)) == ["one", "two"]
    assert not Delivery.objects.exclude(operator_hold=None).exists()


@pytest.mark.parametrize("written", ["agent-x", "agent-x ", " agent-x"])
def test_spaces_around_a_name_keep_no_agent_from_being_held(acme, client, code_host, hold, written):
    """An attack: the hold of a name that ends with a space was made, and held nothing."""
    code_host.fail("500", path="token")
    build.send(client, build.report(agent__name=written, report__summary="before"))
    Delivery.objects.update(due_at=timezone.now())

    made = hold("agent", f"{written} ")
    build.send(client, build.report(agent__name=written, report__summary="after"))
    at_once = held()
    Hold.objects.update(followed_at=None)
    Delivery.objects.update(status="pending", held_for="", operator_hold=None)
    sent_again()

    assert made.value == "agent-x"
    assert at_once == held() == [("held", "operator", WORDS)] * 2
    assert not titles(code_host)


def test_a_repeat_of_what_is_held_is_counted(acme, client, hold):
    hold()

    for _ in range(2):
        assert build.send(client).status_code == 201

    assert Report.objects.get().times_reported == 2
    assert len(held()) == 1


def test_a_report_that_is_stored_while_the_hold_is_made_is_held_when_its_turn_comes(
    acme, client, code_host, hold, monkeypatch
):
    """Its statement has found no hold, and the look at what waits has not seen it."""
    created = DeliveryQuerySet.create_for

    def create_first(rows, report):
        result = created(rows, report)
        with monkeypatch.context() as patch:  # another connection would not see the row yet
            patch.setattr(operator_holds, "_held", lambda *_: iter(()))
            hold()
        return result

    monkeypatch.setattr(DeliveryQuerySet, "create_for", create_first)
    build.send(client)

    assert held() == [("held", "operator", WORDS)]
    assert not titles(code_host)
    assert Delivery.objects.get().operator_hold == Hold.objects.get()
    assert Delivery.objects.get().last_tried_at is None  # it counts against nobody's pace


def test_a_report_that_is_stored_while_its_hold_is_released_is_let_go(
    acme, client, code_host, hold, monkeypatch
):
    made = hold()
    created = DeliveryQuerySet.create_for

    def create_first(rows, report):
        result = created(rows, report)
        Hold.objects.filter(pk=made.pk).update(released_at=timezone.now())
        return result

    monkeypatch.setattr(DeliveryQuerySet, "create_for", create_first)
    build.send(client)
    before = held()
    operator_holds.follow()
    sent_again()

    assert before == [("held", "operator", WORDS)]
    assert len(titles(code_host)) == 1


def test_a_delivery_is_held_though_another_hold_of_it_is_released(acme, client, code_host, hold):
    first = hold()
    hold("agent", "agent-x")
    build.send(client)

    operator_holds.release(first)
    sent_again()

    assert held() == [("held", "operator", WORDS)]
    assert not titles(code_host)


def test_what_an_operator_holds_by_hand_is_not_released_with_it(acme, client, code_host, hold):
    waiting(code_host, "one", "two")
    Delivery.objects.filter(report__summary="one").hold(Delivery.Cause.OPERATOR, "By hand.")

    made = hold()
    operator_holds.release(made)
    sent_again()

    assert titles(code_host) == ["two"]


def test_retrying_does_not_get_past_a_hold(acme, client, code_host, hold):
    hold()
    build.send(client)

    Delivery.objects.all().requeue()
    sent_again()

    assert held() == [("held", "operator", WORDS)]
    assert not titles(code_host)


def test_what_is_released_into_a_pause_waits_for_its_end(acme, client, code_host, hold):
    made = hold()
    build.send(client)
    holds.pause(Integration.objects.get())

    operator_holds.release(made)

    assert held()[0][:2] == ("held", "pause")


def test_a_pause_that_ends_does_not_release_what_an_operator_holds(acme, client, code_host, hold):
    holds.pause(Integration.objects.get())
    build.send(client)
    hold()

    holds.resume(Integration.objects.get())
    sent_again()

    assert held() == [("held", "operator", WORDS)]


def test_a_source_is_held_until_the_day_ends(acme, client, code_host, hold, clock):
    made = hold("source", own_source())
    build.send(client)
    end = made.ends_at

    clock.advance(days=1)
    operator_holds.follow()
    sent_again()

    made.refresh_from_db()
    assert (end.hour, end.minute, end.date()) == (0, 0, timezone.now().date() + timedelta(days=1))
    assert made.released_at == end
    assert len(titles(code_host)) == 1


def test_of_a_backlog_a_request_looks_at_the_first_and_maintain_at_the_rest(
    acme, client, code_host, hold, few
):
    waiting(code_host, *"abcdefg")
    made = hold()
    first = sum(status == "held" for status, *_ in held())
    here = Bookmark()

    operator_holds.follow(bookmark=here)
    second = sum(status == "held" for status, *_ in held())
    made.refresh_from_db()
    seen = made.followed_at
    operator_holds.release(made)
    released = sum(status == "pending" for status, *_ in held())
    operator_holds.follow()

    assert (first, second, released) == (4, 7, 4)
    assert seen
    assert {status for status, *_ in held()} == {"pending"}
    assert operator_holds.follow() == 0


def test_maintain_goes_on_after_what_does_not_match(acme, client, code_host, hold, few):
    waiting(code_host, *"abcdefg", page="https://docs.acme.com/other")
    waiting(code_host, "mine")
    made, here = hold(), Bookmark()
    made.refresh_from_db()
    assert made.followed_at is None

    for _ in range(3):
        operator_holds.follow(bookmark=here)

    made.refresh_from_db()
    assert made.followed_at
    assert not here.last
    assert [status for status, *_ in held()] == ["pending"] * 7 + ["held"]


def test_maintain_skips_nothing_that_waits_since_the_same_moment(
    acme, client, code_host, hold, few
):
    """An attack on SQLite, where the database's clock writes fewer digits than Python reads of it."""
    waiting(code_host, *"abcdefghi")
    Delivery.objects.update(due_at=database_clock.now())  # all in one statement

    made, here = hold(), Bookmark()
    for _ in range(3):
        operator_holds.follow(bookmark=here)

    made.refresh_from_db()
    assert made.followed_at
    assert {status for status, *_ in held()} == {"held"}


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        ("page", "docs acme", "Must not contain backslashes, spaces or control characters."),
        ("page", "ftp://acme.com/", "Must begin with https:// or http://, or be a path."),
        ("organization", "acme", "No organization has this id."),
        ("source", "a network", "Must be 16 digits and letters, as Deliveries now lists sources."),
        ("page", PAGE, "This page is on hold already."),
    ],
)
def test_what_cannot_be_held(hold, kind, value, why):
    hold()

    with pytest.raises(CannotHold, match=why):
        operator_holds.checked(kind, value)


def test_two_operators_hold_the_same_once(root, hold):
    hold()

    with pytest.raises(CannotHold, match="This page is on hold already"):
        operator_holds.make(Hold(kind="page", value=PAGE, reason="Too."), by=root)

    assert Hold.objects.count() == 1


def test_there_are_so_many_holds(hold, monkeypatch):
    monkeypatch.setattr(operator_holds, "MOST", 1)
    hold()

    with pytest.raises(CannotHold, match="1 holds are in force"):
        operator_holds.checked("agent", "agent-x")


def test_the_same_is_held_again_after_it_was_released(hold):
    first = hold()

    assert operator_holds.release(first) is True
    assert operator_holds.release(first) is False
    assert hold().pk != first.pk


def test_an_operator_who_leaves_leaves_the_hold(acme, client, hold, root):
    made = hold()
    root.delete()
    made.refresh_from_db()

    build.send(client)

    assert made.made_by is None
    assert held()[0][0] == "held"


def test_a_pause_in_the_midst_of_a_release_leaves_nothing_behind(acme, client, hold, monkeypatch):
    made = hold()
    build.send(client)
    hold_again = DeliveryQuerySet._hold_again

    def and_then_paused(mine, ignored):
        changed = hold_again(mine, ignored)
        Integration.objects.update(paused_at=timezone.now())
        return changed

    with monkeypatch.context() as patch:
        patch.setattr(DeliveryQuerySet, "_hold_again", and_then_paused)
        operator_holds.release(made)
    operator_holds.follow()
    paused = held()
    holds.resume(Integration.objects.get())

    assert [cause for _, cause, *_ in paused] == ["pause"]
    assert Delivery.objects.get().status == "pending"


def test_it_is_forgotten_a_month_after_it_was_released_unless_it_still_holds(
    acme, client, hold, clock
):
    made = hold()
    build.send(client)
    Hold.objects.update(released_at=timezone.now())
    clock.advance(days=31)

    still = operator_holds.over().count()
    operator_holds.follow()
    over = list(operator_holds.over())

    assert (still, over) == (0, [made])


def test_a_source_is_forgotten_two_days_after_its_day(hold, clock):
    source, page = hold("source", "0" * 16), hold()
    operator_holds.release(page)
    clock.advance(days=1)
    operator_holds.follow()
    clock.advance(days=2)

    assert list(operator_holds.over()) == [source]
    assert source.value not in str(source)


def test_a_report_asks_for_holds_in_statements_that_are_made_anyway(acme, client):
    with CaptureQueriesContext(connection) as queries:
        build.send(client)

    asked = [each["sql"].split() for each in queries if "integrations_hold" in each["sql"]]
    assert [words[:2] for words in asked] == [
        ["SELECT", "id,"],
        ["UPDATE", "integrations_delivery"],
    ]


def test_the_backlog_is_read_from_the_index_of_what_waits(acme, client, code_host, hold, few):
    waiting(code_host, *"abcde")
    plans = plans_of(lambda: (hold(), operator_holds.follow(), operator_holds.over().exists()))

    read = [plan for plan in plans if "integrations_delivery" in plan.sql]
    walks = [plan for plan in read if '"due_at"' in plan.sql]
    assert len(walks) >= 2
    assert all("delivery_due" in plan for plan in walks)
    for plan in read:
        assert "Seq Scan on integrations_delivery" not in plan
        assert "SCAN integrations_delivery" not in plan
    let_go = [plan for plan in read if '"operator_hold_id"' in plan.sql]
    assert all("delivery_operator_hold" in plan for plan in let_go)


def test_an_installation_that_is_suspended_keeps_what_is_released(acme, client, code_host, hold):
    made = hold()
    build.send(client)
    holds.suspend(Installation.objects.get(), "Suspended.")

    operator_holds.release(made)

    assert held()[0][:2] == ("held", "integration")
    assert connection.in_atomic_block is False
