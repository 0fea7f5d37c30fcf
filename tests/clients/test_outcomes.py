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
        ([WAITING, _busy(30), _busy(20), DONE], [2, 30, 60]),
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


def _report(report_id: str) -> dict[str, Any]:
    page = {"received_at": "2026-01-31T12:35:00Z", "doc_url": "docs/install.md"}
    words = {"kind": "other", "summary": "Step 3 fails", "agent_name": "claude-code"}
    return {"id": report_id, **page, **words}


def _page(*ids: str, following: Any = None) -> dict[str, Any]:
    body = {"reports": [_report(each) for each in ids], "next_cursor": following}
    return {"status": 200, "body": body}


@pytest.mark.parametrize("how", ["reports", "reports_async"])
def test_reports_are_listed_over_all_pages(sdk: Sdk, world: World, how: str):
    world.stage.answers = {
        HUB: [_page("a", "b", following="c1"), _page(following="c2"), _page("c")]
    }

    (listed,) = sdk.do({"do": how, "client": {"token": "t-1"}, "filters": {"kind": "other"}})

    assert listed["result"] == {"ids": ["a", "b", "c"]}
    asked = world.stage.asked[HUB]
    assert [one.path.partition("?")[2] for one in asked] == [
        "kind=other",
        "kind=other&cursor=c1",
        "kind=other&cursor=c2",
    ]
    assert {one.headers["Authorization"] for one in asked} == {"Bearer t-1"}


def test_a_list_that_has_begun_goes_on_once_the_hub_takes_more_requests(sdk: Sdk, world: World):
    """A Hub takes 20 searches a minute: nobody could have more than 1,000 reports of one claim."""
    sdk.environment = world.hurried
    world.stage.answers = {HUB: [_page("a", following="c1"), _busy(11), _page("b")]}

    (listed,) = sdk.do({"do": "reports", "client": {"token": "t-1"}, "filters": {"claim": "x.com"}})

    assert listed["result"] == {"ids": ["a", "b"]}
    assert world.stage.asked[HUB][1].path == world.stage.asked[HUB][2].path


@pytest.mark.parametrize(
    "answers",
    [
        [_busy(11)],
        [_page("a", following="c1"), _busy(61)],
        [_page("a", following="c1"), _busy(11), _busy(11)],
    ],
    ids=["at first", "for too long", "again"],
)
def test_a_hub_that_takes_no_more_requests_for_long_is_left_alone(
    sdk: Sdk, world: World, answers: list[dict[str, Any]]
):
    sdk.environment = world.hurried
    world.stage.answers = {HUB: [*answers, _page("b")]}

    (listed,) = sdk.do({"do": "reports", "client": {"token": "t-1"}})

    assert listed["result"]["code"] == "rate_limited"
    assert len(world.stage.asked[HUB]) == len(answers)


def test_a_hub_that_has_one_wait_before_each_page_is_left_alone_after_two_minutes(
    sdk: Sdk, world: World
):
    a_page_a_minute = [[_page(f"{n}", following=f"c{n}"), _busy(60)] for n in range(50)]
    world.stage.answers = {HUB: [answer for each in a_page_a_minute for answer in each]}

    slept, listed = sdk.do({"do": "skip_pauses"}, {"do": "reports", "client": {"token": "t-1"}})

    assert listed["result"] == {"ids": ["0", "1", "2"], "code": "rate_limited"}
    assert slept["result"] == [60, 60]


def test_a_hub_that_gives_as_many_reports_as_ours_is_waited_for(sdk: Sdk, world: World):
    full = [_page(*[f"{n}-{i}" for i in range(50)], following=f"c{n}") for n in range(100)]
    full[20::20] = [_busy(60)] * 4
    world.stage.answers = {HUB: [*full, _page("last")]}

    slept, listed = sdk.do({"do": "skip_pauses"}, {"do": "reports", "client": {"token": "t-1"}})

    assert (listed["result"]["ids"][-1], listed["result"].get("code")) == ("last", None)
    assert slept["result"] == [60] * 4


def test_only_the_pages_that_are_needed_are_fetched(sdk: Sdk, world: World):
    world.stage.answers = {HUB: [_page("a", "b", following="c1"), _page("c")]}

    (listed,) = sdk.do({"do": "reports", "client": {"token": "t-1"}, "first": 2})

    assert listed["result"] == {"ids": ["a", "b"]}
    assert len(world.stage.asked[HUB]) == 1


@pytest.mark.parametrize("following", ["c1", 7, True, ["c2"], "", "a b", "x" * 201])
def test_a_list_without_an_end_is_given_up(sdk: Sdk, world: World, following: Any):
    world.stage.answers = {HUB: [_page("a", following="c1"), _page("b", following=following)]}

    (listed,) = sdk.do({"do": "reports", "client": {"token": "t-1"}})

    assert listed["result"]["code"] == "endless_list"
    assert listed["result"]["ids"][0] == "a"
    assert len(world.stage.asked[HUB]) == 2


def test_ten_empty_pages_are_the_last_that_are_asked_for(sdk: Sdk, world: World):
    empty = [_page(following=f"c{number}") for number in range(9)]
    more = [_page(following=f"d{number}") for number in range(10)]
    world.stage.answers = {HUB: [*empty, _page("a", following="c9"), *more, _page("b")]}

    (listed,) = sdk.do({"do": "reports", "client": {"token": "t-1"}})

    assert (listed["result"]["code"], listed["result"]["ids"]) == ("endless_list", ["a"])
    assert len(world.stage.asked[HUB]) == 20


@pytest.mark.parametrize(
    ("filters", "code"),
    [
        ({"staus": "held"}, "unknown_filter"),
        ({"cursor": "c1"}, "unknown_filter"),
        ({"status": ""}, "invalid_filter"),
        ({"q": "\u200b"}, "invalid_filter"),
        ({"q": 7}, "invalid_filter"),
        ({"q": "\ud800"}, "invalid_filter"),
    ],
)
def test_a_wrong_filter_lists_nothing(sdk: Sdk, world: World, filters: dict[str, Any], code: str):
    (listed,) = sdk.do({"do": "reports", "client": {"token": "t-1"}, "filters": filters})

    assert (listed["raises"], listed["code"]) == ("ValidationError", code)
    assert HUB not in world.stage.asked


def test_the_environments_token_is_not_sent_to_another_hub(sdk: Sdk, world: World):
    world.stage.answers = {HUB: [_page("a")]}
    sdk.environment |= {"DOCFEEDBACK_HUB_URL": world.dead, "DOCFEEDBACK_TOKEN": "t-1"}

    refused, given = sdk.do(
        {"do": "reports", "client": {"hub_url": world.hub}},
        {"do": "reports", "client": {"hub_url": world.hub, "token": "t-2"}},
    )

    assert (refused["raises"], refused["code"]) == ("AuthError", "no_token")
    assert f"or set DOCFEEDBACK_HUB_URL to {world.hub}." in refused["message"]
    assert given["result"]["ids"] == ["a"]
    (asked,) = world.stage.asked[HUB]
    assert asked.headers["Authorization"] == "Bearer t-2"


def test_reports_need_a_token(sdk: Sdk, world: World):
    (listed,) = sdk.do({"do": "reports", "filters": {"kind": None}})

    assert (listed["raises"], listed["code"]) == ("AuthError", "no_token")
    assert HUB not in world.stage.asked
