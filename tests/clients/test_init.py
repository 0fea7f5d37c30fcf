"""`init` of both clients: one table (`clients/contract/init.json`), and what no table can hold."""

import json
import os
import pty
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.clients.command_line import CommandLine, Ended
from tests.clients.conftest import CONTRACT, Sdk, World

MOST_BYTES = 1 << 20
ABSENT = "There is no first-party block in AGENTS.md. Run docfeedback init."
CASES = json.loads((CONTRACT / "init.json").read_text())
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="nobody else can give a file away")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_it_does_what_the_table_says(case: dict[str, Any], client: CommandLine, world: World):
    case = _filled(case, world)
    _write(world.folder, case.get("before", {}))
    _write(world.home, case.get("home_before", {}))
    _link(world.folder, case.get("links", {}))
    _link(world.home, case.get("home_links", {}))
    changed = world.environment | case.get("env", {})

    ended = client.run(
        case["args"],
        cwd=world.folder / case.get("in", "."),
        env={name: value for name, value in changed.items() if value is not None},
    )

    assert ended.stderr == "".join(f"{line}\n" for line in case.get("stderr", []))
    assert ended.exit == case.get("exit", 0)
    if "json" in case:
        assert json.loads(ended.stdout) == case["json"]
    else:
        assert ended.stdout == "".join(f"{line}\n" for line in case.get("stdout", []))
    assert _read(world.folder) == {name: text.encode() for name, text in case["after"].items()}
    assert _read(world.home) == {name: text.encode() for name, text in case.get("home", {}).items()}


def test_a_second_time_changes_no_byte(client: CommandLine, world: World):
    (world.folder / "AGENTS.md").write_bytes(b"# R\xe8gles\r\n\xff\x00 not UTF-8\r\n")
    _init(client, world)
    first = (world.folder / "AGENTS.md").read_bytes()

    elsewhere = world.environment | {"DOCFEEDBACK_HUB_URL": "https://elsewhere.acme.com"}
    client.run(["init"], cwd=world.folder, env=elsewhere)

    assert (world.folder / "AGENTS.md").read_bytes() == first
    assert first.startswith(b"# R\xe8gles\r\n\xff\x00 not UTF-8\r\n\r\n<!-- docfeedback:begin")


def test_removing_gives_the_old_bytes_back(client: CommandLine, world: World):
    before = b"\xef\xbb\xbf# R\xc3\xa8gles\r\n\r\n\r\nlast \xff line"
    (world.folder / "AGENTS.md").write_bytes(before)
    _init(client, world)

    _init(client, world, "--remove")

    assert (world.folder / "AGENTS.md").read_bytes() == before


def test_a_symbolic_link_stays_one(client: CommandLine, world: World):
    (world.folder / "docs").mkdir()
    (world.folder / "docs" / "rules.md").write_text("a\n")
    (world.folder / "AGENTS.md").symlink_to("docs/rules.md")

    ended = _init(client, world)

    assert ended.exit == 0
    assert (world.folder / "AGENTS.md").readlink() == Path("docs/rules.md")
    assert (world.folder / "docs" / "rules.md").read_text().startswith("a\n\n<!-- docfeedback")


def test_a_link_to_nothing_gets_its_file(client: CommandLine, world: World):
    (world.folder / "AGENTS.md").symlink_to("rules.md")

    _init(client, world)

    assert (world.folder / "AGENTS.md").is_symlink()
    assert "docfeedback:begin" in (world.folder / "rules.md").read_text()


def test_removing_leaves_a_link_and_an_empty_file(client: CommandLine, world: World):
    (world.folder / "AGENTS.md").symlink_to("rules.md")
    _init(client, world)

    _init(client, world, "--remove")

    assert (world.folder / "AGENTS.md").is_symlink()
    assert (world.folder / "rules.md").read_bytes() == b""


def test_links_in_a_loop_are_told(client: CommandLine, world: World):
    (world.folder / "AGENTS.md").symlink_to("AGENTS.md")

    ended = _init(client, world)

    reason = "its symbolic links form a loop"
    assert (ended.exit, ended.stderr) == (2, f"Error: AGENTS.md cannot be read: {reason}.\n")


