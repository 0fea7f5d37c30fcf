"""The operator's commands."""

import os
import socket
import sqlite3
import subprocess
import sys
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from hub.management.commands import sandbox
from hub.setup import problems
from tests import build
from tests.hub_process import ROOT, alone, free_port

STATES = (
    "SELECT status, issue_state, count(*) FROM integrations_delivery GROUP BY 1, 2 ORDER BY 1, 2"
)
PAST = (
    "SELECT count(*), sum(times_reported), sum(further_accounts), "
    "julianday(max(received_at)) - julianday(min(received_at)) FROM reports_report"
)

MEMBERS = "SELECT login, role FROM orgs_membership ORDER BY login"


def run(command: str, **options) -> str:
    out = StringIO()
    call_command(command, stdout=out, **options)
    return out.getvalue()


@pytest.fixture(autouse=True)
def behind_a_proxy(settings) -> None:
    settings.HUB_TRUSTED_PROXIES = 1


@pytest.mark.django_db
def test_a_hub_that_is_set_up_has_nothing_to_mend(code_host, settings):
    settings.HUB_BASE_URL = "https://hub.example"

    assert "No problems found." in run("check_setup")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("HUB_BASE_URL", "http://hub.example", "set it to the public https address"),
        ("HUB_TRUSTED_PROXIES", 0, "Set it to the number of proxies in front"),
        ("HUB_GITHUB_APP_SLUG", "another", "GitHub calls the app docs-feedback-hub"),
        ("HUB_GITHUB_CLIENT_ID", "", "HUB_GITHUB_CLIENT_ID is empty"),
        ("HUB_GITHUB_CLIENT_SECRET", "", "HUB_GITHUB_CLIENT_SECRET is empty"),
        ("HUB_GITHUB_PRIVATE_KEY", "", "HUB_GITHUB_PRIVATE_KEY is empty"),
        ("HUB_GITHUB_WEBHOOK_SECRET", "", "HUB_GITHUB_WEBHOOK_SECRET is empty"),
        ("HUB_GITHUB_PRIVATE_KEY", "/nowhere.pem", "neither a PEM key"),
        ("HUB_GITHUB_PRIVATE_KEY", "-----BEGIN nonsense", "neither a PEM key"),
        ("HUB_DNS_SERVERS", "dns.example.com", "not a list of ip[:port]"),
    ],
)
def test_what_is_missing_is_said(code_host, settings, name, value, sentence):
    setattr(settings, name, value)
    out = StringIO()

    with pytest.raises(CommandError, match="1 problem found"):
        call_command("check_setup", stdout=out)

    assert sentence in out.getvalue()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:8000", 0),
        ("http://127.0.0.1:8000", 0),
        ("https://hub.example", 1),
        ("http://hub.example", 2),
        ("http://localhost.hub.example", 2),
    ],
)
def test_a_trial_that_others_can_reach_is_said(code_host, settings, url, expected):
    settings.HUB_DEBUG, settings.HUB_BASE_URL = True, url

    said = [each for each in problems() if each.startswith(("HUB_DEBUG is on", "HUB_BASE_URL"))]

    assert len(said) == expected


@pytest.mark.django_db
def test_claims_that_a_newer_list_would_refuse_are_named_and_kept(code_host):
    claim = build.domain(build.organization(), "vercel.app")
    out = StringIO()

    with pytest.raises(CommandError, match="1 problem found"):
        call_command("check_setup", stdout=out)

    assert "acme has vercel.app verified" in out.getvalue()
    assert "shared by many owners" in out.getvalue()
    claim.refresh_from_db()
    assert claim.status == "verified"


@pytest.mark.django_db
def test_a_clock_that_is_off_is_said(code_host):
    code_host.clock_offset = timedelta(hours=1)
    out = StringIO()

    with pytest.raises(CommandError):
        call_command("check_setup", stdout=out)

    assert "clock is -60 minutes off GitHub's" in out.getvalue()


@pytest.mark.django_db
def test_a_key_may_have_its_line_ends_written_out(code_host, settings):
    settings.HUB_GITHUB_PRIVATE_KEY = settings.HUB_GITHUB_PRIVATE_KEY.replace("\n", "\\n")

    assert "No problems found." in run("check_setup")


