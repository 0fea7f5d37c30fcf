"""`/metrics`: who may read it, and what it says."""

import errno
import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import OperationalError, connection
from django.db.models import F
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from core import counting
from core.watching import metrics, process_files
from hub import figures, scrape
from hub.maintenance import JOBS, LEASE, RUNNER
from hub.models import Lease
from integrations.delivery.queue import Queue
from integrations.delivery.task import forward_report
from integrations.models import Attempt, Delivery, Installation, Integration
from reports.models import Report
from tests import build
from tests.hub.server.test_noted import ask, send
from tests.plans import plans_of

TOKEN = "for-prometheus"


@pytest.fixture
def folder(tmp_path, settings, monkeypatch) -> Path:
    """Where this process counts, from 0 on."""
    settings.HUB_METRICS_TOKEN = TOKEN
    settings.METRICS_FOLDER = tmp_path / "metrics"
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "")
    monkeypatch.setattr(process_files, "_process", 0)
    monkeypatch.setattr(scrape, "KEPT", 0)
    metrics.forget()
    yield settings.METRICS_FOLDER
    metrics.forget()


@pytest.fixture
def scraped(folder, client):
    """Reads `/metrics`: the value of each sample by its name and its labels."""

    def read() -> dict[str, float]:
        answer = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 200
        return samples(answer.content.decode())

    return read


def samples(text: str) -> dict[str, float]:
    return {
        each.name
        + "".join(f" {name}={value}" for name, value in sorted(each.labels.items())): each.value
        for family in text_string_to_metric_families(text)
        for each in family.samples
    }


def test_without_a_token_there_is_no_such_page(client, settings):
    settings.HUB_METRICS_TOKEN = ""

    answer = client.get("/metrics", headers={"Authorization": "Bearer "})

    assert answer.status_code == 404
    assert answer.content == client.get("/nowhere").content


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Bearer wrong", "Bearer für", f"Basic {TOKEN}"]
)
def test_another_token_is_refused(client, settings, header):
    settings.HUB_METRICS_TOKEN = TOKEN

    answer = client.get("/metrics", headers={"Authorization": header} if header else {})

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"
    assert TOKEN not in answer.content.decode()


def test_without_a_token_nothing_is_counted(tmp_path, settings):
    settings.METRICS_FOLDER = tmp_path / "metrics"

    ask("/healthz")
    metrics.reports.up("new")

    assert not settings.METRICS_FOLDER.exists()


@pytest.mark.django_db
def test_it_is_answered_whatever_the_host(folder, client):
    answer = client.get(
        "/metrics", headers={"Host": "10.1.2.3:8000", "Authorization": f"Bearer {TOKEN}"}
    )

    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain; version=")


@pytest.mark.django_db
def test_everything_is_there_from_the_beginning(scraped):
    found = scraped()

    for each in metrics.every():
        name = each.name if each.name.endswith("_total") else f"{each.name}_count"
        labels = [f" {each.label}={value}" if each.label else "" for value in each.values]
        assert {found[name + label] for label in labels} == {0}
    assert found["hub_database_up"] == 1


@pytest.mark.django_db(transaction=True)
def test_what_came_of_reports_and_deliveries(code_host, scraped):
    build.acme(code_host)
    send()
    send()
    send(report__summary="Another one")
    code_host.archive("acme/docs")
    send(report__summary="A third one")

    found = scraped()

    assert found["hub_reports_total kind=new"] == 3
    assert found["hub_reports_total kind=duplicate"] == 1
    assert found["hub_attempts_total outcome=sent"] == 2
    assert found["hub_attempts_total outcome=held"] == 1
    assert found["hub_github_responses_total result=2xx"] == 3  # with one for a token
    assert found["hub_github_responses_total result=4xx"] == 1
    assert found["hub_github_seconds_count"] == 4
    assert found["hub_responses_total status=201"] == 4
    assert found["hub_request_seconds_count route=reports"] == 4
    assert found["hub_deliveries cause=integration state=held"] == 1
    assert found["hub_deliveries cause=turn state=pending"] == 0


