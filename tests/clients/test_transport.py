"""The libraries' edges: another transport, odd arguments, and what shows of a client and an error."""

import json
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import docfeedback
import pytest
from docfeedback import Request, Response

from tests.clients.command_line import SECONDS, CommandLine
from tests.clients.conftest import DRIVERS, PYTHON, Sdk, World, needs_node
from tests.clients.stand_ins import HUB, REPORT

NEW = {"status": 201, "headers": {}, "body": {"id": "r1"}}
ELSEWHERE = {"hub_url": "https://hub.acme.com"}  # where no test can connect
TOKEN = "dfh_" + "s3cr3t" * 4


def _send_by(*answers: Any, report: Any = REPORT, **client: Any) -> dict[str, Any]:
    return {
        "do": "send_by",
        "report": report,
        "client": {**ELSEWHERE, **client},
        "answers": answers,
    }


def _with_status(status: int, seconds: str | None = None, **headers: str) -> dict[str, Any]:
    more = {"Retry-After": seconds} if seconds else {}
    return {"status": status, "headers": {**more, **headers}, "body": {"error": "x"}}


def test_a_transport_gets_the_request_and_gives_the_response(sdk: Sdk):
    (done,) = sdk.do(_send_by(NEW))

    (seen,) = done["result"]["seen"]
    assert done["result"]["outcome"]["result"]["id"] == "r1"
    assert (seen["method"], seen["url"], seen["body"]) == (
        "POST",
        "https://hub.acme.com/v1/reports",
        REPORT,
    )
    assert seen["headers"]["content-type"] == "application/json"
    assert seen["headers"]["user-agent"].startswith("docfeedback-")


def test_what_a_transport_says_of_a_host_is_kept_for_nobody_else(sdk: Sdk, world: World):
    listing = {"status": 200, "headers": {}, "body": {"opt_in": False}}
    report = {**REPORT, "doc_url": "https://docs.acme.com/x"}
    world.stage.answers = {HUB: [NEW]}

    by_another, by_ours = sdk.do(_send_by(listing, report=report), {"do": "send", "report": report})

    assert by_another["result"]["outcome"]["raises"] == "OptedOut"
    assert by_ours["result"]["id"] == "r1"


def test_a_transport_is_asked_for_the_file_of_the_pages_host_too(sdk: Sdk):
    listing = {"status": 200, "headers": {}, "body": {"opt_in": False}}

    (done,) = sdk.do(_send_by(listing, report={**REPORT, "doc_url": "https://docs.acme.com/x"}))

    assert done["result"]["outcome"]["raises"] == "OptedOut"
    assert [one["url"] for one in done["result"]["seen"]] == [
        "https://docs.acme.com/.well-known/docs-feedback.json"
    ]


def test_with_a_transport_a_private_page_is_refused_as_ever(sdk: Sdk):
    (done,) = sdk.do(_send_by(NEW, report={**REPORT, "doc_url": "https://10.0.0.1/x"}))

    assert done["result"] == {"seen": [], "outcome": done["result"]["outcome"]}
    assert done["result"]["outcome"]["raises"] == "PrivateAddress"


@pytest.mark.parametrize(
    ("answers", "raises", "times"),
    [
        (["raise", NEW], None, 2),
        (["raise", "raise"], "Unreachable", 2),
        (["refuse"], "PrivateAddress", 1),
        (["hang"], "Unreachable", 1),
        (["nothing"], "Unreachable", 1),
        (["flood"], "Unreachable", 1),
        ([_with_status(502), NEW], None, 2),
        ([_with_status(400, "0")], "ValidationError", 1),
    ],
    ids=str,
)
def test_retries_time_limit_and_errors_are_those_of_our_own_transport(
    sdk: Sdk, answers: list[Any], raises: str | None, times: int
):
    (done,) = sdk.do(_send_by(*answers, timeout=1.5))

    assert done["result"]["outcome"].get("raises") == raises
    assert len(done["result"]["seen"]) == times


def test_a_transport_can_be_awaited_for(sdk: Sdk):
    (done,) = sdk.do(_send_by(NEW) | {"awaited": True})

    assert done["result"]["outcome"]["result"]["id"] == "r1"


@pytest.mark.parametrize(
    ("answers", "raises", "times"),
    [
        ([_with_status(429, "1"), NEW], None, 2),
        ([_with_status(503, "1"), NEW], None, 2),
        ([_with_status(429, "1"), _with_status(429, "1")], "RateLimited", 2),
        ([_with_status(429, "9")], "RateLimited", 1),
        ([_with_status(503, "9")], "ServerError", 1),
        ([_with_status(429, "999999999")], "RateLimited", 1),
        ([_with_status(429)], "RateLimited", 1),
        ([_with_status(429, "-1")], "RateLimited", 1),
        ([_with_status(429, "soon")], "RateLimited", 1),
        ([_with_status(403, "1")], "AuthError", 1),
    ],
    ids=str,
)
def test_the_hub_is_asked_once_more_when_it_said_and_only_within_the_time(
    sdk: Sdk, answers: list[Any], raises: str | None, times: int
):
    (done,) = sdk.do(_send_by(*answers, timeout=5))

    assert done["result"]["outcome"].get("raises") == raises
    assert len(done["result"]["seen"]) == times
    assert len({json.dumps(one) for one in done["result"]["seen"]}) == 1


