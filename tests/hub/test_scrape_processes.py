"""`/metrics` adds up all processes: two that serve, and a worker that is killed."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests
from django.db.models import QuerySet
from django_tasks_db.models import DBTaskResult

from integrations.models import Attempt
from tests import build
from tests.hub.test_scrape import TOKEN, samples
from tests.hub_process import HubProcess, start_worker
from tests.waiting import wait_until

NUMBER = 24


def scraped(hub: HubProcess) -> dict[str, float]:
    answer = requests.get(
        f"{hub.url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30
    )
    return samples(answer.text)


def post(hub: HubProcess, number: int) -> int:
    body = build.report(report__summary=f"Number {number}")
    return requests.post(f"{hub.url}/v1/reports", json=body, timeout=60).status_code


def unfinished() -> QuerySet[DBTaskResult]:
    return DBTaskResult.objects.exclude(pk__in=DBTaskResult.objects.finished())


def counters(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.glob("counter_*.db"))


@pytest.mark.postgresql
def test_two_servers_and_a_worker_are_added_up(transactional_db, code_host, redis, tmp_path):
    build.acme(code_host)
    environment = {
        "HUB_PROCESSES": "2",
        "HUB_FORWARDING": "queue",
        "HUB_METRICS_TOKEN": TOKEN,
        "REDIS_URL": redis.url,
        "PROMETHEUS_MULTIPROC_DIR": str(tmp_path),
    }
    with HubProcess(**environment) as hub:
        worker = start_worker(hub)
        try:
            with ThreadPoolExecutor(8) as pool:
                statuses = list(pool.map(lambda number: post(hub, number), range(NUMBER)))
            done = wait_until(lambda: not unfinished().exists(), seconds=60)
            # A process counts in a file of its own once it has something to count.
            both = wait_until(lambda: scraped(hub) and len(counters(tmp_path)) == 3, seconds=60)
        finally:
            worker.kill()
            worker.wait(30)
        added = wait_until(lambda: scraped(hub) and "counter_past.db" in counters(tmp_path))
        first = scraped(hub)
        after_killing = counters(tmp_path)

    assert statuses == [201] * NUMBER
    sent = Attempt.objects.filter(outcome="sent").count()
    assert done
    assert both
    assert sent
    assert first["hub_reports_total kind=new"] == NUMBER
    assert first["hub_responses_total status=201"] == NUMBER
    assert first["hub_request_seconds_count route=reports"] == NUMBER
    assert first["hub_attempts_total outcome=sent"] == sent
    assert first["hub_github_seconds_count"] >= sent
    assert first["hub_queue_tasks"] == 0
    assert len(after_killing) == 3  # those of the servers, and of the past
    assert added
