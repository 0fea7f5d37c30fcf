"""The address, and the proxies in front."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hub.setup import address
from hub.setup.findings import Level
from tests.hub.setup.conftest import levels, said
from tests.hub_process import free_port

OK, NOTE, WARNING, PROBLEM = Level


class Answering(BaseHTTPRequestHandler):
    status, body = 200, b"ok\n"

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.send_header("Location", "https://elsewhere.example/")
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def front(settings) -> Iterator[type[Answering]]:
    """Who answers at the Hub's address."""

    class Front(Answering):
        pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Front) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        settings.HUB_DEBUG = True
        settings.HUB_BASE_URL = f"http://127.0.0.1:{server.server_port}"
        yield Front
        server.shutdown()


def test_a_hub_that_answers(front):
    assert levels(address.address()) == {OK}
    assert "127.0.0.1 resolves to 127.0.0.1." in said(address.address())


@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        (301, b"", "answers 301: let the proxy lead to the Hub."),
        (502, b"", "answers 502: let the proxy lead to the Hub."),
        (200, b"Welcome to nginx!", "is answered by something else"),
    ],
)
def test_somebody_else_who_answers(front, status, body, sentence):
    front.status, front.body = status, body

    assert sentence in said(address.address(), PROBLEM)


def test_nobody_who_answers_is_a_warning(settings):
    settings.HUB_DEBUG, settings.HUB_BASE_URL = True, f"http://127.0.0.1:{free_port()}"

    assert "Nothing answers at" in said(address.address(), WARNING)


def test_a_certificate_that_is_none(front, settings):
    settings.HUB_BASE_URL = settings.HUB_BASE_URL.replace("http:", "https:")

    assert "has no valid certificate" in said(address.address(), PROBLEM)


def test_a_name_that_does_not_resolve(settings):
    settings.HUB_BASE_URL = "https://hub.invalid"

    assert "hub.invalid does not resolve" in said(address.address(), PROBLEM)


@pytest.mark.parametrize(
    ("url", "problems"),
    [
        ("http://localhost:1", 0),
        ("http://127.0.0.1:1", 0),
        ("https://127.0.0.2:1", 1),
        ("http://127.0.0.2:1", 2),
    ],
)
def test_a_trial_that_others_can_reach_is_said(settings, url, problems):
    settings.HUB_DEBUG, settings.HUB_BASE_URL = True, url

    found = [each for each in address.address() if each.level == PROBLEM]

    assert len(found) == problems


@pytest.mark.parametrize(
    ("https", "count", "level", "sentence"),
    [
        (True, 0, PROBLEM, "Set it to the number of proxies in front, 1 for one."),
        (True, 1, OK, "HUB_TRUSTED_PROXIES is 1. Only programs on this machine reach 127.0.0.1"),
        (True, 9, WARNING, "if there are fewer in front, callers can write the address"),
        (False, 0, OK, "callers connect to the Hub itself"),
    ],
)
def test_the_number_of_proxies(settings, https, count, level, sentence):
    settings.HTTPS, settings.HUB_TRUSTED_PROXIES = https, count

    assert sentence in said(address.proxies(), level)


def test_a_hub_that_others_reach_needs_a_firewall(settings):
    settings.HTTPS, settings.HUB_TRUSTED_PROXIES, settings.HUB_HOST = True, 1, "0.0.0.0"

    assert "keep all but the proxy away from 0.0.0.0 port 8000" in said(address.proxies(), OK)
