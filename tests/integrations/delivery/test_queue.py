"""The queue's rows are those of the library, and say only which report is looked at."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.utils import timezone
from django_tasks_db import DatabaseBackend
from django_tasks_db.models import DBTaskResult

from integrations.delivery import discarding, holds, trying_again
from integrations.delivery.queue import Queue
from integrations.delivery.task import forward_report, forward_report_now
from integrations.models import Delivery, Integration
from integrations.setup import configuration
from orgs.models import Domain, Organization
from reports import erasing
from reports.models import Report
from tests import build

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


@pytest.fixture
def queueing(settings, transactional_db, code_host) -> None:
    """A report of acme is queued, and no worker has come yet."""
    settings.HUB_FORWARDING = "queue"
    settings.TASKS = {"default": {"BACKEND": settings.TASK_BACKENDS["queue"]}}
    build.acme(code_host)
    build.send(Client())


def work() -> set[str]:
    """Let a worker do all that is queued; how its tasks ended."""
    call_command("db_worker", "--batch", "--no-startup-delay", "--no-reload")
    return set(DBTaskResult.objects.values_list("status", flat=True))


def deleted() -> None:
    Delivery.objects.all().delete()
    Report.objects.all().delete()


MEANWHILE = {
    "paused": lambda: holds.pause(Integration.objects.get()),
    "without push access": lambda: Integration.objects.update(rights_lost_at=timezone.now()),
    "disconnected": lambda: configuration.forget(Organization.objects.get()),
    "discarded": lambda: discarding.discard(Delivery.objects.get()),
    "erased": lambda: erasing.erase(Report.objects.get()),
    "held by an operator": lambda: trying_again.stop_all(Delivery.objects.all()),
    "somebody else's": lambda: Domain.objects.all().delete(),
    "deleted": deleted,
}


@pytest.mark.parametrize("meanwhile", MEANWHILE.values(), ids=MEANWHILE)
def test_what_was_queued_is_not_sent_once_it_may_not_be(queueing, code_host, meanwhile):
    meanwhile()

    assert work() == {"SUCCESSFUL"}
    assert not code_host.issues("acme/docs")


def test_what_is_done_twice_is_sent_once(queueing, code_host):
    work()
    DBTaskResult.objects.update(status="READY")

    assert work() == {"SUCCESSFUL"}
    assert len(code_host.issues("acme/docs")) == 1


def test_what_was_not_stored_is_not_queued(queueing):
    with transaction.atomic():
        build.send(Client(), build.report(report__summary="Another"))
        transaction.set_rollback(True)

    assert DBTaskResult.objects.count() == Report.objects.count() == 1


def test_a_row_of_the_queue_has_no_word_of_a_report(queueing):
    rows = str(list(DBTaskResult.objects.values()))
    report = Report.objects.get()

    assert report.pk in rows
    assert not [word for word in (report.summary, report.doc_url, "acme") if word in rows]
