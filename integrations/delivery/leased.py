"""Attempts at what is no delivery, alerts and comments: what each answer of GitHub means for their rows."""

import logging
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import timedelta
from typing import Any, NamedTuple

from django.db import transaction

from core import clock, deadlines
from integrations import github_api
from integrations.delivery import holds, pacing
from integrations.delivery.forwarding import DEADLINE, SOON
from integrations.delivery.retries import SLOW
from integrations.models.delivery import TRIED_APART, LeaseLost
from integrations.models.leased import Leased

log = logging.getLogger(__name__)

AT_ONCE = 10  # in one round of `maintain`, for which everything else waits
LOOKS = 100  # in one round, at rows of installations that may send nothing now, too
AWAY = 2  # failures in a row, or slow ones: GitHub is unreachable for all, or deliveries have waited enough
AGAIN = timedelta(hours=1)  # after a refusal of everything
LEFT_ALONE = "GitHub asked us to wait."


class Work(NamedTuple):
    """One kind of rows. `attempt` does what is to do with one until a deadline (in `time.monotonic`).

    `give_up` is what becomes of one that is in a repository that was left, if nobody gets at that. `source`:
    with whom they share a part of the pace.
    """

    rows: type[Leased]
    attempt: Callable[[Any, float], None]
    give_up: Callable[[Any, str], None]
    source: str = ""


def is_anything_due(work: Work) -> bool:
    """Whether anything is to be done now; cheap enough to ask every second."""
    rows = work.rows.objects
    return rows.in_turn().exists() and rows.due().exists()


def send_due(work: Work, go_on: Callable[[], bool], slow: set[int]) -> int:
    """Do what is due, while `go_on` returns True; returns how many were looked at.

    Installations take turns, and of one that may send nothing now only one row is looked at, so that the
    backlog of one keeps nobody else's waiting. `slow`: the installations about which GitHub gave no answer the last
    time, or a late one. They come after all others, and it is brought up to date; of one that is slow now no more
    is tried.
    """
    tried = failed = 0
    looked: set[str] = set()  # none twice: what stays due is for the next round
    had = set(slow)
    full: set[int] = set()
    while go_on() and tried < AT_ONCE and len(looked) < LOOKS and failed < AWAY:
        row = (
            _next(work, looked, had)
            or _next(work, looked, had := full | slow)
            or _next(work, looked, had := set(full))
        )
        if row is None:
            break
        pk, installation = row
        began = time.monotonic()
        reached = _sent(work, pk)
        looked.add(pk)
        had.add(installation)
        if reached is None:
            full.add(installation)
            continue
        tried += 1
        is_slow = not reached or time.monotonic() - began > SLOW
        failed = failed + 1 if is_slow else 0
        (slow.add if is_slow else slow.discard)(installation)
        if is_slow:
            full.add(installation)
    return len(looked)


def _next(work: Work, looked: Collection[str], had: Collection[int]) -> tuple[str, int] | None:
    """What has been due for longest, and its installation, without these rows and these installations'."""
    due = work.rows.objects.due().exclude(pk__in=looked)
    due = due.exclude(integration__installation__in=had)
    row: Any = due.values_list("pk", "integration__installation").first()
    return row


def send(work: Work, pk: str) -> bool:
    """Do what is to do with one as far as possible now; whether GitHub could be reached.

    Saves the result, and raises no GitHub errors.
    """
    return _sent(work, pk) is not False


def _sent(work: Work, pk: str) -> bool | None:
    """Whether GitHub could be reached; None if this one was not tried."""
    deadline = time.monotonic() + DEADLINE
    if deadlines.is_full() or not (row := _take(work, pk)):
        return None  # done, being done by someone else, or to wait for its turn
    kind = work.rows._meta.verbose_name
    try:
        return _try(work, row, deadline)
    except LeaseLost:
        log.warning("The %s %s was taken over by another process", kind, pk)
    except Exception:  # nobody else would tell the operator
        log.exception("The %s %s failed with an internal error", kind, pk)
        with suppress(LeaseLost):
            row.look_later("Internal error.")
    return True


def _take(work: Work, pk: str) -> Any:
    """Take a row for one attempt, if its installation may send one more now. If not, others go before it."""
    rows = work.rows.objects
    installation = rows.filter(pk=pk).values_list("integration__installation", flat=True).first()
    if installation is None:
        return None
    with pacing.place(installation, work.source) as is_free:
        if is_free:
            return rows.take(pk)
        rows.filter(pk=pk, lease_until=None).update(due_at=clock.now() + TRIED_APART)
        return None


def _try(work: Work, row: Any, deadline: float) -> bool:
    """One attempt, from taking the row to saving the result; whether GitHub could be reached."""
    installation = row.installation
    if installation.is_left_alone():  # the turn may have been that of another one
        row.leave(LEFT_ALONE, TRIED_APART)
        return True
    try:
        work.attempt(row, deadline)
    except github_api.Suspended as error:
        with transaction.atomic():
            holds.suspend(installation, str(error))
            row.wait(str(error), AGAIN)
    except github_api.Blocked as error:
        _block(work, row, str(error))
    except github_api.Refused as error:
        row.drop(str(error))
    except github_api.TooQuick as error:
        pacing.note_too_quick(installation, error)
        row.wait(str(error), Leased.backoff(row))  # not a comment's, which is shorter
    except github_api.Limited as error:
        installation.leave_alone_for(error.wait)
        row.wait(str(error), error.wait)
    except (github_api.Busy, github_api.ReadOn) as error:
        row.wait(str(error), SOON)
    except github_api.Unfinished as error:
        row.look_on(str(error), error.until + github_api.CLOCKS_DIFFER)
    except github_api.Unreachable as error:
        row.wait(str(error), row.backoff())
        return False
    except github_api.OutcomeUnknown as error:
        row.look_later(str(error))
        return False
    return True


def _block(work: Work, row: Any, problem: str) -> None:
    """The repository accepts nothing; that stops the integration only if it still uses it."""
    if row.has_left():
        work.give_up(row, problem)
        return
    with transaction.atomic():
        is_blocked = holds.block(row.integration, problem)
        row.wait(problem, AGAIN if is_blocked else SOON)
