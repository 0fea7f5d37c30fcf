import pytest
from django.db import OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test.utils import CaptureQueriesContext

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
