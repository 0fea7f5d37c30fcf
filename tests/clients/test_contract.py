"""The contract itself: copies, released texts, and that help and completion name every flag."""

import hashlib
import json
import re
import runpy
import sys
import unicodedata
from pathlib import Path

import pytest
from docfeedback import visible

from tests.clients.conftest import CLIENTS, CONTRACT

SYNC = runpy.run_path(str(CONTRACT / "sync.py"))
COMMANDS = json.loads((CONTRACT / "commands.json").read_text())
BLOCKS = {"first-party", "consumer"}

# Of each text that was released, by its protocol version. Another text needs another version.
RELEASED = {
    ("first-party", "v0"): "0a26f3de85bd5c4089582cf74dc0cb18d2a4d09ca8e9bf1b10c05b133742163c",
    ("consumer", "v0"): "c269dcf947ef58dbb158555dc9577c8e581cdbc3116b301fc25b0a05703596bf",
}


@pytest.mark.parametrize("folder", SYNC["COPIES"], ids=lambda folder: folder.parts[-3])
def test_a_packages_copies_are_the_contract(folder: Path):
    assert SYNC["copied"](folder) == SYNC["shipped"]()


def test_the_hubs_copy_is_the_contract():
    assert all(copy.read_bytes() == original.read_bytes() for copy, original in SYNC["HUB"].items())


def test_what_is_wide_is_so_by_unicode():
    assigned = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) != "Cn"]
    letters = [c for c in assigned if visible.width(c)]

    wide = [c for c in letters if visible.width(c) == 2]

    assert wide == [c for c in letters if unicodedata.east_asian_width(c) in "WF"]


@pytest.mark.parametrize(("name", "version"), RELEASED)
def test_a_released_block_never_changes(name: str, version: str):
    text = (CONTRACT / "blocks" / f"{name}.md").read_bytes()

    assert hashlib.sha256(text).hexdigest() == RELEASED[name, version]


@pytest.mark.parametrize("name", sorted(BLOCKS))
def test_a_block_is_ascii_with_one_line_for_the_hub(name: str):
    text = (CONTRACT / "blocks" / f"{name}.md").read_text(encoding="ascii")

    assert text.count("{hub_url}") == 1
    assert text.splitlines()[-1] == "Docs Feedback Hub: {hub_url}"
    assert text.startswith("## ")


@pytest.mark.parametrize("name", sorted(BLOCKS))
def test_a_block_asks_first_shows_and_waits(name: str):
    text = " ".join((CONTRACT / "blocks" / f"{name}.md").read_text().split())

    asked = text.index("Ask the developer first")
    shown = text.index("Show the developer the whole report")
    assert asked < shown < text.index("only after the developer has confirmed")


def test_the_consumer_block_names_what_is_never_reported():
    text = " ".join((CONTRACT / "blocks" / "consumer.md").read_text().split())

    for words in ("third-party documentation only", "public https pages only", "localhost"):
        assert words in text
    for words in ("internal or private host", "behind a login", "private code, secrets"):
        assert words in text
    assert "internal URLs or transcripts" in text


@pytest.mark.parametrize("command", COMMANDS["commands"])
def test_help_names_every_flag_and_has_examples(command: str):
    page = (CONTRACT / "help" / f"{command}.txt").read_text()

    flags = COMMANDS["commands"][command]["flags"] | COMMANDS["common"]
    for flag, value in flags.items():
        assert re.search(rf"^  {flag}{f' {value}' if value else ''}  ", page, re.MULTILINE), flag
    assert "\nExamples:\n  " in page
    assert max(map(len, page.splitlines())) <= 100


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_every_command_and_flag(shell: str):
    script = (CONTRACT / "completion" / f"docfeedback.{shell}").read_text()

    flags = set(COMMANDS["common"]).union(*(it["flags"] for it in COMMANDS["commands"].values()))
    words = [*COMMANDS["commands"], *(flag.removeprefix("--") for flag in flags)]
    assert [word for word in words if not re.search(rf"\b{word}\b", script)] == []


def test_both_packages_say_every_sentence():
    sentences = json.loads((CONTRACT / "messages.json").read_text())
    sources = {
        "python": (CLIENTS / "python" / "src" / "docfeedback").glob("*.py"),
        "node": (CLIENTS / "node" / "src").glob("*.js"),
    }

    for package, paths in sources.items():
        source = "\n".join(path.read_text() for path in paths)
        silent = [
            code
            for code in sentences
            if not re.search(rf"""["']{code}["']|\b{code}:""", source)
            and not code.endswith("_line")
            and not code.startswith("block_")
        ]
        assert silent == ([] if package == "python" else ["no_thread"]), package


def test_a_pattern_means_the_same_in_both_languages():
    shared = json.loads((CONTRACT / "secrets.json").read_text())
    patterns = [entry["pattern"] for entry in shared["kinds"]]

    others = [shared[name] for name in ("ansi", "written", "placeholder", "sample", "name")]
    for pattern in [*patterns, *others]:
        rest = pattern.replace(r"[\s\S]", "")
        assert not re.search(r"\\[bBdDsSwW]|\(\?[a-zA-Z]", rest), pattern
        escaped = set(re.findall(r"\\(.)", rest, re.DOTALL))
        assert escaped <= {*r"^$\.*+?()[]{}|/", *"nrtux"}, pattern


def test_both_packages_have_one_version():
    version = (CLIENTS / "python" / "src" / "docfeedback" / "version.py").read_text()
    package = json.loads((CLIENTS / "node" / "package.json").read_text())

    assert f'__version__ = "{package["version"]}"' in version
