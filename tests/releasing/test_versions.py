"""The Hub and its three clients have one version, wherever it is written."""

import json
import re
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from hub.docs import for_agents
from tests.releasing import changelog, versions
from tests.releasing.changelog import CannotRelease, released
from tests.releasing.versions import VERSION_NOW
from tests.rooms import ROOT

TODAY = date(2026, 1, 31)
LOG = "# Changelog\n\n## Unreleased\n\n- New.\n\n## 0.9.0 (2025-12-01)\n\n- Old.\n"
OURS = ("core", "deploy", "hub", "integrations", "orgs", "reports", "script")
WRITTEN_OUT = (*OURS, "clients/contract", "clients/mcp", "clients/node", "clients/python")
TEXTS = {".js", ".json", ".md", ".mjs", ".py", ".service", ".sh", ".toml", ".ts", ".yaml", ".yml"}


def test_every_place_has_the_same_version():
    api = json.loads(for_agents.OPENAPI.read_text(encoding="utf-8"))["info"]["version"]

    assert versions.VERSION.fullmatch(VERSION_NOW)
    assert set(versions.found().values()) == {VERSION_NOW}
    assert api == VERSION_NOW, "Run script/openapi."


def test_it_is_written_nowhere_else():
    """Whoever adds a place adds it to `versions.PLACES`, or the next release forgets it."""
    known = {place for place in versions.PLACES if place.startswith(WRITTEN_OUT)}
    word = re.compile(rf"(?<![0-9.]){re.escape(VERSION_NOW)}(?![0-9.])")
    paths = [
        path for top in WRITTEN_OUT for path in (ROOT / top).rglob("*") if path.suffix in TEXTS
    ]

    found = {path for path in paths if word.search(path.read_text(encoding="utf-8"))}

    assert {path.relative_to(ROOT).as_posix() for path in found} == known | {
        "hub/docs/openapi.json"
    }


def test_a_release_writes_it_everywhere(tmp_path: Path, monkeypatch):
    for place in versions.PLACES:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / place, tmp_path / place)
    monkeypatch.setattr(versions, "ROOT", tmp_path)

    versions.write("10.20.30")

    assert set(versions.found().values()) == {"10.20.30"}


def test_what_was_unreleased_has_a_version_and_a_date():
    text = released(LOG, "0.10.0", TODAY)

    assert text == LOG.replace("## Unreleased", "## 0.10.0 (2026-01-31)")


@pytest.mark.parametrize(
    ("text", "version", "why"),
    [
        ("# Changelog\n", "0.1.0", "nothing under"),
        (
            "# Changelog\n\n## Unreleased\n\n## 0.9.0 (2025-12-01)\n\n- Old.\n",
            "1.0.0",
            "nothing under",
        ),
        (LOG, "0.9.0", "not later"),
        (LOG, "0.8.7", "not later"),
    ],
)
def test_a_release_without_news_or_of_an_earlier_version_is_refused(text, version, why):
    with pytest.raises(CannotRelease, match=why):
        released(text, version, TODAY)


def test_the_changelog_is_one_that_can_be_released():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall("^## .*$", text, re.MULTILINE)

    assert headings[0] == changelog.UNRELEASED.strip() or changelog.RELEASED.match(headings[0])
    assert all(changelog.RELEASED.match(each) for each in headings[1:])


@pytest.mark.slow
@pytest.mark.parametrize("version", ["", "1", "0.1", "v0.1.0", "0.1.0rc1", "01.2.3"])
def test_what_is_no_version_is_refused(version):
    command = [sys.executable, "-m", "tests.releasing", version]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stdout) == (1, "")
    assert "write it as 0.1.0" in ended.stderr
