import pytest
from django.db import OperationalError, connection


@pytest.mark.django_db
def test_a_hub_with_its_database_is_ready(client):
    assert client.get("/readyz").status_code == 200


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
