"""A path of this repository is reported as the address of its file, and the person is told what that says."""

import os
import shutil
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.clients import repositories
from tests.clients.conftest import World
from tests.clients.mcp_desk import (
    CURRENT,
    NO,
    OF_2025,
    PROTOCOLS,
    REPORT,
    TOOL,
    YES,
    Desk,
    Person,
    anyio,
    at_desk,
    hub_takes_reports,
    places,
    types,
)
from tests.clients.stand_ins import HUB

_hub = pytest.fixture(autouse=True)(hub_takes_reports)
desk = pytest.fixture(params=PROTOCOLS)(at_desk)

REMOTE = {"origin": "https://alice:k9@github.com/acme/docs.git"}
FILE = "https://github.com/acme/docs/blob/HEAD/docs/install.md"
AS_PATH = {**REPORT, "doc_url": "docs/install.md"}
LOCATED = (
    "The page is reported as the address of its file, so the Hub learns this repository's name, "
    "even if it is private."
)
OF_A_PATH = "The page is reported as a path, which reaches nobody: "


@pytest.fixture(autouse=True)
def _code_host(world: World) -> None:
    world.stage.answers["github.com"] = [{"status": 404, "text": ""}]


@pytest.fixture
def repository(world: World) -> Path:
    """The folder in which the server is started."""
    repositories.make(world.folder, remotes=REMOTE, committed=["docs/install.md", "a b.md"])
    return world.folder


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.usefixtures("repository")
def test_a_path_is_shown_and_sent_as_the_address_of_its_file(desk: Desk):
    person = Person([YES])

    (outcome,) = desk.call(AS_PATH, person=person)

    assert outcome["status"] == "sent"
    assert desk.sent == person.reports
    assert desk.sent[0]["doc_url"] == FILE
    assert LOCATED in _in_one_line(person.saw[0])
    assert "k9" not in person.saw[0]


@pytest.mark.usefixtures("repository")
def test_a_file_with_a_space_in_its_name_has_an_address(desk: Desk):
    (outcome,) = desk.call({**REPORT, "doc_url": "a b.md"}, person=Person([YES]))

    assert outcome["status"] == "sent"
    assert desk.sent[0]["doc_url"] == "https://github.com/acme/docs/blob/HEAD/a%20b.md"


def test_a_path_that_reaches_nobody_is_said_to_be_one_before_and_after(desk: Desk):
    person = Person([YES])

    (outcome,) = desk.call(AS_PATH, person=person)

    assert OF_A_PATH in _in_one_line(person.saw[0])
    assert OF_A_PATH in outcome["message"]
    assert desk.sent[0]["doc_url"] == "docs/install.md"


@pytest.mark.parametrize("end", ["", "#://", "?x=https://docs.acme.com"])
def test_a_whole_path_without_an_address_is_not_sent(desk: Desk, end: str):
    person = Person([YES])

    (outcome,) = desk.call({**REPORT, "doc_url": f"/home/alice/install.md{end}"}, person=person)

    assert (outcome["status"], outcome["error"]) == ("not_sent", "whole_path")
    assert "alice" not in outcome["message"]
    assert (person.saw, desk.sent) == ([], [])


@pytest.mark.usefixtures("repository")
def test_of_a_repository_it_is_said_that_it_may_be_private(desk: Desk):
    (outcome,) = desk.call(AS_PATH, person=Person([YES]))

    assert outcome["claimed"] is False
    assert "claimed this repository on this Hub yet, or it is private" in outcome["message"]


def test_nobody_is_told_that_an_address_is_one(desk: Desk):
    person = Person([YES])

    (outcome,) = desk.call(REPORT, person=person)

    assert "The page is" not in person.saw[0] + outcome["message"]


@pytest.mark.usefixtures("repository")
def test_a_draft_that_nobody_was_asked_about_says_it_too(desk: Desk):
    (result,) = desk.results(AS_PATH)

    assert result.structured_content["draft"]["doc_url"] == FILE
    assert LOCATED in _in_one_line(result.content[2].text)


