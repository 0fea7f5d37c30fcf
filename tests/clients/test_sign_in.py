"""`login`, `me` and `logout` of both clients at a real Hub, and what they keep on the machine."""

import contextlib
import json
import os
import pty
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from allauth.idp.oidc.models import Token

from orgs.models import Terminal, User
from tests import build
from tests.clients.command_line import CommandLine, Ended
from tests.clients.conftest import COMMAND_LINES, NODE, Sdk, World
from tests.clients.stand_ins import HUB
from tests.clients.test_cli import SIGN_IN
from tests.clients.test_config_file import NOBODY, OF_ANOTHER, only_root
from tests.orgs.terminals import terminal as terminals

LATER = 4102444800  # the year 2100
INTERVAL = 0.05  # seconds between two polls
EVERY = [each for name, each in COMMAND_LINES.items() if name == "python" or NODE]


@dataclass
class Desk:
    """alice at a terminal, with a browser at the same Hub."""

    hub: str
    world: World
    alice: User

    @property
    def environment(self) -> dict[str, str]:
        return self.world.hurried | {"DOCFEEDBACK_HUB_URL": self.hub}

    @property
    def path(self) -> Path:
        return self.world.sign_in_at(self.hub)

    def kept(self) -> dict[str, Any]:
        return json.loads(self.path.read_text())

    def change(self, **values: Any) -> None:
        """Change what is kept of the sign-in."""
        self.path.write_text(json.dumps(self.kept() | values))

    def run(self, client: CommandLine, *args: str) -> Ended:
        return client.run(args, cwd=self.world.folder, env=self.environment)

    def start(self, client: CommandLine, *args: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*client.command, *args],
            cwd=self.world.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def sign_in(self, client: CommandLine, answer: str = "approve") -> Ended:
        """`login`, and alice who answers in her browser."""
        with self.start(client, "login", "--json") as terminal:
            assert terminal.stderr is not None
            code = json.loads(terminal.stderr.readline())
            try:
                terminals.answer(self.alice, code, answer)
                stdout, stderr = terminal.communicate(timeout=120)
            finally:
                terminal.kill()
        return Ended(terminal.returncode, stdout, stderr)


@pytest.fixture
def desk(live_server, settings, code_host, monkeypatch, world: World) -> Desk:
    monkeypatch.setattr("orgs.terminals.codes.INTERVAL", INTERVAL)
    settings.HUB_BASE_URL = live_server.url
    alice = build.member(build.acme(code_host), "alice")
    return Desk(live_server.url, world, alice)


def test_from_the_sign_in_to_the_sign_out(client: CommandLine, desk: Desk):
    signed_in = json.loads(desk.sign_in(client).stdout)
    me = desk.run(client, "me")

    assert (signed_in["signed_in"], signed_in["scope"]) == (True, "orgs:read")
    assert (signed_in["login"], signed_in["organization"]) == ("alice", "acme")
    assert f"Hub: {desk.hub}\n" in me.stdout
    assert f"Signed in until: {signed_in['signed_in_until'][:10]}" in me.stdout
    assert "Organization: acme (" in me.stdout
    assert "Domain: docs.acme.com, verified\n" in me.stdout

    first = desk.kept()
    desk.change(expires_at=1)
    assert _but_for_the_time(desk.run(client, "me")) == _but_for_the_time(me)
    second = desk.kept()
    assert first["refresh_token"] != second["refresh_token"]

    Token.objects.filter(type=Token.Type.ACCESS_TOKEN).delete()  # the Hub's clock is ahead
    assert _but_for_the_time(desk.run(client, "me")) == _but_for_the_time(me)
    assert desk.kept()["access_token"] not in (first["access_token"], second["access_token"])

    signed_out = desk.run(client, "logout")
    after = desk.run(client, "me")

    assert signed_out.stdout == f"Signed out at {desk.hub}.\n"
    assert (Terminal.objects.count(), desk.path.exists()) == (0, False)
    assert after.stderr == (
        f"Error: You are not signed in at {desk.hub}. "
        "Run docfeedback login, or set DOCFEEDBACK_TOKEN.\n"
    )


def test_a_sign_in_that_was_ended_on_the_page_is_said_to_have_ended(
    client: CommandLine, desk: Desk
):
    desk.sign_in(client)
    Terminal.objects.all().sign_out()

    ended = desk.run(client, "me")

    assert ended.stderr == f"Error: Your sign-in at {desk.hub} has ended. Run docfeedback login.\n"
    assert ended.exit == desk.run(client, "me").exit == 2
    assert not desk.path.exists()


