"""`manage.py setup_github` on the running Hub: from no app to the file of its keys."""

import json
import re
import stat

import pytest
from django.core.management import CommandError
from django.db import DatabaseError

from hub.management.commands import setup_github
from hub.registering import credentials
from hub.registering.offer import Offer
from hub.setup.database_state import OUTDATED
from tests.hub.registering.conftest import path_of

pytestmark = pytest.mark.django_db


def test_the_button_ends_in_a_file_of_the_keys(operator, meanwhile, code_host, settings):
    meanwhile(operator.register)

    said = operator.run("--organization", "acme")

    app = code_host.app
    assert json.loads(operator.file.read_text())["HUB_GITHUB_CLIENT_SECRET"] == app.client_secret
    kept = credentials.read(operator.file, code_host=code_host.url)
    assert kept == {
        "HUB_GITHUB_APP_ID": str(app.id),
        "HUB_GITHUB_APP_SLUG": "acme-docs",
        "HUB_GITHUB_CLIENT_ID": app.client_id,
        "HUB_GITHUB_CLIENT_SECRET": app.client_secret,
        "HUB_GITHUB_PRIVATE_KEY": kept["HUB_GITHUB_PRIVATE_KEY"],
        "HUB_GITHUB_WEBHOOK_SECRET": app.webhook_secret,
    }
    assert stat.S_IMODE(operator.file.stat().st_mode) == 0o600
    assert list(operator.file.parent.iterdir()) == [operator.file]
    assert "The app acme-docs of acme is created" in said
    assert "restart the Hub, then run `manage.py check_setup`" in said


def test_the_app_is_as_the_manifest_says(operator, meanwhile, code_host):
    meanwhile(operator.register)

    operator.run("--private")

    app = code_host.app
    assert (app.owner, app.public, app.asks_for_code, app.setup_url) == ("alice", False, True, "")
    assert app.permissions == {"issues": "write", "metadata": "read"}
    assert app.events == ("issues", "repository", "installation_target")
    assert app.webhook_url == "https://hub.example/v1/webhooks/github"
    assert app.callback_urls == [
        "https://hub.example/v1/integrations/github/callback",
        "https://hub.example/login/github/callback/",
    ]


def test_no_secret_is_said_or_left_in_the_database(operator, meanwhile, code_host, caplog):
    meanwhile(operator.register)

    operator.run()

    at_rest = str(list(Offer.objects.values()))
    app, token = code_host.app, operator.address.rstrip("/").rpartition("/")[2]
    for secret in (app.client_secret, app.webhook_secret, "PRIVATE KEY"):
        assert secret not in operator.out.getvalue() + operator.errors.getvalue() + caplog.text
        assert secret not in at_rest
    assert token not in at_rest
    assert token not in caplog.text


def test_the_code_is_kept_only_as_the_command_can_read_it(operator, meanwhile):
    kept = []

    def come_back():
        page = operator.client.get(path_of(operator.address)).content.decode()
        location = operator.confirm(page)
        operator.client.get(path_of(location))
        kept.extend([location, Offer.objects.get().code])

    meanwhile(come_back)
    operator.run()

    location, sealed = kept
    code = location.partition("code=")[2].partition("&")[0]
    assert sealed
    assert code not in sealed
    assert Offer.objects.get().code == ""


def test_the_keys_can_be_printed_for_a_secret_store(operator, meanwhile, code_host):
    meanwhile(operator.register)

    printed = json.loads(operator.run("--print"))

    assert printed["HUB_GITHUB_WEBHOOK_SECRET"] == code_host.app.webhook_secret
    assert "restart the Hub" in operator.errors.getvalue()
    assert not operator.file.exists()


def test_another_file_may_be_named(operator, meanwhile, tmp_path):
    other = tmp_path / "secrets" / "app.json"
    meanwhile(operator.register)

    said = operator.run("--file", str(other))

    assert other.exists()
    assert f"Set HUB_GITHUB_CREDENTIALS={other} for the Hub." in said


def test_the_page_tells_how_it_ended(operator, meanwhile):
    meanwhile(operator.register)
    operator.run()

    page = operator.client.get("/setup/github/created/").content.decode()

    assert "The app is created" in page
    assert "refresh" not in page


@pytest.mark.parametrize("name", credentials.NAMES)
def test_a_hub_that_has_an_app_gets_no_second_one(operator, settings, name):
    setattr(settings, name, "something")

    with pytest.raises(
        CommandError, match=rf"has an app already \({name}\)\. To replace it, unset"
    ):
        operator.run()

    assert not Offer.objects.exists()


def test_it_names_the_file_and_only_the_variables_that_are_set(operator, settings, monkeypatch):
    settings.HUB_GITHUB_APP_ID = settings.HUB_GITHUB_APP_SLUG = "something"
    operator.file.write_text("{}")

    with pytest.raises(CommandError) as refused:
        operator.run()
    monkeypatch.setenv("HUB_GITHUB_APP_SLUG", "something")
    with pytest.raises(CommandError) as again:
        operator.run()

    assert f"({operator.file}). To replace it, move that file away and" in str(refused.value)
    assert f"(HUB_GITHUB_APP_SLUG, {operator.file}). To replace it, unset" in str(again.value)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--name", "x" * 35], "1 to 34 characters"),
        (["--name", "a\nb"], "without line ends"),
        (["--name", " "], "1 to 34 characters"),
        (["--organization", "../acme"], "login of an organization"),
        (["--organization", "acme corp"], "login of an organization"),
        (["--file", "/proc/github.json"], "/proc/github.json cannot be written"),
        (["--file", "/etc/passwd/github.json"], "cannot be written"),
        (["--file", "/etc/hostname"], "is there already"),
        (["--file", "x", "--print"], "not allowed with"),
        (["--port", "70000"], "ports are numbers"),
    ],
)
def test_what_cannot_be_is_said_before_github_is_asked(operator, arguments, sentence):
    with pytest.raises(CommandError, match=sentence):
        operator.run(*arguments)

    assert not Offer.objects.exists()


