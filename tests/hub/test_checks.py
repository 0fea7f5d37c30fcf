"""What is refused in the configuration."""

import pytest
from django.core.checks import run_checks
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection

from hub.checks import misspelt


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


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("HUB_CONTACT", "nobody", "hub.E002"),
        ("HUB_DNS_SERVERS", "dns.example.com", "hub.E003"),
        ("HUB_PAGES_HOST", "https://github.io", "hub.E004"),
        ("HUB_PAGES_HOST", "com", "hub.E004"),
    ],
)
def test_a_setting_that_its_users_would_trip_over_is_refused(settings, name, value, code):
    setattr(settings, name, value)

    assert [each.id for each in run_checks() if each.is_serious()] == [code]


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("HUB_DEUBG", "true", "HUB_DEBUG"),
        ("HUB_TRUSTED_PROXY", "1", "HUB_TRUSTED_PROXIES"),
        ("HUB_REPORT_RATES", "1/minute", "HUB_REPORT_RATE"),
        ("HUB_GITHUB_WEBHOOKS_SECRET", "secret", "HUB_GITHUB_WEBHOOK_SECRET"),
        ("HUB_PORT", "8001", "PORT"),
        ("HUB_DATABASE_URL", "sqlite:////hub.sqlite3", "DATABASE_URL"),
        ("DATABSE_URL", "sqlite:////hub.sqlite3", "DATABASE_URL"),
    ],
)
def test_a_misspelt_name_is_told(monkeypatch, name, value, meant):
    monkeypatch.setenv(name, value)

    [found] = [each for each in run_checks() if each.id == "hub.W002"]

    assert (found.msg, found.hint) == (f"{name} is no setting.", f"Do you mean {meant}?")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HUB_NAME", "hub.example.com"),  # of deploy/compose.yaml, as the next two
        ("HUB_SERVERS", "hub-a:8000"),
        ("REDIS_PASSWORD", "secret"),
        ("HUB_PORT", "tcp://10.0.0.1:80"),  # of Kubernetes, as the next two
        ("HUB_SERVICE_HOST", "10.0.0.1"),
        ("HUB_PORT_80_TCP_PROTO", "tcp"),
        ("HUB_TEST_DATABASE", "sqlite"),
        ("HUB_BASE_URL", "https://hub.example"),
    ],
)
def test_other_names_are_let_be(name, value):
    assert misspelt({name: value}) == {}
