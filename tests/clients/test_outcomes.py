"""How `status --watch` waits, and what the libraries give of an organization's reports."""

from typing import Any

import pytest

from tests.clients.conftest import Sdk, World
from tests.clients.stand_ins import HUB

AWAY = {"status": 500, "body": {"error": "internal_error", "message": "Internal error."}}
ID = "01J9ZK3V5T8Q2M4N6P7R8S9T0V"


def _receipt(status: str, times: int = 1) -> dict[str, Any]:
    return {"status": 200, "body": {"id": ID, "status": status, "times_reported": times}}


def _busy(seconds: int) -> dict[str, Any]:
    body = {"error": "rate_limited", "message": "Too many requests."}
    return {"status": 429, "headers": {"Retry-After": str(seconds)}, "body": body}


WAITING, AGAIN, DONE = _receipt("forwarding"), _receipt("forwarding", 2), _receipt("forwarded")


@pytest.mark.parametrize(
    ("answers", "pauses"),
    [
        ([WAITING, *[WAITING] * 6, DONE], [2, 4, 8, 16, 32, 60, 60]),
        ([WAITING, WAITING, WAITING, AGAIN, DONE], [2, 4, 8, 2]),
        ([WAITING, AWAY, AWAY, WAITING, DONE], [2, 4, 8, 4]),
        ([WAITING, _busy(30), _busy(1), DONE], [2, 30, 60]),
        ([WAITING, _busy(999999999), DONE], [2, 3600]),
    ],
    ids=["ever longer", "anew after a change", "a Hub that is away", "as it says", "but an hour"],
)
def test_a_hub_is_asked_politely(
    sdk: Sdk, world: World, answers: list[dict[str, Any]], pauses: list[int]
):
    world.stage.answers = {HUB: answers}

    slept, followed = sdk.do({"do": "skip_pauses"}, {"do": "watch"})

    assert followed == {"result": None}
    assert slept["result"] == pauses


def test_a_hub_that_stays_away_is_asked_twelve_times(sdk: Sdk, world: World):
    world.stage.answers = {HUB: [WAITING, AWAY]}

    slept, followed = sdk.do({"do": "skip_pauses"}, {"do": "watch"})

    assert followed["raises"] == "ServerError"
    assert len(slept["result"]) == 12
    assert len(world.stage.asked[HUB]) == 13


def test_a_receipt_is_found_by_its_address(sdk: Sdk, world: World):
    world.stage.answers = {HUB: [DONE]}
    calls = [f"{world.hub}/r/{ID}/", f"{world.hub}/v1/reports/{ID}", "http://10.0.0.7/r/x/", "a b"]

    page, data, private, nothing = sdk.do(*({"do": "receipt", "report": it} for it in calls))

    assert (page["result"]["status"], data["result"]["id"]) == ("forwarded", ID)
    assert (private["raises"], private["code"]) == ("PrivateAddress", "private_address")
    assert nothing["code"] == "not_a_report_id"
    assert [asked.path for asked in world.stage.asked[HUB]] == [f"/v1/reports/{ID}"] * 2
