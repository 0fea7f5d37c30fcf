"""Opens an alert's issue, and closes it: once, whatever GitHub answers and however often this is called."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta

from django.db import transaction

from core import connections, deadlines
from integrations import github_api
from integrations.alerts import words
from integrations.delivery import holds, pacing
from integrations.delivery.forwarding import CLOCKS_DIFFER, DEADLINE, SOON, marker
from integrations.models import Alert
from integrations.models.delivery import LeaseLost

log = logging.getLogger(__name__)

AT_ONCE = 10  # in one round of `maintain`, for which everything else waits
AWAY = 2  # failures in a row: GitHub is unreachable for all
AGAIN = timedelta(hours=1)  # after a refusal of everything


def is_anything_due() -> bool:
    """Whether any issue is to be opened or closed; cheap enough to ask every second."""
    return Alert.objects.due().exists()


def send_due(go_on: Callable[[], bool] = lambda: True) -> int:
    """Open and close what is due, while `go_on` returns True; returns how many were tried."""
    tried = failed = 0
    for alert_id in list(Alert.objects.due().values_list("pk", flat=True)[:AT_ONCE]):
        if not go_on() or failed == AWAY:
            break
        failed = failed + 1 if send(alert_id) is False else 0
        tried += 1
    return tried


def send(alert_id: str) -> bool:
    """Open or close an issue as far as possible now; whether GitHub could be reached.

    Saves the result, and raises no GitHub errors.
    """
    deadline = time.monotonic() + DEADLINE
    if deadlines.is_full() or not (alert := _take(alert_id)):
        return True  # done, being done by someone else, or to wait for its turn
    try:
        return _try(alert, deadline)
    except LeaseLost:
        log.warning("The alert %s was taken over by another process", alert_id)
    except Exception:  # nobody else would tell the operator
        log.exception("The alert %s failed with an internal error", alert_id)
        with suppress(LeaseLost):
            alert.look_later("Internal error.")
    return True


def _take(alert_id: str) -> Alert | None:
    """Take an alert for one attempt, if its installation may send one more issue now."""
    found = Alert.objects.filter(pk=alert_id).values_list("integration__installation", flat=True)
    installation = found.first()
    if installation is None:
        return None
    with pacing.place(installation) as is_free:
        return Alert.objects.take(alert_id) if is_free else None


def _try(alert: Alert, deadline: float) -> bool:
    """One attempt, from taking the alert to saving the result; whether GitHub could be reached."""
    installation = alert.installation
    try:
        if alert.status == Alert.Status.CLOSING:
            _close(alert, deadline)
        else:
            _open(alert, deadline)
    except github_api.Suspended as error:
        with transaction.atomic():
            holds.suspend(installation, str(error))
            alert.wait(str(error), AGAIN)
    except github_api.Blocked as error:
        _block(alert, str(error))
    except github_api.Refused as error:
        alert.drop(str(error))
    except github_api.Limited as error:
        installation.leave_alone_for(error.wait)
        alert.wait(str(error), error.wait)
    except github_api.Busy as error:
        alert.wait(str(error), SOON)
    except github_api.Unfinished as error:
        alert.look_on(str(error), error.until + CLOCKS_DIFFER)
    except github_api.Unreachable as error:
        alert.wait(str(error), alert.backoff())
        return False
    except github_api.OutcomeUnknown as error:
        alert.look_later(str(error))
        return False
    return True


def _open(alert: Alert, deadline: float) -> None:
    """Open the issue, unless an earlier attempt has, or there is no longer a reason to."""
    if alert.posted_at:
        _look(alert, alert.posted_at, deadline)
    elif not alert.may_be_opened():
        _leave(alert)
    elif text := words.issue(alert):
        _post(alert, *text, deadline)
    else:
        alert.leave("Its cause is gone.")  # which `causes` finds out, too


def _look(alert: Alert, posted_at: datetime, deadline: float) -> None:
    """Look for the issue that an earlier attempt may have opened; post it again only if there is none."""
    since = posted_at - CLOCKS_DIFFER
    connections.give_back()  # hold no connection while waiting for GitHub
    found = github_api.find_issue(alert.target, marker(alert.pk), since=since, deadline=deadline)
    if found:
        alert.opened(found.number, found.url)
    elif not alert.has_settled():
        alert.look_once_settled()
    elif (alert.has_left() or not alert.title) and not alert.ended_at:
        alert.start_over()  # without a title: a Hub before the restored one may have opened it
    elif alert.may_be_opened():
        _post(alert, alert.title, alert.body, deadline)
    else:
        _leave(alert)


def _post(alert: Alert, title: str, body: str, deadline: float) -> None:
    alert.record(title, body)
    connections.give_back()
    issue = github_api.create_issue(alert.target, title, body, deadline=deadline)
    alert.opened(issue.number, issue.url)
    alert.integration.installation.note_limit(issue.limit_left)


def _leave(alert: Alert) -> None:
    """It is not to be opened: for good if its cause is gone, otherwise as long as it is not wanted."""
    if alert.ended_at:
        alert.drop("Its cause was gone before its issue was opened.")
    else:
        alert.leave("It is not to be opened now.")


def _close(alert: Alert, deadline: float) -> None:
    """Close the issue; closing it twice changes nothing, so an answer that was lost is no problem."""
    connections.give_back()
    try:
        github_api.close_issue(alert.target, alert.issue_number or 0, deadline=deadline)
    except github_api.Suspended:
        raise
    except github_api.Refused as error:  # it was deleted or moved, or nothing can be changed there
        alert.closed(f"The Hub could not close its issue. {error}")
    except github_api.Unreachable as error:
        if not alert.is_given_up():
            raise
        alert.closed(f"Given up after 24 hours. {error}")
    else:
        alert.closed()


def _block(alert: Alert, problem: str) -> None:
    """The repository accepts nothing; that stops the integration only if it still uses it."""
    if alert.has_left():
        _give_up_there(alert, problem)
        return
    with transaction.atomic():
        is_blocked = holds.block(alert.integration, problem)
        alert.wait(problem, AGAIN if is_blocked else SOON)


def _give_up_there(alert: Alert, problem: str) -> None:
    """Nobody can look for its issue in the repository that was left: open it where issues go now."""
    if alert.ended_at:
        alert.drop(
            f"It was sent to {alert.repository}, and the Hub cannot look there now. {problem}"
        )
    else:
        alert.start_over()