@pytest.mark.django_db(transaction=True)
def test_what_is_alike_is_counted_as_a_hint_and_as_folded(code_host, scraped):
    build.acme(code_host)
    for exits, mode in enumerate(("hint", "hint", "fold")):
        Integration.objects.update(likeness=mode)
        told = f"The command exits with code {exits}."
        flag = "`acme push --force` fails since 4.0: the flag is called `--overwrite`"
        send(report__summary=flag, report__details=told, agent__name=f"agent-{exits}")

    found = scraped()

    assert found["hub_attempts_total outcome=sent"] == 2
    assert found["hub_hints_total"] == 1
    assert found["hub_attempts_total outcome=folded"] == 1


@pytest.mark.django_db(transaction=True)
def test_github_that_cannot_be_reached_or_limits(code_host, scraped):
    build.acme(code_host)
    code_host.fail("403_retry_after")
    send()
    Installation.objects.update(limited_until=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("integrations.github_api.transport._api_url", lambda: "http://127.0.0.1:1")
        send(report__summary="Another one")

    found = scraped()

    assert found["hub_github_responses_total result=limited"] == 1
    assert found["hub_github_responses_total result=unreachable"] == 1
    assert found["hub_github_limited"] == 1


def test_every_outcome_is_counted_by_its_name():
    assert set(Attempt.Outcome) < set(metrics.attempts.values)


@pytest.mark.django_db
def test_a_route_that_nobody_knows_makes_no_label(folder, scraped, monkeypatch):
    monkeypatch.setattr(metrics, "MOST", 4)
    for route in ("/healthz", "/nowhere/1", "/nowhere/2", "/", "/docs/", "/connect/"):
        ask(route)

    found = scraped()

    routes = [name for name in found if name.startswith("hub_request_seconds_count")]
    assert len(routes) <= 4
    assert not [each for each in routes if "nowhere" in each]


@pytest.mark.django_db
def test_limits_left_are_of_this_hour(scraped, code_host):
    now = timezone.now()
    for number, (left, ago) in enumerate([(4000, 1), (12, 5), (0, 70)]):
        seen = now - timedelta(minutes=ago)
        Installation.objects.create(github_id=number, limit_left=left, limit_seen_at=seen)

    assert scraped()["hub_github_limit_left"] == 12


@pytest.mark.django_db
def test_when_maintain_last_ran_is_read_from_its_leases(scraped, clock):
    assert "hub_maintain_age_seconds" not in scraped()

    Lease.objects.take(RUNNER, holder="one", duration=LEASE)
    Lease.objects.take_turn("prune", every=timedelta(hours=1))
    clock.advance(minutes=10)
    Lease.objects.take_turn("probe", every=timedelta(minutes=1))
    found = scraped()

    assert found["hub_maintain_age_seconds"] == pytest.approx(600, abs=30)
    assert found["hub_maintain_job_age_seconds task=prune"] == pytest.approx(600, abs=30)
    assert found["hub_maintain_round_age_seconds"] == pytest.approx(0, abs=30)
    assert {job.name for job in JOBS} > {"prune", "probe"}


def with_deliveries(code_host, name: str, number: int, **columns) -> None:
    mine, now = build.integration(build.organization(name), code_host), timezone.now()
    for _ in range(number):
        report = Report.objects.create(received_at=now, last_received_at=now, kind="other")
        Delivery.objects.create(report=report, integration=mine, **columns)


@pytest.mark.django_db
def test_deliveries_by_state_and_cause_however_many_there_are(scraped, code_host, monkeypatch):
    monkeypatch.setattr(counting, "MOST", 3)
    for name in ("one", "two"):
        with_deliveries(code_host, f"{name}-a", 3, status="held", held_for="discarded")
        with_deliveries(code_host, f"{name}-b", 2, status="held", held_for="pause")
        with_deliveries(code_host, f"{name}-c", 1, status="held", held_for="operator")
    with_deliveries(code_host, "three", 5)
    with_deliveries(code_host, "four", 2, status="failed")
    Delivery.objects.update(created_at=F("created_at") - timedelta(hours=2))

    found = scraped()

    held = {cause: found[f"hub_deliveries cause={cause} state=held"] for cause in Delivery.Cause}
    assert held == {
        "discarded": 6, "pause": 4, "operator": 2, "integration": 0, "ownership": 0, "rights": 0
    }  # fmt: skip
    assert found["hub_deliveries cause=turn state=pending"] == 4  # of five: more than three
    assert found["hub_deliveries cause= state=failed"] == 2
    assert found["hub_oldest_waiting_seconds cause=turn"] == pytest.approx(7200, abs=60)
    assert found["hub_oldest_waiting_seconds cause=share"] == 0


@pytest.mark.django_db
def test_what_is_tried_again_later_is_told_however_much_is_due(scraped, code_host, monkeypatch):
    monkeypatch.setattr(counting, "MOST", 3)
    with_deliveries(code_host, "flooded", 5)
    later = {"due_at": timezone.now() + timedelta(minutes=20)}
    with_deliveries(code_host, "failing", 2, trying_since=timezone.now(), **later)
    Delivery.objects.update(created_at=F("created_at") - timedelta(hours=2))

    found = scraped()

    assert found["hub_deliveries cause=retry state=pending"] == 2
    assert found["hub_deliveries cause=turn state=pending"] == 4
    assert found["hub_oldest_waiting_seconds cause=retry"] == pytest.approx(7200, abs=60)


@pytest.mark.django_db
def test_what_is_due_now_and_later_is_one_more_than_is_counted_at_most(
    scraped, code_host, monkeypatch
):
    monkeypatch.setattr(counting, "MOST", 3)
    with_deliveries(code_host, "now", 5)
    with_deliveries(code_host, "later", 5, due_at=timezone.now() + timedelta(minutes=20))
    Installation.objects.update(left_alone_until=timezone.now() + timedelta(minutes=20))

    assert scraped()["hub_deliveries cause=limit state=pending"] == 4


@pytest.mark.django_db
def test_what_is_left_in_the_queue_waits_for_a_worker_only_if_there_are_workers(scraped, settings):
    Queue("default", {}).enqueue(forward_report, ("01J",), {})

    found = {}
    for forwarding in ("queue", "inline"):
        settings.HUB_FORWARDING = forwarding
        found[forwarding] = scraped()["hub_queue_tasks"]

    assert found == {"queue": 1, "inline": 0}


@pytest.mark.django_db
def test_each_figure_is_one_query_of_an_index(code_host, settings):
    settings.HUB_FORWARDING = "queue"
    with_deliveries(code_host, "acme", 3, status="held", held_for="pause")
    plans = plans_of(lambda: list(figures.now()))

    assert len(plans) == 7
    used = [
        "delivery_due",
        "delivery_due",
        "delivery_held",
        "delivery_due",
        "installation",
        "hub_lease",
        "tasks_db_new",
    ]
    for plan, index in zip(plans, used, strict=True):
        assert index in plan, plan
        assert "Seq Scan on integrations_delivery" not in plan
        assert "SCAN integrations_delivery" not in plan
        assert "Sort" not in plan
        assert "TEMP B-TREE FOR ORDER BY" not in plan


@pytest.mark.django_db
def test_a_database_that_is_away_is_a_number(scraped, monkeypatch):
    def away(*args, **kwargs):
        raise OperationalError("gone")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "cursor", away)
        found = scraped()

    assert found["hub_database_up"] == 0
    assert not [each for each in found if each.startswith("hub_oldest_waiting_seconds")]
    assert found["hub_reports_total kind=new"] == 0


