"""An issue that GitHub refuses for its assignee is posted again: whatever happens then, there is one."""

import threading

import pytest

from integrations.models import Delivery, Integration
from tests.faults import world
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

CHOICE = {"labels": {"*": ["docs feedback"]}, "assignees": ["alice", "nobody"]}
FAULTS = {  # name: what happens to the second POST, and where the delivery is then
    "refused": (("refuse", {}), "pending"),
    "refused after creating": (("refuse", {"created": True}), "pending"),
    "502 after creating": (("502_after_creating", {}), "pending"),
    "truncated 201": (("truncated", {}), "pending"),
    "hang after creating": (("hang", {"created": True}), "pending"),
    "a limit": (("403_retry_after", {"value": 120}), "pending"),
    "401": (("401", {}), "sent"),
    "404": (("404", {}), "held"),
    "no fault": (("answer", {}), "sent"),
}


@pytest.fixture
def refused(hub, host):
    """The first POST is answered as GitHub does, with 422; what is armed next strikes the second."""
    Integration.objects.update(**CHOICE)
    host.fail("answer")


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_second_post(hub, host, refused, tell, name):
    (kind, details), expected = FAULTS[name]
    host.fail(kind, **details)

    report_id = world.post(hub, 1).json()["id"]
    first = world.what_became(report_id)
    world.settle()
    last = world.what_became(report_id)

    tell(f"{first.status} ({first.reason or 'no fault left'}) -> {last.status}")
    assert (first.status, last.status) == (expected, "sent")
    world.check(host, [report_id])
    [issue] = host.issues("acme/docs")
    assert (issue.labels, issue.assignees) == (["docs feedback"], ["alice"])


def test_the_process_is_killed_after_the_second_post(hub, host, refused, tell):
    host.fail("slow", seconds=20)
    poster = threading.Thread(target=world.try_to_post, args=(hub,))
    poster.start()
    assert wait_until(lambda: host.issues("acme/docs"))
    hub.kill()
    poster.join()
    hub.start()
    killed = Delivery.objects.get()
    world.settle(1)

    tell(f"{killed.status} -> {Delivery.objects.get().status}")
    assert killed.status == "sending"
    assert Delivery.objects.get().status == "sent"
    world.check(host, [killed.report_id])
    assert Integration.objects.get().not_applied == ""  # an issue that was found is not compared