@pytest.mark.parametrize(
    "link",
    [
        "AGENTS.md",
        ".cursor",
        ".cursor/rules",
        ".github",
        ".github/copilot-instructions.md",
        "docs/.git",
        ".git",
    ],
)
@pytest.mark.parametrize("target", ["{other}/x", "{up}other/x", "{up}other-way", "{folder}/way/x"])
def test_nothing_outside_the_repository_is_looked_at(
    sdk: Sdk, world: World, link: str, target: str
):
    """An automounter would ask the network for the host in `/net/<host>/x`."""
    here, other = world.folder / "docs", world.folder.parent / "other"
    (other / "x").mkdir(parents=True)
    here.mkdir()
    if link != ".git":
        _write(world.folder, {".git/HEAD": "ref: refs/heads/main\n"})
    up = "../" * (link.count("/") + 1)
    target = target.format(other=other, up=up, folder=world.folder)
    _link(world.folder, {link: target, "way": "../other", "../other-way": "other"})

    seen, _ = sdk.do({"do": "watch_looks"}, {"do": "init", "folder": str(here)})

    assert seen["result"]
    looks = [_place(here / path, is_followed) for path, is_followed in seen["result"]]
    assert [place for place in looks if place.startswith(str(other))] == []


def _place(path: Path, is_followed: bool) -> str:
    """What the system looks at, through links."""
    return (
        os.path.realpath(path) if is_followed else os.path.realpath(path.parent) + f"/{path.name}"
    )


@only_root
@pytest.mark.parametrize(
    ("links", "theirs"),
    [
        ({"AGENTS.md": "docs/copilot-instructions.md"}, "AGENTS.md"),
        ({"AGENTS.md": "a/copilot-instructions.md", "a": "docs"}, "a"),
        ({".github": "docs"}, ".github"),
    ],
)
def test_a_link_of_another_user_is_not_followed(
    client: CommandLine, world: World, links: dict[str, str], theirs: str
):
    (world.folder / "docs").mkdir()
    (world.folder / "docs" / "copilot-instructions.md").write_text("mine\n")
    _link(world.folder, links)
    _give_away(world.folder / theirs)

    ended = _init(client, world)

    assert ended.exit == 2
    assert f' through "{world.folder / theirs}", which belongs to another user.' in ended.stderr
    assert (world.folder / "docs" / "copilot-instructions.md").read_text() == "mine\n"


@only_root
def test_a_link_below_a_folder_of_another_user_is_not_followed(client: CommandLine, world: World):
    (world.folder / ".github").mkdir()
    (world.folder / ".github" / "copilot-instructions.md").symlink_to("../notes.md")
    (world.folder / "notes.md").write_text("mine\n")
    _give_away(world.folder / ".github")

    ended = _init(client, world)

    assert f' through "{world.folder / ".github"}", which belongs to another user.' in ended.stderr
    assert (world.folder / "notes.md").read_text() == "mine\n"


@only_root
@pytest.mark.parametrize("theirs", [".claude", ".claude/CLAUDE.md"])
def test_nobody_else_says_where_the_file_of_a_person_is(
    client: CommandLine, world: World, theirs: str
):
    (world.home / ".claude").mkdir()
    (world.home / ".claude" / "CLAUDE.md").symlink_to("../.profile")
    (world.home / ".profile").write_text("mine\n")
    _give_away(world.home / theirs)

    ended = _init(client, world, "--global")

    assert f' through "{world.home / theirs}", which belongs to another user.' in ended.stderr
    assert _read(world.home) == {".profile": b"mine\n"}