@pytest.mark.django_db
def test_several_scrapers_cost_as_much_as_one(scraped, monkeypatch):
    made = []
    monkeypatch.setattr(scrape, "KEPT", 60)
    monkeypatch.setattr(scrape, "_kept", (0.0, b""))
    monkeypatch.setattr(scrape, "_made", lambda: made.append(1) or b"")

    for _ in range(5):
        scraped()

    assert len(made) == 1


def test_what_dead_processes_have_counted_stays_and_their_files_do_not(folder):
    def total() -> float:
        [found] = [each for each in process_files.added_up() if each.name == "hub_reports"]
        return sum(each.value for each in found.samples)

    totals = []
    for number in (1, 2, 4):
        metrics.forget()
        process_files._process = 0  # another process, and this one has ended
        metrics.reports.up("new", by=number)
        totals.append(total())
    process_files._held.close()

    assert totals == [1, 3, 7]
    assert total() == 7
    assert sorted(each.name for each in folder.iterdir()) == ["all", "counter_past.db"]


def test_a_file_that_was_cut_off_is_left_out(folder):
    metrics.reports.up("new")
    counted = process_files._file("counter", process_files.name_of_this_process())
    counted.write_bytes(counted.read_bytes()[:100])
    process_files._held.close()

    assert not list(process_files.added_up())


