"""Opens an alert's issue, and closes it: once, whatever GitHub answers and however often this is called."""

from collections.abc import Callable
from datetime import datetime

from core import connections
from integrations import github_api
from integrations.alerts import words
from integrations.delivery import leased
from integrations.delivery.forwarding import marker
from integrations.models import Alert


def is_anything_due() -> bool:
    """Whether any issue is to be opened or closed; cheap enough to ask every second."""
    return leased.is_anything_due(ALERTS)


def send_due(go_on: Callable[[], bool] = lambda: True, slow: set[int] | None = None) -> int:
    """Open and close what is due, while `go_on` returns True; returns how many were tried.

    `slow` as in `leased.send_due`: for one call that begins where the last one ended.
    """
    return leased.send_due(ALERTS, go_on, set() if slow is None else slow)


def send(alert_id: str) -> bool:
    """Open or close an issue as far as possible now; whether GitHub could be reached."""
    return leased.send(ALERTS, alert_id)


def _attempt(alert: Alert, deadline: float) -> None:
    if alert.status == Alert.Status.CLOSING:
        _close(alert, deadline)
    else:
        _open(alert, deadline)


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
    since = posted_at - github_api.CLOCKS_DIFFER
    connections.give_back()  # hold no connection while waiting for GitHub
    found = github_api.find_issue(
        alert.target, marker(alert.pk), since=since, now=alert.started_at, deadline=deadline
    )
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
        if isinstance(error, github_api.Limited) or not alert.is_given_up():
            raise  # a limit ends, and is to be respected
        alert.closed(f"Given up after 24 hours. {error}")
    else:
        alert.closed()


def _give_up_there(alert: Alert, problem: str) -> None:
    """Nobody can look for its issue in the repository that was left: open it where issues go now."""
    if alert.ended_at:
        alert.drop(
            f"It was sent to {alert.repository}, and the Hub cannot look there now. {problem}"
        )
    else:
        alert.start_over()


ALERTS = leased.Work(Alert, _attempt, _give_up_there)
