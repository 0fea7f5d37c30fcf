"""What `report` asks a person at a terminal, and that nobody else is asked: both clients on a real one."""

import json
import os
import pty
import re
import select
import signal
import subprocess
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.clients.command_line import CommandLine
from tests.clients.conftest import World
from tests.clients.stand_ins import HUB

SECONDS = 60
PAGE = "https://docs.example.com/install"
ANSWERS = [
    ("Which page?", "docs/install.md"),
    ("What is wrong with it:", "incorrect"),
    ("In one line,", "Step 3 names a flag that does not exist"),
    ("Who reports?", "claude-code"),
]
SEND = "Send this report to "
INTERRUPT, END = "\x03", "\x04"
REPORT = {
    "protocol_version": "0",
    "doc_url": "docs/install.md",
    "agent": {"name": "claude-code"},
    "report": {"kind": "incorrect", "summary": "Step 3 fails"},
}
BASE64 = urlsafe_b64encode(json.dumps(REPORT).encode()).decode().rstrip("=")
NOBODY_SEES = "\u2800\ufffc\ufff9\u0600\U0001d159\U00016fe4\U00013441\ue000\U000f0000\u3164\u202e"


@dataclass
class Screen:
    """A terminal at which a command runs; `shown` is what a person has seen."""

    process: subprocess.Popen[bytes]
    controller: int
    shown: str = ""
    _data: bytes = field(default=b"", repr=False)

    def wait_for(self, words: str) -> None:
        """Read on until the words stand there, after what was waited for before."""
        since = len(self.shown)
        while words not in self.shown[since:]:
            assert self._read(), self.shown

    def type(self, text: str, *, end: str = "\n") -> None:
        os.write(self.controller, f"{text}{end}".encode())

    def ended(self) -> int:
        """Its exit status, once all was read."""
        while self._read():
            pass
        return self.process.wait(SECONDS)

    def _read(self) -> bool:
        ready, _, _ = select.select([self.controller], [], [], SECONDS)
        assert ready, self.shown
        with suppress(OSError):  # the end, on Linux
            data = os.read(self.controller, 65536)
            self.shown += data.decode(errors="replace").replace("\r\n", "\n")
            return bool(data)
        return False


@pytest.fixture
def screens(world: World) -> Iterator[Any]:
    """Starts commands, each at a terminal of its own."""
    started: list[Screen] = []

    def start(client: CommandLine, *words: str, **changes: str) -> Screen:
        controller, terminal = pty.openpty()
        process = subprocess.Popen(
            [*client.command, *words],
            cwd=world.folder,
            env=world.environment | changes,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            preexec_fn=_take_the_terminal,
        )
        os.close(terminal)
        started.append(Screen(process, controller))
        return started[-1]

    yield start
    for each in started:
        with suppress(ProcessLookupError):
            each.process.kill()
        each.process.wait(SECONDS)
        os.close(each.controller)


