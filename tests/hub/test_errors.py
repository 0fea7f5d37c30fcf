"""One shape of an error, whatever happens."""

import pytest

from tests import build


@pytest.mark.parametrize("method", ["get", "post", "put", "delete", "options"])
@pytest.mark.parametrize("address", ["/v1/nothing", "/v1/reports/", "/v1/", "/v1"])
def test_an_unknown_address_is_json(client, method, address):
    answer = getattr(client, method)(address)

    assert answer.status_code == 404
    assert answer.json()["error"] == "not_found"
    assert "Access-Control-Allow-Origin" not in answer


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
def test_a_wrong_method_is_json(client, method):
    answer = getattr(client, method)("/v1/reports")

    assert answer.status_code == 405
    assert answer.json()["error"] == "method_not_allowed"
    assert answer["Allow"] == "POST, OPTIONS"


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "image/png"])
def test_the_answer_is_json_whatever_is_asked_for(client, accept):
    answer = client.get("/v1/reports", headers={"Accept": accept})

    assert answer.status_code == 405
    assert answer["Content-Type"] == "application/json"


def test_a_crash_is_json_and_in_the_log(client, monkeypatch, caplog):
    def crash(*args, **kwargs):
        raise ZeroDivisionError("the details of it")

    monkeypatch.setattr("reports.intake.accept", crash)

    answer = build.send(client)

    assert answer.status_code == 500
    assert answer.json()["error"] == "internal_error"
    assert "details of it" not in answer.content.decode()
    assert "ZeroDivisionError" in caplog.text


def test_a_foreign_host_is_refused_as_json(client):
    answer = client.get("/v1/reports", headers={"Host": "evil.example"})

    assert answer.status_code == 400
    assert answer.json()["error"] == "bad_request"


def test_a_page_that_is_none_is_plain_text(client):
    answer = client.get("/nothing/")

    assert answer.status_code == 404
    assert answer["Content-Type"] == "text/plain"
