"""A name whose name server is silent costs the Node client no thread, and no process outlasts it."""

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import COMMAND_LINES, DRIVERS, HERE, Sdk, World, needs_node
from tests.clients.silence import has_reader
from tests.clients.stand_ins import HUB

pytestmark = needs_node
REPORT = ["report", "--agent", "alice", "--kind", "broken", "--summary", "x"]
PAGE = "https://docs.acme.com/install"


@pytest.fixture
def silent(world: World) -> Path:
    """The FIFO for which a look-up waits."""
    path = world.home / "silent"
    os.mkfifo(path)
    return path


@pytest.fixture(params=["direct", "proxy"])
def environment(request: pytest.FixtureRequest, world: World, silent: Path) -> dict[str, str]:
    """That of a client in which one look-up can take all threads."""
    names = {"NODE_OPTIONS": f"--import={HERE}/silent_names.mjs", "SILENT": str(silent)}
    environment = world.environment | names | {"UV_THREADPOOL_SIZE": "1"}
    if request.param == "direct":
        del environment["https_proxy"]
    return environment


def test_the_command_line_ends_once_it_has_said_so(
    world: World, environment: dict[str, str], silent: Path
):
    ended = COMMAND_LINES["node"].run(
        [*REPORT, "--doc-url", PAGE],
        cwd=world.folder,
        env=environment | {"DOCFEEDBACK_TIMEOUT": "3"},
    )

    assert "did not resolve in time" in ended.stderr
    assert not has_reader(silent)
    assert HUB not in world.stage.asked


def test_ctrl_c_ends_it(world: World, environment: dict[str, str], silent: Path):
    started = world.home / "started"
    os.mkfifo(started)
    is_asked = threading.Event()

    def wait_for_the_look_up() -> None:
        started.read_bytes()
        is_asked.set()

    threading.Thread(target=wait_for_the_look_up, daemon=True).start()

    ended = COMMAND_LINES["node"].run(
        [*REPORT, "--doc-url", PAGE],
        cwd=world.folder,
        env=environment | {"DOCFEEDBACK_TIMEOUT": "600", "STARTED": str(started)},
        interrupt_after=is_asked,
    )

    assert (ended.exit, ended.stderr) == (130, "Interrupted.\n")
    assert not has_reader(silent)


def test_a_program_that_uses_the_library_keeps_its_threads(environment: dict[str, str]):
    *outcomes, used = Sdk(DRIVERS["node"], environment).do(
        _send_about("https://a.acme.com/"),
        _send_about("https://b.acme.com/"),
        {"do": "use_a_thread"},
    )

    assert [outcome["code"] for outcome in outcomes] == ["private_address"] * 2
    assert used == {"result": True}


@pytest.mark.parametrize("count", [2, 40])
def test_at_most_sixteen_names_are_looked_up_at_once(world: World, count: int):
    reports = [_report(f"https://d{number}.acme.com/") for number in range(count)]

    _, most = Sdk(DRIVERS["node"], world.environment).do(
        {"do": "resolve_nothing"}, {"do": "most_processes", "reports": reports}
    )

    assert most == {"result": min(count, 16)}


@pytest.mark.parametrize("silent", [4, 32])
def test_nobody_is_refused_for_the_silent_names_of_others(
    world: World, examples: dict[str, Any], silent: int
):
    world.stage.answers = {
        HUB: [examples["a new report"]["answer"]],
        "docs.acme.com": [{"status": 404, "body": {}}],
    }
    reports = [_report(f"https://silent{number}.acme.com/") for number in range(silent)]

    _, sent = Sdk(DRIVERS["node"], world.environment).do(
        {"do": "resolve_all_but_silent_names"},
        {"do": "send_all", "reports": [*reports, _report(PAGE)], "client": {"timeout": 20}},
    )

    *refused, other = sent["result"]
    assert [outcome["code"] for outcome in refused] == ["private_address"] * silent
    assert "result" in other