def _take_the_terminal() -> None:
    """Make standard input the terminal that controls this process, so that Ctrl-C reaches it."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def answer_all(screen: Screen, answers: list[tuple[str, str]] = ANSWERS) -> None:
    for question, answer in answers:
        screen.wait_for(question)
        screen.type(answer)


def asked_at(world: World) -> list[Any]:
    return world.stage.asked.get(HUB, [])


def test_who_gives_no_flags_is_asked_and_sees_the_whole_report(
    client: CommandLine, world: World, screens: Any, examples: dict[str, Any]
):
    world.stage.answers = {HUB: [examples["a new report"]["answer"]]}
    screen = screens(client, "report")

    answer_all(screen)
    screen.wait_for(SEND)
    assert asked_at(world) == []
    screen.type("y")

    assert screen.ended() == 0
    [sent] = asked_at(world)
    assert json.loads(sent.body) == examples["a new report"]["request"]["body"]
    assert '"summary": "Step 3 names a flag that does not exist"' in screen.shown
    assert f"{SEND}{world.hub}? It may become a public issue. [y/N]" in screen.shown


def test_a_report_that_nobody_can_read_in_the_command_is_shown_first(
    client: CommandLine, world: World, screens: Any, examples: dict[str, Any]
):
    world.stage.answers = {HUB: [examples["a new report"]["answer"]]}
    body = examples["a new report"]["request"]["body"]
    text = urlsafe_b64encode(json.dumps(body).encode()).decode().rstrip("=")
    statuses = []

    for answer in ("", "y"):
        screen = screens(client, "report", "--base64", text)
        screen.wait_for(SEND)
        assert '"summary": "Step 3 names a flag that does not exist"' in screen.shown
        screen.type(answer)
        statuses.append(screen.ended())

    assert statuses == [2, 0]
    assert [json.loads(sent.body) for sent in asked_at(world)] == [body]


def test_what_was_pasted_before_the_question_is_no_yes(
    client: CommandLine, world: World, screens: Any
):
    screen = screens(client, "report")

    screen.wait_for(ANSWERS[0][0])
    screen.type("\n".join([*(answer for _, answer in ANSWERS), "y", "yes"]))
    screen.wait_for(SEND)
    screen.type("")

    assert screen.ended() == 2
    assert asked_at(world) == []


@pytest.mark.parametrize(("before", "after"), [("y", ""), ("ye", "s"), ("y\nno\ny", "")])
def test_what_was_typed_without_enter_before_the_question_is_no_part_of_the_answer(
    client: CommandLine, world: World, screens: Any, before: str, after: str
):
    screen = screens(client, "report", "--base64", BASE64)

    screen.type(before, end="")
    screen.wait_for(SEND)
    screen.type(after)

    assert screen.ended() == 2
    assert asked_at(world) == []


def test_ctrl_c_ends_it_while_what_was_typed_is_forgotten(
    client: CommandLine, world: World, screens: Any
):
    screen = screens(client, "report", "--base64", BASE64)

    screen.wait_for('"summary"')
    screen.type(INTERRUPT, end="")

    assert screen.ended() == 130
    assert asked_at(world) == []


def test_only_enter_ends_an_answer(client: CommandLine, world: World, screens: Any):
    screen = screens(client, "report", "--base64", BASE64)

    screen.wait_for(SEND)
    screen.type(f"y{END}{END}", end="")

    assert screen.ended() == 2
    assert asked_at(world) == []


def test_only_what_is_missing_is_asked(
    client: CommandLine, world: World, screens: Any, examples: dict[str, Any]
):
    world.stage.answers = {HUB: [examples["a new report"]["answer"]]}
    flags = ["--doc-url", "docs/install.md", "--agent", "claude-code", "--kind", "incorrect"]
    screen = screens(client, "report", *flags)

    answer_all(screen, [ANSWERS[2], (SEND, "YES")])

    assert screen.ended() == 0
    assert len(asked_at(world)) == 1
    assert "Which page?" not in screen.shown


@pytest.mark.parametrize("answer", ["", "n", "no", "maybe", "ja"])
def test_what_is_not_confirmed_is_not_sent(
    client: CommandLine, world: World, screens: Any, answer: str
):
    screen = screens(client, "report")

    answer_all(screen, [*ANSWERS, (SEND, answer)])

    assert screen.ended() == 2
    assert "Error: Nothing was sent." in screen.shown
    assert asked_at(world) == []


@pytest.mark.parametrize("answers", range(5))
@pytest.mark.parametrize(("key", "status"), [(INTERRUPT, 130), (END, 2)])
def test_ctrl_c_and_ctrl_d_at_any_question_send_nothing(
    client: CommandLine, world: World, screens: Any, answers: int, key: str, status: int
):
    screen = screens(client, "report")

    answer_all(screen, ANSWERS[:answers])
    screen.wait_for([*ANSWERS, (SEND, "")][answers][0])
    screen.type(key, end="")

    assert screen.ended() == status
    assert asked_at(world) == []
    if key == INTERRUPT:
        assert re.search(r"^Interrupted\.$", screen.shown, re.MULTILINE)


def test_a_wrong_answer_is_asked_for_again(client: CommandLine, world: World, screens: Any):
    screen = screens(client, "report", "--dry-run")

    answer_all(screen, [("Which page?", "http://docs.example.com/")])
    answer_all(screen, [("Which page?", PAGE), ("What is wrong with it:", "wrong")])
    answer_all(screen, [("What is wrong with it:", "missing"), ("In one line,", "")])
    answer_all(screen, ANSWERS[2:])

    assert screen.ended() == 0
    assert "Only https pages can be reported" in screen.shown
    assert "Unknown kind: wrong." in screen.shown
    assert "This field is required." in screen.shown
    assert SEND not in screen.shown  # a dry run sends nothing


def test_three_wrong_answers_are_enough(client: CommandLine, world: World, screens: Any):
    screen = screens(client, "report")

    answer_all(screen, [("Which page?", "")] * 3)

    assert screen.ended() == 2
    assert "Missing: --doc-url." in screen.shown


def test_who_has_set_no_hub_is_asked_for_it_before_the_report_is_shown(
    client: CommandLine, world: World, screens: Any, examples: dict[str, Any]
):
    world.stage.answers = {HUB: [examples["a new report"]["answer"]]}
    screen = screens(client, "report", DOCFEEDBACK_HUB_URL="")

    answer_all(screen, [*ANSWERS, ("Which Hub?", "hub"), ("Which Hub?", world.hub), (SEND, "y")])

    assert screen.ended() == 0
    assert len(asked_at(world)) == 1
    assert "That is not the address of a Hub, such as https://hub.example.com: hub" in screen.shown
    assert f"{SEND}{world.hub}?" in screen.shown


@pytest.mark.parametrize(
    ("key", "end", "status"), [("hub", "\n", 2), (END, "", 2), (INTERRUPT, "", 130)]
)
def test_who_names_no_hub_sends_nothing(
    client: CommandLine, world: World, screens: Any, key: str, end: str, status: int
):
    screen = screens(client, "report", DOCFEEDBACK_HUB_URL="")

    answer_all(screen)
    for _ in range(3 if end else 1):
        screen.wait_for("Which Hub?")
        screen.type(key, end=end)

    assert screen.ended() == status
    assert SEND not in screen.shown


def test_the_hub_may_be_left_to_the_page(client: CommandLine, world: World, screens: Any):
    screen = screens(client, "report", DOCFEEDBACK_HUB_URL="")
    page = ("Which page?", "https://docs.pyth\u043en.org/3/")  # its o is a Cyrillic one

    answer_all(screen, [page, *ANSWERS[1:], ("Which Hub?", ""), (SEND, "n")])

    assert screen.ended() == 2
    assert f"{SEND}the Hub that docs.xn--pythn-mye.org names?" in screen.shown


def test_a_path_names_no_hub(client: CommandLine, world: World, screens: Any):
    screen = screens(client, "report", DOCFEEDBACK_HUB_URL="")

    answer_all(screen, [*ANSWERS, ("Which Hub?", "")])

    assert screen.ended() == 2
    assert SEND not in screen.shown
    assert "Error: No Hub is set." in screen.shown


@pytest.mark.parametrize(
    ("details", "shown"),
    [
        *((f"a{c}b", f"a{json.dumps(c)[1:-1]}b") for c in NOBODY_SEES),
        ("\u2800 " * 50 + "end", "\\u2800 " * 50 + "end"),
        ("Z" + "\u0308" * 300, "Z" + "\u0308" * 8 + "\\u0308" * 292),
        ("end" + " " * 1500 + "ssh", "end" + r"\u0020" * 1500 + "ssh"),
        ("four    spaces, שלום, 日本語, 😀", "four    spaces, שלום, 日本語, 😀"),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_all_that_is_sent_is_seen(
    client: CommandLine, world: World, screens: Any, details: str, shown: str
):
    body = {"protocol_version": "0", "doc_url": "x.md", "agent": {"name": "x"}}
    body["report"] = {"kind": "other", "summary": "x", "details": details}
    text = urlsafe_b64encode(json.dumps(body).encode()).decode().rstrip("=")
    words = ["report", "--base64", text]

    dry = client.run([*words, "--dry-run"], cwd=world.folder, env=world.environment)
    screen = screens(client, *words)
    answer_all(screen, [(SEND, "n")])

    assert screen.ended() == 2
    assert json.loads(dry.stdout) == body
    for lines in (dry.stdout, screen.shown):
        assert f'    "details": "{shown}"\n' in lines


def test_a_host_that_looks_like_another_is_told_apart(
    client: CommandLine, world: World, screens: Any
):
    body = {**REPORT, "doc_url": "https://docs.ex\u0430mple.com/install"}
    text = urlsafe_b64encode(json.dumps(body).encode()).decode().rstrip("=")

    screen = screens(client, "report", "--base64", text)
    answer_all(screen, [(SEND, "n")])

    assert screen.ended() == 2
    note = "Note: The host of the page is docs.xn--exmple-4nf.com: it has letters that may look like others."
    assert f"\n{note}\n{SEND}{world.hub}?" in screen.shown


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        (["report", "--json"], {}),
        (["report"], {"CI": "true"}),
        (["report", "--details", "-"], {}),
    ],
)
def test_programs_are_not_asked_at_a_terminal(
    client: CommandLine, world: World, screens: Any, words: list[str], changes: dict[str, str]
):
    screen = screens(client, *words, **changes)

    assert screen.ended() == 2
    assert "Missing: --doc-url, --summary, --agent, --kind." in screen.shown
    assert "Which page?" not in screen.shown


def test_a_complete_command_is_sent_without_a_question(
    client: CommandLine, world: World, screens: Any, examples: dict[str, Any]
):
    world.stage.answers = {HUB: [examples["a new report"]["answer"]]}
    flags = ["--doc-url", "docs/install.md", "--agent", "claude-code", "--kind", "incorrect"]

    screen = screens(client, "report", *flags, "--summary", "Step 3 fails")

    assert screen.ended() == 0
    assert SEND not in screen.shown


def test_an_answer_cannot_steer_the_terminal(client: CommandLine, world: World, screens: Any):
    screen = screens(client, "report")

    answer_all(screen, [*ANSWERS[:2], ("In one line,", "a \x1b]0;title\x07 b\u202e"), ANSWERS[3]])
    screen.wait_for(SEND)

    report = screen.shown[screen.shown.rindex('"summary"') :]
    assert not {"\x1b", "\x07", "\u202e"} & set(report)