def test_a_sign_in_that_is_denied_keeps_nothing(client: CommandLine, desk: Desk):
    denied = desk.sign_in(client, "deny")

    assert json.loads(denied.stdout)["error"] == "sign_in_denied"
    assert (denied.exit, desk.path.exists()) == (1, False)


def test_a_second_sign_in_ends_the_first(client: CommandLine, desk: Desk):
    desk.sign_in(client)
    desk.sign_in(client)

    assert Terminal.objects.count() == 1
    assert desk.run(client, "me").exit == 0


def test_commands_at_once_refresh_once(desk: Desk):
    """A refresh token that is used twice ends the sign-in, so one of them refreshes for all."""
    desk.sign_in(EVERY[0])
    desk.change(expires_at=1)

    with contextlib.ExitStack() as stack:
        at_once = [stack.enter_context(desk.start(each, "me")) for each in EVERY * 3]
        said = [each.communicate(timeout=120) for each in at_once]

    assert {stderr for _, stderr in said} == {""}
    assert len({stdout for stdout, _ in said}) == 1
    assert Token.objects.filter(type=Token.Type.ACCESS_TOKEN).count() == 2


def test_what_one_client_keeps_the_other_uses(desk: Desk):
    for one, other in zip(EVERY, reversed(EVERY), strict=True):
        desk.sign_in(one)

        assert desk.run(other, "me").stdout == desk.run(one, "me").stdout
        assert desk.run(other, "logout").exit == 0
        assert not desk.path.exists()


def test_tokens_are_never_shown(client: CommandLine, desk: Desk):
    shown = [desk.sign_in(client)]
    tokens = [desk.kept()["access_token"], desk.kept()["refresh_token"]]
    shown += [desk.run(client, *words) for words in (["me"], ["me", "--json"], ["logout"])]

    for ended in shown:
        assert [token for token in tokens if token in ended.stdout + ended.stderr] == []


