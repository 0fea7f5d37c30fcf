"""What nobody needs any more is forgotten, and nothing else."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from allauth.idp.oidc.models import Token
from django.contrib.sessions.models import Session
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from hub import pruning
from hub.maintenance import JOBS
from integrations.delivery import pacing
from integrations.models import (
    Alert,
    Attempt,
    Delivery,
    Installation,
    Integration,
    OneTimeState,
    Webhook,
)
from integrations.setup.leaving import unused_installations
from orgs.models import FormerAddress, Invitation, Membership, Notice, Organization
from orgs.people import leaving
from reports.models import Account, Report
from tests import build
from tests.hub.test_commands import run
from tests.plans import plan_of, plans_of, whole_tables_in

pytestmark = pytest.mark.django_db(transaction=True)

LONG_AGO = timezone.now() - timedelta(days=400)


def received(*, times: int = 1, at=LONG_AGO, last=None, **columns) -> list[Report]:
    known = {"doc_url": "docs/x.md", "canonical_url": "docs/x.md", "kind": "other", "summary": "x"}
    rows = [
        Report(received_at=at, last_received_at=last or at, **known | columns) for _ in range(times)
    ]
    return Report.objects.bulk_create(rows)  # without the signal that would send them


def delivered(report: Report, code_host, **columns) -> Report:
    known = Delivery.objects.first()
    owner = known.integration if known else build.integration(build.organization(), code_host)
    if columns["status"] == "sent":
        columns |= {"issue_number": Delivery.objects.count() + 1, "repository_id": 1}
    delivery = Delivery.objects.create(report=report, integration=owner, **columns)
    Attempt.objects.create(delivery=delivery, number=1, started_at=report.received_at)
    return report


def left() -> set[str]:
    return set(Report.objects.values_list("pk", flat=True))


def test_a_report_that_never_went_anywhere_is_forgotten_after_a_year():
    [old] = received()
    Account.objects.create(
        report=old, received_at=LONG_AGO, last_received_at=LONG_AGO, words_hash="x", size=1
    )
    [young] = received(at=timezone.now() - timedelta(days=364))
    [alive] = received(last=timezone.now())

    assert pruning.prune() == {"reports": 1}

    assert left() == {young.pk, alive.pk}
    assert not Account.objects.exists()


def test_the_operator_says_how_long(settings):
    received(at=timezone.now() - timedelta(days=8))
    settings.HUB_RETENTION_DAYS = 7

    pruning.prune()

    assert not left()


UNKNOWN = {"outcome_unknown_since": LONG_AGO, "repository_id": 1}


@pytest.mark.parametrize(
    ("columns", "is_kept"),
    [
        ({"status": "sent"}, True),
        ({"status": "pending"}, True),
        ({"status": "sending", "lease_until": LONG_AGO}, True),
        ({"status": "held", "held_for": "integration"}, True),
        ({"status": "held", "held_for": "operator"}, True),
        ({"status": "held", "held_for": "discarded"}, False),
        ({"status": "failed"}, False),
        ({"status": "failed", **UNKNOWN}, True),
        ({"status": "held", "held_for": "discarded", **UNKNOWN}, True),
    ],
)
def test_what_was_sent_or_may_still_be_is_kept(code_host, columns, is_kept):
    [report] = received()
    delivered(report, code_host, **columns)

    pruning.prune()

    assert bool(left()) == Delivery.objects.exists() == is_kept
    assert not Attempt.objects.exists()  # they are of that age, too


def test_what_has_expired_goes_and_what_has_not_stays(code_host):
    alice = build.member(build.organization())
    soon = timezone.now() + timedelta(hours=1)
    states = [OneTimeState.objects.begin(alice.membership)[0] for _ in range(2)]
    for at, state in zip((LONG_AGO, soon), states, strict=True):
        Session.objects.create(session_key=f"{at:%Y}", expire_date=at)
        build.token(alice)
        Token.objects.filter(pk=Token.objects.latest("pk").pk).update(expires_at=at)
        OneTimeState.objects.filter(pk=state.pk).update(expires_at=at)
        Webhook.objects.create(delivery_id=str(at), received_at=at)
        asked = Invitation.objects.create(
            organization=alice.membership.organization,
            github_id=at.year,
            login="bob",
            role=Membership.Role.MEMBER,
            invited_by=alice.membership,
        )
        Invitation.objects.filter(pk=asked.pk).update(created_at=at)

    deleted = pruning.prune()

    for model in (Session, Token, OneTimeState, Webhook, Invitation):
        assert model.objects.count() == 1, model
    assert OneTimeState.objects.get().expires_at == soon
    assert set(deleted.values()) == {1}
    assert len(deleted) == 5


ISSUE = {"issue_number": 1, "repository_id": 1, "posted_at": LONG_AGO}


@pytest.mark.parametrize(
    ("columns", "is_kept"),
    [
        ({"status": "closed", **ISSUE}, False),
        ({"status": "dropped"}, False),
        ({"status": "closed", "ended_at": None, **ISSUE}, True),
        ({"status": "dropped", "ended_at": None}, True),
        ({"status": "open", **ISSUE}, True),
        ({"status": "closing", **ISSUE}, True),
        ({"status": "pending"}, True),
        ({"status": "dropped", "repository_id": 1, "posted_at": LONG_AGO}, True),
        ({"status": "closed", "ended_at": timezone.now() - timedelta(days=364), **ISSUE}, True),
    ],
)
def test_an_alert_goes_a_year_after_its_cause(code_host, columns, is_kept):
    """The attack: a record that comes and goes leaves a row each time, for ever."""
    mine = build.integration(build.organization(), code_host)
    known = {"cause": "lapsing", "subject": "docs.acme.com", "since": LONG_AGO}
    times = {"ended_at": LONG_AGO, "due_at": LONG_AGO}
    Alert.objects.create(integration=mine, **known | times | columns)

    assert pruning.prune() == ({} if is_kept else {"alerts": 1})

    assert Alert.objects.exists() == is_kept


def test_the_login_of_an_installation_goes_with_its_last_organization_once_its_pace_is_over(
    code_host, clock
):
    alice = build.member(build.acme(code_host))
    build.send(Client())
    in_use = pruning.prune()["installations"]
    leaving.leave(alice, "acme")
    leaving.delete_left()
    counted = pruning.prune()["installations"]

    clock.advance(days=3)
    pacing.forget_sources()
    over = pruning.prune()["installations"]

    assert (in_use, counted, over) == (0, 0, 1)
    assert not Installation.objects.exists()


@pytest.mark.parametrize(("repository", "is_kept"), [("Initech/docs", True), ("other/docs", False)])
def test_an_installation_that_the_version_before_has_left_is_kept_for_an_issue_of_bad_news(
    code_host, repository, is_kept
):
    """It has saved no time of the move."""
    mine = build.integration(build.organization(), code_host)
    Installation.objects.create(github_id=4711, account="initech")
    at = {"repository": repository, "repository_id": 1, "issue_number": 1}
    Alert.objects.create(integration=mine, cause="rights", since=LONG_AGO, **at)

    pruning.prune()

    assert Installation.objects.filter(github_id=4711).exists() == is_kept
    assert bool(Integration.objects.get().moved_at) == is_kept


def test_what_the_version_before_has_left_of_an_organization_is_deleted():
    """It knows of no former addresses, and there is no constraint for its sake."""
    mine, gone = build.organization(), build.organization("initech")
    for each in (mine, gone):
        FormerAddress.objects.create(
            organization=each, host="github.com", path="/a/b/", repository_id=1, left_at=LONG_AGO
        )
    Organization.objects.filter(pk=gone.pk)._raw_delete(connection.alias)

    deleted = pruning.prune()["former addresses"]

    assert deleted == 1
    assert FormerAddress.objects.get().organization == mine


SOON = timezone.now() + timedelta(hours=1)


@pytest.mark.parametrize(
    ("columns", "is_kept"),
    [
        ({}, False),
        ({"limited_until": SOON}, True),
        ({"left_alone_until": SOON}, True),
        ({"limited_until": LONG_AGO, "left_alone_until": LONG_AGO}, False),
    ],
)
def test_an_installation_that_nobody_has_is_kept_while_it_counts(columns, is_kept):
    """The attack: to delete the organization, and to begin anew."""
    Installation.objects.create(**{"github_id": 4711, "account": "initech"} | columns)

    pruning.prune()

    assert Installation.objects.exists() == is_kept


@pytest.mark.parametrize(
    ("moved_at", "suspended_at", "is_kept"),
    [
        (LONG_AGO, None, True),
        (LONG_AGO, LONG_AGO, False),
        (None, None, False),
    ],
)
def test_an_installation_that_nobody_has_is_kept_while_it_may_reach_an_issue_of_who_has_moved(
    code_host, moved_at, suspended_at, is_kept
):
    mine = build.integration(build.organization(), code_host)
    Integration.objects.update(moved_at=moved_at)
    Installation.objects.create(github_id=4711, account="initech", suspended_at=suspended_at)

    pruning.prune()

    assert Installation.objects.filter(github_id=4711).exists() == is_kept
    assert Installation.objects.filter(pk=mine.installation_id).exists()


def test_unused_installations_are_found_without_a_look_at_deliveries(code_host):
    """They were read once for each installation in use, in one statement that nothing stopped."""
    build.integration(build.organization(), code_host)
    Integration.objects.update(moved_at=LONG_AGO)

    [plan] = plans_of(lambda: list(unused_installations()))

    assert "integrations_installation" in plan.sql
    assert not [each for each in ("delivery", "alert") if f"integrations_{each}" in plan.sql]
    assert not whole_tables_in([plan], "integrations_pasttry")


@pytest.mark.postgresql
def test_an_installation_that_somebody_installs_just_now_is_kept():
    there = Installation.objects.create(github_id=4711, account="acme")

    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        Installation.objects.select_for_update(no_key=True).get()
        pool.submit(prune_and_close).result()
        Integration.objects.create(organization=build.organization(), installation=there)

    assert Installation.objects.exists()


def prune_and_close() -> None:
    pruning.prune()
    connection.close()


def test_the_latest_notices_of_each_organization_are_kept(monkeypatch):
    monkeypatch.setattr("orgs.models.organization.NOTICES_KEPT", 3)
    monkeypatch.setattr(pruning, "BATCH", 2)
    for name, number in {"acme": 8, "few": 3, "many": 4}.items():
        told = build.organization(name)
        for each in range(number):
            told.tell(Notice.Kind.LOST, f"{name} {each}")

    assert pruning.prune() == {"notices": 6}

    left = Notice.objects.order_by("pk").values_list("text", flat=True)
    assert list(left) == [f"{name} {each}" for name, those in
                          {"acme": (5, 6, 7), "few": (0, 1, 2), "many": (1, 2, 3)}.items()
                          for each in those]  # fmt: skip


def test_many_notices_of_one_kind_delete_none_of_another(monkeypatch):
    """The attack: a member lets as many names of their own lapse as there are notices kept."""
    monkeypatch.setattr("orgs.models.organization.NOTICES_KEPT", 3)
    acme = build.organization()
    acme.tell(Notice.Kind.BELOW, "docs.acme.com is somebody else's.")
    for each in range(5):
        acme.tell(Notice.Kind.LOST, f"w{each}.bob.dev has lapsed.")

    assert pruning.prune() == {"notices": 2}

    assert acme.notices.filter(kind=Notice.Kind.BELOW).exists()
    assert acme.notices.count() == 4


def test_a_token_that_has_just_expired_still_tells_so():
    build.token(build.member(build.organization()))
    Token.objects.update(expires_at=timezone.now() - timedelta(days=29))

    assert not pruning.prune()


def test_many_go_in_small_transactions_and_end_when_told_to(monkeypatch):
    monkeypatch.setattr(pruning, "BATCH", 10)
    received(times=35)
    asked, before = [], len(pruning.KINDS) - 1  # the other kinds go first

    def go_on() -> bool:
        asked.append(Report.objects.count())
        assert not connection.in_atomic_block
        return len(asked) <= before + 2

    deleted = pruning.prune(go_on)

    assert asked[before:][:3] == [35, 25, 15]
    assert deleted == {"reports": 20}
    assert pruning.prune() == {"reports": 15}


def test_a_backlog_that_is_kept_is_looked_at_once(code_host, django_assert_max_num_queries):
    for report in received(times=20):
        delivered(report, code_host, status="sent")
    Attempt.objects.all().delete()

    with django_assert_max_num_queries(len(pruning.KINDS)):
        pruning.prune()


def test_a_backlog_that_is_kept_is_looked_at_a_little_at_a_time(code_host, monkeypatch):
    monkeypatch.setattr(pruning, "LOOKED_AT", 10)
    for report in received(times=35):
        delivered(report, code_host, status="sent")
    Attempt.objects.all().delete()
    [useless] = received(at=LONG_AGO + timedelta(seconds=1))
    asked = []

    deleted = pruning.prune(lambda: asked.append(1) or True)

    assert deleted == {"reports": 1}
    assert len(asked) == 4 + len(pruning.KINDS)
    assert useless.pk not in left()


def test_more_reports_than_go_in_time_keep_nothing_else(code_host, monkeypatch):
    monkeypatch.setattr(pruning, "BATCH", 3)
    received(times=100)
    Webhook.objects.create(delivery_id="old")
    Webhook.objects.update(received_at=LONG_AGO)
    turns = iter(range(len(pruning.KINDS) + 3))

    deleted = pruning.prune(lambda: next(turns, None) is not None, bookmark=pruning.Bookmark())

    assert deleted["webhooks"] == 1
    assert 0 < deleted["reports"] < 100


@pytest.mark.parametrize(
    ("minutes", "installation", "repository", "is_kept"),
    [
        (61, 4711, None, False),
        (61, 4711, 815, False),
        (59, 4711, 815, True),  # it may be chosen just now
        (61, "ours", None, True),
        (61, "ours", 815, True),  # it was ours, or is to be
        (61, 4711, "ours", True),
        (61, None, None, True),  # news of an issue of ours
    ],
)
def test_a_webhook_about_what_nobody_has_goes_after_an_hour(
    code_host, minutes, installation, repository, is_kept
):
    build.acme(code_host)
    mine = Integration.objects.select_related("installation").get()
    ours = (mine.installation.github_id, mine.repository_id)
    told = zip((installation, repository), ours, strict=True)
    numbers = [known if number == "ours" else number for number, known in told]
    Webhook.objects.create(
        delivery_id="1", installation_id=numbers[0], repository_id=numbers[1],
        received_at=timezone.now() - timedelta(minutes=minutes),
    )  # fmt: skip

    pruning.prune()

    assert Webhook.objects.exists() is is_kept


def test_a_batch_costs_few_statements_however_many_are_in_it(
    code_host, django_assert_max_num_queries
):
    for report in received(times=30, details="x" * 1000):
        delivered(report, code_host, status="failed")

    with django_assert_max_num_queries(25 + len(pruning.KINDS)):
        assert pruning.prune()["reports"] == 30


INDEXED = {"reports": "received_at", "attempts": "attempt_oldest", "webhooks": "received_at",
           "webhooks of nobody": "received_at", "tokens": "expires_at",
           "sessions": "expire_date", "invitations": "invitation_oldest",
           "terminals": "ends_at", "sign-in states": "state_oldest", "alerts": "alert_due"}  # fmt: skip


@pytest.mark.parametrize("name", INDEXED)
def test_what_is_old_is_found_by_an_index(name):
    [kind] = [each for each in pruning.KINDS if each.name == name]
    old = pruning._after(kind.old(), None) if name == "reports" else kind.old()

    lines = plan_of(old[: pruning.BATCH]).lower().splitlines()

    assert any("index" in each and INDEXED[name] in each for each in lines), lines


def test_a_dry_run_counts_and_deletes_nothing():
    received(times=3)

    told = run("prune_reports", dry_run=True)

    assert "To delete: 3 reports." in told
    assert "Nothing was deleted" in told
    assert len(left()) == 3


def test_the_command_says_what_it_has_deleted():
    received(times=3)

    assert "Deleted: 3 reports." in run("prune_reports")
    assert "Deleted: nothing." in run("prune_reports")


def test_it_is_part_of_the_maintenance():
    received()
    [job] = [each for each in JOBS if each.name == "prune"]

    job.run(lambda: True)

    assert not left()


def test_what_is_kept_is_looked_at_a_part_at_a_time(code_host, monkeypatch):
    monkeypatch.setattr(pruning, "LOOKED_AT", 10)
    monkeypatch.setattr(pruning, "LOOKS", 1)
    for report in received(times=35):
        delivered(report, code_host, status="sent")
    received(at=LONG_AGO + timedelta(seconds=1))
    [prune] = [each.run for each in JOBS if each.name == "prune"]

    rounds = [prune(lambda: True)["reports"] for _ in range(4)]
    received(at=LONG_AGO - timedelta(seconds=1))

    assert rounds == [0, 0, 0, 1]
    assert prune(lambda: True)["reports"] == 1  # from the first on


def task(number: int, status: str = "SUCCESSFUL", **ago: int) -> None:
    """So many, of which that became so many days ago, such as `finished_at`."""
    times = {name: timezone.now() - timedelta(days=days) for name, days in ago.items()}
    for _ in range(number):
        one = DBTaskResult.objects.create(
            args_kwargs={},
            task_path="x",
            backend_name="default",
            run_after=LONG_AGO,
            status=status,
        )
        DBTaskResult.objects.filter(pk=one.pk).update(**times)


def test_a_task_goes_also_if_its_worker_was_killed_or_none_came():
    task(1, "READY", enqueued_at=15)
    task(2, "READY", enqueued_at=13)
    task(1, "RUNNING", enqueued_at=15, started_at=15)
    task(3, "RUNNING", enqueued_at=15, started_at=0)

    pruning.prune_queue()

    assert DBTaskResult.objects.filter(status="READY").count() == 2
    assert DBTaskResult.objects.filter(status="RUNNING").count() == 3


def test_a_task_stays_that_a_worker_takes_at_that_moment(monkeypatch):
    monkeypatch.setattr(pruning, "BATCH", 1)
    task(6, "READY", enqueued_at=15)

    def go_on() -> bool:
        if DBTaskResult.objects.filter(status="READY").count() == 5:
            for each in DBTaskResult.objects.all():
                each.claim("worker")
        return True

    assert pruning.prune_queue(go_on) == 1
    assert DBTaskResult.objects.filter(status="RUNNING").count() == 5


def test_tasks_go_after_two_weeks_in_small_transactions(monkeypatch):
    monkeypatch.setattr(pruning, "LOOKED_AT", 4)
    monkeypatch.setattr(pruning, "BATCH", 3)
    task(20, finished_at=15, enqueued_at=15)
    task(7, finished_at=13, enqueued_at=15)
    before = []

    def go_on() -> bool:
        assert not connection.in_atomic_block
        before.append(DBTaskResult.objects.count())
        return True

    assert pruning.prune_queue(lambda: False) == 0
    assert pruning.prune_queue(go_on) == 20
    assert DBTaskResult.objects.count() == 7
    assert all(before[each] - before[each + 1] <= 3 for each in range(len(before) - 1))
    assert [each.run for each in JOBS if each.name == "prune queue"] == [pruning.prune_queue]


def test_sessions_go_soon_after_they_have_ended(monkeypatch):
    monkeypatch.setattr(pruning, "BATCH", 3)
    now = timezone.now()
    for number in range(9):
        ends = now + timedelta(seconds=-1 if number < 7 else 60)
        Session.objects.create(session_key=f"{number}", expire_date=ends)
    [job] = [each for each in JOBS if each.name == "sessions"]
    turns = iter([True, True, False])

    in_a_short_turn = job.run(lambda: next(turns))

    assert (in_a_short_turn, job.run(lambda: True)) == (6, 1)
    assert Session.objects.count() == 2
    assert job.every <= timedelta(minutes=1)


def test_no_more_tasks_are_read_at_once_than_fit(monkeypatch):
    monkeypatch.setattr(pruning, "LOOKED_AT", 4)
    task(10, finished_at=0)

    plans = plans_of(pruning.prune_queue)

    assert len(plans) >= 4
    assert not whole_tables_in(plans, "django_tasks_database_dbtaskresult")


def test_the_same_report_after_pruning_is_a_new_one(settings):
    build.send(Client())
    Report.objects.update(received_at=LONG_AGO, last_received_at=LONG_AGO)
    settings.HUB_DEDUP_DAYS = 1000

    run("prune_reports")

    assert build.send(Client()).json()["is_duplicate"] is False
