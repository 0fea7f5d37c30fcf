"""What became of a report, step by step, from what is stored about it."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings

from core import durations
from integrations.delivery.issue_states import AFTER
from integrations.delivery.trying_again import NEVER_SENT
from integrations.delivery.waiting import Wait
from integrations.models import Attempt, Comment, Delivery
from integrations.models.delivery import DELIVERED
from orgs import renamed, repository_pages
from orgs.renamed import Received
from reports.cleaning import clean
from reports.models import Report

Outcome, Cause, Status = Attempt.Outcome, Delivery.Cause, Delivery.Status
Purpose = Comment.Purpose

LATEST = 3  # attempts that are shown after the first one; others are folded
TONES = {
    Outcome.SENT: "good",
    Outcome.ADOPTED: "good",
    Outcome.FOLDED: "good",
    Outcome.REFUSED: "bad",
}
CUT_OFF = "Because GitHub accepts nothing from the Hub"  # the app is suspended or uninstalled
HELD = {  # the cause in a few words; the page says above what to do
    Cause.INTEGRATION: "Because GitHub accepts no issues in the repository",
    Cause.OWNERSHIP: "Because the page is not yours now",
    Cause.RIGHTS: "Because no member has push access to the repository",
    Cause.PAUSE: "Because a member has paused the integration",
    Cause.OPERATOR: "By an operator of this Hub",
    Cause.DISCARDED: "By a member: kept, but not sent until somebody restores it",
}


ENDS = {"closed": "good", "deleted": "off"}  # of an issue
CLOSED_AS = {  # by GitHub's reason
    "completed": ("Issue closed as completed", "good"),
    "not_planned": ("Issue closed as not planned", "off"),
    "duplicate": ("Issue closed as duplicate", "off"),
}


AGAIN = "Reported again after its issue was closed"
STILL = "The Hub has still to do that"
CLOSINGS = 3  # of one issue that are shown, the latest
SAID = {
    Purpose.AGAIN: (AGAIN, "A comment on the issue says so"),
    Purpose.REOPEN: ("Issue reopened", "By the Hub, because it was reported again"),
}


class Step(NamedTuple):
    """One step, or several that are `folded` into one; without a time if none is stored."""

    name: str
    words: str = ""
    tone: str = "good"
    at: datetime | None = None
    folded: "list[Step] | None" = None


def steps(report: Report, delivery: Delivery | None, wait: Wait | None) -> list[Step]:
    """From its arrival to what it is now, in the order of time as far as that is stored."""
    if delivery is None:
        kept = Step("Kept", NEVER_SENT, "off")
        return [*_beginning(report), *_in_order(_later(report)), kept]
    attempts = delivery.shown_attempts()
    tries = [_tried(each, report, delivery) for each in attempts]
    there = [*_closed(delivery.with_issue), *_again(report, delivery)]
    so_far = _in_order([*_later(report), *tries, *_not_kept(delivery, attempts), *there])
    return [*_beginning(report), *_folded(so_far), *_now(delivery, attempts, wait)]


def _beginning(report: Report) -> Iterator[Step]:
    yield Step("Received", at=report.received_at)
    mine = report.organization_id
    if mine and (address := renamed.address_now(Received(report.canonical_url, mine))):
        yield Step("Matched", f"{_place(address)}, your claim")
    else:
        yield Step("Matched", "With a claim that you had when it came in")


def _place(url: str) -> str:
    """The host of a page; of a repository's files, the repository."""
    page = repository_pages.read(url, code_host=settings.HUB_GITHUB_URL)
    return f"{page.owner}/{page.name}" if page else urlsplit(url).netloc


def _later(report: Report) -> Iterator[Step]:
    """What happened to the report itself after its arrival."""
    if again := report.times_reported - 1:
        times, last = (
            ("once more", "") if again == 1 else (f"{again:,} more times", "The last time")
        )
        yield Step(f"Reported {times}", last, at=report.last_received_at)
    if report.erased_at:
        yield Step("Erased", "Its text was deleted", "off", report.erased_at)


def _tried(attempt: Attempt, report: Report, delivery: Delivery) -> Step:
    """An attempt, with GitHub's answer."""
    tone = TONES.get(attempt.outcome, "wait")  # type: ignore[call-overload]
    if attempt.outcome == Outcome.FOLDED:
        return _joined(delivery, attempt)
    if tone != "good" or not delivery.issue_number:
        return Step(attempt.in_words, attempt.reason, tone, attempt.started_at)
    name = "opened" if attempt.outcome == Outcome.SENT else "found"
    words = f"In {delivery.repository}"
    if took := durations.between(report.received_at, attempt.ended_at):
        words += f", {took} after it came in"
    return Step(f"Issue #{delivery.issue_number} {name}", words, tone, attempt.ended_at)