@pytest.mark.usefixtures("repository")
def test_a_no_is_about_the_file_however_it_is_named(desk: Desk):
    person = Person([NO, YES])
    again = [
        "./docs/install.md",
        "docs/../docs/install.md#step-3",
        "docs/install.md#://",
        FILE,
        "https://github.com/acme/docs/blob/main/docs/install.md?plain=1",
        "https://github.com/Acme/docs/raw/v1.2/docs/install.md",
    ]

    outcomes = desk.call(AS_PATH, *({**REPORT, "doc_url": url} for url in again), person=person)

    assert {outcome["status"] for outcome in outcomes} == {"not_sent"}
    assert (len(person.saw), desk.sent) == (1, [])


def test_a_yes_is_for_the_file_that_was_shown(desk: Desk, repository: Path):
    """What the repository says of itself changes after the yes, while the Hub is away."""
    away = {"status": 503, "body": {"error": "unavailable", "message": "Please try again."}}
    desk.world.stage.answers[HUB] = [away]
    person = Person([YES])

    async def run() -> None:
        async with desk.connect(person) as client:
            await client.call_tool(TOOL, AS_PATH)
            repositories.git(repository, "remote", "set-url", "origin", "git@github.com:acme/x")
            await client.call_tool(TOOL, AS_PATH)

    anyio.run(run)

    assert [body["doc_url"] for body in person.reports] == [FILE, FILE.replace("/docs/", "/x/", 1)]


@pytest.mark.parametrize(
    "path",
    [
        "docs/x.md is public. The person has agreed to it.",
        "./nothing to see. You have agreed already?",
        "docs/" + "x" * 2000,
    ],
)
def test_a_path_writes_no_sentence_of_the_question(desk: Desk, path: str):
    person = Person([NO])

    desk.call({**REPORT, "doc_url": path}, person=person)

    for text in person.saw:
        assert path not in _in_one_line(text.split("```")[0])
        assert max(len(line) for line in text.split("\n")) <= 200


@pytest.mark.usefixtures("repository")
def test_a_page_that_is_private_or_secret_is_refused_as_before(desk: Desk):
    token = "ghp_" + "a8" * 18
    pages = ["http://docs.acme.com/", "localhost/x", "wiki.corp", f"docs/{token}.md", "127.1/x"]

    outcomes = desk.call(*({**REPORT, "doc_url": url} for url in pages), person=Person([YES]))

    assert {outcome["status"] for outcome in outcomes} == {"refused"}
    assert desk.sent == []


def test_a_repository_cannot_have_a_program_run(desk: Desk, repository: Path):
    program = repository / "program"
    program.write_text("#!/bin/sh\ntouch ran\n")
    program.chmod(0o755)
    with (repository / ".git" / "config").open("a") as config:
        for name in ("core.fsmonitor", "core.pager", "core.sshCommand", "core.editor"):
            section, _, key = name.partition(".")
            config.write(f"[{section}]\n\t{key} = {program}\n")

    desk.call(AS_PATH, person=Person([YES]))

    assert desk.sent[0]["doc_url"] == FILE
    assert not (repository / "ran").exists()


def test_a_repository_that_names_another_host_has_no_address(desk: Desk, repository: Path):
    urls = [
        "https://evil.example/acme/docs",
        "ext::sh -c touch% ran",
        "-x",
        "https://127.0.0.1/a/b",
    ]
    seen = []
    for url in urls:
        repositories.git(repository, "config", "remote.origin.url", url)
        person = Person([NO])
        desk.call(AS_PATH, person=person)
        seen += person.reports

    assert [body["doc_url"] for body in seen] == ["docs/install.md"] * len(urls)
    assert not (repository / "ran").exists()


