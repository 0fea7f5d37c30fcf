"""The states of a delivery as docs/architecture.md draws them: no other move, and none that is not made."""

import ast
import re
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from core import clock
from core.prepared import PreparedStatement
from integrations.models import Delivery, Integration
from integrations.models import delivery as deliveries
from integrations.models.delivery import LeaseLost
from reports.models import Report
from tests import build
from tests.pictures.states import BOXES, MOVES
from tests.rooms import ROOT

Act = Callable[[Delivery], object]
HOUR = timedelta(hours=1)
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


def these(delivery: Delivery):
    return Delivery.objects.filter(pk=delivery.pk)


def a_lead(delivery: Delivery) -> Delivery:
    """Another delivery, which is sent."""
    return Delivery.objects.exclude(pk=delivery.pk).get()


def recheck(delivery: Delivery) -> None:
    these(delivery).update(posted_at=clock.now())
    delivery.recheck_later()


def each_cause(act: Callable[[Delivery, Delivery.Cause], object]) -> Act:
    def of_every_cause(delivery: Delivery) -> None:
        for cause in Delivery.Cause:
            act(delivery, cause)

    return of_every_cause


ACTS: dict[str, Act] = {
    "take": lambda delivery: Delivery.objects.take(delivery.report_id),
    "hold": each_cause(lambda delivery, cause: these(delivery).hold(cause, "Because.")),
    "hold_stopped": lambda delivery: these(delivery).hold_stopped(),
    "release": each_cause(lambda delivery, cause: these(delivery).release(cause)),
    "requeue": lambda delivery: these(delivery).requeue(),
    "discard": lambda delivery: these(delivery).discard(),
    "restore": lambda delivery: these(delivery).restore(),
    "fold": lambda delivery: delivery.fold(a_lead(delivery), rule=1, words="In common."),
    "fold_under": lambda delivery: these(delivery).fold_under(a_lead(delivery), by="alice"),
    "unfold": lambda delivery: these(delivery).unfold(),
    "wait_before_sending": lambda delivery: delivery.wait_before_sending("Later.", HOUR),
    "succeed": lambda delivery: delivery.succeed(7, "https://github.com/x/y/issues/7", adopted=False),
    "fail": lambda delivery: delivery.fail("No."),
    "end_erased": Delivery.end_erased,
    "hold ": lambda delivery: delivery.hold(Delivery.Cause.INTEGRATION, "Because."),
    "hold_before_sending": lambda delivery: delivery.hold_before_sending(
        Delivery.Cause.PAUSE, "Because."
    ),
    "wait": lambda delivery: delivery.wait("Later.", HOUR),
    "postpone": lambda delivery: delivery.postpone("Later."),
    "reconcile_later": lambda delivery: delivery.reconcile_later("Lost."),
    "recheck_later": recheck,
    "look_there": Delivery.look_there,
    "record_internal_error": Delivery.record_internal_error,
    "forget_text": Delivery.forget_text,
}  # fmt: skip


@pytest.fixture
def delivery(db, client, code_host) -> Delivery:
    build.acme(code_host)
    lead = build.send(client).json()["id"]
    build.send(client, build.report(report__summary="Another problem"))
    sent = {"status": "sent", "issue_number": 1, "repository_id": 1}
    Delivery.objects.filter(report=lead).update(**sent)
    mine = Delivery.objects.exclude(report=lead)
    return mine.select_related("report", "integration__installation").get()


def begins(lead: Delivery) -> list[dict[str, object]]:
    """Everything that a delivery can be, in columns."""
    plain = [{"status": status} for status in ("pending", "failed")]
    held = [{"status": "held", "held_for": cause} for cause in Delivery.Cause]
    tried = [
        {"status": "sending", "lease_until": clock.now() + end, "trying_since": clock.now() - since}
        for end in (HOUR, -HOUR)
        for since in (timedelta(), timedelta(days=2))
    ]
    posted = [each | {"posted_at": clock.now()} for each in tried]
    sent = {"status": "sent", "issue_number": 7}
    folded = {"status": "folded", "lead": lead, "folded_at": clock.now()}
    return [*plain, *held, *tried, *posted, sent, folded]


