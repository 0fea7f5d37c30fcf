import re
import time

import pytest
from django.db import OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test.utils import CaptureQueriesContext

from core import rates
from hub import probes
from hub.maintenance import JOBS, LEASE, RUNNER
from hub.models import Lease
from hub.server import health


@pytest.fixture(autouse=True)
def just_started(monkeypatch) -> None:
    monkeypatch.setattr(health, "_migrated", False)


@pytest.mark.django_db
def test_a_hub_with_its_database_is_ready(client):
    assert client.get("/readyz").status_code == 200


@pytest.mark.django_db
def test_a_hub_whose_database_lacks_a_migration_is_not_ready_and_says_what_to_run(client):
    recorder = MigrationRecorder(connection)
    [latest] = MigrationLoader(connection).graph.leaf_nodes("reports")
    recorder.record_unapplied(*latest)
    before = client.get("/readyz")
    recorder.record_applied(*latest)

    after = client.get("/readyz")

    assert (before.status_code, after.status_code) == (503, 200)
    assert before.content == b"The database is not up to date: run `manage.py migrate`.\n"


def lines(client) -> list[str]:
    answer = client.get("/readyz")
    assert answer.status_code == 200
    first, *others = answer.content.decode().splitlines()
    assert first == "ok"
    return others


@pytest.fixture
def has_run_for_a_minute(monkeypatch) -> None:
    monkeypatch.setattr(probes, "STARTED", time.monotonic() - probes.PATIENCE)


@pytest.mark.django_db
def test_a_hub_that_has_just_started_gives_maintain_a_minute(client, clock, monkeypatch):
    monkeypatch.setattr(probes, "STARTED", time.monotonic())
    never = lines(client)
    Lease.objects.take(RUNNER, holder="of an earlier start", duration=LEASE)
    clock.advance(minutes=5)

    assert (never, lines(client)) == ([], [])


@pytest.mark.django_db
@pytest.mark.usefixtures("has_run_for_a_minute")
def test_what_does_not_keep_it_from_serving_is_a_warning(client, clock):
    never = lines(client)
    Lease.objects.take(RUNNER, holder="one", duration=LEASE)
    runs = lines(client)
    clock.advance(minutes=5)
    away = lines(client)

    assert never == ["Warning: `maintain` has never run."]
    assert runs == []
    assert re.fullmatch(
        r"Warning: `maintain` does not run; it did (2[89]\d|30\d) seconds ago\.", *away
    )


@pytest.mark.django_db
def test_a_round_of_maintain_that_does_not_end_is_a_warning(client, clock):
    for job in JOBS:
        Lease.objects.take_turn(job.name, every=job.every)
    clock.advance(minutes=20)
    Lease.objects.take(RUNNER, holder="one", duration=LEASE)

    [warning] = lines(client)

    assert re.fullmatch(
        r"Warning: `maintain` runs, but has begun no job for 1\d{3} seconds\.", warning
    )


@pytest.mark.django_db
def test_redis_that_is_away_is_a_warning(client, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    rates.check("5/minute", "somebody")

    assert (
        lines(client)[0]
        == "Warning: Redis does not answer: rate limits are counted in each process only."
    )


@pytest.mark.django_db
def test_a_hub_that_is_ready_is_asked_cheaply(client):
    client.get("/readyz")

    with CaptureQueriesContext(connection) as queries:
        client.get("/readyz")

    assert len(queries) == 2  # whether it answers, and when `maintain` last ran


@pytest.mark.django_db
@pytest.mark.parametrize("probe", ["/healthz", "/readyz"])
def test_a_probe_may_call_by_any_name(client, probe):
    assert client.get(probe, headers={"Host": "10.1.2.3:8000"}).status_code == 200


def test_a_hub_without_its_database_lives_but_is_not_ready(client, monkeypatch):
    def away(*args, **kwargs):
        raise OperationalError("gone")

    monkeypatch.setattr(connection, "cursor", away)

    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 503
