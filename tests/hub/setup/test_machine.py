"""The settings, the names and this machine."""

import os
from collections import namedtuple
from datetime import date

import pytest

from hub.setup import configuration, machine, names
from hub.setup.findings import Level
from orgs.domains import hosts
from tests import build
from tests.hub.setup.conftest import levels, said

OK, NOTE, WARNING, PROBLEM = Level


@pytest.mark.parametrize(
    ("name", "value", "level", "sentence"),
    [
        ("HUB_CONTACT", "", WARNING, "HUB_CONTACT is empty"),
        ("HUB_CONTACT", "ops@example.com", OK, "HUB_CONTACT is ops@example.com."),
        ("HUB_CONTACT", "nobody", PROBLEM, "HUB_CONTACT is 'nobody'. Set it to an e-mail address"),
        ("HUB_DNS_SERVERS", "dns.example.com", PROBLEM, "Set it to a list of ip[:port]"),
        ("SECRET_KEY", "secret", PROBLEM, "HUB_SECRET_KEY can be guessed"),
        ("SECRET_KEY", "ab" * 40, PROBLEM, "HUB_SECRET_KEY can be guessed"),
        ("SECRET_KEY", f"django-insecure-{'abcdefgh' * 6}", PROBLEM, "can be guessed"),
        ("SECRET_KEY", "abcdefghijklmnopqrstuvwxyz", WARNING, "HUB_SECRET_KEY has 26 characters"),
        (
            "SECRET_KEY_FALLBACKS",
            ["old"],
            PROBLEM,
            "A key of HUB_SECRET_KEY_FALLBACKS can be guessed",
        ),
        ("HUB_METRICS_TOKEN", "secret", WARNING, "HUB_METRICS_TOKEN can be guessed"),
        ("MISCONFIGURED", ["Set HUB_SECRET_KEY to a text."], PROBLEM, "Set HUB_SECRET_KEY"),
    ],
)
def test_the_settings(settings, name, value, level, sentence):
    setattr(settings, name, value)

    assert sentence in said(configuration.settings_are_read(), level)


def test_a_misspelt_setting_is_no_problem_of_its_own(settings, monkeypatch):
    monkeypatch.setenv("HUB_TRUSTED_PROXY", "1")

    said_of_it = said(configuration.settings_are_read(), WARNING)

    assert "HUB_TRUSTED_PROXY is no setting. Do you mean HUB_TRUSTED_PROXIES?" in said_of_it


def test_settings_that_can_be_read(settings):
    settings.HUB_CONTACT = "ops@example.com"

    assert levels(configuration.settings_are_read()) == {OK}


def test_a_dns_server_that_answers(dns):
    [found] = names.dns()

    assert found.level == OK


def test_a_dns_server_that_is_silent(dns, impatient):
    dns.fail("hub.example", "silent")

    [found] = names.dns()

    assert found.level == PROBLEM
    assert "does not answer (no answer in time), so domains cannot be verified" in found.text


@pytest.mark.django_db
def test_the_list_of_public_suffixes(monkeypatch):
    assert levels(names.suffixes()) == {OK}
    monkeypatch.setattr(hosts, "list_date", lambda: date(2019, 1, 31))

    assert "is of 2019-01-31: upgrade the Hub" in said(names.suffixes(), WARNING)


@pytest.mark.django_db
def test_claims_that_a_newer_list_would_refuse_are_named_and_kept():
    claim = build.domain(build.organization(), "vercel.app")

    found = said(names.suffixes(), PROBLEM)

    assert "acme has vercel.app verified" in found
    assert "shared by many owners" in found
    claim.refresh_from_db()
    assert claim.status == "verified"


@pytest.mark.parametrize(
    ("free", "level"), [(50 * 2**20, PROBLEM), (500 * 2**20, WARNING), (5 * 2**30, OK)]
)
def test_the_room_on_the_disk(settings, monkeypatch, tmp_path, free, level):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda folder: usage(free))
    settings.VAR_DIR = tmp_path / "not" / "yet"

    assert levels(machine.disk()) == {level}
    assert str(tmp_path) in said(machine.disk())


def test_a_secret_that_others_may_read(settings, monkeypatch, tmp_path):
    key = tmp_path / "app.pem"
    key.write_text("secret")
    key.chmod(0o644)
    settings.HUB_GITHUB_PRIVATE_KEY, settings.HUB_DEBUG = str(key), True
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr(machine, "_databases", list)

    assert f"run `chmod o= {key}`" in said(machine.files(), WARNING)
    key.chmod(0o640)
    assert levels(machine.files()) == {OK}


def test_static_files_of_another_version(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path

    assert "`serve` collects them" in said(machine.files(), NOTE)
    collected = tmp_path / "staticfiles.json"
    collected.write_text("{}")
    assert "The static files are collected." in said(machine.files(), OK)
    os.utime(collected, (0, 0))
    assert "collected before this version came" in said(machine.files(), WARNING)
