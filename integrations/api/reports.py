"""The maintainers' API: one report, and actions on one or several."""

from typing import Any

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from core.json_body import Text
from integrations.api import acts, report_list
from integrations.api.report_list import Received
from integrations.delivery import waiting
from integrations.models import Attempt, Delivery
from orgs.api.authentication import MaintainerView
from orgs.api.request_body import StrictBody, read
from orgs.people import tokens
from reports.models import Account

TEXT = [
    "canonical_url", "last_received_at", "details", "evidence", "suggested_fix", "task_context",
    "agent_version", "agent_vendor", "submitted_at", "locale", "notices",
]  # fmt: skip
ACCOUNT = [
    "received_at", "last_received_at", "times_received", "kind", "summary", "details", "evidence",
    "suggested_fix", "task_context", "agent_version", "agent_vendor",
]  # fmt: skip
WITHOUT_TEXT = ["id", "delivery"]
AT_ONCE = 100


class Chosen(StrictBody):
    """The body of an action on several reports."""

    ids: list[Text] = Field(min_length=1, max_length=AT_ONCE)


class OneReport(MaintainerView):
    """`GET /v1/orgs/me/reports/<id>`: everything about one report."""

    def get(self, request: Request, report_id: str) -> Response:
        return Response(whole(acts.find(self.membership, report_id)))


class ActOnReport(MaintainerView):
    """`POST /v1/orgs/me/reports/<id>/<act>`: act on one report; answers with the report afterwards.

    Who may not read reports is told what became of the delivery only.
    """

    act = ""  # one of `acts.ACTS`

    def post(self, request: Request, report_id: str) -> Response:
        acts.perform(self.act, self.membership, report_id)
        told = whole(acts.find(self.membership, report_id))
        may_read = tokens.READ in request.auth.get_scopes()  # type: ignore[union-attr]
        return Response(told if may_read else {name: told[name] for name in WITHOUT_TEXT})


class ActOnReports(MaintainerView):
    """`POST /v1/orgs/me/reports/<act>` `{ids}`: `{done: [id], refused: [{id, error, message}]}`."""

    act = ""  # one of `acts.FOR_MANY`

    def post(self, request: Request) -> Response:
        ids = read(Chosen, request).ids
        done, refused = acts.perform_on_each(self.act, self.membership, ids)
        return Response({"done": done, "refused": [each._asdict() for each in refused]})


def whole(received: Received) -> dict[str, Any]:
    """The JSON of a report with all its text, its first and latest attempts, and what was sent to GitHub."""
    report, delivery, _ = received
    received = received._replace(wait=waiting.why(delivery))
    attempts = delivery.shown_attempts() if delivery else []
    return {
        **report_list.shape(received),
        **{name: getattr(report, name) for name in TEXT},
        "accounts": [_account(each) for each in report.accounts.readable()],
        "accounts_not_kept": report.accounts_not_kept,
        "attempts": [_attempt(each) for each in attempts],
        "issue": _issue(delivery),
    }


def _account(account: Account) -> dict[str, Any]:
    return {name: getattr(account, name) for name in ACCOUNT}


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "started_at": attempt.started_at,
        "ended_at": attempt.ended_at,
        "outcome": attempt.outcome or None,
        "reason": attempt.reason or None,
    }


def _issue(delivery: Delivery | None) -> dict[str, Any] | None:
    """What was sent, or is being sent, for it or for its lead; `number` is null until GitHub has told it."""
    there = delivery and delivery.with_issue
    if there is None or not (there.title or there.issue_number):
        return None
    state = there.issue_state or Delivery.IssueState.OPEN
    return {
        "repository": there.repository,
        "title": there.title,
        "body": there.body,
        "number": there.issue_number,
        "url": there.issue_url or None,
        "state": state if there.issue_number else None,
        "state_reason": there.issue_state_reason or None,
        "closed_at": there.issue_closed_at,
    }