@only_root
def test_a_link_of_another_user_to_a_repository_makes_no_root(client: CommandLine, world: World):
    for name in ("own/.git", "work/sub"):
        (world.folder / name).mkdir(parents=True)
    (world.folder / "own" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (world.folder / ".git").symlink_to("own/.git")
    _give_away(world.folder / ".git")

    client.run(["init"], cwd=world.folder / "work" / "sub", env=world.environment)

    assert not (world.folder / "AGENTS.md").exists()
    assert (world.folder / "work" / "sub" / "AGENTS.md").exists()


@only_root
def test_a_file_of_another_user_that_is_no_link_gets_the_block(client: CommandLine, world: World):
    (world.folder / "AGENTS.md").write_text("theirs\n")
    _give_away(world.folder / "AGENTS.md")

    ended = _init(client, world)

    assert ended.stdout == "Added the first-party block to AGENTS.md.\n"
    assert (world.folder / "AGENTS.md").owner() == "nobody"


@only_root
@pytest.mark.parametrize("flags", [[], ["--check"], ["--remove"]])
def test_nothing_is_looked_for_in_a_folder_of_another_user(
    client: CommandLine, world: World, flags: list[str]
):
    (world.folder / "AGENTS.md").write_text("theirs\n")
    _give_away(world.folder)

    ended = _init(client, world, *flags)

    assert ended.exit == 2
    assert f'AGENTS.md leads through "{world.folder}", which belongs to another' in ended.stderr
    assert (world.folder / "AGENTS.md").read_text() == "theirs\n"


@only_root
def test_a_file_that_is_named_may_be_in_a_folder_of_another_user(client: CommandLine, world: World):
    _give_away(world.folder)

    ended = _init(client, world, "--file", "AGENTS.md")

    assert ended.stdout == "Created AGENTS.md with the first-party block.\n"


@only_root
def test_nobody_elses_home_folder_is_that_of_a_person(client: CommandLine, world: World):
    _give_away(world.home)

    ended = _init(client, world, "--global")

    assert f' through "{world.home}", which belongs to another user.' in ended.stderr
    assert _read(world.home) == {}


@pytest.mark.parametrize("name", ["AGENTS.md", ".github"])
@pytest.mark.parametrize("is_named", [False, True])
def test_a_link_that_comes_at_any_moment_has_nothing_else_written(
    sdk: Sdk, world: World, name: str, is_named: bool
):
    """Whoever may write to the folder, too, sees when the file is read."""
    file = {"AGENTS.md": "AGENTS.md", ".github": ".github/copilot-instructions.md"}[name]
    flags = {"--file": file} if is_named else {}
    mine = world.home / "mine"
    calls = []
    for after in range(60):
        folder = world.folder / str(after)
        _write(folder, {file: "theirs\n", ".git/HEAD": ""})
        _write(mine / str(after), {Path(file).name: "mine\n"})
        target = mine / str(after) / ("AGENTS.md" if name == "AGENTS.md" else "")
        link = {"path": str(folder / name), "target": str(target), "after": after}
        calls += [
            {"do": "become_link", **link},
            {"do": "init", "folder": str(folder), "flags": flags},
        ]

    outcomes = sdk.do(*calls)

    assert {*_read(mine).values()} == {b"mine\n"}
    codes = {each.get("code") for each in outcomes[1::2]}
    assert {"changed_meanwhile", None} <= codes  # some came too early, some too late


def test_a_read_only_file_is_not_changed(client: CommandLine, world: World):
    (world.folder / "AGENTS.md").write_text("a\n")
    (world.folder / "AGENTS.md").chmod(0o444)

    ended = _init(client, world)

    assert ended.stderr == "Error: AGENTS.md cannot be written: it is read-only.\n"
    assert ended.exit == 2
    assert (world.folder / "AGENTS.md").read_text() == "a\n"


def test_the_mode_of_a_file_is_kept(client: CommandLine, world: World):
    (world.folder / "AGENTS.md").write_text("a\n")
    (world.folder / "AGENTS.md").chmod(0o640)

    _init(client, world)

    assert (world.folder / "AGENTS.md").stat().st_mode & 0o7777 == 0o640


def test_a_directory_in_the_way_is_told(client: CommandLine, world: World):
    (world.folder / "AGENTS.md").mkdir()

    ended = _init(client, world)

    assert ended.stderr == "Error: AGENTS.md cannot be read: it is a directory.\n"
    assert ended.exit == 2


def test_a_file_where_a_directory_should_be_is_told(client: CommandLine, world: World):
    (world.folder / "docs").write_text("x")

    ended = _init(client, world, "--file", "docs/AGENTS.md")

    reason = "a part of its path is not a directory"
    assert ended.stderr == f"Error: docs/AGENTS.md cannot be read: {reason}.\n"
    assert ended.exit == 2


def test_what_is_no_file_is_told(client: CommandLine, world: World):
    os.mkfifo(world.folder / "AGENTS.md")

    ended = _init(client, world)

    assert ended.stderr == "Error: AGENTS.md cannot be read: it is not a regular file.\n"


def test_a_huge_file_is_not_read(client: CommandLine, world: World):
    with (world.folder / "AGENTS.md").open("wb") as file:
        file.truncate(3 << 30)

    ended = _init(client, world)

    assert (ended.exit, ended.stderr) == (2, "Error: AGENTS.md cannot be read: it is over 1 MiB.\n")


@pytest.mark.parametrize("content", [b"\n", b"\r", b"# x\n", b"~~~\n"])
def test_a_large_file_takes_little_memory(client: CommandLine, world: World, content: bytes):
    (world.folder / "AGENTS.md").write_bytes(content * (MOST_BYTES // len(content)))
    limited = CommandLine(["sh", "-c", 'ulimit -v 150000; exec "$@"', "sh", *client.command])
    is_node = "node" in Path(client.command[0]).name  # which reserves more than it takes
    changed = world.environment | {"NODE_OPTIONS": "--max-old-space-size=48"}

    ended = (client if is_node else limited).run(["init", "--check"], cwd=world.folder, env=changed)

    assert (ended.exit, ended.stderr) == (1, f"{ABSENT}\n")


def test_a_heading_with_a_long_gap_is_read_once(client: CommandLine, world: World):
    (world.folder / "AGENTS.md").write_text("# x" + " " * (MOST_BYTES - 5) + "y\n")

    ended = _init(client, world, "--check")

    assert (ended.exit, ended.stderr) == (1, f"{ABSENT}\n")


@pytest.mark.parametrize("digits", [10, 5_000])
def test_a_version_of_many_digits_is_no_release(client: CommandLine, world: World, digits: int):
    begin = f"<!-- docfeedback:begin first-party v{'1' * digits} -->"
    (world.folder / "AGENTS.md").write_text(f"{begin}\n<!-- docfeedback:end first-party -->\n")

    ended = _init(client, world)

    assert (ended.exit, ended.stderr) == (0, "")
    assert ended.stdout == "Refreshed the first-party block in AGENTS.md.\n"


def test_a_current_folder_that_is_gone_is_told(client: CommandLine, world: World):
    gone = CommandLine(["sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", *client.command])

    ended = gone.run(["init", "--file", "x.md"], cwd=world.folder, env=world.environment)

    assert ended.stderr == "Error: x.md cannot be read: there is no such file.\n"


@pytest.mark.parametrize("flags", [[], ["--check"], ["--remove"]])
def test_so_it_is_where_no_file_is_named(client: CommandLine, world: World, flags: list[str]):
    gone = CommandLine(["sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", *client.command])

    ended = gone.run(["init", *flags], cwd=world.folder, env=world.environment)

    error = "Error: . cannot be read: there is no such file.\n"
    assert (ended.exit, ended.stderr) == (2, error)


def test_a_name_that_is_too_long_is_told(client: CommandLine, world: World):
    name = "a" * 256

    ended = _init(client, world, "--file", name)

    reason = "a name in its path is too long"
    assert (ended.exit, ended.stderr) == (2, f"Error: {name} cannot be read: {reason}.\n")


def test_utf_16_is_told(client: CommandLine, world: World):
    (world.folder / "AGENTS.md").write_bytes("# Rules\n".encode("utf-16"))

    ended = _init(client, world)

    assert (ended.exit, ended.stderr) == (2, "Error: AGENTS.md is not text in UTF-8.\n")


def test_a_write_that_fails_midway_leaves_the_old_file(client: CommandLine, world: World):
    (world.folder / "AGENTS.md").write_text("a\n")
    small_files = ["sh", "-c", 'ulimit -f 1; exec "$@"', "sh"]
    limited = CommandLine([*small_files, *client.command])

    ended = limited.run(["init"], cwd=world.folder, env=world.environment)

    assert ended.stderr == "Error: AGENTS.md cannot be written: the system refused.\n"
    assert ended.exit == 2
    assert _read(world.folder) == {"AGENTS.md": b"a\n"}


@pytest.mark.parametrize(
    ("typed", "status", "written"),
    [
        (b"https://hub.acme.com/\n", 0, b"\nDocs Feedback Hub: https://hub.acme.com\n"),
        (b"x --> y\n", 2, None),
        (b"\n", 2, None),
        (b"\x04", 2, None),  # Ctrl-D
        (b"\x03", 130, None),  # Ctrl-C
    ],
)
def test_a_person_is_asked_for_the_hub(
    client: CommandLine, world: World, typed: bytes, status: int, written: bytes | None
):
    code, shown = _at_a_terminal(client, world, typed)

    assert b"Address of the Hub, such as https://hub.example.com: " in shown
    assert code == status
    found = _read(world.folder)
    assert [*found] == (["AGENTS.md"] if written else [])
    if written:
        assert written in found["AGENTS.md"]
    elif code == 2:
        assert b"Error: " in shown


@pytest.mark.parametrize("before", ["old\n", None])
def test_what_others_write_while_a_person_is_asked_stays(
    client: CommandLine, world: World, before: str | None
):
    path = world.folder / "AGENTS.md"
    if before is not None:
        path.write_text(before)

    code, shown = _at_a_terminal(
        client, world, b"https://hub.acme.com\n", meanwhile=lambda: path.write_text("new\n")
    )

    assert b"Error: AGENTS.md was changed by another program meanwhile" in shown
    assert (code, path.read_text()) == (2, "new\n")


@pytest.mark.parametrize("name", ["AGENTS.md", ".github"])
def test_a_link_that_comes_while_a_person_is_asked_is_not_followed(
    client: CommandLine, world: World, name: str
):
    file = {"AGENTS.md": "AGENTS.md", ".github": ".github/copilot-instructions.md"}[name]
    _write(world.folder, {file: "same\n"})
    _write(world.home, {file: "same\n"})

    def swap() -> None:
        (world.folder / name).rename(world.folder / "before")
        (world.folder / name).symlink_to(world.home / name)

    code, shown = _at_a_terminal(client, world, b"https://hub.acme.com\n", meanwhile=swap)

    assert f"Error: {file} was changed by another program meanwhile".encode() in shown
    assert (code, _read(world.home)) == (2, {file: b"same\n"})


def _at_a_terminal(
    client: CommandLine, world: World, typed: bytes, meanwhile: Callable[[], Any] = bool
) -> tuple[int, bytes]:
    """Run `init` without a Hub; once it has asked, type an answer. The exit status and the screen."""
    environment = world.environment
    del environment["DOCFEEDBACK_HUB_URL"]
    process, screen = pty.fork()
    if process == 0:
        os.chdir(world.folder)
        os.execve(client.command[0], [*client.command, "init"], environment)
    shown = b""
    with os.fdopen(screen, "r+b", buffering=0) as terminal, suppress(OSError):
        while chunk := terminal.read(1024):
            shown += chunk
            if shown.endswith(b": ") and typed:
                meanwhile()
                terminal.write(typed)
                typed = b""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), shown


def _init(client: CommandLine, world: World, *args: str) -> Ended:
    return client.run(["init", *args], cwd=world.folder, env=world.environment)


def _give_away(*paths: Path) -> None:
    for path in paths:
        os.chown(path, 65534, 65534, follow_symlinks=False)


def _filled(case: dict[str, Any], world: World) -> dict[str, Any]:
    """The case with blocks in place of `{{first-party}}` and the like."""

    def block(match: re.Match[str]) -> str:
        name, *more = match[1].split()
        hub = "https://hub.acme.com" if "acme" in more else world.hub
        hub = "the one in DOCFEEDBACK_HUB_URL" if "unnamed" in more else hub
        text = (CONTRACT / "blocks" / f"{name}.md").read_text().replace("{hub_url}", hub).rstrip()
        if "text" not in more:
            begin, end = (
                f"<!-- docfeedback:{word} -->" for word in (f"begin {name} v0", f"end {name}")
            )
            text = f"{begin}\n{text}\n{end}"
        text = text.replace("\n", "\r\n") if "crlf" in more else text
        return json.dumps(text)[1:-1]

    return world.filled(json.loads(re.sub(r"\{\{(.*?)\}\}", block, json.dumps(case))))


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())


def _link(folder: Path, links: dict[str, str]) -> None:
    for name, target in links.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(target)


def _read(folder: Path) -> dict[str, bytes]:
    """The files below a folder, without links."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
