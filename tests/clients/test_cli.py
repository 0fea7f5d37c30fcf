"""Both command lines against the tables of `clients/contract`, explained in its README."""

import json
import os
import pty
import re
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from tests.clients import repositories
from tests.clients.command_line import CommandLine
from tests.clients.conftest import COMMAND_LINES, CONTRACT, World
from tests.clients.stand_ins import HUB, Asked

SIGN_IN = json.loads((CONTRACT / "sign_in.json").read_text())
OUTCOMES = json.loads((CONTRACT / "outcomes.json").read_text())
KNOWN = json.loads((CONTRACT / "known.json").read_text())
TABLES = ["cli.json", "first_minute.json", "refusals.json", "paths.json"]
CASES = [case for name in TABLES for case in json.loads((CONTRACT / name).read_text())]
CASES += SIGN_IN["cases"] + OUTCOMES["cases"] + KNOWN["cases"]
PATH_NOTE = re.compile(r"^Note: .* is reported as a path, which reaches nobody: .*\n", re.MULTILINE)
TIMES = re.compile(r'"at":"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"')
CLOCK = re.compile(r"^[0-9]{2}:[0-9]{2}:[0-9]{2} ", re.MULTILINE)
SIGN_IN_COMMANDS = {"login", "logout", "me", "reports"}  # which ask for several things
PLACEHOLDERS = {
    "@report": [
        *("--doc-url", "docs/install.md", "--agent", "claude-code", "--kind", "incorrect"),
        *("--summary", "Step 3 names a flag that does not exist"),
    ],
    "@secret": ["Use ghp" + "_abcdefghijklmnopqrstuvwABC0123456789"],
    "@token": ["ghp" + "_abcdefghijklmnopqrstuvwABC0123456789"],
    "@8001": "x" * 8001,
    "@deep": '{"protocol_version": "0", "doc_url": "x", "agent": {"name": "x"}, "report": '
    '{"kind": "other", "summary": "x", "details": ' + "[" * 3000 + "]" * 3000 + "}}",
    "@large": '{"protocol_version": "0", "doc_url": "x.md", "agent": {"name": "x"}, "report": '
    '{"kind": "other", "summary": "x", "evidence": ['
    + ", ".join(['{"kind": "quote", "text": "' + "x" * 4000 + '"}'] * 17)
    + "]}}",
}

INTERRUPTED_IMPORT = """
import sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
"""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_it_does_what_the_table_says(
    case: dict[str, Any], client: CommandLine, world: World, examples: dict[str, Any]
):
    answers = {name: each["answer"] for name, each in examples.items()}
    answers |= world.filled(SIGN_IN["answers"] | OUTCOMES["answers"] | KNOWN["answers"])
    case = world.filled(case)
    _prepare(case, world, answers)

    ended = client.run(
        [word for arg in case["args"] for word in PLACEHOLDERS.get(arg, [arg])],
        cwd=world.folder / case.get("in", "."),
        env=_environment(case, world),
        stdin=PLACEHOLDERS.get(case.get("stdin"), case.get("stdin", "")),
        interrupt_after=world.stage.arrived if case.get("interrupt") else None,
    )

    assert ended.exit == case.get("exit", 0)
    _check_errors(case, ended.stderr, world)
    _check_output(case, ended.stdout, answers)
    _check_requests(case, world)
    _check_kept(case, world)
    _check_config(case, world)


def test_nothing_is_colored_on_a_terminal(client: CommandLine, world: World):
    controller, terminal = pty.openpty()

    for words in (["--help"], ["repot"], ["report", "@report"]):
        subprocess.run(
            [*client.command, *words],
            cwd=world.folder,
            env=world.environment | {"TERM": "xterm-256color", "FORCE_COLOR": "1"},
            stdout=terminal,
            stderr=terminal,
        )
    os.close(terminal)
    printed = _all_of(controller)

    assert b"Unknown command: repot." in printed
    assert b"\x1b" not in printed


