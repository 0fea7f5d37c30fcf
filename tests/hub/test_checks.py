"""What is refused in the configuration."""

import pytest
from django.core.checks import run_checks
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection


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
    ],
)
def test_a_setting_that_its_users_would_trip_over_is_refused(settings, name, value, code):
    setattr(settings, name, value)

    assert [each.id for each in run_checks() if each.is_serious()] == [code]
