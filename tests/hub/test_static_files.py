"""A disk that is full while the static files are collected spoils nothing for good."""

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from whitenoise.compress import Compressor

from hub.management.commands import serve
from tests.hub_process import ROOT

SOURCE = ROOT / "static"


@pytest.fixture
def root(settings, tmp_path) -> Path:
    """Where our own files are collected, as in production."""
    as_shipped = {"BACKEND": "hub.static_files.WholeStaticFiles"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": as_shipped}
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATIC_ROOT = tmp_path / "static"
    return settings.STATIC_ROOT


@contextmanager
def no_file_longer_than(size: int) -> Iterator[None]:
    """As if there were no more room: what is over it is not written."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_part_of_a_file_is_not_taken_for_it(root):
    with no_file_longer_than(10_000), pytest.raises(OSError, match="File too large"):
        call_command("collectstatic", interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)

    assert (root / "look.css").read_bytes() == (SOURCE / "look.css").read_bytes()


def test_what_could_not_all_be_compressed_is_collected_again(root, monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Compressor, "write_data", full)
        with pytest.raises(CommandError, match=r"cannot be written in .*: No space left on device"):
            serve._collect_static_files()
    was_listed = (root / "staticfiles.json").exists()
    serve._collect_static_files()

    assert not was_listed
    assert (root / "staticfiles.json").exists()
    assert (root / "look.css.gz").exists()
