"""The maintainers' API: one report, and actions on one or several."""

from typing import Any

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from core import json_body
from core.json_body import Text
from integrations.answers import saying
from integrations.api import acts, as_json, report_list
from integrations.api.report_list import Received
from integrations.delivery import waiting
from integrations.folding import verdicts
from integrations.folding.named_issues import LONGEST
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


class Split(StrictBody):
    """The body of *not the same*, which may be absent."""

    all: bool = False


class Named(StrictBody):
    """The body of *the same as*."""

    issue_url: Text = Field(min_length=1, max_length=LONGEST)


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
        self.perform(request, report_id)
        told = whole(acts.find(self.membership, report_id))
        may_read = tokens.READ in request.auth.get_scopes()  # type: ignore[union-attr]
        return Response(told if may_read else _without_text(told))

    def perform(self, request: Request, report_id: str) -> None:
        """Do it."""
        acts.perform(self.act, self.membership, report_id)


class NotTheSame(ActOnReport):
    """`POST /v1/orgs/me/reports/<id>/not-the-same`, with `{all: true}` of a lead: split off all that has joined it."""

    def perform(self, request: Request, report_id: str) -> None:
        """Split it off."""
        with_all = bool(json_body.announced(request)) and read(Split, request).all
        (acts.split_all if with_all else acts.split)(self.membership, report_id)


class SameAs(ActOnReport):
    """`POST /v1/orgs/me/reports/<id>/same-as` `{issue_url}`: let it join that issue."""

    def perform(self, request: Request, report_id: str) -> None:
        """Name the issue."""
        acts.name(self.membership, report_id, read(Named, request).issue_url)


class ActOnReports(MaintainerView):
    """`POST /v1/orgs/me/reports/<act>` `{ids}`: `{done: [id], refused: [{id, error, message}]}`."""

    act = ""  # one of `acts.FOR_MANY`

    def post(self, request: Request) -> Response:
        ids = read(Chosen, request).ids
        done, refused = acts.perform_on_each(self.act, self.membership, ids)
        return Response({"done": done, "refused": [each._asdict() for each in refused]})


def _without_text(told: dict[str, Any]) -> dict[str, Any]:
    """What became of the delivery: its likeness is told in the words of reporters."""
    kept = {name: told[name] for name in WITHOUT_TEXT}
    if kept["delivery"]:
        kept["delivery"]["likeness_words"] = None
    return kept


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
        "answer": as_json.answer(saying.found(delivery)),
        **_likeness(delivery),
    }


def _likeness(delivery: Delivery | None) -> dict[str, Any]:
    """Which one a member has named as the same, where each has its own issue, and how many have joined this one."""
    if delivery is None:
        return {"same_as": None, "joined": 0}
    named = None if delivery.lead_id else verdicts.named_as_same(delivery)
    return {"same_as": named and named.report_id, "joined": delivery.folded.count()}


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
    if delivery is None:
        return None
    there = delivery.with_issue
    if not (there.title or there.issue_number):
        return None
    state = there.issue_state or Delivery.IssueState.OPEN
    is_told = there is delivery or there.report.withheld_for is None
    return {
        "repository": delivery.repository_now,
        "title": there.title if is_told else "",
        "body": there.body if is_told else "",
        "number": there.issue_number,
        "url": delivery.issue_url_now or None,
        "state": state if there.issue_number else None,
        "state_reason": there.issue_state_reason or None,
        "closed_at": there.issue_closed_at,
    }
