"""What is refused in the configuration."""

import os
import subprocess
import sys

import pytest
from django.core.checks import run_checks
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection

from tests.hub_process import ROOT


@pytest.mark.django_db
def test_transactions_around_requests_are_refused(monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", True)

    with pytest.raises(SystemCheckError, match=r"hub\.E001"):
        call_command("check", "--database", "default")


@pytest.mark.parametrize("is_on", [True, False])
def test_a_trial_does_not_pass_as_a_deployment(settings, is_on):
    """Django warns about DEBUG, which the Hub never sets."""
    settings.HUB_DEBUG = is_on

    found = run_checks(include_deployment_checks=True)

    assert ("hub.W001" in [each.id for each in found]) == is_on


@pytest.mark.django_db
def test_the_models_are_as_their_migrations_say():
    """Run manage.py makemigrations where this fails."""
    call_command("makemigrations", check_changes=True, dry_run=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("HUB_REPORT_RATE", "sixty", "set it to a rate such as 60/minute"),
        ("HUB_FORWARDING", "later", "set it to inline or queue"),
        ("HUB_SECRET_KEY", "", "long random text"),
        ("REDIS_URL", "127.0.0.1:6379", "must be a URL such as redis://"),
        ("DATABASE_URL", "/var/hub.sqlite3", "must be a URL such as postgres://"),
        ("DATABASE_URL", "mysql://hub@127.0.0.1/hub", "must be a URL such as postgres://"),
        ("HUB_THREADS", "many", "HUB_THREADS is 'many': set it to a whole number."),
        ("HUB_LOG_LEVEL", "loud", "set it to debug, info, warning or error"),
        ("HUB_LOG_FORMAT", "xml", "set it to json or text"),
        ("HUB_SENTRY_DSN", "sentry.example.org", "copy it from the service"),
        ("HUB_TRUSTED_PROXIES", "-1", "HUB_TRUSTED_PROXIES is '-1': set it to a whole number."),
    ],
)
def test_a_setting_that_cannot_be_is_refused_at_the_start(name, value, sentence):
    environment = {**os.environ, "HUB_SECRET_KEY": "x", "HUB_DEBUG": "false", name: value}

    ended = subprocess.run(
        [sys.executable, "manage.py", "check", "--settings", "hub.settings"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 1
    assert sentence in ended.stderr


def refused(program: str, **environment: str) -> str:
    """The last line of what the settings say."""
    ended = subprocess.run(
        [sys.executable, "-c", f"{program}; import hub.settings"],
        cwd=ROOT,
        env={**os.environ, "HUB_SECRET_KEY": "x", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    return ended.stderr.splitlines()[-1]


@pytest.mark.slow
def test_errors_cannot_be_sent_without_the_package():
    missing = "import sys; sys.modules['sentry_sdk'] = None"

    said = refused(missing, HUB_SENTRY_DSN="https://key@sentry.example.org/1")

    assert "the package sentry-sdk is not installed: start with script/serve" in said


@pytest.mark.slow
def test_metrics_need_a_folder_that_can_be_written(tmp_path):
    (tmp_path / "file").touch()

    said = refused(
        "pass", HUB_METRICS_TOKEN="x", PROMETHEUS_MULTIPROC_DIR=str(tmp_path / "file" / "metrics")
    )

    assert "which cannot be written: Not a directory. Set PROMETHEUS_MULTIPROC_DIR" in said
