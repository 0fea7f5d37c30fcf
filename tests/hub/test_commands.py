"""The operator's commands."""

import json
import os
import socket
import sqlite3
import subprocess
import sys
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from hub.management.commands import check_setup, sandbox
from hub.setup import database
from tests import build
from tests.hub_process import ROOT, alone, free_port

STATES = (  # the state of an issue is read, and stored as open, by whoever comments on it: now or later
    "SELECT status, replace(issue_state, 'open', ''), count(*) FROM integrations_delivery "
    "GROUP BY 1, 2 ORDER BY 1, 2"
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
def a_server_that_waits_for_its_disk(monkeypatch) -> None:
    """The tests' own PostgreSQL does not."""
    monkeypatch.setattr(database, "_unfit", lambda values, is_copy: ())


def set_up(code_host, settings) -> None:
    """As an operator has to: at a name that resolves here, behind a proxy, with an app that is complete."""
    settings.HUB_BASE_URL, settings.HUB_TRUSTED_PROXIES = f"https://127.0.0.1:{free_port()}", 1
    settings.HUB_CONTACT = "ops@example.com"
    app = code_host.app
    app.events = ("issues", "repository", "installation_target")
    app.webhook_url = f"{settings.HUB_BASE_URL}/v1/webhooks/github"


@pytest.mark.django_db(transaction=True)
def test_a_hub_that_is_set_up_has_no_problems(code_host, settings, dns):
    set_up(code_host, settings)

    said = run("check_setup")

    assert said.startswith("Settings\n  ✓ ok       All settings can be read.\n")
    assert "\nGitHub App\n" in said
    assert "\n  ✓ ok       GitHub knows the app docs-feedback-hub" in said
    assert "No problems found." in said
    assert "✗ problem" not in said


@pytest.mark.django_db(transaction=True)
def test_problems_are_counted_and_end_with_1(code_host, settings, dns):
    set_up(code_host, settings)
    settings.HUB_GITHUB_CLIENT_SECRET = ""
    settings.HUB_TRUSTED_PROXIES = 0
    out = StringIO()

    with pytest.raises(CommandError, match=r"^2 problems found\. \d warnings?\.$") as ended:
        call_command("check_setup", stdout=out)

    assert ended.value.returncode == 1
    assert "  ✗ problem  HUB_TRUSTED_PROXIES is 0, and TLS ends in a proxy" in out.getvalue()


@pytest.mark.django_db(transaction=True)
def test_programs_read_the_findings_as_json(code_host, settings, dns):
    set_up(code_host, settings)

    read = json.loads(run("check_setup", json=True))

    assert read["problems"] == 0
    levels = [each["level"] for each in read["findings"]]
    assert (levels.count("warning"), set(levels) <= {"ok", "note", "warning"}) == (
        read["warnings"],
        True,
    )
    assert {
        "about": "Redis",
        "level": "ok",
        "text": "REDIS_URL is empty, which is right for one process.",
    } in (read["findings"])


def test_a_terminal_that_has_no_signs_gets_letters():
    signs = check_setup.SIGNS

    assert check_setup._can_say("utf-8", signs)
    assert not check_setup._can_say("ascii", signs)
    assert "".join(check_setup.PLAIN.values()).isascii()


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
    assert states == [
        ("failed", "", 1), ("folded", "", 1), ("held", "", 1), ("sent", "", 52), ("sent", "closed", 7),
    ]  # fmt: skip
    assert members == [("alice", "owner"), ("bob", "member")]
    assert (reports, accounts) == (62, 3)
    assert times > 180
    assert days > 54
