"""`manage.py`: its help, and one sentence where a command cannot work."""

import logging
import os
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from io import StringIO
from runpy import run_path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command, get_commands, load_command_class
from django.db import OperationalError, ProgrammingError, connections
from limits.storage import storage_from_string

from core.command import DJANGOS, Group, HubCommand
from hub import command_line
from hub.command_line import CommandLine
from tests.docs import defaults, tables
from tests.hub_process import ROOT

OURS = sorted(name for name, app in get_commands().items() if app in command_line.OURS)
EVERYTHING_WRONG = {
    "HUB_SECRET_KEY": "",
    "DATABASE_URL": "mysql://hub@127.0.0.1/hub",
    "HUB_THREADS": "0",
}


def load(name: str) -> HubCommand:
    return load_command_class(get_commands()[name], name)


def parser(name: str):
    return load(name).create_parser("manage.py", name)


@pytest.mark.parametrize("name", OURS)
def test_the_help_of_a_command_shows_its_own_options_and_examples_that_work(name):
    command = load(name)
    said = parser(name).format_help()

    assert isinstance(command, HubCommand), f"{name} has to be a core.command.HubCommand"
    before, _, after = said.partition("\nexamples:\n")
    assert not [option for option in [*DJANGOS, "--help"] if option in before]
    for typed, does in command.examples.items():
        assert f"  manage.py {typed} " in after
        assert does in after
        called, *arguments = shlex.split(typed)
        assert called == name
        parser(name).parse_args(arguments)
    assert [each.dest for each in parser(name)._actions if not each.help] == []


@pytest.mark.parametrize("name", OURS)
def test_the_list_says_of_a_command_what_the_reference_says(name):
    rows = tables.rows("commands", "command", "what it does")
    said = {tables.codes(command)[0]: does for command, does in rows}

    assert load(name).summary.replace("`", "") == said[name].replace("`", "")


def test_the_list_begins_with_our_commands_by_what_they_are_for():
    lines = CommandLine(["manage.py"]).main_help_text().splitlines()

    named = [line.split()[0] for line in lines if line.startswith("  ")]
    assert sorted(named[: len(OURS)]) == OURS
    assert [line for line in lines if line in [*Group]] == [*Group]
    assert next(line for line in lines if line.startswith("  core:")).startswith("  core: check, ")


def test_an_unknown_command_leads_to_the_known_one(capsys):
    with pytest.raises(SystemExit, match="1"):
        CommandLine(["manage.py", "maintian"]).fetch_command("maintian")

    assert "Did you mean maintain?" in capsys.readouterr().err