def _all_of(controller: int) -> bytes:
    """What was printed on a terminal whose programs have ended."""
    printed = b""
    with open(controller, "rb", buffering=0) as screen, suppress(OSError):
        while data := screen.read(65536):
            printed += data
    return printed


@pytest.mark.parametrize("output", ["| true", "> /dev/full", ">&-", "2>&-"])
def test_an_output_that_takes_nothing_gives_no_traceback(
    client: CommandLine, world: World, output: str
):
    shell = CommandLine(["sh", "-c", f'"$@" {output}', "sh", *client.command])

    ended = shell.run(["completion", "bash"], cwd=world.folder, env=world.environment)

    assert ended.stderr == ""


def test_an_error_that_cannot_be_written_is_a_failure(client: CommandLine, world: World):
    shell = CommandLine(["sh", "-c", '"$@" 2> /dev/full', "sh", *client.command])

    ended = shell.run(["completion"], cwd=world.folder, env=world.environment)

    assert ended.exit == 1


BROKEN_PYTHON = """import json
class RangeError(Exception):
    pass
def dumps(*_, **__):
    raise RangeError
json.dumps = dumps
"""
BROKEN_NODE = """const whole = JSON.stringify;
JSON.stringify = (value, ...how) => {
  if (value?.protocol_version) throw new RangeError();
  return whole(value, ...how); // which a newer Node asks while it starts
};
"""


@pytest.mark.parametrize("module", ["docfeedback.cli", "docfeedback.client", "http.client"])
def test_ctrl_c_while_python_loads_gives_no_traceback(world: World, module: str):
    (world.folder / "sitecustomize.py").write_text(INTERRUPTED_IMPORT.format(module=module))
    python_path = f"{world.folder}:{world.environment['PYTHONPATH']}"

    ended = COMMAND_LINES["python"].run(
        ["me"], cwd=world.folder, env=world.environment | {"PYTHONPATH": python_path}
    )

    assert (ended.exit, ended.stdout, ended.stderr) == (130, "", "")


def test_json_holds_no_character_that_nobody_sees(client: CommandLine, world: World):
    hidden = "Step\u202e 3\u200b\x7f\U000e0041 fails"
    words = [*PLACEHOLDERS["@report"], "--details", hidden, "--dry-run", "--json"]

    ended = client.run(["report", *words], cwd=world.folder, env=world.environment)

    assert json.loads(ended.stdout)["report"]["report"]["details"] == hidden
    assert ended.stdout.strip().isprintable()


def _of_many(number: int) -> dict[str, tuple[list[str], dict[str, Any]]]:
    """By the first words of each line: a command, and an answer of a Hub with so many of these."""
    domain, site = (
        {"domain": "acme.dev", "status": "x"},
        {"url": "https://acme.dev", "status": "x"},
    )
    owner = {"id": "x", "name": "x", "integration": None, "domains": [], "sites": []}
    problem = {"issue_url": "https://github.com/acme/docs/issues/1", "kind": "other"}
    notice = {"field": "/report/summary", "kind": "JWT"}
    fault = {"path": "", "message": "No."}
    report, page = ["report", *PLACEHOLDERS["@report"]], "https://docs.acme.com/install"
    return {
        '  "No."': (report, {"status": 400, "body": {"details": [fault] * number}}),
        "Note: The Hub removed": (
            report,
            {"status": 201, "body": {"id": "x", "notices": [notice] * number}},
        ),
        "Domain:": (["me"], {"status": 200, "body": {**owner, "domains": [domain] * number}}),
        "Site:": (["me"], {"status": 200, "body": {**owner, "sites": [site] * number}}),
        "- (erased)": (
            ["known", page],
            {"status": 200, "body": {"url": page, "problems": [problem] * number}},
        ),
    }


@pytest.mark.parametrize("number", [100, 101, 808])
@pytest.mark.parametrize("begins", _of_many(0))
def test_of_a_long_list_of_a_hub_a_hundred_are_shown(
    client: CommandLine, world: World, begins: str, number: int
):
    words, answer = _of_many(number)[begins]
    world.stage.answers = {HUB: [answer]}

    ended = client.run(
        words, cwd=world.folder, env=world.environment | {"DOCFEEDBACK_TOKEN": "secret-1"}
    )

    lines = (ended.stdout + ended.stderr).splitlines()
    assert sum(line.startswith(begins) for line in lines) == 100
    more = [line for line in lines if f"And {number - 100} more." in line]
    assert len(more) == (number > 100)


