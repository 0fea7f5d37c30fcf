import pytest
from django.db import OperationalError, connection


@pytest.mark.django_db
def test_a_hub_with_its_database_is_ready(client):
    assert client.get("/readyz").status_code == 200


def test_a_hub_without_its_database_lives_but_is_not_ready(client, monkeypatch):
    def away(*args, **kwargs):
        raise OperationalError("gone")

    monkeypatch.setattr(connection, "cursor", away)

    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 503