@pytest.mark.parametrize("answer", [{"do": "hang"}, _with_status(503, "30")], ids=["hang", "503"])
def test_what_is_cancelled_is_not_tried_again(sdk: Sdk, world: World, answer: dict[str, Any]):
    world.stage.answers = {HUB: [answer]}
    call = {"do": "send_until_interrupted", "report": REPORT, "client": {"timeout": 60}}

    with subprocess.Popen(
        sdk.driver.command,
        env=sdk.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as driver:
        driver.stdin.write(json.dumps([call]))
        driver.stdin.close()
        assert world.stage.arrived.wait(SECONDS)
        driver.send_signal(signal.SIGINT)
        outcomes = json.load(driver.stdout)

    assert outcomes == [{"result": "cancelled"}]
    assert len(world.stage.asked[HUB]) == 1


def test_what_another_thread_stops_is_not_tried_again():
    taken, over = threading.Event(), threading.Event()
    asked: list[Request] = []

    def transport(request: Request) -> Response:
        asked.append(request)
        taken.set()
        over.wait()
        return Response(503, {}, b"")

    client = docfeedback.Client(**ELSEWHERE, transport=transport)
    with ThreadPoolExecutor() as pool:
        sending = pool.submit(client.send, REPORT)
        assert taken.wait(SECONDS)
        client.stop()
        with pytest.raises(docfeedback.Unreachable) as stopped:
            sending.result(SECONDS)
        over.set()

    assert stopped.value.code == "interrupted"
    assert len(asked) == 1
    with pytest.raises(docfeedback.ValidationError):
        client.send(REPORT)


def test_what_is_cancelled_before_it_was_sent_is_not_sent(sdk: Sdk, world: World):
    url = f"http://hub.acme.com:{world.server.server_port}"
    del sdk.environment["https_proxy"]

    outcomes = sdk.do(
        {"do": "resolve_slowly", "seconds": 0.4},
        {"do": "cancel_at", "report": REPORT, "client": {"hub_url": url}},
        {"do": "connections", "after": 0.8},
    )

    assert outcomes[1:] == [{"result": "cancelled"}, {"result": 0}]
    assert HUB not in world.stage.asked


@needs_node
def test_a_signal_needs_nothing_that_came_after_node_20(world: World):
    older = {"NODE_OPTIONS": "--import=data:text/javascript,delete%20AbortSignal.any"}
    sdk = Sdk(DRIVERS["node"], world.environment | older)
    world.stage.answers = {HUB: [{"do": "hang"}]}

    (outcome,) = sdk.do({"do": "cancel_at", "report": REPORT, "client": {}})

    assert outcome == {"result": "cancelled"}


@pytest.mark.parametrize(("more", "is_used"), [({}, True), ({"REQUEST_METHOD": "GET"}, False)])
def test_a_header_of_a_request_that_a_program_answers_is_no_proxy(
    sdk: Sdk, world: World, more: dict[str, str], is_used: bool
):
    hub = world.dead.replace("127.0.0.1", "127.0.0.2")
    sdk.environment |= {"HTTP_PROXY": world.hub, **more}

    sdk.do({"do": "send", "report": REPORT, "client": {"hub_url": hub}})

    assert (HUB in world.stage.asked) == is_used


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("timeout", "none infinite nan negative zero huge true text object"),
        ("hub_url", "number bytes object true"),
        ("token", "number bytes object"),
        ("allow_private", "none text number"),
        ("transport", "number text"),
        ("report", "none number text bytes"),
        ("doc_url", "none number bytes object"),
        ("idempotency_key", "number bytes object"),
        ("report_id", "none number bytes object"),
    ],
)
def test_an_odd_argument_is_an_error_of_ours(sdk: Sdk, name: str, values: str):
    calls = [
        {"do": "misuse", "name": name, "value": value, "report": REPORT} for value in values.split()
    ]

    outcomes = sdk.do(*calls)

    assert {outcome.get("raises") for outcome in outcomes} == {"ValidationError"}


def test_a_value_that_json_lacks_is_an_error_of_ours(sdk: Sdk):
    value = "a value that is none of JSON"

    (outcome,) = sdk.do({"do": "misuse", "name": "extra", "value": value, "report": REPORT})

    assert outcome["raises"] == "ValidationError"


def test_no_token_shows(sdk: Sdk):
    (outcome,) = sdk.do({"do": "shown", "token": TOKEN})

    assert len(outcome["result"]) > 5
    assert [text for text in outcome["result"] if TOKEN in text] == []


def test_a_copy_of_an_error_has_all_that_it_has(sdk: Sdk, world: World):
    answer = _with_status(500, **{"X-Request-Id": "0123456789abcdef"})
    world.stage.answers = {HUB: [answer]}

    (outcome,) = sdk.do({"do": "copied", "report": REPORT})

    error, *copies = outcome["result"]
    assert error["fields"] == {"request_id": "0123456789abcdef"}
    assert (error["raises"], error["code"], error["status"]) == ("ServerError", "x", 500)
    assert copies
    assert all(copy == error for copy in copies)


def test_a_client_that_is_closed_says_so(sdk: Sdk):
    (outcome,) = sdk.do({"do": "after_the_end", "report": REPORT})

    assert {(each["raises"], each["code"]) for each in outcome["result"]} == {
        ("ValidationError", "closed")
    }


def test_help_shows_the_errors_as_a_tree(world: World):
    program = "import docfeedback; help(docfeedback.errors)"

    ended = CommandLine([PYTHON, "-c", program]).run([], cwd=world.folder, env=world.environment)

    assert ended.exit == 0
    assert "├── ValidationError" in ended.stdout
    assert "request_id" in ended.stdout


def test_who_presses_tab_is_offered_the_public_names(world: World):
    program = "import docfeedback; print(set(docfeedback.__all__) - set(dir(docfeedback)))"

    ended = CommandLine([PYTHON, "-c", program]).run([], cwd=world.folder, env=world.environment)

    assert (ended.exit, ended.stdout) == (0, "set()\n")