def test_without_a_file_the_operator_has_to_choose(operator, settings):
    settings.HUB_GITHUB_CREDENTIALS = ""

    with pytest.raises(CommandError, match="name a --file, or --print"):
        operator.run()


@pytest.mark.parametrize(
    ("url", "base", "warns"),
    [
        ("https://github.com", "https://hub.example", False),
        ("https://github.com", "http://hub.example", True),
        ("https://github.com", "https://localhost", True),
        ("https://github.example.com", "http://hub.internal", False),
    ],
)
def test_an_address_that_github_cannot_reach_is_said(
    operator, meanwhile, settings, url, base, warns
):
    settings.HUB_GITHUB_URL, settings.HUB_BASE_URL = url, base
    meanwhile()

    with pytest.raises(CommandError, match="Stopped"):
        operator.run()

    assert ("which GitHub cannot reach" in operator.out.getvalue()) is warns


def test_an_interrupted_command_leaves_no_address(operator, meanwhile, settings):
    meanwhile()

    with pytest.raises(CommandError, match="If GitHub has created an app, delete it"):
        operator.run()

    assert operator.client.get(path_of(operator.address)).status_code == 404


@pytest.mark.parametrize(
    ("comes", "sentence"),
    [
        (
            False,
            "Nobody opened the page within 10 minutes.* Is the Hub running at https://hub.example",
        ),
        (True, "Nobody came back from GitHub within 10 minutes.* delete it at http"),
    ],
)
def test_nobody_came_in_time(operator, meanwhile, clock, comes, sentence):
    def wait():
        if comes:
            operator.client.get(path_of(operator.address))
        clock.advance(minutes=10)

    meanwhile(wait)

    with pytest.raises(CommandError, match=sentence):
        operator.run()

    assert operator.client.get(path_of(operator.address)).status_code == 404


def test_an_answer_in_the_last_second_counts(operator, meanwhile, clock):
    meanwhile(lambda: (operator.register(), clock.advance(minutes=10)))

    assert "is created" in operator.run()


def test_the_second_of_two_operators_goes_on(operator, meanwhile):
    def begin_again():
        Offer.objects.begin(name="Another", organization="", is_public=True)

    meanwhile(begin_again)

    with pytest.raises(CommandError, match="setup_github was started again"):
        operator.run()

    assert Offer.objects.get().name == "Another"
    assert operator.client.get(path_of(operator.address)).status_code == 404


def test_an_app_of_somebody_else_is_not_taken(operator, meanwhile):
    def answer_with_ones_own():
        page = operator.client.get(path_of(operator.address)).content.decode()
        location = operator.confirm(page.replace("/organizations/acme/", "/"), login="bob")
        operator.client.get(path_of(location))

    meanwhile(answer_with_ones_own)

    with pytest.raises(CommandError, match="app acme-docs belongs to bob, not to acme"):
        operator.run("--organization", "acme")

    assert not operator.file.exists()


def test_a_code_that_github_does_not_know_is_said(operator, meanwhile, code_host):
    def used_elsewhere():
        operator.register()
        code_host.unfetched = None

    meanwhile(used_elsewhere)

    with pytest.raises(
        CommandError, match=r"used before.*delete it at http\S+/settings/apps, then run"
    ):
        operator.run()

    assert "could not be saved" in operator.client.get("/setup/github/created/").content.decode()
    assert not operator.file.exists()


def test_github_is_asked_again_where_it_fails(operator, meanwhile, code_host):
    def fail_once():
        operator.register()
        code_host.fail("502", path="/api/v3/app-manifests/*")

    meanwhile(fail_once, lambda: None)

    assert "is created" in operator.run()


def test_github_that_stays_away_is_said(operator, meanwhile, code_host):
    def fail():
        operator.register()
        code_host.fail("502", path="/api/v3/app-manifests/*", times=9)

    meanwhile(fail, *[lambda: None] * 9)

    with pytest.raises(CommandError, match="GitHub answered 502 when asked for the app's keys"):
        operator.run()

    asked = [each for each in code_host.requests if "app-manifests" in each.path]
    assert len(asked) == setup_github.FETCH_TIMES


@pytest.mark.parametrize("person", [True, False])
def test_what_cannot_be_written_is_shown_once_to_a_person(operator, meanwhile, code_host, person):
    def spoil():
        operator.register()
        operator.file.mkdir()

    operator.out.isatty = lambda: person
    meanwhile(spoil)

    with pytest.raises(CommandError, match="could not be written: File exists") as stopped:
        operator.run()

    assert (code_host.app.client_secret in operator.out.getvalue()) is person
    assert ("shown this once" in str(stopped.value)) is person
    assert "delete" in str(stopped.value)


def test_a_database_that_is_not_there_is_said(operator, monkeypatch):
    def fail(*args, **values):
        raise DatabaseError("no such table: hub_offer")

    monkeypatch.setattr(Offer.objects, "begin", fail)

    with pytest.raises(CommandError, match=r"no such table: hub_offer. Check DATABASE_URL.*--port"):
        operator.run()
    monkeypatch.setattr(setup_github.database_state, "why_unusable", lambda: OUTDATED)
    with pytest.raises(CommandError, match=rf"^{re.escape(OUTDATED)} Or use --port"):
        operator.run()


def test_only_the_newest_offer_is_kept():
    for number in range(3):
        Offer.objects.begin(name=str(number), organization="", is_public=True)

    assert [each.name for each in Offer.objects.all()] == ["2"]