@pytest.mark.parametrize("flags", ["@report --details -", "--file -"])
def test_a_standard_input_that_is_closed_is_told(client: CommandLine, world: World, flags: str):
    shell = CommandLine(["sh", "-c", '"$@" <&-', "sh", *client.command])
    words = [word for flag in flags.split() for word in PLACEHOLDERS.get(flag, [flag])]

    ended = shell.run(["report", *words], cwd=world.folder, env=world.environment)

    assert ended.stderr == "Error: Standard input cannot be read: it is empty.\n"
    assert ended.exit == 2


@pytest.mark.parametrize("flags", ["@report --details -", "--file -", "--file /dev/stdin"])
def test_a_stream_without_an_end_is_not_read_to_its_end(
    client: CommandLine, world: World, flags: str
):
    shell = CommandLine(["sh", "-c", 'yes | "$@"', "sh", *client.command])
    words = [word for flag in flags.split() for word in PLACEHOLDERS.get(flag, [flag])]

    ended = shell.run(["report", *words], cwd=world.folder, env=world.environment)

    name = "/dev/stdin" if "/dev/stdin" in flags else "Standard input"
    reason = "it is over 1 MiB, and a report has at most 64 KiB"
    assert ended.stderr == f"Error: {name} cannot be read: {reason}.\n"
    assert ended.exit == 2
    assert not world.stage.asked.get(HUB)


def test_a_report_of_a_huge_file_is_refused(client: CommandLine, world: World):
    with (world.folder / "report.json").open("wb") as file:
        file.truncate(3 << 30)

    ended = client.run(["report", "--file", "report.json"], cwd=world.folder, env=world.environment)

    reason = "it is over 1 MiB, and a report has at most 64 KiB"
    assert ended.stderr == f"Error: report.json cannot be read: {reason}.\n"
    assert ended.exit == 2


def test_an_internal_error_before_a_request_says_that_nothing_was_sent(
    client: CommandLine, world: World
):
    (world.folder / "sitecustomize.py").write_text(BROKEN_PYTHON)
    (world.folder / "broken.mjs").write_text(BROKEN_NODE)
    python_path = f"{world.folder}:{world.environment['PYTHONPATH']}"
    changed = {"PYTHONPATH": python_path, "NODE_OPTIONS": f"--import {world.folder}/broken.mjs"}
    words = ["report", *PLACEHOLDERS["@report"], "--dry-run"]

    ended = client.run(words, cwd=world.folder, env=world.environment | changed)

    sentence = "Error: internal error in docfeedback (RangeError). Nothing was sent."
    assert ended.stderr.splitlines()[-1] == sentence
    assert ended.exit == 2


def test_a_device_is_no_report(client: CommandLine, world: World):
    ended = client.run(["report", "--file", "/dev/zero"], cwd=world.folder, env=world.environment)

    assert ended.stderr == "Error: /dev/zero cannot be read: it is not a regular file.\n"
    assert ended.exit == 2


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["docfeedback", "st"], "status"),
        (["docfeedback", "report", "--su"], "--summary --suggested-fix"),
        (["docfeedback", "report", "--kind", "in"], "incorrect"),
        (["docfeedback", "init", "--re"], "--remove"),
        (["docfeedback", "completion", "f"], "fish"),
        (["docfeedback", "me", "--js"], "--json"),
    ],
)
def test_bash_completes_what_is_typed(world: World, typed: list[str], offered: str):
    script = (CONTRACT / "completion" / "docfeedback.bash").read_text()
    ask = 'COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))\n_docfeedback\necho "${COMPREPLY[*]}"'

    bash = CommandLine(["bash", "-c", f"{script}\n{ask}", "bash", *typed])

    assert bash.run([], cwd=world.folder, env=world.environment).stdout == f"{offered}\n"


