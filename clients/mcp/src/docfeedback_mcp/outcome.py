"""The tool's result: always the same fields, and one sentence for the person.

Text from a Hub is shortened, cleaned and marked as such before a model reads it. What is not marked
is one of the words that are known here, a number, an id, the address of the receipt, or, of a Hub
that this computer names, that of the issue.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from docfeedback import (
    DocFeedbackError,
    OptedOut,
    PolicyRejected,
    PrivateAddress,
    RateLimited,
    SentReport,
    Unreachable,
    settings,
)
from docfeedback import outcome as became
from docfeedback.contract import message
from docfeedback.web import Failed
from mcp_types import CallToolResult, TextContent

from . import kept, known, legible, quoting, schemas
from .look_up import LookUp
from .question import HIDDEN, Question, command, link

LONGEST_NAME = 200  # of a field, in what is said here
LONGEST_COMMAND = 8_000  # characters: no shell takes fewer
LONGEST_URL = 300
MOST_ITEMS = 20
MOST_SECONDS = 1_000_000_000
REPORT_ID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")  # a ULID
ISSUE = re.compile(
    r"https?://[A-Za-z0-9.-]{1,100}(:[0-9]{1,5})?"
    r"/[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}/issues/[1-9][0-9]{0,9}"
)
URL = re.compile(r"https?://[\x21-\x7e]+")

KNOWN = "The problem was known already."
ISSUE_STATES = ("open", "closed")
REMOVED = "The Hub removed what looked like a secret."
FAILED = "Internal error in the MCP server. The report may or may not have been sent."
UNCONFIRMED = (
    " The Hub did not confirm it; it may have been received. Sending it again only counts it again."
)
AGAIN = (
    "Sending failed for now. To try again, call the tool with exactly the same arguments{when}: for "
    "an hour, the person is not asked again."
)
NEEDS_APPROVAL = "Nothing was sent, because this client cannot ask the person. Show them the draft."
WITH_COMMAND = (
    "They can send it themselves with the command, which in a terminal shows it and asks first. Do "
    "not run the command: that is for them."
)
WITH_LINK = "They can send it themselves with the link."
WITH_BOTH = (
    "They can send it themselves, with the command, which in a terminal shows it and asks first, or "
    "the link. Do not run the command: that is for them."
)
WRITE_IT = (
    "They can write the report themselves with docfeedback report, in a terminal: it asks for each "
    "part, and shows all before it is sent. Do not run this: it is for them."
)
WAYS = {  # whether there is a command, and a link
    (True, True): WITH_BOTH,
    (True, False): WITH_COMMAND,
    (False, True): WITH_LINK,
    (False, False): WRITE_IT,
}
LEFT_OUT = "The link does not carry: {}."
IN_OTHER_WORDS = {  # where the client's own would repeat what was given, or name flags
    "no_hub_url": 'No Hub is set. Set DOCFEEDBACK_HUB_URL in the environment of this MCP server ("env" '
    "where it is set up), or run: docfeedback config set hub_url URL",
    "invalid_hub_url": "The Hub address in DOCFEEDBACK_HUB_URL, or else in the configuration file, "
    "is not a URL such as https://hub.example.com.",
    "no_scheme": "That is not a full URL. Use one that begins with https://, or with ./ for "
    "a file in this repository.",
    "redirected": "The Hub answers with a redirect, which reports do not follow. Check its address.",
}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of a call; `schemas.OUTCOME` explains each field."""

    status: str
    message: str
    report_id: str | None = None
    report_status: str | None = None
    claimed: bool | None = None
    issue_url: str | None = None
    known_issue_state: str | None = None
    answer: str | None = None
    receipt_url: str | None = None
    notices: list[dict[str, str]] = field(default_factory=list)
    error: str | None = None
    details: list[dict[str, str]] = field(default_factory=list)
    retry_after: int | None = None
    draft: Mapping[str, Any] | None = None
    command: str | None = None
    link: str | None = None

    def result(self, *texts: str) -> CallToolResult:
        """The result with its sentence and short fields as text, for clients that read nothing else."""
        fields = asdict(self)
        short = {name: fields[name] for name in fields if name not in ("draft", "command")}
        texts = (self.message, json.dumps(short, ensure_ascii=False), *texts)
        return CallToolResult(
            content=[TextContent(type="text", text=text) for text in texts],
            structured_content=fields,
            is_error=self.error is not None,
        )


