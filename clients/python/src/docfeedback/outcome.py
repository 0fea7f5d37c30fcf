"""What became of a report, in words."""

from __future__ import annotations

import re
from typing import List, Optional

from . import known, remotes, words
from .answers import KnownIssue, Receipt, SentReport
from .contract import message

ISSUE = re.compile(
    r"https?://[^/]+/([A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100})/issues/([1-9][0-9]{0,9})/?"
)


def of(sent: SentReport, doc_url: str) -> str:
    """What the Hub says of a report that was just sent; its ID where an older Hub says nothing.

    It never says of a private repository whether it is claimed.
    """
    if sent.known_issue is not None:
        return known_already(sent.known_issue)
    if sent.issue_url is not None:
        return issue(sent.issue_url)
    if sent.status == "forwarded":
        return message("forwarded_outcome")
    if sent.status == "forwarding":
        return message("forwarding_outcome")
    if sent.claimed is False:
        is_of_a_repository = remotes.is_page(doc_url)
        return message(
            "unclaimed_repository_outcome" if is_of_a_repository else "unclaimed_outcome"
        )
    if sent.claimed and sent.status == "received":
        return message("claimed_outcome")
    return report(sent.id)


def of_receipt(receipt: Receipt) -> List[str]:
    """What a receipt says."""
    lines = [message("status_line", id=words.ulid(receipt.id), status=words.state(receipt.status))]
    if receipt.received_at is not None:
        lines.append(message("received_line", time=words.time(receipt.received_at)))
    if receipt.times_reported is not None:
        lines.append(message("times_line", times=receipt.times_reported))
    if receipt.known_issue is not None:
        lines.append(known_already(receipt.known_issue))
    elif receipt.issue_url is not None:
        lines.append(issue(receipt.issue_url, receipt.issue_state))
    return lines + known.said(receipt.answer)


def known_already(known_issue: KnownIssue) -> str:
    """The issue that is there already."""
    return message(
        "known_outcome", url=words.link(known_issue.url), state=words.state(known_issue.state)
    )


def report(report_id: str) -> str:
    """A report by its ID."""
    return message("report_outcome", id=words.ulid(report_id))


def changed(now: Receipt, before: Receipt) -> List[str]:
    """What a receipt says that the one before did not say."""
    return [line for line in of_receipt(now) if line not in of_receipt(before)]


def issue(url: str, state: Optional[str] = None) -> str:
    """An issue by its number and repository, as far as its URL names them."""
    shown = "" if state is None else message("issue_state", state=words.state(state))
    match = ISSUE.fullmatch(url)
    if match is None:
        return message("plain_issue_outcome", state=shown, url=words.link(url))
    return message(
        "issue_outcome", number=match[2], repository=match[1], state=shown, url=words.link(url)
    )