def moved(delivery: Delivery, begin: dict[str, object], act: Act) -> Delivery:
    """The delivery after the act, which is undone."""
    lease = {"lease_until": clock.now() + HOUR}
    known = {"held_for": "", "repository_id": 7, "posted_at": None, "changed_at": LONG_AGO}
    columns = {**known, **lease, **begin}
    with transaction.atomic():
        these(delivery).update(**columns)
        delivery.refresh_from_db()
        with suppress(LeaseLost):
            act(delivery)
        after = these(delivery).get()
        transaction.set_rollback(True)
    return after


def stops() -> list[dict[str, object]]:
    """An integration that sends, and one that is paused."""
    return [{"paused_at": None}, {"paused_at": clock.now()}]


@pytest.mark.slow
def test_every_move_is_drawn_and_every_drawn_one_is_made(delivery):
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)

    for begin in begins(a_lead(delivery)):
        for name, act in ACTS.items():
            Integration.objects.update(paused_at=clock.now() if name == "hold_stopped" else None)
            after = moved(delivery, begin, act).status
            if after != begin["status"] or (after, name) == ("sending", "take"):
                found[str(begin["status"]), after].add(name.strip())

    assert dict(found) == {
        (move.begin, move.end): set(move.by) for move in MOVES if move.begin and move.by
    }


@pytest.mark.slow
def test_every_move_saves_its_time(delivery):
    """Lists that were opened before have not shown it so: whoever changes all that match leaves it."""
    unsaved = set()

    for begin in begins(a_lead(delivery)):
        for name, act in ACTS.items():
            Integration.objects.update(paused_at=clock.now() if name == "hold_stopped" else None)
            after = moved(delivery, begin, act)
            is_same = (after.status, after.held_for) == (begin["status"], begin.get("held_for", ""))
            if not is_same and after.changed_at == LONG_AGO:
                unsaved.add((begin["status"], name))

    assert unsaved == set()


def test_a_new_one_is_pending_or_held(db, client, code_host):
    build.acme(code_host)
    for stop, status in zip(stops(), ("pending", "held"), strict=True):
        Integration.objects.update(**stop)
        build.send(client)
        report = Report.objects.get()
        Delivery.objects.all().delete()

        Delivery.objects.create_for(report)

        assert Delivery.objects.get().status == status
        Report.objects.all().delete()
    assert {move.end for move in MOVES if not move.begin} == {"pending", "held"}


def test_all_statuses_are_drawn():
    assert [*BOXES] == Delivery.Status.values


def test_whatever_writes_a_status_is_known():
    writers = set()
    rooms = (ROOT / "integrations" / name for name in ("models", "delivery", "ownership"))
    others = {"alert.py", "comment.py", "leased.py"}  # their rows have a status of their own
    paths = {path for room in rooms for path in room.glob("*.py") if path.name not in others}
    for path in sorted(paths):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef) and any(
                map(_writes_status, ast.walk(function))
            ):
                writers.add(function.name)

    known = {name.strip() for name in ACTS} | {"create_for"}
    assert writers - {"_try_later", "_hold_again", "joining"} <= known, (
        "draw it in tests/pictures/states.py"
    )
    assert {"take", "succeed", "create_for"} <= writers


STATEMENTS = {
    name
    for name, each in vars(deliveries).items()
    if isinstance(each, PreparedStatement)
    and re.search(r"SET\b(?:(?!WHERE).)*\bstatus =", each.sql["sqlite"], re.DOTALL)
}


def _writes_status(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id in STATEMENTS
    if isinstance(node, ast.Dict):
        return any(isinstance(key, ast.Constant) and key.value == "status" for key in node.keys)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    writes = node.func.attr in ("update", "_update", "_end", "model")
    return writes and any(keyword.arg == "status" for keyword in node.keywords)