def of_sent(sent: SentReport, asked: Question) -> Outcome:
    """What the Hub answered to this report."""
    status = "duplicate" if sent.is_duplicate else "sent"
    said = [message(status, outcome="").rstrip()]
    notices = _notices(sent.notices)
    if notices:
        said.append(REMOVED)
    if asked.draft.page is None:  # a path, which reaches nobody
        said.append(asked.note)
    said.append(_became(sent, asked.draft.body["doc_url"]))
    answer = quoting.owner(sent.answer, url_of(sent.answer.link) if sent.answer else None)
    said.append(answer or "")
    receipt = url_of(sent.receipt_url)
    if receipt and not _is_receipt(
        receipt, asked.request.url, sent.id
    ):  # it may have another name, too
        said.append(quoting.hub(f"the receipt is at {receipt}"))
        receipt = None
    return Outcome(
        status=status,
        message=" ".join(filter(None, said)),
        report_id=sent.id if REPORT_ID.fullmatch(sent.id) else None,
        report_status=sent.status if sent.status in schemas.REPORT_STATUSES else None,
        claimed=sent.claimed,
        issue_url=sent.issue_url if _is_issue(sent.issue_url, asked) else None,
        known_issue_state=_known_state(sent),
        answer=answer,
        receipt_url=receipt,
        notices=notices,
    )


def of_error(error: DocFeedbackError) -> Outcome:
    """The result for an error, here or at the Hub."""
    is_known = error.status is None or error.code in known.CODES
    faults = _own_faults if error.status is None else _faults_of_a_hub
    return Outcome(
        status="refused" if _is_refusal(error) else "not_sent",
        message=sentence(error) + (UNCONFIRMED if _is_unconfirmed(error) else ""),
        error=error.code if is_known else f"http_{error.status}",
        details=faults(error.details[:MOST_ITEMS]),
        retry_after=_seconds(error.retry_after) if isinstance(error, RateLimited) else None,
    )


def of_question(question: Question | LookUp) -> CallToolResult:
    """The result if the person could not be asked: what they would have read, and how to send it."""
    hidden = HIDDEN if question.hides() else ""
    looked_up = question.chosen_by() if isinstance(question, LookUp) else ""
    outcome = Outcome(status="needs_approval", message=NEEDS_APPROVAL)
    return _with_other_ways(outcome, question, looked_up, hidden)


def of_delay(error: DocFeedbackError, question: Question) -> CallToolResult:
    """The result if the person agreed, and sending can be tried again. What the Hub says comes last."""
    failed = of_error(error)
    wait = failed.retry_after
    when = f" after {wait} seconds" if wait and wait < kept.SECONDS else ""
    again = replace(failed, message=AGAIN.format(when=when))
    return _with_other_ways(again, question, failed.message)


def _with_other_ways(outcome: Outcome, question: Question | LookUp, *more: str) -> CallToolResult:
    """With the draft, and how the person can send it."""
    line, form = command(question.draft), link(question.draft)
    line = line if line and len(line) <= LONGEST_COMMAND else None
    shown = (question.about_page(), question.chosen_by(), question.shown())
    texts = ["\n\n".join(filter(None, shown))]
    if line:
        texts.append(f"For the person to run:\n\n```sh\n{line}\n```")
    ways = WAYS[line is not None, form is not None]
    left_out = LEFT_OUT.format(", ".join(form.left_out)) if form and form.left_out else ""
    said = " ".join(filter(None, (outcome.message, ways, left_out, *more)))
    draft, url = question.draft.body, form.url if form else None
    return replace(outcome, message=said, draft=draft, command=line, link=url).result(*texts)


