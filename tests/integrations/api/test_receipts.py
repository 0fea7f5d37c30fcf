"""What a reporter can look up."""

import pytest

from tests import build

pytestmark = pytest.mark.django_db


def test_a_receipt_says_where_the_report_is_and_nothing_of_its_text(client):
    sent = build.send(client).json()
    build.send(client)

    answer = client.get(f"/v1/reports/{sent['id']}")

    assert answer.json() == {
        "id": sent["id"],
        "status": "received",
        "received_at": sent["received_at"],
        "times_reported": 2,
        "issue_url": None,
        "issue_state": None,
        "known_issue": None,
        "answer": None,
    }
    assert answer["Access-Control-Allow-Origin"] == "*"


def test_no_cache_on_the_way_keeps_a_receipt(client, code_host):
    """Else one would go on giving the link to an issue after its repository has become private."""
    build.acme(code_host)
    sent = build.send(client)
    answers = [client.get(f"/v1/reports/{each}") for each in (sent.json()["id"], "x")]

    assert [each.status_code for each in (sent, *answers)] == [201, 200, 404]
    assert {each["Cache-Control"] for each in (sent, *answers)} == {"no-store"}


@pytest.mark.parametrize(
    "report_id", ["x", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "%00", "\u20ac", "a" * 500]
)
def test_a_receipt_that_is_none_is_not_found(client, report_id):
    answer = client.get(f"/v1/reports/{report_id}")

    assert answer.status_code == 404
    assert answer.json()["error"] == "not_found"


def test_a_receipt_costs_two_queries(client, django_assert_num_queries):
    sent = build.send(client).json()

    with django_assert_num_queries(2):
        client.get(f"/v1/reports/{sent['id']}")
