"""The key that a Hub on trial makes, and what a full disk leaves of it."""

import resource
from pathlib import Path

import pytest

from hub import settings as of_the_hub


@pytest.fixture
def key(monkeypatch, tmp_path) -> Path:
    """Where the key goes of a Hub that is given none."""
    monkeypatch.setattr(of_the_hub, "VAR_DIR", tmp_path / "var")
    monkeypatch.setattr(of_the_hub, "HUB_DEBUG", True)
    monkeypatch.setattr(of_the_hub, "MISCONFIGURED", [])
    monkeypatch.delitem(of_the_hub.env.ENVIRON, "HUB_SECRET_KEY")
    return tmp_path / "var/secret_key"


def test_a_key_is_made_once_and_for_nobody_else(key):
    first, second = of_the_hub._secret_key(), of_the_hub._secret_key()

    assert first == second == key.read_text()
    assert key.stat().st_mode & 0o777 == 0o600


def test_a_full_disk_leaves_no_part_of_a_key(key):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        of_the_hub._secret_key()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    [told] = of_the_hub.MISCONFIGURED
    assert told == f"{key} cannot be used: File too large. Set HUB_SECRET_KEY, or remove the file."
    assert not list(key.parent.iterdir())