@pytest.fixture
def environment(monkeypatch):
    """What `hub/settings.py` reads, with all that it needs and nothing else."""
    for name in [name for name in os.environ if name.startswith("HUB_")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setenv("HUB_SECRET_KEY", "x" * 50)
    return monkeypatch.setenv


def read_settings() -> dict:
    return run_path(str(ROOT / "hub/settings.py"))


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("HUB_SECRET_KEY", "", "Set HUB_SECRET_KEY to a long random text"),
        ("HUB_SECRET_KEY", " \n", "Set HUB_SECRET_KEY to a long random text"),
        ("HUB_BASE_URL", "hub.example.com", "such as https://hub.example.com"),
        ("HUB_BASE_URL", "https://[::1", "such as https://hub.example.com"),
        ("HUB_BASE_URL", "https://hub.example:99999", "such as https://hub.example.com"),
        ("HUB_BASE_URL", "https://", "such as https://hub.example.com"),
        ("HUB_BASE_URL", "https://*", "such as https://hub.example.com"),
        ("HUB_BASE_URL", "https://.example.com", "such as https://hub.example.com"),
        ("HUB_BASE_URL", "https://hub.example.com/hub", "with nothing behind its host and port"),
        ("HUB_BASE_URL", "https://hub.example.com # ours", "with nothing behind its host and port"),
        ("HUB_GITHUB_URL", "github.com", "such as https://github.example.com"),
        ("HUB_GITHUB_URL", "http://github.com", "set it to https://github.com, or unset it"),
        ("HUB_GITHUB_URL", "https://api.github.com/", "set it to https://github.com, or unset it"),
        ("HUB_HOST", "", "set it to an IP address of this machine"),
        ("HUB_HOST", "localhost", "set it to an IP address of this machine"),
        ("HUB_HOST", "127.1", "set it to an IP address of this machine"),
        ("HUB_ISSUE_RATE", "0/minute", "set it to a rate such as 60/minute"),
        ("HUB_ISSUE_RATE", "60/minute;0/hour", "set it to a rate such as 60/minute"),
        ("HUB_TOTAL_RATE", "9" * 20 + "/second", "set it to a rate such as 60/minute"),
        ("HUB_REPORT_RATE", "sixty", "set it to a rate such as 60/minute"),
        ("HUB_FORWARDING", "later", "set it to inline or queue"),
        ("REDIS_URL", "REDIS://127.0.0.1:6379", "must be a URL such as redis://"),
        ("REDIS_URL", "127.0.0.1:6379", "must be a URL such as redis://"),
        ("REDIS_URL", "redis://127.0.0.1:port", "must be a URL such as redis://"),
        ("REDIS_URL", "unix:///run/redis.sock", "must be a URL such as redis://"),
        ("REDIS_URL", "redis+sentinel://:pw@10.0.0.1:port/hub", "must be a URL such as redis://"),
        ("REDIS_URL", "redis+sentinel://:p@w@10.0.0.1/hub", "must be a URL such as redis://"),
        ("REDIS_URL", "redis+sentinel://:pw@10.0.0.1:26379", "must be a URL such as redis://"),
        ("DATABASE_URL", "/var/hub.sqlite3", "must be a URL such as postgres://"),
        ("DATABASE_URL", "sqlite://var/hub.sqlite3", "must be a URL such as postgres://"),
        ("DATABASE_URL", "sqlite:///", "must be a URL such as postgres://"),
        ("DATABASE_URL", "sqlite:////nowhere/hub.sqlite3?mode=ro", "must be a URL such as"),
        ("DATABASE_URL", "postgres://hub@127.0.0.1", "must be a URL such as postgres://"),
        (
            "DATABASE_URL",
            "postgres://hub@127.0.0.1/hub?conn_max_age=60",
            "sets conn_max_age, which",
        ),
        (
            "DATABASE_URL",
            "postgres://127.0.0.1/hub?atomic_requests=on",
            "sets atomic_requests, which",
        ),
        ("DATABASE_URL", "mysql://hub@127.0.0.1/hub", "must be a URL such as postgres://"),
        ("DATABASE_URL", "postgres://hub@127.0.0.1:port/hub", "must be a URL such as postgres://"),
        ("DATABASE_URL", "postgres://hub@[::1/hub", "must be a URL such as postgres://"),
        ("HUB_THREADS", "many", "HUB_THREADS is 'many': set it to a whole number."),
        ("HUB_THREADS", "0", "HUB_THREADS is 0: set it to a number from 1 to 1000."),
        ("HUB_PROCESSES", "0", "set it to a number from 1 to 1000."),
        ("PORT", "70000", "PORT is 70000: set it to a number from 1 to 65535."),
        ("HUB_TRUSTED_PROXIES", "-1", "HUB_TRUSTED_PROXIES is -1: set it to a number from 0"),
        ("HUB_TRUSTED_PROXIES", "one", "HUB_TRUSTED_PROXIES is 'one': set it to a whole number."),
        ("HUB_DEBUG", "flase", "HUB_DEBUG is 'flase': set it to true or false."),
        ("HUB_PREPARED_STATEMENTS", "offf", "set it to true or false."),
        ("HUB_DEDUP_DAYS", "9" * 5000, "set it to a number from 1 to 36500."),
        ("HUB_DEDUP_DAYS", "0", "HUB_DEDUP_DAYS is 0: set it to a number from 1 to 36500."),
        ("HUB_RETENTION_DAYS", "0", "set it to a number from 1 to 36500."),
        ("HUB_LOG_LEVEL", "loud", "set it to info, debug, warning or error"),
        ("HUB_LOG_FORMAT", "xml", "set it to json or text"),
        ("HUB_SECRET_KEY_FALLBACKS", "x" * 50 + ",abc", "so one with a comma cannot be listed"),
        (
            "HUB_GITHUB_WEBHOOK_SECRET_FALLBACKS",
            "a,long" + "x" * 50,
            "can be guessed: leave it out",
        ),
        ("HUB_SENTRY_DSN", "sentry.example.org", "copy it from the service"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_in_a_sentence(environment, name, value, sentence):
    environment(name, value)

    with pytest.raises(ImproperlyConfigured) as refusal:
        read_settings()

    assert sentence in str(refusal.value)
    assert name in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", ["HUB_BASE_URL", "HUB_GITHUB_URL"])
def test_a_password_in_an_address_is_not_shown(environment, name):
    environment(name, "https://hub:p4ssw0rd@hub.example.com")

    with pytest.raises(ImproperlyConfigured, match=f"{name} is an address with a user") as refusal:
        read_settings()

    assert "p4ssw0rd" not in str(refusal.value)


@pytest.mark.parametrize(
    "written",
    [
        "HTTPS://Hub.Example.com",
        " https://hub.example.com",
        "https://hub.example.com/\r\n",
        "https://hub.example.com:443",
        "https://hub.example.com.",
    ],
)
def test_every_spelling_of_an_https_address_is_served_as_such(environment, written):
    """Cookies were not secure where it began with a space or a capital."""
    environment("HUB_BASE_URL", written)

    read = read_settings()

    assert read["HUB_BASE_URL"] == "https://hub.example.com"
    assert read["ALLOWED_HOSTS"] == ["hub.example.com"]
    assert read["CSRF_TRUSTED_ORIGINS"] == ["https://hub.example.com"]
    assert read["SESSION_COOKIE_SECURE"]
    assert read["SECURE_HSTS_SECONDS"]


@pytest.mark.parametrize(
    "written", ["https://GitHub.com", "https://github.com:443/", "https://github.com\n"]
)
def test_every_spelling_of_github_is_github(environment, written):
    environment("HUB_GITHUB_URL", written)

    assert read_settings()["HUB_GITHUB_URL"] == "https://github.com"


@pytest.mark.parametrize(
    "name",
    [
        "HUB_CONTACT",
        "HUB_DNS_SERVERS",
        "HUB_GITHUB_APP_ID",
        "HUB_GITHUB_CLIENT_ID",
        "HUB_GITHUB_CLIENT_SECRET",
        "HUB_GITHUB_PRIVATE_KEY",
        "HUB_GITHUB_WEBHOOK_SECRET",
        "HUB_METRICS_TOKEN",
        "HUB_PAGES_HOST",
        "REDIS_URL",
    ],
)
def test_what_a_file_leaves_around_a_value_is_no_part_of_it(environment, tmp_path, name):
    environment("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    environment(name, " redis://127.0.0.1\r\n")
    assert read_settings()[name] == "redis://127.0.0.1"

    environment(name, " \n")
    assert read_settings()[name] == ""


def test_a_password_of_the_database_may_have_a_number_sign(environment):
    environment("DATABASE_URL", "postgres://hub:p#w@127.0.0.1/hub")

    assert read_settings()["DATABASES"]["default"]["PASSWORD"] == "p#w"


def test_a_relative_path_begins_at_the_checkout(environment, monkeypatch, tmp_path):
    """`serve` may be started elsewhere, and `maintain` runs there."""
    environment("DATABASE_URL", "sqlite:///nowhere/hub.sqlite3")
    environment("PROMETHEUS_MULTIPROC_DIR", "var/metrics")
    monkeypatch.chdir(tmp_path)

    read = read_settings()

    assert read["DATABASES"]["default"]["NAME"] == str(ROOT / "nowhere/hub.sqlite3")
    assert read["METRICS_FOLDER"] == ROOT / "var/metrics"


def test_options_for_postgresql_keep_the_patience(environment):
    """Without it a request would wait for a locked row for as long as that is locked."""
    environment("DATABASE_URL", "postgres://127.0.0.1/hub?options=-c%20search_path%3Dhub")

    options = read_settings()["DATABASES"]["default"]["OPTIONS"]["options"]

    assert options.startswith("-c lock_timeout=5s ")
    assert options.endswith(" -c search_path=hub")


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff"])
def test_a_key_file_that_has_no_key_is_named(environment, monkeypatch, tmp_path, content):
    (tmp_path / "var").mkdir()
    (tmp_path / "var/secret_key").write_bytes(content)
    (tmp_path / "hub").mkdir()
    copied = shutil.copy(ROOT / "hub/settings.py", tmp_path / "hub/settings.py")
    environment("HUB_DEBUG", "true")
    environment("HUB_SECRET_KEY", "")

    with pytest.raises(
        ImproperlyConfigured, match=r"secret_key cannot be used: it is .+ remove the file"
    ):
        run_path(str(copied))


@pytest.mark.parametrize(
    "url",
    [
        "redis+unix:///run/redis.sock",
        "redis+sentinel://10.0.0.1:26379,[::1]:26379/hub",
        "redis+sentinel://hub:pw@10.0.0.1:26379, 10.0.0.2:26379/hub",
    ],
)
def test_redis_may_listen_at_a_socket_or_be_found_by_sentinels(environment, url):
    environment("REDIS_URL", url)

    assert read_settings()["REDIS_URL"] == url
    assert storage_from_string(url)


@pytest.mark.parametrize(
    ("written", "is_on"), [("true", True), (" On ", True), ("1", True), ("", False), ("0", False)]
)
def test_a_switch_is_on_or_off(environment, written, is_on):
    environment("HUB_DEBUG", written)

    assert read_settings()["HUB_DEBUG"] is is_on


def test_errors_cannot_be_sent_without_the_package(environment, monkeypatch):
    environment("HUB_SENTRY_DSN", "https://key@sentry.example.org/1")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(
        ImproperlyConfigured, match="sentry-sdk is not installed: run script/install"
    ):
        read_settings()


def test_metrics_need_a_folder_that_can_be_written(environment, tmp_path):
    (tmp_path / "file").touch()
    environment("HUB_METRICS_TOKEN", "x")
    environment("PROMETHEUS_MULTIPROC_DIR", str(tmp_path / "file" / "metrics"))

    with pytest.raises(ImproperlyConfigured, match=r"Set PROMETHEUS_MULTIPROC_DIR to a folder"):
        read_settings()


NONSENSE = ["nonsense", "-1", "0", "9" * 5000, "http://[", "://", "ü\n", "$HOME", "1/minute;", " "]


@pytest.mark.parametrize("name", sorted(defaults.settings()))
def test_no_value_of_a_setting_ends_in_another_error(environment, name):
    for value in NONSENSE:
        environment(name, value)
        with suppress(ImproperlyConfigured):
            read_settings()


def test_a_value_that_begins_with_a_dollar_is_taken_as_it_is(environment):
    environment("HUB_SECRET_KEY", r"$HOME\$PATH$")

    assert read_settings()["SECRET_KEY"] == r"$HOME\$PATH$"


def test_a_command_about_the_setup_is_told_all_that_is_wrong(environment, monkeypatch):
    for name, value in EVERYTHING_WRONG.items():
        environment(name, value)

    with pytest.raises(ImproperlyConfigured, match=r"2 more: `manage\.py check_setup` lists them"):
        read_settings()
    monkeypatch.setattr(command_line, "tolerant", True)

    sentences = " ".join(read_settings()["MISCONFIGURED"])
    assert [name for name in EVERYTHING_WRONG if name not in sentences] == []


@pytest.mark.parametrize(
    ("typed", "tolerant"),
    [
        ("", True),
        ("help", True),
        ("help migrate", True),
        ("serve --help", True),
        ("check_setup --json", True),
        ("setup_github", True),
        ("serve", False),
        ("make_operator help", False),
    ],
)
def test_only_commands_about_the_setup_run_without_it(monkeypatch, typed, tolerant):
    monkeypatch.setattr(command_line, "tolerant", False)
    monkeypatch.setattr(command_line, "only_looks", False)
    monkeypatch.setattr(CommandLine, "execute", lambda self: None)

    command_line.run(["manage.py", *typed.split()])

    assert command_line.tolerant == tolerant


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
def test_a_worker_does_not_begin_on_a_backup(settings, tmp_path, monkeypatch):
    """What waits there may have been sent since."""
    settings.HUB_FORWARDING = "queue"
    call_command("backup", str(tmp_path / "hub.sqlite3"), stdout=StringIO())
    monkeypatch.setitem(connections["default"].settings_dict, "NAME", tmp_path / "hub.sqlite3")

    with pytest.raises(ImproperlyConfigured, match=r"Run `manage\.py after_restore` before"):
        CommandLine(["manage.py", "db_worker"]).fetch_command("db_worker")
    CommandLine(["manage.py", "after_restore"]).fetch_command("after_restore")


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["migrate", "maintain", "serve", "make_operator", "prune_reports"])
def test_a_command_says_that_the_database_is_away(monkeypatch, name):
    away = {"NAME": "/nowhere/hub.sqlite3", "HOST": "/nowhere"}
    for key, value in away.items():
        monkeypatch.setitem(connections["default"].settings_dict, key, value)

    with pytest.raises(ImproperlyConfigured, match=r"does not answer: .+[^.]\. Check DATABASE_URL"):
        CommandLine(["manage.py", name]).fetch_command(name)


@pytest.mark.sqlite
@pytest.mark.django_db
@pytest.mark.parametrize("name", ["maintain", "serve", "make_operator", "retry_deliveries"])
def test_a_command_says_that_the_database_is_not_migrated(monkeypatch, tmp_path, name):
    monkeypatch.setitem(connections["default"].settings_dict, "NAME", tmp_path / "empty.sqlite3")

    with pytest.raises(ImproperlyConfigured, match=r"not up to date: run `manage\.py migrate`"):
        CommandLine(["manage.py", name]).fetch_command(name)
    CommandLine(["manage.py", "migrate"]).fetch_command("migrate")
    CommandLine(["manage.py", name, "--help"]).fetch_command(name)


def test_a_worker_without_a_queue_is_told_so(settings):
    settings.HUB_FORWARDING = "inline"

    with pytest.raises(ImproperlyConfigured, match="HUB_FORWARDING is inline"):
        CommandLine(["manage.py", "db_worker"]).fetch_command("db_worker")


@pytest.mark.parametrize(("name", "level"), [("check_setup", 50), ("serve", 40)])
def test_the_pool_of_connections_speaks_only_where_a_process_stays(monkeypatch, name, level):
    pool = logging.getLogger("psycopg.pool")
    monkeypatch.setattr(pool, "level", logging.ERROR)
    monkeypatch.setattr(command_line, "_refuse", lambda *args: None)

    CommandLine(["manage.py", name]).fetch_command(name)

    assert pool.level == level


@pytest.mark.slow
def test_nothing_is_said_where_nobody_reads():
    """As with `check_setup | head`."""
    here, there = os.pipe()
    os.close(here)
    with os.fdopen(there, "w") as unread:
        ended = subprocess.run(
            [sys.executable, "manage.py", "version"],
            cwd=ROOT,
            stdout=unread,
            stderr=subprocess.PIPE,
            timeout=60,
        )

    assert (ended.returncode, ended.stderr) == (141, b"")


def test_a_command_that_looks_makes_no_database(environment, monkeypatch, tmp_path):
    path = tmp_path / "hub.sqlite3"
    environment("DATABASE_URL", f"sqlite:///{path}")

    monkeypatch.setattr(command_line, "only_looks", True)
    read = read_settings()
    assert (read["MISSING"], read["DATABASES"]["default"]["NAME"]) == ([path], ":memory:")
    assert not path.exists()

    monkeypatch.setattr(command_line, "only_looks", False)
    assert read_settings()["MISSING"] == []
    assert path.exists()


@pytest.mark.sqlite
@pytest.mark.django_db
def test_a_migration_that_fails_says_why(monkeypatch, tmp_path):
    """And not that the database is to be migrated, which is what it does."""

    def fail(self):
        raise OperationalError("canceling statement due to lock timeout\nCONTEXT: a tuple")

    monkeypatch.setattr(CommandLine, "execute", fail)
    monkeypatch.setitem(connections["default"].settings_dict, "NAME", tmp_path / "empty.sqlite3")

    with pytest.raises(SystemExit, match="The migration failed: canceling statement due to lock"):
        command_line.run(["manage.py", "migrate"])


@pytest.mark.django_db
def test_an_error_of_the_database_that_nobody_knows_keeps_its_traceback(monkeypatch):
    def fail(self):
        raise ProgrammingError("a bug")

    monkeypatch.setattr(CommandLine, "execute", fail)

    with pytest.raises(ProgrammingError, match="a bug"):
        command_line.run(["manage.py", "prune_reports"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "status", "sentence"),
    [
        (
            "serve",
            1,
            "Set HUB_SECRET_KEY to a long random text. (For a trial on your own machine, ",
        ),
        ("help serve", 0, ""),
    ],
)
def test_without_any_setting_there_is_no_traceback(command, status, sentence):
    ended = subprocess.run(
        [sys.executable, "manage.py", *command.split()],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == status
    assert ended.stderr.startswith(sentence)
    assert ended.stderr.count("\n") == status