def of_no(sentence: str) -> Outcome:
    """The result if nothing was sent because nobody agreed; that is not an error."""
    return Outcome(status="not_sent", message=sentence)


def of_failure() -> Outcome:
    """The result for an internal error."""
    return Outcome(status="not_sent", message=FAILED, error="internal_error")


def _is_refusal(error: DocFeedbackError) -> bool:
    """By a guard here; of what a Hub says, only that the owner wants no reports."""
    if error.status is not None:
        return isinstance(error, OptedOut)
    guards = (OptedOut, PolicyRejected, PrivateAddress)
    return isinstance(error, guards) or error.code == "invalid_doc_url"


def _is_unconfirmed(error: DocFeedbackError) -> bool:
    """Whether the request may have been received, for all that came back."""
    if isinstance(error, Unreachable):
        cause = error.__cause__
        return isinstance(cause, Failed) and cause.reason in ("timed_out", "broken", "too_long")
    return error.status is not None and (error.status >= 500 or error.status < 300)


def sentence(error: DocFeedbackError) -> str:
    """Ours, or the Hub's, which the error quotes: it may say anything."""
    if error.status is not None and error.status >= 400:
        return legible.line(str(error), quoting.LONGEST_SENTENCE + len(quoting.HUB))
    word = error.code if error.status else error.fields.get("reason", error.code)
    return legible.line(IN_OTHER_WORDS.get(word, str(error)), quoting.LONGEST_SENTENCE)


def _notices(found: list[dict[str, str]]) -> list[dict[str, str]]:
    """Where in the report a Hub removed which kind of secret, as far as both are known here."""
    notices = []
    for each in found[:MOST_ITEMS]:
        notice = {"field": each["field"]} if known.is_place(each["field"]) else {}
        if known.is_kind(each["kind"]):
            notice["kind"] = each["kind"]
        if notice:
            notices.append(notice)
    return notices


def _own_faults(found: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [
        {
            "path": legible.line(fault["path"], LONGEST_NAME),
            "message": legible.line(fault["message"], quoting.LONGEST_SENTENCE),
        }
        for fault in found
    ]


def _faults_of_a_hub(found: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Its words, marked as such; where the fault is only if the place is known here."""
    return [
        ({"path": fault["path"]} if known.is_place(fault["path"]) else {})
        | {"message": quoting.hub(fault["message"])}
        for fault in found
    ]


def _became(sent: SentReport, doc_url: str) -> str:
    """What became of it; only the address of an issue is the Hub's own text, and marked."""
    issue, state = url_of(sent.issue_url), _known_state(sent)
    if issue is not None:
        told = quoting.hub(became.issue(issue, state))
        return told if state is None else f"{KNOWN} {told}"
    nothing = became.report("")  # by a Hub that does not say it
    less = replace(sent, id="", issue_url=None, known_issue=None)
    return became.of(less, doc_url).removeprefix(nothing)


def _known_state(sent: SentReport) -> str | None:
    """The state of the issue, if that is one that the problem had before."""
    found = sent.known_issue
    if found is None or found.url != sent.issue_url or found.state not in ISSUE_STATES:
        return None
    return found.state


def _is_issue(url: str | None, asked: Question) -> bool:
    """Whether this computer names the Hub, not the page, and there is little room for words in the address."""
    return bool(asked.draft.hub_url and url and ISSUE.fullmatch(url))


def _is_receipt(url: str, endpoint: str, report_id: str) -> bool:
    """Whether it is the receipt's address at the Hub that answered."""
    if not REPORT_ID.fullmatch(report_id):
        return False
    return settings.one_spelling(url) == f"{settings.origin(endpoint)}/r/{report_id}/"


def url_of(text: str | None) -> str | None:
    """The text, if it is an address of visible characters that is not too long."""
    fits = text is not None and len(text) <= LONGEST_URL and URL.fullmatch(text)
    return text if fits else None


def _seconds(value: Any) -> int | None:
    """A Hub may have written anything; True is an int to Python."""
    return value if type(value) is int and 0 <= value <= MOST_SECONDS else None