@pytest.mark.django_db
def test_nothing_due_is_said():
    assert run("retry_deliveries") == "Nothing is due.\n"


def test_the_sandbox_refuses_production_settings(settings):
    settings.HUB_DEBUG = False

    with pytest.raises(CommandError, match="HUB_DEBUG=true"):
        call_command("sandbox")


@pytest.mark.django_db(transaction=True)
def test_the_sandbox_never_gives_a_number_twice(code_host, client, settings):
    settings.HUB_DEBUG = True
    build.acme(code_host, "docs.acme.com")
    for summary in ("Step 1 is wrong", "Step 2 is wrong"):
        build.send(client, build.report(report__summary=summary))

    started_again = sandbox.code_host()
    sandbox.add_docs(started_again)

    assert started_again.issues("acme/docs") == []
    assert started_again.create_issue("acme/docs", title="Next", user="bob").number == 3


@pytest.mark.parametrize(
    ("pages_host", "page"),
    [("pages.example", "https://acme.pages.example/docs/install"), ("github.io", None)],
)
def test_the_sandbox_has_a_page_to_report_where_its_address_is_nobodys(
    code_host, settings, pages_host, page
):
    settings.HUB_DEBUG, settings.HUB_PAGES_HOST = True, pages_host

    trial = sandbox.code_host().trial

    assert (trial and trial.page) == page
    assert trial is None or trial.hub_url == settings.HUB_BASE_URL


@pytest.mark.django_db
@pytest.mark.parametrize("command", ["serve", "sandbox"])
def test_a_taken_port_is_said(settings, command, code_host):
    settings.HUB_DEBUG = True
    with socket.create_server(("127.0.0.1", 0)) as other:
        settings.HUB_PORT = port = other.getsockname()[1]
        options = {"port": port} if command == "sandbox" else {}

        with pytest.raises(CommandError, match=f"cannot listen on .*port {port}: Address already"):
            call_command(command, skip_checks=True, **options)


def test_the_demo_is_not_run_on_another_database():
    with pytest.raises(CommandError, match="script/demo"):
        call_command("demo", "--once")


@pytest.mark.slow
def test_the_demo_has_a_past_and_ends_in_an_issue():
    port = free_port()
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "hub.settings",
        "HUB_DEBUG": "true",
        "PORT": str(port),
        "HUB_BASE_URL": f"http://localhost:{port}",
        "DATABASE_URL": f"sqlite:///{ROOT}/var/demo/hub.sqlite3",
        "HUB_GITHUB_URL": f"http://127.0.0.1:{free_port()}",
        "HUB_PAGES_HOST": "pages.example",
        "HUB_GITHUB_APP_ID": "1",
        "HUB_GITHUB_APP_SLUG": "docs-feedback-hub",
        "HUB_GITHUB_CLIENT_ID": "sandbox",
        "HUB_GITHUB_CLIENT_SECRET": "not-a-secret",
        "HUB_GITHUB_WEBHOOK_SECRET": "not-a-secret",
        "HUB_GITHUB_PRIVATE_KEY": f"{ROOT}/var/demo/app.pem",
    }

    with alone("demo"):
        ended = subprocess.run(
            [sys.executable, "manage.py", "demo", "--once"],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        with sqlite3.connect(ROOT / "var/demo/hub.sqlite3") as database:
            states = database.execute(STATES).fetchall()
            members = database.execute(MEMBERS).fetchall()
            reports, times, accounts, days = database.execute(PAST).fetchone()

    assert ended.returncode == 0, ended.stderr
    for address in ("/_sandbox/as/bob", "/_sandbox/docs/install", "/acme/docs/issues/59"):
        assert address in ended.stdout
    assert states == [("failed", "", 1), ("held", "", 1), ("sent", "", 52), ("sent", "closed", 7)]
    assert members == [("alice", "owner"), ("bob", "member")]
    assert (reports, accounts) == (61, 3)
    assert times > 180
    assert days > 54