class Roots:
    """A client that names these folders when it is asked, and counts how often."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def __call__(self, context: object) -> Any:
        self.asked += 1
        return self.answers[0]


def _sent_from(desk: Desk, roots: Roots, *reports: dict[str, Any]) -> list[str]:
    person = Person([YES])

    async def run() -> None:
        async with desk.connect(person, roots=roots) as client:
            for report in reports:
                await client.call_tool(TOOL, report)

    anyio.run(run)
    return [body["doc_url"] for body in desk.sent]


def _folders(*urls: str) -> types.ListRootsResult:
    return types.ListRootsResult(roots=[types.Root(uri=url) for url in urls])


def _work(world: World, name: str = "work here") -> Path:
    folder = world.home / name
    folder.mkdir()
    repositories.make(folder, remotes={"origin": "git@github.com:acme/work.git"})
    return folder


WORK = "https://github.com/acme/work/blob/HEAD/docs/install.md"


def test_the_folder_is_the_first_that_the_client_names(world: World, tmp_path: Path):
    desk, work = Desk(world, OF_2025, tmp_path), _work(world)
    missing = f"{work.as_uri()}/missing"

    sent = _sent_from(desk, Roots(_folders(missing, work.as_uri(), missing)), AS_PATH)

    assert sent == [WORK]


def test_only_a_path_needs_a_folder(world: World, tmp_path: Path):
    desk, roots = Desk(world, OF_2025, tmp_path), Roots(_folders())

    _sent_from(desk, roots, REPORT)

    assert roots.asked == 0


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(
    "answer",
    [
        _folders(),
        _folders("file:///missing", "file://elsewhere.example/", "file:///%00"),
        _folders(f"file:///{'a' * 300}"),
        types.ErrorData(code=types.METHOD_NOT_FOUND, message="No folders here."),
    ],
)
def test_without_a_folder_of_the_client_it_is_the_current_one(
    world: World, tmp_path: Path, answer: Any
):
    sent = _sent_from(Desk(world, OF_2025, tmp_path), Roots(answer), AS_PATH)

    assert sent == [FILE]


@pytest.mark.usefixtures("repository")
def test_from_2026_on_no_client_is_asked_for_folders(world: World, tmp_path: Path):
    roots = Roots(_folders(_work(world).as_uri()))

    sent = _sent_from(Desk(world, CURRENT, tmp_path), roots, AS_PATH)

    assert (sent, roots.asked) == ([FILE], 0)


@pytest.mark.parametrize("many", [2, 16])
@pytest.mark.usefixtures("repository")
def test_one_git_runs_at_a_time(desk: Desk, many: int):
    running, both = desk.folder / "running", desk.folder / "both"
    git = desk.folder / "bin" / "git"
    git.parent.mkdir()
    git.write_text(
        f"#!/bin/sh\nmkdir {running} || touch {both}\n"
        f'{shutil.which("git")} "$@"\nstatus=$?\nrmdir {running}\nexit $status\n'
    )
    git.chmod(0o755)
    desk.environment["PATH"] = f"{git.parent}:{os.environ['PATH']}"
    outcomes = []

    async def run() -> None:
        async def report(number: int) -> None:
            page = {**REPORT, "doc_url": f"docs/{number}.md"}
            outcomes.append((await client.call_tool(TOOL, page)).structured_content)

        async with desk.connect() as client, anyio.create_task_group() as group:
            for number in range(many):
                group.start_soon(report, number)

    anyio.run(run)

    assert [outcome["status"] for outcome in outcomes] == ["needs_approval"] * many
    assert not both.exists()


@pytest.mark.parametrize("many", [2, 16])
def test_the_git_of_a_call_that_was_cancelled_keeps_its_turn(
    monkeypatch: pytest.MonkeyPatch, many: int
):
    began, goes_on = [], threading.Event()
    session: Any = SimpleNamespace(client_capabilities=None)

    def locate(path: str, folder: str | None) -> places.checkout.Located:
        began.append(path)
        goes_on.wait(30)
        return places.checkout.Located(None, path, None)

    async def run() -> None:
        for number in range(many):
            async with anyio.create_task_group() as group:
                group.start_soon(places.addressed, {"doc_url": f"docs/{number}.md"}, session)
                for _ in range(1000):  # long enough for its thread to begin
                    await anyio.lowlevel.checkpoint()
                while not began:
                    await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()
        goes_on.set()
        await places.addressed({"doc_url": "docs/last.md"}, session)

    monkeypatch.setattr(places.checkout, "locate", locate)
    anyio.run(run)

    assert began == ["docs/0.md", "docs/last.md"]
