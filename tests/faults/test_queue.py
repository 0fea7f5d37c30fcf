"""Forwarding by a queue: several workers over one PostgreSQL, one of them killed on the way."""

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from integrations.models import Delivery
from tests.faults import world
from tests.hub_process import HubProcess, start_worker
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgresql]

NUMBER = 150


def sent() -> int:
    return Delivery.objects.filter(status="sent").count()


def test_two_workers_send_all_and_one_is_killed_on_the_way(hub, host, tell):
    with HubProcess(HUB_FORWARDING="queue") as queueing:
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda number: world.post(queueing, number), range(NUMBER)))
        ids = [answer.json()["id"] for answer in answers]
        before = sent()
        workers = [start_worker(queueing) for _ in range(2)]
        try:
            assert wait_until(lambda: sent() > NUMBER // 3)
            workers[0].kill()
            assert wait_until(lambda: sent() >= NUMBER - 1, seconds=240)
            workers[1].send_signal(signal.SIGTERM)
            workers[1].wait(30)
        finally:
            for worker in workers:
                worker.kill()
                worker.wait(30)
    after = sent()
    world.settle(1)

    outcomes = world.check(host, ids)
    tell(f"{before} sent without a worker, {after} by two of whom one was killed, {dict(outcomes)}")
    assert before == 0
    assert outcomes == {"sent": NUMBER}