@pytest.mark.parametrize("silent", [16, 128])
def test_a_question_that_looks_nothing_up_does_not_wait(world: World, silent: int):
    world.stage.answers = {HUB: [{"status": 200, "body": {"url": PAGE, "problems": []}}]}
    reports = [_report(f"https://silent{number}.acme.com/") for number in range(silent)]

    _, known = Sdk(DRIVERS["node"], world.environment).do(
        {"do": "resolve_all_but_silent_names"},
        {
            "do": "known_beside",
            "reports": reports,
            "client": {"timeout": 20},
            "url": PAGE,
            "options": {"look_up": False},
        },
    )

    assert known["result"]["outcome"] == {"result": {"url": PAGE, "problems": []}}
    assert known["result"]["ended"] == 0


@pytest.mark.parametrize("what", ["reports", "questions"])
@pytest.mark.parametrize("count", [3, 24])
def test_a_slow_hub_that_is_set_takes_no_turns(
    world: World, examples: dict[str, Any], count: int, what: str
):
    new = examples["a new report"]["answer"]
    answer = new | {"body": new["body"] | {"problems": []}}  # to either
    world.stage.answers = {
        HUB: [answer, {"do": "answer together"} | answer],
        "docs.acme.com": [{"status": 404, "body": {}}],
    }
    world.stage.awaited = 1 + count
    patient = {"client": {"timeout": 25}}
    calls = {
        "reports": {"do": "send_all", "reports": [_report(PAGE)] * count, **patient},
        "questions": {"do": "known_all", "urls": [PAGE] * count, **patient},
    }

    *_, ended = Sdk(DRIVERS["node"], world.environment).do(
        {"do": "resolve_all_but_silent_names"}, _send_about(PAGE), calls[what]
    )

    assert all("result" in outcome for outcome in ended["result"])


@pytest.mark.parametrize("waiting", [1, 8])
def test_what_is_aborted_before_its_turn_does_not_begin(world: World, waiting: int):
    reports = [_report(f"https://d{number}.acme.com/") for number in range(16 + waiting)]

    _, begun = Sdk(DRIVERS["node"], world.environment).do(
        {"do": "resolve_nothing"}, {"do": "abort_those_that_wait", "reports": reports, "most": 16}
    )

    assert begun == {"result": [16, ["cancelled"] * waiting]}


def test_no_other_user_reads_in_the_list_of_processes_which_host_is_reported(world: World):
    outcomes = Sdk(DRIVERS["node"], world.environment).do(
        {"do": "resolve_as", "ips": ["10.0.0.5"]},
        {"do": "words_of_processes", "report": _report(PAGE)},
        {**_send_about(PAGE), "client": {"timeout": 30}},
    )

    started = outcomes[1]["result"]
    assert started
    assert "acme" not in str(started)
    assert outcomes[2]["code"] == "private_address"


@pytest.mark.parametrize("ip", ["10.0.0.5", "1.1.1.1"])
def test_where_no_process_can_be_started_the_name_is_looked_up_here(
    world: World, examples: dict[str, Any], ip: str
):
    world.stage.answers = {
        HUB: [examples["a new report"]["answer"]],
        "docs.acme.com": [{"status": 404, "body": {}}],
    }

    *_, outcome = Sdk(DRIVERS["node"], world.environment).do(
        {"do": "resolve_as", "ips": [ip]}, {"do": "start_no_process"}, _send_about(PAGE)
    )

    assert ("result" in outcome) == (ip == "1.1.1.1")


@pytest.mark.parametrize("count", [5, 40])
def test_where_no_process_can_be_started_silent_names_take_four_threads_at_most(
    world: World, count: int
):
    reports = [_report(f"https://silent{number}.acme.com/") for number in range(count)]

    *_, looks = Sdk(DRIVERS["node"], world.environment).do(
        {"do": "resolve_all_but_silent_names"},
        {"do": "start_no_process"},
        {"do": "looks_here", "reports": reports, "client": {"timeout": 1}},
    )

    assert looks == {"result": 4}


def _report(url: str) -> dict[str, Any]:
    report = {"kind": "other", "summary": "Step 3 fails"}
    return {"protocol_version": "0", "doc_url": url, "agent": {"name": "x"}, "report": report}


def _send_about(url: str) -> dict[str, Any]:
    return {"do": "send", "report": _report(url), "client": {"timeout": 3}}
