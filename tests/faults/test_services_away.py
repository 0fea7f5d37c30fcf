"""PostgreSQL and Redis are stopped and started again while the Hub runs, and the Hub is not."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import psycopg
import pytest
import requests

from integrations.delivery import forwarding
from tests import postgresql
from tests.faults import world
from tests.hub_process import HubProcess, database_url
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgresql]

AT_ONCE = 16


def ask(hub: HubProcess, path: str) -> int:
    return requests.get(f"{hub.url}{path}", timeout=60).status_code


def statuses(answers: list[requests.Response]) -> Counter[int]:
    return Counter(each.status_code for each in answers)


def test_what_was_taken_is_kept_and_the_hub_goes_on_by_itself(hub, host, redis, tell):
    """PostgreSQL breaks off, as if the power failed. What was refused then is sent again by its senders."""
    url = postgresql.copy_of(database_url())
    with (
        HubProcess(DATABASE_URL=url, REDIS_URL=redis.url) as hub,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        send = partial(world.post, hub)
        before = list(pool.map(send, range(AT_ONCE)))
        redis.stop()
        without_redis = list(pool.map(send, range(100, 100 + AT_ONCE)))
        redis.start()
        under_way = [pool.submit(send, number) for number in range(200, 200 + AT_ONCE)]
        postgresql.stop("immediate")
        probes = pool.submit(ask, hub, "/healthz"), pool.submit(ask, hub, "/readyz")
        interrupted = [each.result() for each in under_way]
        alive, ready = (each.result() for each in probes)
        postgresql.start_again()
        back = wait_until(lambda: ask(hub, "/readyz") == 200)
        again = list(pool.map(send, range(200, 200 + AT_ONCE)))
        counted = wait_until(lambda: send(0).ok and redis.keys())

    taken = [each for each in (*before, *without_redis, *interrupted, *again) if each.ok]
    ids = {each.json()["id"] for each in taken}
    with psycopg.connect(url) as connection:
        kept = dict(connection.execute("SELECT report_id, status FROM integrations_delivery"))
    bodies = [each.body or "" for each in host.issues("acme/docs")]
    issues = {each: sum(forwarding.marker(each) in body for body in bodies) for each in ids}
    tell(f"{statuses(interrupted)} when it stopped, then {dict(Counter(kept.values()))}")
    assert statuses(before + without_redis + again) == {201: 3 * AT_ONCE}
    assert set(statuses(interrupted)) <= {201, 503}
    assert (alive, ready) == (200, 503)
    assert back
    assert counted
    assert set(kept) == ids
    assert all(number <= 1 for number in issues.values())
    assert all(issues[each] == 1 for each, status in kept.items() if status == "sent")
    assert all(kept[each.json()["id"]] == "sent" for each in (*before, *without_redis))
