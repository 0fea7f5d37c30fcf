"""The proxies of `deploy/`, each as it is shipped, before two servers of the Hub."""

import json
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count, islice

import pytest

from reports.models import Report
from tests import build
from tests.deploy.proxies import PROXIES, HAProxy, Nginx, Proxy
from tests.hub_process import HubProcess
from tests.web_server import HOST

pytestmark = [
    pytest.mark.slow,
    pytest.mark.sqlite,  # no proxy knows which database is behind it
    pytest.mark.skipif(sys.platform != "linux", reason="all of 127.0.0.0/8 is loopback there"),
]

NO_CHUNK = (
    f"POST /v1/reports HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: application/json\r\n"
    "Transfer-Encoding: chunked\r\n\r\nno size\r\n"
).encode()
MOST_OF_A_NETWORK = {Nginx: 200, HAProxy: 400}
NEW = count()


@pytest.fixture(scope="module")
def servers(
    django_db_setup, django_db_blocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[HubProcess]]:
    """Two that count each sender by itself: there is no Redis."""
    folder = tmp_path_factory.mktemp("servers")
    settings = {
        "HUB_BASE_URL": f"https://{HOST}",
        "HUB_TRUSTED_PROXIES": "1",
        "HUB_REPORT_RATE": "30/minute",
    }
    with django_db_blocker.unblock(), ExitStack() as stack, ThreadPoolExecutor() as pool:
        both = [HubProcess(log=folder / name, **settings) for name in ("hub-a", "hub-b")]
        list(pool.map(stack.enter_context, both))
        yield both


@pytest.fixture(params=PROXIES, ids=lambda kind: kind.program)
def proxy(request, tmp_path, servers, transactional_db) -> Iterator[Proxy]:
    with request.param(tmp_path, [each.port for each in servers]) as running:
        yield running


@pytest.fixture
def people() -> Iterator[str]:
    """Addresses that no server has counted yet."""
    return (f"127.1.{n // 250}.{n % 250 + 1}" for n in NEW)


def taken(proxy: Proxy, address: str, stack: ExitStack, *, body: str = "Content-Length: 9") -> bool:
    """Whether it waits for the body that this address owes it for as long as the stack is open."""
    request = f"POST / HTTP/1.1\r\nHost: {HOST}\r\n{body}\r\nExpect: 100-continue\r\n\r\n"
    try:
        connection = stack.enter_context(proxy.connection(address))
        connection.sendall(request.encode())
        return connection.recv(100).startswith(b"HTTP/1.1 100 ")
    except OSError:
        return False


def about(number: int) -> dict[str, object]:
    return build.report(f"https://docs.acme.com/{number}")


def stored_as(answers: list[tuple[int, bytes]]) -> dict[str, str]:
    """The pages that they were sent about in this order, by the ids that were answered."""
    return {
        json.loads(body)["id"]: str(about(number)["doc_url"])
        for number, (_, body) in enumerate(answers)
    }


def test_it_speaks_nothing_in_which_one_connection_is_many_requests(proxy):
    with proxy.connection(protocols=["h2", "http/1.1"]) as connection:
        assert connection.selected_alpn_protocol() in ("http/1.1", None)


def test_bodies_that_are_none_stop_nobody_and_change_nobodys_words(proxy, people):
    stranger, *others = islice(people, 3)
    with ThreadPoolExecutor(24) as pool:
        malformed = pool.map(lambda _: proxy.ask(NO_CHUNK, stranger)[0], range(200))
        answers = list(pool.map(lambda n: proxy.report(about(n), others[n % 2]), range(40)))
        refused = set(malformed)

    assert refused <= {0, 400, 411, 429, 502}
    assert {status for status, _ in answers} == {201}
    assert dict(Report.objects.values_list("pk", "doc_url")) == stored_as(answers)


def test_each_sender_is_counted_by_the_address_that_they_have(proxy, people):
    stranger, another = islice(people, 2)
    forged = [
        proxy.report(about(n), stranger, f"X-Forwarded-For: 198.51.100.{n}\r\n")[0]
        for n in range(31)
    ]
    other, _ = proxy.report(about(31), another, f"X-Forwarded-For: {stranger}\r\n")

    assert forged == [201] * 30 + [429]
    assert other == 201


@pytest.mark.parametrize("proxy", MOST_OF_A_NETWORK, indirect=True, ids=lambda kind: kind.program)
def test_the_addresses_of_one_network_leave_connections_to_others(proxy):
    """An attack: of one /24, each with as many as an address may have, took all connections of HAProxy."""
    with ExitStack() as stack:
        held = [taken(proxy, f"127.2.0.{n % 20 + 1}", stack) for n in range(500)]
        status, _ = proxy.ask(
            f"GET /healthz HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode(), "127.3.0.1"
        )

    assert sum(held) == MOST_OF_A_NETWORK[type(proxy)]
    assert status == 200


@pytest.mark.parametrize("proxy", [Nginx], indirect=True, ids=["nginx"])
@pytest.mark.parametrize("body", ["Content-Length: 3000000", "Transfer-Encoding: chunked"])
def test_one_network_fills_no_disk_with_large_bodies_that_never_end(proxy, body):
    """An attack: the addresses of one /24 had 600 MB of nginx's files, for as long as they liked."""
    with ExitStack() as stack:
        large = [taken(proxy, f"127.2.0.{n + 1}", stack, body=body) for n in range(30)]
        small = taken(proxy, "127.2.0.1", stack)
        of_another = taken(proxy, "127.3.0.1", stack, body=body)

    assert large == [True] * 20 + [False] * 10
    assert (small, of_another) == (True, True)


def test_metrics_are_nobodys_business(proxy):
    for path in ("/metrics", "/%6detrics", "//metrics", "/metrics?x=1", "/x/../metrics"):
        status, _ = proxy.ask(f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        assert status in (301, 308, 400, 404), path


def test_no_log_has_what_callers_write(proxy, people):
    """Attacks: who went away early, or sent too much, filled it; and it had the codes of sign-ins."""
    address = next(people)
    for request in (
        "GET /llms-full.txt?code=A_CODE HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "POST /A_CODE HTTP/1.1\r\nHost: HOST\r\nContent-Length: 99999999\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: HOST\r\nA_CODE\r\n\r\n",
    ):
        with proxy.connection(address) as connection:
            connection.sendall(request.replace("HOST", HOST).encode())
            connection.recv(100)
    proxy.__exit__()

    assert "A_CODE" not in proxy.log.read_text()
    assert address not in proxy.log.read_text()


def test_a_server_that_is_restarted_costs_nobody_a_report(proxy, people, servers):
    over, answers = threading.Event(), []

    def send() -> None:
        while not over.is_set():
            if len(answers) % 20 == 0:  # each may send 30 a minute
                address = next(people)
            answers.append(proxy.report(about(len(answers)), address))

    with ThreadPoolExecutor(1) as pool:
        sender = pool.submit(send)
        try:
            for each in servers:
                each.stop()
                each.start()
        finally:
            over.set()
        sender.result()

    assert {status for status, _ in answers} == {201}
    assert dict(Report.objects.values_list("pk", "doc_url")) == stored_as(answers)
