"""The file of the app's keys: written whole or not at all, and refused where it is not right."""

import errno
import json
import os
import stat
import subprocess
import sys

import pytest

from core import private_files
from hub.registering import credentials
from tests.hub_process import ROOT

HOST = "https://github.com"
KEYS = {name: f"the {name}" for name in credentials.NAMES}
VALUES = {credentials.CODE_HOST: HOST, **KEYS}


def put(path, text: str, mode: int = 0o600) -> None:
    path.write_text(text)
    path.chmod(mode)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "github.json"


def test_what_is_written_is_read(file):
    credentials.write(file, VALUES)

    assert credentials.read(file, code_host=HOST) == KEYS
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_is_not_there_has_nothing(file):
    assert credentials.read(file, code_host=HOST) == {}


@pytest.mark.parametrize("mode", [0o644, 0o602, 0o601, 0o604, 0o666])
def test_a_file_that_everybody_may_open_is_refused(file, mode):
    put(file, credentials.as_text(VALUES), mode)

    with pytest.raises(credentials.Unusable, match=f"run `chmod 600 {file}`"):
        credentials.read(file, code_host=HOST)


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o640])
def test_a_file_for_its_user_and_group_is_read(file, mode):
    put(file, credentials.as_text(VALUES), mode)

    assert credentials.read(file, code_host=HOST) == KEYS


def test_what_stands_around_a_value_is_no_part_of_it(file):
    """As where somebody has written the file by hand."""
    put(file, credentials.as_text({name: f" {value}\n" for name, value in VALUES.items()}))

    assert credentials.read(file, code_host=HOST) == KEYS


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is not JSON"),
        ('{"HUB_GITHUB_URL": "https://gith', "it is not JSON"),
        ("\0", "it is not JSON"),
        ("[" * 60_000, "it is not JSON"),
        ("[]", "it is not a JSON object"),
        ('{"HUB_GITHUB_APP_ID": 1}', "HUB_GITHUB_APP_ID is not a text"),
        ('{"HUB_GITHUB_URL": null}', "HUB_GITHUB_URL is not a text"),
        (" " * 70_000, "it is too large"),
    ],
)
def test_a_broken_file_is_said(file, text, why):
    put(file, text)

    with pytest.raises(credentials.Unusable, match=f"{why}. Correct it, or move it away"):
        credentials.read(file, code_host=HOST)


def test_what_is_no_file_is_said(tmp_path):
    with pytest.raises(credentials.Unusable, match="cannot be read: Is a directory"):
        credentials.read(tmp_path, code_host=HOST)


def test_keys_are_never_sent_to_another_code_host(file):
    credentials.write(file, VALUES)

    with pytest.raises(credentials.Unusable, match=f"an app on {HOST}, and HUB_GITHUB_URL is"):
        credentials.read(file, code_host="https://elsewhere.example")


def test_a_file_that_is_there_is_never_overwritten(file):
    put(file, "somebody else's")

    for act in (
        lambda: credentials.write(file, VALUES),
        lambda: private_files.check_writable(file),
    ):
        with pytest.raises(FileExistsError):
            act()

    assert file.read_text() == "somebody else's"
    assert list(file.parent.iterdir()) == [file]


def test_a_full_disk_leaves_nothing(file, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(OSError, match="No space left"):
        credentials.write(file, VALUES)

    assert list(file.parent.iterdir()) == []


@pytest.mark.parametrize("number", private_files.NO_LINKS)
def test_a_file_system_without_hard_links_will_do(file, monkeypatch, number):
    def no_link(*paths):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", no_link)

    credentials.write(file, VALUES)
    with pytest.raises(FileExistsError):
        credentials.write(file, {})

    assert credentials.read(file, code_host=HOST) == KEYS
    assert list(file.parent.iterdir()) == [file]


READS = "from hub import settings as s; print(s.HUB_GITHUB_APP_ID, s.HUB_GITHUB_CLIENT_ID)"


def start(file, **environment: str) -> subprocess.CompletedProcess:
    """What the settings are in a process that starts now."""
    return subprocess.run(
        [sys.executable, "-c", READS],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "HUB_SECRET_KEY": "x",
            "HUB_GITHUB_CREDENTIALS": str(file),
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.slow
def test_the_environment_wins_one_by_one(file):
    credentials.write(file, VALUES)

    ended = start(file, HUB_GITHUB_CLIENT_ID="mine", HUB_GITHUB_APP_ID="")

    assert ended.stdout == "the HUB_GITHUB_APP_ID mine\n"


@pytest.mark.slow
def test_a_file_that_cannot_be_used_stops_the_start_with_a_sentence(file):
    put(file, json.dumps(VALUES), 0o644)

    ended = start(file)

    last = ended.stderr.strip().splitlines()[-1]
    assert ended.returncode == 1
    assert "HUB_GITHUB_CREDENTIALS: " in last
    assert "everybody on this machine may open it: run `chmod 600" in last


@pytest.mark.slow
def test_a_broken_file_does_not_matter_where_the_environment_has_all(file):
    put(file, "broken")

    ended = start(file, **KEYS)

    assert ended.stdout == "the HUB_GITHUB_APP_ID the HUB_GITHUB_CLIENT_ID\n"