@pytest.mark.parametrize("command", ["report", "init"])
@pytest.mark.parametrize(
    "name",
    ["x$(touch${IFS}ran)", "x`touch ran`", "x;touch ran", "x\n$(touch ran)", "x$(touch ran)/y"],
)
def test_bash_quotes_the_name_of_a_file(world: World, command: str, name: str):
    path = world.folder / name
    path.parent.mkdir(exist_ok=True)
    path.touch()

    typed = f"docfeedback {command} --file x\t" + ("y\t" if "/" in name else "")

    assert _run_by_bash(world, typed) == f"{command}\0--file\0{name}\0"
    assert not (world.folder / "ran").exists()


def test_a_bash_that_cannot_quote_the_name_of_a_file_offers_none(world: World):
    (world.folder / "x$(touch${IFS}ran)").touch()

    ran = _run_by_bash(world, "docfeedback report --file x\t", "enable -n compopt")  # as bash 3.2

    assert ran == "report\0--file\0x\0"
    assert not (world.folder / "ran").exists()


def _run_by_bash(world: World, typed: str, *before: str) -> str:
    """The arguments with which a person's bash runs the command line once this is typed."""
    ran = world.home / "arguments"
    lines = [
        *before,
        f"source {CONTRACT}/completion/docfeedback.bash",
        f"docfeedback() {{ printf '%s\\0' \"$@\" > {ran}; }}",
        typed,
        "exit",
    ]
    process, screen = pty.fork()
    if process == 0:
        os.chdir(world.folder)
        ready = {"PS1": "ready> ", "TERM": "dumb", "INPUTRC": "/dev/null"}
        os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], world.environment | ready)
    shown = b""
    with os.fdopen(screen, "r+b", buffering=0) as terminal, suppress(OSError):
        while chunk := terminal.read(1024):
            shown += chunk
            if shown.endswith(b"ready> ") and lines:
                terminal.write(f"{lines.pop(0)}\n".encode())
    os.waitpid(process, 0)
    return ran.read_text()


def _prepare(case: dict[str, Any], world: World, named: dict[str, Any]) -> None:
    hosts = case.get("web", {}) | {HUB: case.get("hub", [])}
    for host, answers in hosts.items():
        world.stage.answers[host] = [
            named[answer] if isinstance(answer, str) else answer for answer in answers
        ]
    if case.get("repository") is not None:
        repositories.make(world.folder, **case["repository"])
    for name, content in case.get("files", {}).items():
        (world.folder / name).write_text(_text(content))
    if "config" in case:
        path = world.home / "config" / "docfeedback" / "config.json"
        path.parent.mkdir(parents=True)
        path.write_text(_text(case["config"]))
    if "sign_in" in case:
        path = _sign_in(case, world)
        path.parent.mkdir(parents=True)
        owner = {"hub_url": case.get("sign_in_at", world.hub)}
        sign_in = case["sign_in"]
        path.write_text(_text(owner | sign_in if isinstance(sign_in, dict) else sign_in))
        path.chmod(case.get("sign_in_mode", 0o600))
    world.stage.awaited = int(case.get("interrupt", 0))


def _environment(case: dict[str, Any], world: World) -> dict[str, str]:
    """The world's, with the case's changes; null takes a variable away."""
    changed = world.hurried | case.get("env", {})
    return {name: value for name, value in changed.items() if value is not None}


def _text(content: Any) -> str:
    if isinstance(content, str):
        return PLACEHOLDERS.get(content, content)
    return json.dumps(content)


