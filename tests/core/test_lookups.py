"""Where a host is, and how long those wait who ask a resolver that says nothing."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from threading import Event
from time import monotonic

import pytest
import requests

from core import deadlines, lookups, outgoing
from core.lookups import STANDS_STILL, addresses
from tests.waiting import wait_until
from tests.web_server import HOST, WebServer, certificate

PORT = 443


class Resolver:
    """Answers what a test says, once it may; counts what it was asked."""

    def __init__(self) -> None:
        self.found: list[str] = ["127.0.0.1"]
        self.asked = 0
        self.answers = Event()
        self.answers.set()
        self._look_up = socket.getaddrinfo

    def getaddrinfo(self, host, port, *which, **named):
        self.asked += 1
        self.answers.wait(20)
        if not self.found:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [one for each in self.found for one in self._look_up(each, port, *which, **named)]


@pytest.fixture
def resolver(monkeypatch) -> Iterator[Resolver]:
    new = Resolver()
    monkeypatch.setattr(lookups, "_begun", {})
    monkeypatch.setattr(socket, "getaddrinfo", new.getaddrinfo)
    yield new
    new.answers.set()


@pytest.fixture
def nowhere(code_host) -> Iterator[str]:
    """An address that answers no attempt to connect, as if a route led nowhere: its queue is full."""
    with ExitStack() as opened:
        queue = opened.enter_context(
            socket.create_server(("127.0.0.9", port(code_host)), backlog=0)
        )
        for _ in range(3):
            waiting = opened.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(queue.getsockname())
        yield queue.getsockname()[0]


def port(code_host) -> int:
    return int(code_host.url.rpartition(":")[2])


def test_a_host_is_looked_up_once_for_many(resolver):
    resolver.answers.clear()
    first, second = lookups.begin("a.example", PORT), lookups.begin("a.example", PORT)
    resolver.answers.set()

    assert first.result(10).addresses == second.result(10).addresses == ["127.0.0.1"]
    assert addresses("a.example", PORT, timeout=10) == ["127.0.0.1"]
    assert resolver.asked == 1


def test_an_address_is_kept_for_a_while(resolver, monkeypatch):
    addresses("a.example", PORT, timeout=10)
    resolver.found = ["127.0.0.2"]
    monkeypatch.setattr(lookups, "FRESH", 0.0)

    assert addresses("a.example", PORT, timeout=10) == ["127.0.0.2"]


def test_an_address_is_kept_since_it_came_however_long_that_took(resolver, now):
    """Two silent resolvers take eight seconds: half a minute later the next one would ask as long again."""
    resolver.answers.clear()
    first = lookups.begin("a.example", PORT)
    now[0] = 60.0
    resolver.answers.set()
    first.result(10)

    now[0] = 65.0

    assert lookups.begin("a.example", PORT) is first


@pytest.fixture
def now(monkeypatch) -> list[float]:
    """The time of the Hub, in seconds."""
    seconds = [0.0]
    monkeypatch.setattr(lookups, "monotonic", lambda: seconds[0])
    return seconds


def test_a_look_up_that_stands_still_does_not_stop_those_after_it(resolver, now, monkeypatch):
    """A resolver that took a connection and says no more: it is read without a time-out."""
    stands_still = Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: stands_still.wait(20))
    first = lookups.begin("a.example", PORT)
    monkeypatch.setattr(socket, "getaddrinfo", resolver.getaddrinfo)

    now[0] = STANDS_STILL
    assert lookups.begin("a.example", PORT) is first
    now[0] = STANDS_STILL + 1

    assert addresses("a.example", PORT, timeout=10) == ["127.0.0.1"]
    stands_still.set()


def test_a_resolver_that_stands_still_all_day_has_few_threads(resolver, now):
    resolver.answers.clear()

    for _ in range(24 * 60):
        now[0] += 60
        lookups.begin("a.example", PORT)

    assert wait_until(lambda: resolver.asked > 50)
    assert resolver.asked < 60


def test_what_was_not_found_is_looked_up_anew(resolver):
    resolver.found = []
    with pytest.raises(socket.gaierror):
        addresses("a.example", PORT, timeout=10)
    resolver.found = ["127.0.0.2"]

    assert addresses("a.example", PORT, timeout=10) == ["127.0.0.2"]


def test_without_threads_it_is_said(resolver, monkeypatch):
    def no_more(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(lookups.Thread, "start", no_more)

    with pytest.raises(OSError, match="new thread"):
        addresses("a.example", PORT, timeout=10)


def get(url: str, **options) -> requests.Response:
    with outgoing.session() as session:
        return session.get(url, timeout=60, **options)


def test_an_answer_of_a_resolver_that_comes_too_late_is_there_for_the_next_one(
    resolver, code_host, monkeypatch
):
    monkeypatch.setattr(outgoing, "LOOKED_UP", 0.05)
    url = code_host.url.replace("127.0.0.1", "localhost")
    resolver.answers.clear()
    with pytest.raises(requests.ConnectionError, match="no server has said where it is"):
        get(url)

    resolver.answers.set()

    assert wait_until(lookups.begin("localhost", port(code_host)).done)
    assert get(url).status_code == 200


def test_an_unknown_host_is_no_connection(resolver):
    resolver.found = []

    with pytest.raises(requests.ConnectionError, match="Name or service not known"):
        get("http://a.example")


def test_an_address_that_leads_nowhere_is_left_for_the_next_one(
    resolver, code_host, nowhere, monkeypatch
):
    monkeypatch.setattr(outgoing, "FIRST", 0.05)
    resolver.found = [nowhere, "127.0.0.1"]
    url = code_host.url.replace("127.0.0.1", "localhost")

    answer = deadlines.run(lambda: get(url), deadline=monotonic() + 30)

    assert answer.status_code == 200


def test_the_last_address_has_all_the_time(resolver, nowhere, code_host, monkeypatch):
    monkeypatch.setattr(outgoing, "FIRST", 0.0)
    resolver.found = [nowhere]

    with (
        pytest.raises(requests.ConnectTimeout, match=r"timeout=0\.2"),
        outgoing.session() as session,
    ):
        session.get(code_host.url.replace("127.0.0.1", "a.example"), timeout=0.2)


def test_a_certificate_is_compared_with_the_host_and_not_with_its_address(
    resolver, tmp_path, monkeypatch
):
    server = WebServer()
    server.says("/", "hello")
    resolver.found = ["127.0.0.9", "127.0.0.1"]  # nobody listens at the first
    with server.serving(tmp_path):
        known = str(certificate(tmp_path))

        assert get(f"https://{HOST}:{server.port}/", verify=known).text == "hello"
        with pytest.raises(requests.exceptions.SSLError, match=r"doesn't match|not valid"):
            get(f"https://other.example:{server.port}/", verify=known)
