"""The configuration file of both clients names who gets the reports: nobody else may have put it there."""

import json
import os
from pathlib import Path

import pytest

from tests.clients.command_line import CommandLine, Ended
from tests.clients.conftest import World

NOBODY = 65534
HUB = "https://hub.acme.com"
PLACES = ["config", "config/docfeedback", "config/docfeedback/config.json"]
OF_ANOTHER = "it, or a folder or link on the way to it, belongs to another user"
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="nobody else can give a file away")


@pytest.fixture
def path(world: World) -> Path:
    """Where the file is."""
    path = world.home / "config" / "docfeedback" / "config.json"
    path.parent.mkdir(parents=True)
    return path


def _config(client: CommandLine, world: World, *words: str) -> Ended:
    return client.run(["config", *words], cwd=world.folder, env=world.environment)


def _unreadable(path: Path, reason: str) -> tuple[int, str]:
    return 2, f"Error: {path} cannot be read: {reason}.\n"


def test_nobody_waits_for_the_writer_of_a_fifo(client: CommandLine, world: World, path: Path):
    os.mkfifo(path)

    ended = _config(client, world, "get")

    assert (ended.exit, ended.stderr) == _unreadable(path, "it is not a regular file")


def test_a_device_is_not_read(client: CommandLine, world: World, path: Path):
    path.symlink_to("/dev/zero")

    ended = _config(client, world, "get")

    assert (ended.exit, ended.stderr) == _unreadable(path, "it is not a regular file")


@pytest.mark.parametrize(("size", "is_read"), [(1 << 20, True), ((1 << 20) + 1, False)])
def test_a_large_file_is_not_read(
    client: CommandLine, world: World, path: Path, size: int, is_read: bool
):
    path.write_text(json.dumps({"hub_url": HUB}).ljust(size))

    ended = _config(client, world, "get", "hub_url")

    if is_read:
        assert ended.stdout == f"{HUB}\n"
    else:
        assert (ended.exit, ended.stderr) == _unreadable(path, "it is over 1 MiB")


@only_root
@pytest.mark.parametrize("place", PLACES)
def test_what_belongs_to_another_user_is_not_read(
    client: CommandLine, world: World, path: Path, place: str
):
    path.write_text(json.dumps({"hub_url": HUB}))
    os.chown(world.home / place, NOBODY, NOBODY)

    ended = _config(client, world, "get")

    assert (ended.exit, ended.stderr) == _unreadable(path, OF_ANOTHER)


@only_root
@pytest.mark.parametrize("place", PLACES)
def test_the_link_of_another_user_is_not_followed(
    client: CommandLine, world: World, path: Path, place: str
):
    path.write_text(json.dumps({"hub_url": HUB}))
    _move_behind_a_link(world, place)
    os.chown(world.home / place, NOBODY, NOBODY, follow_symlinks=False)

    ended = _config(client, world, "get")

    assert (ended.exit, ended.stderr) == _unreadable(path, OF_ANOTHER)


@only_root
@pytest.mark.parametrize("place", PLACES[:2])
def test_nothing_is_written_into_a_folder_of_another_user(
    client: CommandLine, world: World, path: Path, place: str
):
    os.chown(world.home / place, NOBODY, NOBODY)

    ended = _config(client, world, "set", "hub_url", HUB)

    assert ended.stderr == f"Error: {path} cannot be written: {OF_ANOTHER}.\n"
    assert [*path.parent.iterdir()] == []


@only_root
def test_what_belongs_to_another_user_is_not_read_where_the_current_folder_is_gone(
    client: CommandLine, world: World, path: Path
):
    path.write_text(json.dumps({"hub_url": HUB}))
    os.chown(path.parent, NOBODY, NOBODY)
    gone = CommandLine(["sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", *client.command])

    ended = _config(gone, world, "get")

    assert (ended.exit, ended.stderr) == _unreadable(path, OF_ANOTHER)


@only_root
def test_a_folder_of_another_user_without_the_file_is_no_error(
    client: CommandLine, world: World, path: Path
):
    os.chown(path.parent, NOBODY, NOBODY)

    ended = _config(client, world, "get")

    assert ended.exit == 0


def test_a_folder_that_is_a_link_to_nothing_is_told(client: CommandLine, world: World):
    (world.home / "config").symlink_to("nothing")

    ended = _config(client, world, "set", "hub_url", HUB)

    path = world.home / "config" / "docfeedback" / "config.json"
    reason = "a part of its path is not a directory"
    assert (ended.exit, ended.stderr) == (2, f"Error: {path} cannot be written: {reason}.\n")


def test_what_another_version_keeps_stays_though_it_is_no_unicode(
    client: CommandLine, world: World, path: Path
):
    path.write_text('{"new": {"name": "\\ud800é"}}')

    ended = _config(client, world, "set", "hub_url", HUB)

    assert ended.exit == 0
    assert json.loads(path.read_text()) == {"new": {"name": "\ud800é"}, "hub_url": HUB}


def test_a_token_stays_with_its_hub(client: CommandLine, world: World, path: Path):
    kept = {"hub_url": HUB, "token": "hub_1"}
    path.write_text(json.dumps(kept))

    moved = _config(client, world, "set", "hub_url", "https://other.example.org")
    without = _config(client, world, "unset", "hub_url")

    first = "First run: docfeedback config unset token"
    assert (moved.exit, without.exit) == (2, 2)
    assert f"is that of another Hub and would be sent to this one. {first}" in moved.stderr
    assert f"is that of this Hub and would be sent to the next one. {first}" in without.stderr
    assert json.loads(path.read_text()) == kept


@pytest.mark.parametrize("place", [".", PLACES[-1]])
def test_a_token_is_left_in_no_write_that_was_cut_short(
    client: CommandLine, world: World, path: Path, place: str
):
    path.write_text(json.dumps({"hub_url": HUB, "token": "hub_1"}))
    _move_behind_a_link(world, place)
    real = path.resolve()
    draft = real.with_name(f".{real.name}.docfeedback-0123456789ab")
    draft.write_text(path.read_text())

    ended = _config(client, world, "unset", "token")

    assert ended.exit == 0
    assert not draft.exists()


def test_nor_where_the_name_of_the_file_looks_like_a_pattern(
    client: CommandLine, world: World, path: Path
):
    real = world.home / "my[1].json"
    real.write_text(json.dumps({"hub_url": HUB, "token": "hub_1"}))
    path.symlink_to(real)
    draft = real.with_name(f".{real.name}.docfeedback-0123456789ab")
    draft.write_text(real.read_text())

    ended = _config(client, world, "unset", "token")

    assert ended.exit == 0
    assert not draft.exists()


@pytest.mark.parametrize("place", [".", *PLACES])
def test_a_link_of_ones_own_is_followed(client: CommandLine, world: World, path: Path, place: str):
    path.write_text(json.dumps({"code_host": "https://github.acme.com"}))
    path.chmod(0o664)  # as an editor may leave it
    _move_behind_a_link(world, place)

    shown = _config(client, world, "get", "code_host")
    _config(client, world, "set", "hub_url", HUB)

    assert shown.stdout == "https://github.acme.com\n"
    assert json.loads(path.read_text())["hub_url"] == HUB
    assert (world.home / place).is_symlink()


def _move_behind_a_link(world: World, place: str) -> None:
    moved = world.home / place
    (world.folder / "dotfiles").mkdir()
    moved.rename(world.folder / "dotfiles" / "moved")
    moved.symlink_to(world.folder / "dotfiles" / "moved")
