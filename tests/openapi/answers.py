"""What the API answers, as models. The meanings of their fields are in the tables of the reference."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from core import json_body
from core.ids import ULID_FORM
from integrations.answers import known
from integrations.api import receipts, report_list, reports
from integrations.delivery import issue_states, waiting
from integrations.models import Attempt, Delivery, Integration
from integrations.models.answer import LONGEST
from orgs import models as claims
from orgs.people.tokens import SCOPES
from reports.models import Report
from reports.shape import Evidence

Id = Annotated[str, Field(pattern=f"^{ULID_FORM.pattern}$")]
Address = Annotated[str, Field(json_schema_extra={"format": "uri"})]
Count = Annotated[int, Field(ge=0)]
Kind = Literal[*Report.Kind.values]
EvidenceKind = Evidence.model_fields["kind"].annotation
Progress = Literal[*dict.fromkeys(receipts.STATUS.values())]
IssueState = Literal[*Delivery.IssueState.values]


class Answer(BaseModel):
    """What they have in common: later versions may have more fields."""


class Removed(Answer):
    """A secret that was removed from a text."""

    field: str
    kind: str


class KnownIssue(Answer):
    """The issue of a problem that was known before."""

    url: Address
    state: Literal["open", "closed"]


class ToReporters(Answer):
    """What the page's owner says to those who report a problem."""

    text: str = Field(max_length=LONGEST)
    link: Address | None


class Sent(Answer):
    """A report was accepted, new or duplicate."""

    id: Id
    is_duplicate: bool
    received_at: datetime
    protocol_version: Literal["0"]
    server_capabilities: list[str]
    receipt_url: Address
    notices: list[Removed]
    claimed: bool
    status: Progress
    issue_url: Address | None
    known_issue: KnownIssue | None
    answer: ToReporters | None


class TestReportSent(Sent):
    """A test report was sent."""

    issue_url: Address | None = Field(
        description="The issue, also in a private repository; null if it is not open yet."
    )


class Receipt(Answer):
    """What anybody may know of a report: none of its text."""

    id: Id
    status: Progress
    received_at: datetime
    times_reported: Count
    issue_url: Address | None
    issue_state: IssueState | None
    known_issue: KnownIssue | None
    answer: ToReporters | None


class Problem(Answer):
    """One open problem of a page."""

    issue_url: Address
    title: str | None
    kind: Kind
    times_reported: Count
    first_reported_at: datetime
    last_reported_at: datetime
    answer: ToReporters | None


class KnownProblems(Answer):
    """What is known of a page."""

    url: Address
    problems: list[Problem] = Field(max_length=known.MOST)


class DNSRecord(Answer):
    """The record that proves a claim."""

    name: str
    type: Literal["TXT"]
    value: str


class DomainClaim(Answer):
    """A claim of a domain, with the record to publish."""

    domain: str
    status: Literal[*claims.Domain.Status.values]
    dns_record: DNSRecord | None


class CheckedDomain(DomainClaim):
    """A claim of a domain, and what the DNS answered."""

    hint: str | None = Field(
        description="What the DNS answered, in words; null once the claim is proved."
    )


class Domain(DomainClaim):
    """A domain."""

    verified_at: datetime | None
    lapsed_at: datetime | None
    lapses_at: datetime | None
    last_checked_at: datetime | None
    opted_out_at: datetime | None
    claimed_by: str | None


class Site(Answer):
    """A site."""

    id: Id
    url: Address
    status: Literal[*claims.Site.Status.values]
    repository: str
    verified_at: datetime
    lapsed_at: datetime | None
    opted_out_at: datetime | None


class GitHubIntegration(Answer):
    """The integration with GitHub."""

    provider: Literal["github"]
    status: Literal[*Integration.Status.values]
    account: str
    repo_owner: str | None
    repo_name: str | None
    issue_template: str | None
    problem: str | None
    alerts: bool
    likeness: Literal[*Integration.Likeness.values]
    when_reported_again: Literal[*Integration.Again.values]
    shows_known: bool
    labels: dict[str, list[str]]
    assignees: list[str]
    issue_type: str | None
    not_applied: str | None


class Caller(Answer):
    """Who calls."""

    login: str
    scopes: list[Literal[*SCOPES]]
    expires_at: datetime | None


class Organization(Answer):
    """The organization of the token's owner."""

    id: Id
    name: str
    caller: Caller
    integration: GitHubIntegration | None
    domains: list[Domain]
    sites: list[Site]


class Installation(Answer):
    """Where a browser installs the app."""

    install_url: Address
    use_existing_url: Address
    expires_at: datetime


