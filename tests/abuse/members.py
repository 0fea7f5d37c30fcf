"""Members who ask for what is theirs, many times at once, so that there is nothing left for others."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import requests
from django.db import connection
from django.test import Client

from orgs.models import User
from tests import build
from tests.abuse.world import Shipped, World, attack, milliseconds, stands_if
from tests.waiting import wait_until

EACH = 0.5  # seconds that GitHub takes for an answer
THREADS = 12  # of somebody who asks as often as they can
SLOW = 1000  # milliseconds, for a report
PAGE = "/settings/integration/"  # which asks GitHub


@attack
def one_member_that_asks_all_the_time(world: World) -> str:
    """For the page that has GitHub asked, in twelve threads; others report, and ask for theirs."""
    acme = world.acme()
    others = build.organization("initech")
    mine, theirs = _session(build.member(acme)), _session(build.member(others, "charlie"))
    world.host.fail("slow", seconds=EACH, method="GET", path="/api/*", times=100_000)
    with world.hub() as hub, _asking(hub, mine) as answers:
        wait_until(lambda: sum(answers.values()) > 3 * THREADS)
        times = [milliseconds(lambda n=n: _post(hub, n)) for n in range(10)]
        beside = Counter(_get(hub, theirs, "/settings/") for _ in range(10))
    figures = (
        f"the member was told {dict(answers)}, others {dict(beside)}; "
        f"a report took {max(times):.0f} ms at most"
    )
    return stands_if(
        beside == {200: 10} and answers[429] > answers[200] and max(times) < SLOW, figures
    )


@contextmanager
def _asking(hub: Shipped, session: str) -> Iterator["Counter[int]"]:
    """What those threads are answered, while the block runs."""
    answers: Counter[int] = Counter()
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            answers[_get(hub, session, PAGE)] += 1

    threads = [threading.Thread(target=ask) for _ in range(THREADS)]
    for each in threads:
        each.start()
    try:
        yield answers
    finally:
        stop.set()
        for each in threads:
            each.join()


def _session(user: User) -> str:
    client = Client()
    client.force_login(user)
    connection.close()
    return client.session.session_key or ""


def _get(hub: Shipped, session: str, page: str) -> int:
    return requests.get(hub.url + page, cookies={"session": session}, timeout=60).status_code


def _post(hub: Shipped, number: int) -> None:
    hub.post(build.report(f"https://docs.example/{number}"))