def _lines(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _sign_in(case: dict[str, Any], world: World) -> Path:
    return world.sign_in_at(case.get("sign_in_at", world.hub))


def _check_errors(case: dict[str, Any], stderr: str, world: World) -> None:
    stderr = stderr if "repository" in case else PATH_NOTE.sub("", stderr)
    if "stderr_has" not in case:
        assert stderr.replace(str(_sign_in(case, world)), "{sign_in}") == _lines(
            case.get("stderr", [])
        )
        return
    shown = re.sub(r"\b[0-9]+ ms\b", "0 ms", stderr)
    assert [line for line in case["stderr_has"] if line not in shown.splitlines()] == []
    verbose = "\n".join(line for line in shown.splitlines() if line[:1] in "<>")
    assert [text for text in case.get("verbose_lacks", []) if text in verbose] == []


def _check_config(case: dict[str, Any], world: World) -> None:
    """The configuration file in the end: only its owner reads one that was written; no draft, no lock."""
    if "config_kept" not in case:
        return
    path, expected = world.home / "config" / "docfeedback" / "config.json", case["config_kept"]
    if expected is None:
        assert not path.exists()
        return
    kept = path.read_text()
    assert kept == expected if isinstance(expected, str) else json.loads(kept) == expected
    if expected != case.get("config"):
        assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in path.parent.iterdir() if each.is_file()] == [path.name]


def _check_output(case: dict[str, Any], stdout: str, answers: dict[str, Any]) -> None:
    version = json.loads((CONTRACT.parent / "node" / "package.json").read_text())["version"]
    expected = case.get("json")
    if "json_answer" in case:
        answer = answers[case["json_answer"]]
        retry = answer["headers"].get("Retry-After")
        expected = answer["body"] | ({"retry_after": int(retry)} if retry else {})
        expected |= case.get("json_more", {})
        if "error" in expected:
            words = expected["message"].replace('"', "'")
            expected["message"] = f'The Hub says: "{words}"'
    if "json_lines" in case:
        told = TIMES.sub('"at":"{time}"', stdout)
        assert [json.loads(line) for line in told.splitlines()] == case["json_lines"]
    elif expected is not None:
        assert json.loads(stdout.replace(version, "{version}")) == expected
        assert stdout.count("\n") == 1
    elif "stdout_file" in case:
        assert stdout == (CONTRACT / case["stdout_file"]).read_text()
    else:
        told = CLOCK.sub("{time} ", stdout)
        assert told == _lines(case.get("stdout", [])).replace("{version}", version)


def _check_requests(case: dict[str, Any], world: World) -> None:
    for host, times in case.get("asked", {}).items():
        assert len(world.stage.asked.get(host, [])) == times
    asked = world.stage.asked.get(HUB, [])
    if _gives_up_soon(case):  # perhaps before its request arrives
        assert len(asked) <= len(case["hub"])
    elif not case.get("endless"):
        assert len(asked) == len(case.get("hub", []))
    if not SIGN_IN_COMMANDS & {*case["args"]}:
        assert len({(one.method, one.path, one.body) for one in asked}) <= 1
    for one, request in zip(asked, case.get("requests", [case.get("request", {})]), strict=False):
        _check_request(request, one)


def _gives_up_soon(case: dict[str, Any]) -> bool:
    return case.get("env", {}).get("DOCFEEDBACK_TIMEOUT", "").startswith("0.")


def _check_request(request: dict[str, Any], asked: Asked) -> None:
    for name, expected in request.items():
        if name == "headers":
            sent = {header.lower(): value for header, value in asked.headers.items()}
            assert {key: sent.get(key.lower()) for key in expected} == expected
        elif name == "body":
            assert json.loads(asked.body) == expected
        elif name == "form":
            assert dict(parse_qsl(asked.body.decode(), strict_parsing=True)) == expected
        else:
            assert getattr(asked, name) == expected


def _check_kept(case: dict[str, Any], world: World) -> None:
    """The sign-in that is there in the end; no lock, no draft, and nobody else reads it."""
    path = _sign_in(case, world)
    expected = case.get("kept", {})
    if expected is None:
        assert not path.exists()
    if expected:
        kept = json.loads(path.read_text())
        assert {name: kept[name] for name in expected} == expected
    if path.parent.exists():
        assert {each.name for each in path.parent.iterdir()} <= {path.name}
    if path.exists():
        assert path.stat().st_mode & 0o777 == case.get("sign_in_mode", 0o600)