class Repository(Answer):
    """A repository to choose."""

    repo_owner: str
    repo_name: str
    private: bool
    archived: bool
    has_issues: bool


class Repositories(Answer):
    """Repositories to choose."""

    repositories: list[Repository] = Field(description="Those that you may choose.")
    next_page: int | None = Field(description="The next `page`; null at the end.")


class Wait(Answer):
    """Why a delivery waits."""

    cause: Literal[*map(str, waiting.Cause)]
    message: str
    about: datetime | None


class DeliveryOfReport(Answer):
    """What became of a report."""

    status: Literal[*Delivery.Status.values]
    held_for: Literal[*Delivery.Cause.values] | None
    reason: str | None
    waits_for: Wait | None
    issue_url: Address | None
    attempts: Count
    lead: Id | None
    maybe_lead: Id | None
    folded_by: str | None
    likeness_words: str | None


class ListedReport(Answer):
    """A report in a list."""

    id: Id
    received_at: datetime
    doc_url: str
    kind: Kind
    summary: str
    agent_name: str
    times_reported: Count
    further_accounts: Count
    erased_at: datetime | None
    delivery: DeliveryOfReport | None


class Reports(Answer):
    """A page of reports, the newest first."""

    reports: list[ListedReport] = Field(
        description=f"At most {report_list.PAGE_SIZE}.", max_length=report_list.PAGE_SIZE
    )
    next_cursor: str | None = Field(description="The `cursor` of the next page; null at the end.")


class StoredEvidence(Answer):
    """One piece of evidence, without secrets."""

    kind: EvidenceKind = Field(description="The kind of evidence.")
    text: str = Field(description="The evidence.")


class StoredTaskContext(Answer):
    """What the reporter was doing, without secrets."""

    task_summary: str = Field("", description="The task, in one line.")
    transcript_excerpt: str = Field("", description="An excerpt of the transcript.")


class Words(Answer):
    details: str
    evidence: list[StoredEvidence]
    suggested_fix: str
    task_context: StoredTaskContext
    agent_version: str
    agent_vendor: str
    last_received_at: datetime


class FurtherAccount(Words):
    """A duplicate in other words."""

    received_at: datetime
    times_received: Count
    kind: Kind
    summary: str


class Try(Answer):
    """One attempt to deliver."""

    number: Count
    started_at: datetime
    ended_at: datetime | None
    outcome: Literal[*Attempt.Outcome.values] | None
    reason: str | None


class Issue(Answer):
    """What was sent to GitHub."""

    repository: str
    title: str
    body: str
    number: Count | None
    url: Address | None
    state: IssueState | None
    state_reason: Literal[*issue_states.REASONS] | None
    closed_at: datetime | None


class WrittenAnswer(ToReporters):
    """What reporters are told, and who wrote it."""

    made_by: str
    changed_at: datetime


class WholeReport(Words, ListedReport):
    """Everything about one report."""

    canonical_url: str
    submitted_at: str
    locale: str
    notices: list[Removed]
    accounts: list[FurtherAccount]
    accounts_not_kept: Count
    attempts: list[Try]
    issue: Issue | None
    same_as: Id | None
    joined: Count
    answer: WrittenAnswer | None


class ReportAfterwards(WholeReport):
    """The report after an act; of a token without the scope `orgs:read`, only its id and its delivery."""

    model_config = ConfigDict(json_schema_extra={"required": reports.WITHOUT_TEXT})


class RefusedReport(Answer):
    """A report that was left as it was, and why."""

    id: str
    error: str
    message: str


class ActedOn(Answer):
    """What was done, and what was not."""

    done: list[str]
    refused: list[RefusedReport]


class Fault(Answer):
    """One thing that is wrong in a request."""

    path: str = Field(
        description="Where: a JSON Pointer into the body (empty: all of it), `header:<name>` or "
        "`query:<name>`."
    )
    message: str = Field(description="What is wrong, in words.")


class Error(Answer):
    """Every error: a code for programs, a sentence for people, and for some codes further fields."""

    error: str = Field(description="The code. Later versions may have more than the examples.")
    message: str = Field(description="What is wrong and what to do, in words, which may change.")
    since: datetime = Field(None)
    max_bytes: int = Field(None)
    request_id: str = Field(None)
    placeholder: str = Field(None)
    suggestion: str = Field(None)
    found: str = Field(None)
    details: list[Fault] = Field(
        None, description="All that is wrong.", max_length=json_body.MAX_FAULTS
    )