@pytest.fixture
def open_umask() -> Iterator[None]:
    """What is made is open to everybody, unless its maker says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


def test_a_sign_in_is_never_open_to_others(sdk: Sdk, world: World, open_umask):
    path = world.sign_in_at("https://hub.acme.com:443")
    keep = {"do": "keep_sign_in", "hub_url": "https://hub.acme.com"}

    _, seen, _ = sdk.do(keep, {"do": "watch_drafts", "folder": str(path.parent)}, keep)

    assert [mode for _, mode in seen["result"]] == [0o600]
    assert path.stat().st_mode & 0o777 == 0o600
    folders = [path.parent, path.parent.parent]
    assert [folder.stat().st_mode & 0o777 for folder in folders] == [0o700, 0o700]
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_fifo_in_the_place_of_a_sign_in_is_not_waited_for(client: CommandLine, world: World):
    path = world.sign_in_at(world.hub)
    path.parent.mkdir(parents=True)
    os.mkfifo(path, 0o600)

    ended = client.run(["me"], cwd=world.folder, env=world.environment)

    assert ended.stderr == f"Error: {path} cannot be read: it is not a regular file.\n"


@pytest.mark.parametrize("spelled", ["HTTPS://Hub.Acme.com", "https://hub.acme.com:0443"])
def test_a_hub_is_known_in_every_spelling(sdk: Sdk, world: World, spelled: str):
    sdk.do({"do": "keep_sign_in", "hub_url": spelled})

    assert world.sign_in_at("https://hub.acme.com:443").exists()


def test_a_lock_that_was_left_behind_is_broken(client: CommandLine, world: World, examples):
    lock = _expired(world).with_suffix(".lock")
    lock.touch()
    os.utime(lock, (1, 1))
    world.stage.answers = {HUB: [{"status": 404, "body": {}}]}

    ended = client.run(["me"], cwd=world.folder, env=world.environment)

    assert "has no sign-in" in ended.stderr
    assert not lock.exists()


@pytest.mark.parametrize("ahead", [20, 0])
def test_a_lock_of_another_is_waited_for(sdk: Sdk, world: World, ahead: int):
    """Also where its time has not come yet."""
    lock = world.folder / "a.lock"
    lock.touch()
    os.utime(lock, (time.time() + ahead,) * 2)

    [waited] = sdk.do({"do": "lock", "path": str(lock), "then": "free"})

    assert waited["result"] == {"seen": [[0.05, True]], "left": False, "files": 0}


def test_only_one_of_those_who_wait_takes_over_what_was_left_behind(sdk: Sdk, world: World):
    lock = world.folder / "a.lock"
    lock.touch()
    os.utime(lock, (1, 1))

    [waited] = sdk.do({"do": "lock", "path": str(lock), "first": True, "then": "free"})

    assert waited["result"] == {"seen": [[0.05, True]], "left": False, "files": 0}


def test_the_lock_of_another_who_took_over_stays(sdk: Sdk, world: World):
    [ended] = sdk.do({"do": "lock", "path": str(world.folder / "a.lock"), "inside": True})

    assert ended["result"] == {"seen": [], "left": True, "files": 1}


def test_a_link_that_leads_nowhere_is_a_lock_that_was_left_behind(sdk: Sdk, world: World):
    lock = world.folder / "a.lock"
    lock.symlink_to("/nowhere/a.lock")
    later = time.time() + 1000
    os.utime(lock, (later, later), follow_symlinks=False)

    [ended] = sdk.do({"do": "lock", "path": str(lock)})

    assert len(ended["result"].pop("seen")) in (300, 301)  # for 15 seconds
    assert ended["result"] == {"left": False, "files": 0}


def test_nobody_waits_for_a_lock_for_ever(sdk: Sdk, world: World):
    lock = world.folder / "a.lock"
    lock.touch()

    [ended] = sdk.do({"do": "lock", "path": str(lock), "then": "taken"})

    assert ended == {"unusable": "locked"}
    assert lock.exists()


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_sign_out_leaves_nothing_of_a_write_that_was_cut_short(
    client: CommandLine, world: World, is_whole: bool
):
    path = _expired(world)
    other = path.with_name(".0123.json.docfeedback-0123456789ab")
    for draft in (path.with_name(f".{path.name}.docfeedback-0123456789ab"), other):
        draft.write_text("{")
    if not is_whole:
        path.unlink()
    world.stage.answers = {HUB: [{"status": 404, "body": {}}]}

    ended = client.run(["logout"], cwd=world.folder, env=world.environment)

    assert ended.exit == 0
    assert [each.name for each in path.parent.iterdir()] == [other.name]


def test_a_sign_out_leaves_nothing_where_a_link_leads(client: CommandLine, world: World):
    path = _expired(world)
    real = path.rename(world.home / "elsewhere.json")
    path.symlink_to(real)
    world.stage.answers = {HUB: [{"status": 404, "body": {}}]}

    ended = client.run(["logout"], cwd=world.folder, env=world.environment)

    assert ended.exit == 0
    assert not real.exists()
    assert [*path.parent.iterdir()] == []


def test_nor_does_it_delete_what_is_no_sign_in(client: CommandLine, world: World):
    path = _expired(world)
    notes = world.home / "notes.json"
    notes.write_text("{}")
    path.unlink()
    path.symlink_to(notes)

    ended = client.run(["logout"], cwd=world.folder, env=world.environment)

    assert ended.stdout == f"You were not signed in at {world.hub}.\n"
    assert notes.exists()
    assert [*path.parent.iterdir()] == []


def test_ctrl_c_leaves_no_lock(client: CommandLine, world: World):
    path = _expired(world)
    world.stage.answers = {HUB: [{"do": "hang"}]}

    ended = client.run(
        ["me"], cwd=world.folder, env=world.environment, interrupt_after=world.stage.arrived
    )

    assert ended.exit == 130
    assert [each.name for each in path.parent.iterdir()] == [path.name]


@only_root
@pytest.mark.parametrize("place", ["config", "config/docfeedback", "config/docfeedback/sign-ins"])
def test_a_sign_in_in_a_folder_of_another_user_is_neither_used_nor_kept(
    client: CommandLine, world: World, place: str
):
    path = _expired(world)
    os.chown(world.home / place, NOBODY, NOBODY)
    world.stage.answers = {HUB: [_discovery(world)]}

    used, kept = (
        client.run([command], cwd=world.folder, env=world.environment)
        for command in ("me", "login")
    )

    assert used.stderr == f"Error: {path} cannot be read: {OF_ANOTHER}.\n"
    assert kept.stderr == f"Error: {path} cannot be written: {OF_ANOTHER}.\n"
    assert [asked.method for asked in world.stage.asked[HUB]] == ["GET"]  # for `login`, no token


def test_a_folder_that_cannot_be_written_is_told_before_the_code(client: CommandLine, world: World):
    (world.home / "config").write_text("")
    world.stage.answers = {HUB: [_discovery(world)]}

    ended = client.run(["login"], cwd=world.folder, env=world.environment)

    path = world.sign_in_at(world.hub)
    assert (
        ended.stderr == f"Error: {path} cannot be written: a part of its path is not a directory.\n"
    )
    assert ended.exit == 2


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (Path.mkdir, "it is a directory"),
        (os.mkfifo, "it is not a regular file"),
        (lambda path: path.write_bytes(bytes((1 << 20) + 1)), "it is over 1 MiB"),
    ],
)
def test_what_cannot_be_replaced_is_told_before_the_code(
    client: CommandLine, world: World, make: Callable[[Path], Any], reason: str
):
    path = world.sign_in_at(world.hub)
    path.parent.mkdir(parents=True)
    make(path)
    world.stage.answers = {HUB: [_discovery(world)]}

    ended = client.run(["login"], cwd=world.folder, env=world.environment)

    assert (ended.exit, ended.stderr) == (2, f"Error: {path} cannot be read: {reason}.\n")


@pytest.mark.parametrize("command", ["me", "logout"])
def test_nobody_is_said_not_to_be_signed_in_where_that_is_not_known(
    client: CommandLine, world: World, command: str
):
    path = world.sign_in_at(world.hub)
    path.parent.parent.mkdir(parents=True)
    path.parent.symlink_to(path.parent.name)

    ended = client.run([command], cwd=world.folder, env=world.environment)

    reason = "its symbolic links form a loop"
    assert (ended.exit, ended.stderr) == (2, f"Error: {path} cannot be read: {reason}.\n")


def test_a_full_disk_ends_no_sign_in(client: CommandLine, desk: Desk):
    """A refresh token works once, so it is not used up for another that nobody can keep."""
    desk.sign_in(client)
    desk.change(expires_at=1)
    before = desk.path.read_bytes()
    full = CommandLine(["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *client.command])

    ended = desk.run(full, "me")

    assert ended.stderr == f"Error: {desk.path} cannot be written: the system refused.\n"
    assert desk.path.read_bytes() == before
    assert [*desk.path.parent.iterdir()] == [desk.path]
    assert desk.run(client, "me").exit == 0  # once there is room


@pytest.mark.parametrize(
    ("flags", "changed", "opened"),
    [
        ([], {}, True),
        (["--no-browser"], {}, False),
        ([], {"DISPLAY": ""}, False),
        ([], {"SSH_CONNECTION": "203.0.113.7 50000 203.0.113.8 22"}, False),
        ([], {"PATH": "/nowhere"}, False),
        ([], {"PATH": "."}, False),
        ([], {"PATH": ""}, False),
    ],
)
def test_a_browser_is_opened_only_where_a_person_sits(
    client: CommandLine, world: World, flags: list[str], changed: dict[str, str], opened: bool
):
    (world.home / "xdg-open").write_text("#!/bin/sh\n")
    (world.home / "xdg-open").chmod(0o755)
    shutil.copy(world.home / "xdg-open", world.folder)  # which is nobody's program
    path = f"{world.home}:{world.environment['PATH']}"
    code = SIGN_IN["answers"]["a code for a moment"]
    denied = SIGN_IN["answers"]["denied"]
    world.stage.answers = {HUB: [_discovery(world), world.filled(code), denied]}
    controller, terminal = pty.openpty()

    ended = subprocess.run(
        [*_absolute(client.command), "login", *flags],
        cwd=world.folder,
        env=world.hurried | {"PATH": path, "DISPLAY": ":0"} | changed,
        stdin=terminal,
        stdout=terminal,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(terminal)
    os.close(controller)

    assert ("This page is being opened in your browser.\n" in ended.stderr) == opened
    assert ended.stderr.endswith("Error: The sign-in was denied.\n")


def test_the_browser_is_not_given_the_token(client: CommandLine, world: World):
    """It goes on after the command, with all that it starts."""
    said = world.home / "said"
    os.mkfifo(said)
    (world.home / "xdg-open").write_text(f"#!/bin/sh\nenv > {said}\n")
    (world.home / "xdg-open").chmod(0o755)
    code = SIGN_IN["answers"]["a code for a moment"]
    denied = SIGN_IN["answers"]["denied"]
    world.stage.answers = {HUB: [_discovery(world), world.filled(code), denied]}
    controller, terminal = pty.openpty()
    given = {"PATH": f"{world.home}:{world.environment['PATH']}", "DISPLAY": ":0"}

    subprocess.run(
        [*_absolute(client.command), "login"],
        cwd=world.folder,
        env=world.hurried | given | {"DOCFEEDBACK_TOKEN": "secret-1"},
        stdin=terminal,
        stdout=terminal,
        stderr=subprocess.PIPE,
    )
    os.close(terminal)
    os.close(controller)

    environment = said.read_text()
    assert "DISPLAY=:0" in environment
    assert "secret-1" not in environment


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_a_program_of_the_current_folder_is_never_started(sdk: Sdk, platform: str):
    url = "https://hub.acme.com/device/"

    [opened] = sdk.do({"do": "open_browser", "platform": platform})

    assert (
        opened["result"]
        in {
            "win32": [
                [["os.startfile", url]],
                [["C:\\Windows\\System32\\rundll32.exe", "url.dll,FileProtocolHandler", url]],
            ],
            "darwin": [[["/usr/bin/open", url]]],
        }[platform]
    )


def test_a_sign_in_that_cannot_be_kept_is_ended_at_the_hub(client: CommandLine, world: World):
    told = [SIGN_IN["answers"][name] for name in ("sign-in", "a code", "tokens", "revoked")]
    world.stage.answers = {HUB: world.filled(told)}
    full = CommandLine(["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *client.command])

    ended = full.run(["login"], cwd=world.folder, env=world.hurried)

    path = world.sign_in_at(world.hub)
    assert ended.stderr.endswith(f"Error: {path} cannot be written: the system refused.\n")
    revoked = [asked.body for asked in world.stage.asked[HUB] if asked.path == "/oauth/revoke"]
    assert [body.split(b"&")[0] for body in revoked] == [b"token=refresh-2", b"token=access-2"]
    assert [*path.parent.iterdir()] == []


@pytest.mark.parametrize(
    ("answers", "pauses"),
    [
        (["pending", "pending"], [5, 5, 5]),
        (["slow", "pending", "slow"], [5, 10, 10, 15]),
        (["away", "away", "away", "away", "away"], [5, 10, 20, 40, 60, 60]),
        (["away", "away", "pending", "away"], [5, 10, 20, 5, 10]),
        (["busy", "pending"], [5, 7, 5]),
    ],
)
def test_the_hub_is_asked_as_often_as_it_says(
    sdk: Sdk, world: World, answers: Sequence[str], pauses: list[int]
):
    said: dict[str, dict[str, Any]] = {
        "pending": {"status": 400, "body": {"error": "authorization_pending"}},
        "slow": {"status": 400, "body": {"error": "slow_down"}},
        "away": {"do": "break"},
        "busy": {"status": 429, "headers": {"Retry-After": "7"}, "body": {}},
    }
    tokens = {"status": 200, "body": {"access_token": "a", "token_type": "bearer"}}
    world.stage.answers = {HUB: [*(said[each] for each in answers), tokens]}

    slept, _ = sdk.do({"do": "skip_pauses"}, {"do": "wait", "hub_url": world.hub})

    assert slept["result"] == pauses


@pytest.mark.parametrize(("said", "kept"), [(1e-9, 1), (0.999, 1), (1.5, 1.5), (0, 5), (5, 5)])
def test_the_hub_is_asked_once_a_second_at_most(sdk: Sdk, world: World, said: float, kept: float):
    code = world.filled(SIGN_IN["answers"]["a code"])
    world.stage.answers = {HUB: [code | {"body": code["body"] | {"interval": said}}]}

    [interval] = sdk.do({"do": "interval", "hub_url": world.hub})

    assert interval["result"] == kept


def _but_for_the_time(ended: Ended) -> list[str]:
    """Its lines, but for the one with the end of the sign-in, which may be rounded otherwise."""
    return [line for line in ended.stdout.splitlines() if not line.startswith("Signed in until")]


def _absolute(command: list[str]) -> list[str]:
    return [shutil.which(command[0]) or command[0], *command[1:]]


def _expired(world: World) -> Path:
    """Where a sign-in is kept whose access token has expired."""
    path = world.sign_in_at(world.hub)
    path.parent.mkdir(parents=True)
    kept = {"hub_url": world.hub, "access_token": "a", "expires_at": 1, "refresh_token": "r"}
    path.write_text(json.dumps(kept))
    path.chmod(0o600)
    return path


def _discovery(world: World) -> dict[str, Any]:
    names = ("device_authorization_endpoint", "token_endpoint")
    return {"status": 200, "body": dict.fromkeys(names, f"{world.hub}/oauth")}
