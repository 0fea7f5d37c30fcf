"""The queue's rows are those of the library."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_tasks_db import DatabaseBackend
from django_tasks_db.models import DBTaskResult

from integrations.delivery.queue import Queue
from integrations.delivery.task import forward_report, forward_report_now

pytestmark = pytest.mark.django_db

OWN = ("id", "enqueued_at")


def stored(backend: DatabaseBackend, task, report_id: str) -> dict:
    """The row as it is in the database."""
    result = backend.enqueue(task, (report_id,), {})
    [row] = DBTaskResult.objects.filter(pk=result.id).values()
    assert timezone.now() - row["enqueued_at"] < timedelta(minutes=1)
    return {name: value for name, value in row.items() if name not in OWN}


@pytest.mark.parametrize("task", [forward_report, forward_report_now])
def test_a_task_waits_in_the_queue_as_the_library_has_it_there(task):
    mine, plain = Queue("default", {}), DatabaseBackend("default", {})

    assert stored(mine, task, "01J") == stored(plain, task, "01J")
    assert DBTaskResult.objects.ready().count() == 2


def test_what_a_person_has_asked_for_waits_behind_no_flood():
    queue = Queue("default", {})
    for number in range(3):
        queue.enqueue(forward_report, (f"0{number}",), {})
    queue.enqueue(forward_report_now, ("01J",), {})

    assert DBTaskResult.objects.ready().get_locked().task_result.args == ["01J"]


def test_the_next_worker_takes_what_was_put_there():
    Queue("default", {}).enqueue(forward_report, ("01J",), {})

    taken = DBTaskResult.objects.ready().get_locked()

    assert taken is not None
    assert taken.task_result.args == ["01J"]
    assert taken.task.func is forward_report.func
