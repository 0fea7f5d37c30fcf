"""A path becomes the address of its file, and no repository can make the clients do anything else."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients import repositories
from tests.clients.command_line import CommandLine
from tests.clients.conftest import CONTRACT, DRIVERS, Sdk, World, needs_node
from tests.clients.silence import has_reader

REMOTES = {"origin": "https://github.com/acme/docs.git"}
ADDRESS = "https://github.com/acme/docs/blob/HEAD/docs/install.md"
REPORT = ["--agent", "alice", "--kind", "broken", "--summary", "x", "--dry-run", "--json"]


def test_a_repository_cannot_have_a_program_run(client: CommandLine, world: World):
    program = _program(world.folder / "evil", marker=world.home / "ran")
    repositories.make(
        world.folder,
        remotes={"upstream": "https://github.com/acme/docs", "origin": f"ext::{program}"},
        config=[
            f"[core]\n\tfsmonitor = {program}\n\tsshCommand = {program}\n\tgitProxy = {program}",
            f"\tpager = {program}\n\thooksPath = {world.folder}\n\trepositoryFormatVersion = 1",
            "[extensions]\n\tpartialClone = origin",
            '[remote "origin"]\n\tpromisor = true\n\tpartialCloneFilter = tree:0',
            '[protocol "ext"]\n\tallow = always',
            f"[alias]\n\tls-tree = !{program}\n\trev-parse = !{program}",
            f"[credential]\n\thelper = !{program}",
        ],
    )
    _lose_trees(world.folder)

    _address(client, world)

    assert not (world.home / "ran").exists()


@pytest.mark.parametrize("name", ["credential.helper", "core.askPass", "fetch.bundleURI"])
def test_git_is_told_to_forget_what_a_repository_sets(client: CommandLine, world: World, name: str):
    repositories.make(world.folder, remotes=REMOTES)
    git, said = world.home / "bin" / "git", world.home / "said"
    git.parent.mkdir()
    git.write_text(f'#!/bin/sh\necho "$@" >> {said}\nexec {shutil.which("git")} "$@"\n')
    git.chmod(0o755)

    path = f"{git.parent}:{os.environ['PATH']}"

    assert _address(client, world, PATH=path) == ADDRESS
    assert all(f"-c {name}= " in line for line in said.read_text().splitlines())


def test_git_is_not_given_the_token(client: CommandLine, world: World):
    repositories.make(world.folder, remotes=REMOTES)
    git, said = world.home / "bin" / "git", world.home / "said"
    git.parent.mkdir()
    git.write_text(f'#!/bin/sh\nenv >> {said}\nexec {shutil.which("git")} "$@"\n')
    git.chmod(0o755)
    path = f"{git.parent}:{os.environ['PATH']}"

    assert _address(client, world, PATH=path, DOCFEEDBACK_TOKEN="secret-1") == ADDRESS
    assert "GIT_TERMINAL_PROMPT=0" in said.read_text()
    assert "secret-1" not in said.read_text()


@pytest.mark.parametrize("git_ends", [False, True])
def test_nothing_that_git_has_started_is_waited_for_or_left_behind(
    client: CommandLine, world: World, git_ends: bool
):
    repositories.make(world.folder, remotes=REMOTES)
    silent = world.home / "silent"
    os.mkfifo(silent)
    git = world.home / "bin" / "git"
    git.parent.mkdir()
    git.write_text(f"#!/bin/sh\ncat {silent} &\n{'exit' if git_ends else 'wait'}\n")
    git.chmod(0o755)

    assert _address(client, world, PATH=f"{git.parent}:{os.environ['PATH']}") == "docs/install.md"
    assert not has_reader(silent)


def test_a_git_that_is_left_behind_by_a_client_that_was_killed_ends(
    client: CommandLine, world: World
):
    repositories.make(world.folder, remotes=REMOTES)
    git, said = world.home / "bin" / "git", world.home / "said"
    git.parent.mkdir()
    git.write_text(f'#!/bin/sh\nulimit -t >> {said}\nexec {shutil.which("git")} "$@"\n')
    git.chmod(0o755)

    assert _address(client, world, PATH=f"{git.parent}:{os.environ['PATH']}") == ADDRESS
    assert set(said.read_text().split()) == {"5"}  # seconds of a processor


@pytest.mark.parametrize(
    ("needs", "address"),
    [
        ("bytearray(600 << 20)", "docs/install.md"),
        (
            "mmap.mmap(f.fileno(), 2 << 30, mmap.MAP_PRIVATE, mmap.PROT_READ)",
            ADDRESS,
        ),  # as git reads packs
    ],
    ids=["memory", "packs"],
)
def test_git_has_512_mib_of_memory_and_packs_of_any_size(
    client: CommandLine, world: World, needs: str, address: str
):
    repositories.make(world.folder, remotes=REMOTES)
    pack = world.home / "pack"
    with pack.open("wb") as file:
        file.truncate(2 << 30)  # and no block on the disk
    git = world.home / "bin" / "git"
    git.parent.mkdir()
    script = f"import mmap; f = open('{pack}', 'rb'); {needs}"
    real = shutil.which("git")
    git.write_text(f'#!/bin/sh\n"{sys.executable}" -Sc "{script}" && exec {real} "$@"\n')
    git.chmod(0o755)

    assert _address(client, world, PATH=f"{git.parent}:{os.environ['PATH']}") == address


@pytest.mark.parametrize("folders", [".", ""])
def test_a_git_in_the_current_folder_is_not_run(client: CommandLine, world: World, folders: str):
    _program(world.folder / "git", marker=world.home / "ran")
    repositories.make(world.folder, remotes=REMOTES)

    path = f"{folders}:{os.environ['PATH']}"

    assert _address(client, world, PATH=path) == ADDRESS
    assert not (world.home / "ran").exists()


def test_a_folder_that_somebody_committed_is_no_repository(client: CommandLine, world: World):
    hidden = world.folder / "hidden"
    hidden.mkdir()
    repositories.make(hidden, remotes={"origin": "https://github.com/charlie/docs"})
    for path in (hidden / ".git").iterdir():
        path.rename(hidden / path.name)
    (hidden / ".git").rmdir()
    with (hidden / "config").open("a") as file:
        file.write(f"[core]\n\tworktree = {hidden}\n")

    assert _address(client, world, folder=hidden) == "docs/install.md"


def test_a_repository_that_says_too_much_is_not_read(client: CommandLine, world: World):
    long = "https://github.com/acme/docs\n" + "\turl = x\n" * 40_000
    repositories.make(world.folder, remotes={"origin": long})

    assert _address(client, world) == "docs/install.md"


def test_a_worktree_has_the_remotes_of_its_repository(client: CommandLine, world: World):
    main = world.home / "main"
    main.mkdir()
    repositories.make(main, remotes=REMOTES)
    world.folder.rmdir()
    repositories.git(main, "worktree", "add", "--quiet", str(world.folder))

    assert _address(client, world) == ADDRESS


def test_a_bare_repository_is_no_checkout(client: CommandLine, world: World):
    repositories.git(world.folder, "init", "--quiet", "--bare")

    assert _address(client, world) == "docs/install.md"


def test_a_file_that_a_sparse_checkout_leaves_out_is_found(client: CommandLine, world: World):
    repositories.make(
        world.folder, committed=["docs/install.md", "src/x.md", "y.md"], remotes=REMOTES
    )
    repositories.git(world.folder, "sparse-checkout", "set", "src")

    assert not (world.folder / "docs").exists()
    assert _address(client, world) == ADDRESS


def test_a_submodule_has_its_own_remotes(client: CommandLine, world: World):
    inner = world.home / "inner"
    inner.mkdir()
    repositories.make(inner, committed=["guide.md"])
    repositories.make(world.folder, remotes=REMOTES)
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    repositories.git(world.folder, *add)
    repositories.git(world.folder / "sub", "remote", "set-url", "origin", "git@github.com:acme/sub")

    inside = _address(client, world, folder=world.folder / "sub", path="guide.md")

    assert inside == "https://github.com/acme/sub/blob/HEAD/guide.md"
    assert _address(client, world, path="sub/guide.md") == "sub/guide.md"


def test_a_repository_of_somebody_else_is_not_read(client: CommandLine, world: World):
    repositories.make(world.folder, remotes=REMOTES)
    if os.geteuid() == 0:  # nobody else can give a file away
        for path in [world.folder, *world.folder.rglob("*")]:
            os.chown(path, 65534, 65534)
    else:
        (world.folder / ".git" / "HEAD").unlink()

    assert _address(client, world) == "docs/install.md"


def test_a_folder_that_is_a_link_is_where_it_leads(client: CommandLine, world: World):
    repositories.make(world.folder, remotes=REMOTES)
    link = world.home / "link"
    link.symlink_to(world.folder)

    whole = str(link / "docs" / "install.md")

    assert _address(client, world, folder=link) == ADDRESS
    assert _address(client, world, path=whole, folder=link, PWD=str(link)) == ADDRESS
    assert _address(client, world, path=whole, folder=link / "docs", PWD=f"{link}/docs") == ADDRESS


def test_a_whole_path_leads_through_links_of_the_repository(client: CommandLine, world: World):
    (world.folder / "a").mkdir()
    (world.folder / "a" / "link").symlink_to("../docs")
    (world.folder / "docs").mkdir()
    (world.folder / "docs" / "here").symlink_to(".")
    repositories.make(world.folder, remotes=REMOTES)

    whole = str(world.folder / "a" / "link" / "here" / "install.md")

    assert _address(client, world, path=whole) == ADDRESS


@pytest.mark.parametrize("target", ["{other}", "../other", "link"])
def test_nothing_outside_the_repository_is_looked_at(sdk: Sdk, world: World, target: str):
    """An automounter would ask the network for the host in `/net/<host>/x`."""
    repositories.make(world.folder, remotes=REMOTES)
    other = world.folder.parent / "other"
    other.mkdir()
    (world.folder / "link").symlink_to(target.format(other=other))
    paths = [
        f"{other}/docs/x.md",
        f"{world.folder}/link/docs/x.md",
        f"{world.folder}/../other/x.md",
    ]

    seen, *outcomes = sdk.do(
        {"do": "watch_looks"},
        *({"do": "locate", "path": path, "folder": str(world.folder)} for path in paths),
    )

    assert [outcome["code"] for outcome in outcomes] == ["whole_path"] * 3
    assert all("a link on the way" in outcome["message"] for outcome in outcomes)
    assert seen["result"]
    assert [path for path, _ in seen["result"] if path.startswith(str(other))] == []


def test_no_password_of_a_remote_is_shown(client: CommandLine, world: World):
    repositories.make(
        world.folder, remotes={"origin": "https://alice:k9s3cret@github.com/acme/docs"}
    )

    ended = _run(client, world)
    repositories.git(world.folder, "remote", "set-url", "origin", "https://k9s3cret@acme.com/a/b")
    elsewhere = _run(client, world)

    assert "k9s3cret" not in ended.stdout + ended.stderr + elsewhere.stdout + elsewhere.stderr


def _run(client: CommandLine, world: World, path: str = "docs/install.md", **changed: str):
    words = ["report", "--doc-url", path, *REPORT]
    return client.run(words, cwd=world.folder, env=world.environment | changed)


def _address(
    client: CommandLine,
    world: World,
    *,
    folder: Path | None = None,
    path: str = "docs/install.md",
    **changed: str,
) -> str:
    """What would be sent as the page."""
    words = ["report", "--doc-url", path, *REPORT]
    ended = client.run(words, cwd=folder or world.folder, env=world.environment | changed)
    return str(json.loads(ended.stdout)["report"]["doc_url"])


def _program(path: Path, *, marker: Path) -> Path:
    path.write_text(f"#!/bin/sh\ntouch {marker}\n")
    path.chmod(0o755)
    return path


def _lose_trees(folder: Path) -> None:
    """As a partial clone begins: what is missing would be fetched."""
    listed = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch-check"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    for line in listed.stdout.splitlines():
        name, kind, _ = line.split()
        if kind == "tree":
            (folder / ".git" / "objects" / name[:2] / name[2:]).unlink()


TABLE = json.loads((CONTRACT / "remotes.json").read_text())
PARTS = [
    *(
        "https://",
        "ssh://",
        "git://",
        "git@",
        "alice:k9s3cret@",
        "@",
        ":",
        "/",
        "//",
        ".",
        "..",
        "?",
    ),
    *(
        "github.com",
        "GitHub.com",
        "acme.ghe.com",
        "ssh.github.com",
        "acme.com",
        "127.0.0.1",
        "[::1]",
    ),
    *("github.com:443", "github.com:22", ":8443", "acme", "docs", "docs.git", ".git", "acme/docs"),
    *(
        "%2f",
        "#",
        "\\",
        " ",
        "\t",
        "\n",
        "\x1b[2K",
        "\x00",
        "\u212a",
        "\u0130",
        "\uff0e",
        "\U0001f600",
    ),
]
PLAIN = re.compile(r"https://(github\.com|[a-z0-9-]+\.ghe\.com)/[A-Za-z0-9_-]+/[A-Za-z0-9._-]+")


def _remote(dice: random.Random) -> str:
    """One that is in order, changed in up to four places."""
    forms = [
        "https://github.com/acme/docs.git",
        "git@github.com:acme/docs",
        "ssh://git@github.com:22/",
    ]
    remote = dice.choice([*forms, "acme/docs", "https://alice:k9s3cret@acme.ghe.com/acme/docs"])
    for _ in range(dice.randint(0, 4)):
        place = dice.randint(0, len(remote))
        remote = remote[:place] + dice.choice(PARTS) + remote[place + dice.randint(0, 2) :]
    return remote


def test_a_remote_is_read_as_the_table_says(sdk: Sdk):
    calls = [{"do": "repository", "url": each["remote"]} for each in TABLE]

    found = [outcome["result"] for outcome in sdk.do(*calls)]

    assert [(each["name"], repository) for each, repository in zip(TABLE, found, strict=True)] == [
        (each["name"], each["repository"]) for each in TABLE
    ]


@needs_node
def test_both_clients_read_a_remote_alike_and_name_no_other_host(world: World):
    dice = random.Random(17)  # the same remotes in each run
    calls = [{"do": "repository", "url": _remote(dice)} for _ in range(10_000)]

    outcomes = Sdk(DRIVERS["python"], world.environment).do(*calls)

    assert outcomes == Sdk(DRIVERS["node"], world.environment).do(*calls)
    found = [outcome["result"] for outcome in outcomes if outcome["result"]]
    assert len(found) > 500
    assert [url for url in found if not PLAIN.fullmatch(url) or "k9s3cret" in url] == []
