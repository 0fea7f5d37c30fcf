"""Two servers behind a proxy, restarted one after the other while reports come in."""

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from integrations.models import Delivery
from tests import build
from tests.faults import world
from tests.hub_process import HubProcess
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgresql]

SENDERS = 2
MOST = 4000  # reports; the restarts are over long before


class Proxy:
    """What deploy/nginx, deploy/caddy and deploy/haproxy do: no answer from one server, so the other is asked.

    A server that answers is believed, whatever it says. `answers` are the statuses with their ids.
    """

    TRIES = 4  # a connection that was closed meanwhile, at each, and a new one

    def __init__(self, servers: list[HubProcess]) -> None:
        self._servers = servers
        self._numbers = itertools.count()
        self.over = threading.Event()
        self.answers: list[tuple[int, str]] = []
        self.asked_again = 0

    def send_until_over(self) -> None:
        with requests.Session() as kept_open:
            while not self.over.is_set() and (number := next(self._numbers)) < MOST:
                answer = self._pass_on(kept_open, number)
                self.answers.append((answer.status_code, answer.json()["id"]))

    def _pass_on(self, kept_open: requests.Session, number: int) -> requests.Response:
        body = build.report(f"https://docs.acme.com/{number}", report__summary=f"Gone {number}")
        for attempt in range(self.TRIES):
            server = self._servers[(number + attempt) % len(self._servers)]
            try:
                return kept_open.post(f"{server.url}/v1/reports", json=body, timeout=60)
            except requests.ConnectionError:
                self.asked_again += 1
        raise AssertionError(f"No server answered report {number}.")


def goes_on(proxy: Proxy) -> bool:
    """Whether reports are being answered now."""
    before = len(proxy.answers)
    return wait_until(lambda: len(proxy.answers) >= before + 2 * SENDERS)


def restart(server: HubProcess, meanwhile: Callable[[], bool]) -> tuple[bool, int]:
    ended = server.stop()
    went_on = meanwhile()
    server.start()
    return went_on, ended


def test_a_rolling_restart_under_load_loses_nothing_and_refuses_nobody(hub, host, tell):
    with HubProcess() as other:
        proxy = Proxy([hub, other])
        with ThreadPoolExecutor(SENDERS) as pool:
            senders = [pool.submit(proxy.send_until_over) for _ in range(SENDERS)]
            try:
                began = goes_on(proxy)
                restarts = [restart(each, lambda: goes_on(proxy)) for each in (hub, other)]
                ended = goes_on(proxy)
            finally:
                proxy.over.set()
        for sender in senders:
            sender.result()
    world.settle(1)

    ids = [report_id for _, report_id in proxy.answers]
    outcomes = world.check(host, ids)
    tell(f"{len(ids)} reports, {proxy.asked_again} asked again, {dict(outcomes)}")
    assert began
    assert ended
    assert all(went_on and status in (0, -15) for went_on, status in restarts), restarts
    assert {status for status, _ in proxy.answers} == {201}
    assert len(set(ids)) == len(ids)
    assert outcomes == {Delivery.Status.SENT: len(ids)}