def _joined(delivery: Delivery, attempt: Attempt | None = None) -> Step:
    """That it has joined the issue of its lead, and why; of one that has left that, only that it had."""
    at = attempt.ended_at if attempt else delivery.folded_at
    if delivery.lead is None:
        return Step("Joined an issue", "Until somebody split it off", "off", at)
    words = f"Because {delivery.folded_by} says that it is the same" if delivery.folded_by else ""
    name = f"Joined issue #{delivery.lead.issue_number}"
    return Step(name, words or _capital(clean(delivery.likeness_words)), at=at)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _not_kept(delivery: Delivery, attempts: list[Attempt]) -> Iterator[Step]:
    """The issue that was opened or joined, if no attempt says so: that is not kept any more, or a member did it."""
    if delivery.status == Status.FOLDED and Outcome.FOLDED not in {a.outcome for a in attempts}:
        yield _joined(delivery)
    arrived = any(each.outcome in (Outcome.SENT, Outcome.ADOPTED) for each in attempts)
    if delivery.status == Status.SENT and not arrived:
        name = f"Issue #{delivery.issue_number} opened"
        yield Step(name, f"In {delivery.repository}", at=delivery.posted_at)


def _closed(delivery: Delivery) -> Iterator[Step]:
    """The closed issue, if it is known when that was."""
    there = delivery.with_issue
    if there.issue_state == Delivery.IssueState.CLOSED and there.issue_closed_at:
        name, tone = CLOSED_AS.get(there.issue_state_reason, ("Issue closed", ENDS["closed"]))
        yield Step(name, "On GitHub", tone, there.issue_closed_at)


def _again(report: Report, delivery: Delivery) -> Iterator[Step]:
    """What was done because it was reported again after its issue was closed."""
    there = delivery.with_issue
    if delivery.follows and delivery.status == Status.SENT:
        number = delivery.follows.issue_number
        words = f"After #{number} was closed, so it has an issue of its own"
        yield Step("Reported again", words, "wait")
    said = there.comments.filter(purpose__in=[Purpose.AGAIN, Purpose.REOPEN])
    known = list(said.order_by("-pk")[:CLOSINGS]) if there.issue_number else []
    for each in known:
        name, words = SAID[Purpose(each.purpose)]
        written = each.status == Comment.Status.WRITTEN
        yield Step(name, words if written else each.reason or STILL, "wait", each.created_at)
    is_told = any(each.occasion == there.issue_closed_at for each in known)
    if there.issue_closed_at and not is_told:
        yield from _counted(report, there, there.issue_closed_at)


def _counted(report: Report, there: Delivery, closed_at: datetime) -> Iterator[Step]:
    """That it came again, if that was long enough after its issue was closed, and was only counted."""
    if report.last_received_at >= closed_at + AFTER and there.issue_state == "closed":
        yield Step(AGAIN, "Counted, and nothing else", "off", report.last_received_at)


def _in_order(some: Iterable[Step]) -> list[Step]:
    """Those whose time is stored in its order, then the others."""
    return sorted(some, key=lambda step: (step.at is None, step.at))


def _folded(all_of_them: list[Step]) -> list[Step]:
    """The first, the latest, and between them the others as one."""
    middle = all_of_them[1:-LATEST]
    if len(middle) < 2:
        return all_of_them
    folded = Step(f"{len(middle)} steps between", tone="off", folded=middle)
    return [all_of_them[0], folded, *all_of_them[-LATEST:]]


def _held(delivery: Delivery) -> str:
    """Why it is held, in a few words."""
    if delivery.held_for == Cause.INTEGRATION and delivery.integration.installation.suspended_at:
        return CUT_OFF
    return HELD[Cause(delivery.held_for)]


def _now(delivery: Delivery, attempts: list[Attempt], wait: Wait | None) -> Iterator[Step]:
    """How it is now, where no attempt says so."""
    last = attempts[-1] if attempts else Attempt()
    if delivery.status in DELIVERED:
        state = delivery.with_issue.issue_state
        if state in ENDS and not any(_closed(delivery)):
            yield Step(f"Issue {state}", "On GitHub", ENDS[state])
    elif wait:
        yield Step("Waiting", wait.when or wait.sentence, "wait")
    elif delivery.status == Status.HELD and delivery.held_for == Cause.DISCARDED:
        yield Step("Discarded", HELD[Cause.DISCARDED], "off")
    elif delivery.status == Status.HELD and last.outcome != Outcome.HELD:
        yield Step("Held", _held(delivery), "wait")
    elif delivery.status == Status.FAILED and last.outcome != Outcome.REFUSED:
        yield Step("Failed", delivery.reason, "bad")
