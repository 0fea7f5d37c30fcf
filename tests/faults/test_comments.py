"""With folding on, whatever GitHub does and whenever `maintain` is killed: one issue, and one comment."""

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from integrations.comments import sending
from integrations.delivery.forwarding import marker
from integrations.models import Comment, Delivery, Installation, Integration
from tests import build
from tests.faults import world
from tests.hub_process import ROOT, HubProcess
from tests.integrations.comments.test_faults import EDITING, MAKING
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

SUMMARIES = [
    "Step 3 runs `shipyard push --force`, but that flag was removed in 4.0",
    "`shipyard push --force` fails: the flag is called `--overwrite` since 4.0",
    "The flag `--force` of `shipyard push` is unknown, `--overwrite` works",
]


@pytest.fixture
def folding(hub) -> HubProcess:
    """The Hub, whose reports about one problem become one issue."""
    Integration.objects.update(likeness="fold")
    return hub


def post(hub: HubProcess, number: int) -> Delivery:
    """A report about the one problem, from an agent of its own."""
    body = build.report(
        report__summary=SUMMARIES[number % len(SUMMARIES)],
        report__details=f"`--overwrite` does it. Seen {number} times.",
        agent__name=f"agent-{number}",
    )
    answer = world.requests.post(f"{hub.url}/v1/reports", json=body, timeout=120)
    return Delivery.objects.get(report=answer.json()["id"])


@contextmanager
def maintaining(hub: HubProcess) -> Iterator[subprocess.Popen]:
    """`maintain` in a process of its own, which is killed in the end."""
    command = [sys.executable, "manage.py", "maintain"]
    process = subprocess.Popen(command, cwd=ROOT, env=hub.environment(), start_new_session=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait(120)


def is_written() -> bool:
    return Comment.objects.get().status == "written"


def goes_on(hub: HubProcess) -> None:
    """Hours later another process looks for it, and does it; what it finds it writes anew in its time."""
    for is_done in (
        lambda: Comment.objects.get().lease_until is None,
        lambda: Comment.objects.get().comment_id,
        is_written,
    ):
        world.let_pass(minutes=70)
        with maintaining(hub):
            assert wait_until(is_done)


def check(host, *reports: Delivery) -> None:
    """One issue with the first, and one comment with all others, each once."""
    first, *others = reports
    [issue] = host.issues("acme/docs")
    [comment] = issue.comments
    assert marker(first.report_id) in (issue.body or "")
    assert [each.body.count(f"/r/{one.report_id}/") for each in [comment] for one in others] == [
        1
    ] * len(others)
    assert Comment.objects.get().comment_id == comment.id


def test_maintain_writes_the_comment(folding, host, tell):
    first, second = post(folding, 0), post(folding, 1)
    assert (first.status, second.status) == ("sent", "folded")

    with maintaining(folding):
        assert wait_until(is_written)

    check(host, first, second)
    tell("written")


@pytest.mark.parametrize("fault", ["slow", "hang"], ids=["after the POST", "before the POST"])
def test_killed_while_the_comment_is_written(folding, host, tell, fault):
    first, second = post(folding, 0), post(folding, 1)
    host.fail(fault, path="comments", seconds=60)
    with maintaining(folding):
        assert wait_until(lambda: not host.faults.waiting())  # it hangs there
        assert wait_until(lambda: Comment.objects.get().posted_at)
        killed = Comment.objects.get()
    there = len(host.comments("acme/docs", 1))

    goes_on(folding)

    tell(f"{killed.status}, {there} there -> {Comment.objects.get().status}")
    assert killed.comment_id is None
    assert there == (fault == "slow")
    assert is_written()
    check(host, first, second)


@pytest.mark.parametrize("fault", ["slow", "hang"], ids=["after the PATCH", "before the PATCH"])
def test_killed_while_the_comment_is_edited(folding, host, tell, fault):
    first, second = post(folding, 0), post(folding, 1)
    with maintaining(folding):
        assert wait_until(is_written)
    third = post(folding, 2)
    assert third.status == "folded"
    world.let_pass(minutes=11)
    host.fail(fault, method="PATCH", path="comment", seconds=60)
    with maintaining(folding):
        assert wait_until(lambda: not host.faults.waiting())
        killed = Comment.objects.get()
    before = host.comments("acme/docs", 1)[0].body

    goes_on(folding)

    tell(f"{killed.status} -> {Comment.objects.get().status}")
    assert (third.report_id in before) is (fault == "slow")
    assert is_written()
    check(host, first, second, third)


def test_two_maintain_at_once(folding, host, tell):
    first, second = post(folding, 0), post(folding, 1)

    with maintaining(folding), maintaining(folding):
        assert wait_until(is_written)

    assert Comment.objects.get().tries == 1
    check(host, first, second)
    tell("written once")


def recover() -> None:
    """Whatever GitHub refused is found to be well again."""
    Installation.objects.update(limited_until=None, suspended_at=None)
    Integration.objects.update(problem="")


def pass_time(**duration: float) -> None:
    world.let_pass(**duration)
    recover()
    sending.send_due()


def test_30_rounds_of_faults_in_random_order(folding, host, tell):
    draw, first, others = random.Random(18), post(folding, 0), []
    for number in range(30):
        if number % 3 == 0:
            host.faults.clear()
            recover()
            others.append(post(folding, number + 1))
        is_there = Comment.objects.filter(comment_id__isnull=False).exists()
        some, method, path = (
            (EDITING, "PATCH", "comment") if is_there else (MAKING, "POST", "comments")
        )
        kind, details = some[draw.choice([name for name in some if name != "422"])][0]
        host.fail(kind, **({"method": method, "path": path} | details))
        pass_time(minutes=11)
    host.faults.clear()
    for _ in range(4):
        pass_time(minutes=70)

    tell(f"{len(others)} joined, {Comment.objects.get().tries} attempts")
    assert {each.status for each in others} == {"folded"}
    assert is_written()
    check(host, first, *others)
