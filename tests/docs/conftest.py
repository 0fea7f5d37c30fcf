"""The stage of the pages' examples: a Hub, GitHub's stand-in, a DNS server, and the people of the docs."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from orgs.models import Domain
from sandbox import CodeHost
from tests import build
from tests.conftest import hub_for, new_code_host, served
from tests.dns_server import DNSServer
from tests.docs.running import Stage
from tests.hub_process import ROOT, HubProcess, free_port

CLIENTS = ROOT / "clients"
PROGRAMS = {"docfeedback": "-m docfeedback", "docfeedback-mcp": "-m docfeedback_mcp", "python": ""}
SENT = [  # what reporters have sent before the reader begins
    ("install", "outdated", "The install command names a package that is gone"),
    ("quickstart", "incorrect", "Step 3 names a flag that does not exist"),
    ("api/errors", "missing", "Error 429 is not described"),
]


@pytest.fixture(scope="module")
def dns_server() -> Iterator[tuple[DNSServer, str]]:
    server = DNSServer()
    with server.serving() as address:
        yield server, address


@pytest.fixture(scope="module")
def github_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def hub_process(
    django_db_setup, django_db_blocker, github_port, dns_server
) -> Iterator[HubProcess]:
    """One Hub for all pages; each page finds a database of its own."""
    with (
        django_db_blocker.unblock(),
        hub_for(github_port, HUB_DNS_SERVERS=dns_server[1]) as hub,
    ):
        yield hub


@pytest.fixture
def code_host(settings, github_port) -> Iterator[CodeHost]:
    yield from served(new_code_host(), settings, port=github_port)


@pytest.fixture
def people(transactional_db, code_host) -> dict[str, str]:
    """acme with its integration, and the tokens of its people; somebody else who wants no reports."""
    acme = build.organization()
    build.integration(acme, code_host)
    alice = build.member(acme, "alice", github_id=code_host.account("alice").id)
    bob = build.member(acme, "bob", role="member", github_id=code_host.account("bob").id)
    closed = build.domain(build.organization("closed"), "closed.example.com")
    Domain.objects.filter(pk=closed.pk).update(opted_out_at=closed.verified_at)
    return {
        "TOKEN": build.token(alice),
        "READ_TOKEN": build.token(alice, ["orgs:read"]),
        "BOB_TOKEN": build.token(bob),
    }


@pytest.fixture
def stage(people, code_host, hub_process, dns_server, tmp_path) -> Stage:
    """A shell in an empty folder, with what `docs.example.com` has been claimed and reported."""
    dns = dns_server[0]

    def publish() -> None:
        for claim in Domain.objects.all():
            dns.remove(claim.record_name)
            dns.txt(claim.record_name, claim.record_value)

    _claim(hub_process.url, people["TOKEN"], publish)
    ids = [_send(hub_process.url, *report) for report in SENT]
    code_host.fail("422")
    failed = _send(hub_process.url, "search", "broken", "The search finds nothing")
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "docfeedback").symlink_to(CLIENTS / "node")
    return Stage(
        folder,
        {
            **_environment(tmp_path),
            **people,
            "DOCFEEDBACK_HUB_URL": hub_process.url,
            "REPORT_ID": ids[0],
            "FAILED_REPORT_ID": failed,
        },
        words={
            "https://hub.example.com": hub_process.url,
            "https://github.com": code_host.url,
            ".venv/bin/python": sys.executable,
        },
        publish=publish,
        checkout=hub_process.environment(),
        root=ROOT,
    )


def _claim(hub: str, token: str, publish) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    domains = f"{hub}/v1/orgs/me/domains"
    claimed = requests.post(domains, json={"domain": "docs.example.com"}, headers=headers)
    claimed.raise_for_status()
    publish()
    verified = requests.post(f"{domains}/docs.example.com/verify", headers=headers)
    assert verified.json()["status"] == "verified", verified.text


def _send(hub: str, path: str, kind: str, summary: str) -> str:
    body = build.report(
        f"https://docs.example.com/{path}", report__kind=kind, report__summary=summary
    )
    answer = requests.post(f"{hub}/v1/reports", json=body)
    answer.raise_for_status()
    return answer.json()["id"]


def _environment(tmp_path: Path) -> dict[str, str]:
    """A person's, without the network: there is nothing at any address but this machine's."""
    home, programs = tmp_path / "home", tmp_path / "bin"
    home.mkdir()
    programs.mkdir()
    (home / ".curlrc").write_text("no-progress-meter\n")
    for name, arguments in PROGRAMS.items():
        script = programs / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
        script.chmod(0o755)
    shutil.copy(programs / "python", programs / "python3")
    return {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PYTHONPATH": f"{CLIENTS / 'python' / 'src'}:{CLIENTS / 'mcp' / 'src'}",
        "https_proxy": f"http://127.0.0.1:{free_port()}",
        "no_proxy": "127.0.0.1",
    }
