"""The tool's result: the same fields whatever happened, and one sentence for the person."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from docfeedback import (
    DocFeedbackError,
    OptedOut,
    PolicyRejected,
    PrivateAddress,
    RateLimited,
    SentReport,
)
from mcp_types import CallToolResult, TextContent

LONGEST_SENTENCE = 500


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """`schemas.OUTCOME` says what each field means."""

    status: str
    message: str
    report_id: str | None = None
    receipt_url: str | None = None
    notices: list[dict[str, str]] = field(default_factory=list)
    error: str | None = None
    details: list[dict[str, Any]] = field(default_factory=list)
    retry_after: int | None = None
    draft: Mapping[str, Any] | None = None
    command: str | None = None
    link: str | None = None

    def result(self) -> CallToolResult:
        """The sentence and all fields as text, for clients that know no structured content."""
        fields = asdict(self)
        texts = (self.message, json.dumps(fields, ensure_ascii=False))
        return CallToolResult(
            content=[TextContent(type="text", text=text) for text in texts],
            structured_content=fields,
            is_error=self.error is not None,
        )


def of_sent(sent: SentReport) -> Outcome:
    """What the Hub answered."""
    message = "The report was sent."
    if sent.is_duplicate:
        message = "This problem was reported before; the Hub counted it once more."
    if sent.notices:
        message = f"{message[:-1]}, without what looked like a secret."
    return Outcome(
        status="duplicate" if sent.is_duplicate else "sent",
        message=message,
        report_id=sent.id,
        receipt_url=sent.receipt_url,
        notices=sent.notices,
    )


def of_error(error: DocFeedbackError) -> Outcome:
    """What stopped the report, here or at the Hub."""
    return Outcome(
        status="refused" if _is_refusal(error) else "not_sent",
        message=_one_line(str(error)),
        error=error.code,
        details=error.details,
        retry_after=error.retry_after if isinstance(error, RateLimited) else None,
    )


def of_no(sentence: str) -> Outcome:
    """Nothing was sent because nobody said yes; that is no error."""
    return Outcome(status="not_sent", message=sentence)


def _is_refusal(error: DocFeedbackError) -> bool:
    guards = (OptedOut, PolicyRejected, PrivateAddress)
    return isinstance(error, guards) or error.code == "invalid_doc_url"


def _one_line(text: str) -> str:
    """A Hub writes its own sentences, and the model reads them: no room for more than one."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_SENTENCE else f"{line[:LONGEST_SENTENCE]}…"
