"""What became of a report, in words."""

from __future__ import annotations

import re
from typing import Optional

from .client import SentReport
from .contract import message

ISSUE = re.compile(
    r"https?://[^/]+/([A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100})/issues/([1-9][0-9]{0,9})/?"
)


def of(sent: SentReport) -> str:
    """What the Hub says of a report that was just sent; its ID where an older Hub says nothing."""
    if sent.issue_url is not None:
        return issue(sent.issue_url)
    if sent.status == "forwarded":
        return message("forwarded_outcome")
    if sent.status == "forwarding":
        return message("forwarding_outcome")
    if sent.claimed is False:
        return message("unclaimed_outcome")
    if sent.claimed and sent.status == "received":
        return message("claimed_outcome")
    return message("report_outcome", id=sent.id)


def issue(url: str, state: Optional[str] = None) -> str:
    """An issue by its number and repository, as far as its URL names them."""
    shown = "" if state is None else message("issue_state", state=state)
    match = ISSUE.fullmatch(url)
    if match is None:
        return message("plain_issue_outcome", state=shown, url=url)
    return message("issue_outcome", number=match[2], repository=match[1], state=shown, url=url)