def test_a_server_begins_at_0_unless_a_worker_is_counting(folder):
    metrics.reports.up("new")
    process_files.clear()
    beside_a_worker = list(process_files.added_up())
    process_files._held.close()
    process_files.clear()

    assert beside_a_worker
    assert not list(process_files.added_up())


@pytest.fixture
def full(monkeypatch):
    """Says how many more bytes the disk has room for."""
    room, allocate = [0], os.posix_fallocate

    def limited(file: int, offset: int, size: int) -> None:
        if size > room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        allocate(file, offset, size)

    monkeypatch.setattr(os, "posix_fallocate", limited)
    return lambda most: room.__setitem__(0, most)


def reports_counted() -> list[float]:
    return [
        sum(sample.value for sample in each.samples)
        for each in process_files.added_up()
        if each.name == "hub_reports"
    ]


def test_every_file_has_its_room_on_the_disk(folder, monkeypatch):
    """Or to write into it would end the process once the disk is full."""
    monkeypatch.setattr(process_files, "SMALLEST", 1 << 12)
    metrics.begin_all()

    files = [*folder.glob("*.db")]
    grown = [each.stat() for each in files if each.stat().st_size > 1 << 12]

    assert grown
    assert all(each.stat().st_blocks * 512 >= each.stat().st_size for each in files)


def test_nothing_is_counted_while_the_disk_is_full(folder, full):
    full(0)
    metrics.reports.up("new")
    metrics.requests.took(0.1, "home")
    metrics.begin_all()
    without_room = reports_counted()
    full(1 << 20)
    metrics.reports.up("new")

    assert (without_room, reports_counted()) == ([], [1])


def test_without_room_for_another_route_it_is_counted_with_the_others(folder, full, monkeypatch):
    monkeypatch.setattr(process_files, "SMALLEST", 1 << 12)
    full(1 << 20)
    metrics.begin_all()
    full(0)

    for number in range(200):
        metrics.requests.took(0.1, f"route-{number}")

    [found] = [each for each in process_files.added_up() if each.name == metrics.requests.name]
    assert sum(each.value for each in found.samples if each.name.endswith("_count")) == 200
    assert len(metrics.requests._of) < 200


def test_a_fork_without_room_counts_again_once_there_is_some(folder, full, monkeypatch):
    full(1 << 20)
    metrics.reports.up("new")
    monkeypatch.setattr(process_files, "_process", 0)
    full(0)
    metrics.reports.up("new")
    metrics.reports.up("new")
    full(1 << 20)
    metrics.reports.up("new")

    assert reports_counted() == [2]


def test_what_the_dead_have_counted_stays_in_their_files_while_the_disk_is_full(folder, full):
    full(1 << 20)
    metrics.reports.up("new")
    process_files._held.close()
    full(0)
    meanwhile = reports_counted()
    full(1 << 20)

    assert (meanwhile, reports_counted()) == ([1], [1])
    assert sorted(each.name for each in folder.iterdir()) == ["all", "counter_past.db"]
