"""`setup_github --port`: the page that the command serves itself."""

import re
import socket
import threading
from datetime import timedelta
from types import SimpleNamespace

import pytest
import requests
from django.core.management import CommandError

from hub.management.commands import setup_github
from hub.registering import loopback
from hub.registering.manifest import Wish


def get(url: str, **options) -> requests.Response:
    return requests.get(url, timeout=30, allow_redirects=False, **options)


@pytest.fixture
def server(code_host):
    with loopback.serving(loopback.Loopback(0, Wish("Acme Docs", "acme"))) as server:
        yield server


def created(server, **query: str) -> requests.Response:
    return get(f"http://{server.hosts[0]}/created", params=query)


def test_from_the_command_to_the_file(operator, code_host, monkeypatch):
    """The command in this thread, and the browser in another, as soon as the page is served."""
    last = SimpleNamespace(page=None)
    browsing: list[threading.Thread] = []
    served = loopback.serving

    def browse(url: str) -> None:
        last.page = get(operator.confirm(get(url).text))

    def serving(server):
        browsing.append(threading.Thread(target=browse, args=[server.url]))
        browsing[0].start()
        return served(server)

    monkeypatch.setattr(loopback, "serving", serving)
    said = operator.run("--port", "0", "--organization", "acme")
    browsing[0].join()

    assert re.search(r"^    http://127\.0\.0\.1:\d+/[\w-]{43}/$", said, re.MULTILINE)
    assert "The app acme-docs of acme is created" in said
    assert code_host.app.client_secret in operator.file.read_text()
    assert code_host.app.client_secret not in said
    assert last.page.status_code == 200
    assert "The app is created" in last.page.text


def test_no_database_is_needed(server):
    page = get(server.url)  # this test has none

    assert page.status_code == 200
    assert page.text.count("<button") == 1
    assert "&quot;redirect_url&quot;: &quot;http://127.0.0.1:" in page.text
    assert "form-action http://127.0.0.1:" in page.headers["Content-Security-Policy"]
    assert page.headers["Cache-Control"] == "no-store"


def test_the_look_is_served(server):
    for name, kind in loopback.FILES.items():
        assert get(f"http://{server.hosts[0]}{name}").headers["Content-Type"] == kind


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1.evil"])
def test_another_name_that_leads_here_is_refused(server, host):
    response = get(server.url, headers={"Host": host})

    assert response.status_code == 421
    assert server.state not in response.text


@pytest.mark.parametrize("path", ["/", "/x/", "/../hub.js", "/static/hub.js", "/%00"])
def test_there_is_nothing_else(server, path):
    with socket.create_connection(server.server_address) as raw:
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: {server.hosts[0]}\r\n\r\n".encode())
        status = raw.makefile("rb").readline()

    assert b" 404 " in status


def test_only_a_loopback_address_is_listened_on(server):
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize("state", ["", "wrong", "é"])
def test_an_attackers_code_is_not_taken(server, state):
    response = created(server, code="attackers", state=state)

    assert response.status_code == 400
    assert "does not belong to the page" in response.text
    assert not server.code


@pytest.mark.parametrize("code", ["", "a/../b", "a b", "x" * 201])
def test_a_code_that_is_none_is_not_taken(server, code):
    assert created(server, code=code, state=server.state).status_code == 400
    assert not server.code


def test_the_answer_counts_once(server):
    first = threading.Thread(
        target=created, args=[server], kwargs={"code": "a", "state": server.state}
    )
    first.start()
    assert server.has_code.wait(30)

    second = created(server, code="b", state=server.state)
    server.end(is_done=True)
    first.join()

    assert second.status_code == 400
    assert server.code == "a"


def test_nobody_came_in_time(operator, monkeypatch):
    monkeypatch.setattr(setup_github, "LIFETIME", timedelta(0))

    with pytest.raises(CommandError, match="Nobody came back from GitHub within 10 minutes"):
        operator.run("--port", "0")


def test_a_taken_port_is_said(operator):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        with pytest.raises(CommandError, match=f"listen on 127.0.0.1 port {port}: Address already"):
            operator.run("--port", str(port))
