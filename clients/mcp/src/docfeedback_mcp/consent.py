"""Whether the person has agreed, and what they said before. A model has no way to say it for them.

Up to protocol 2025-11-25 the server asks in the middle of the call. From 2026-07-28 it answers the
call with a question, and the client repeats the call with the person's answer.
"""

import hashlib
import os
import secrets
from dataclasses import dataclass, field
from enum import Enum

from docfeedback import Draft
from mcp.server.session import ServerSession
from mcp_types import CallToolRequestParams, ElicitResult, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from . import canonical
from .question import FORM, Question

KEY = "consent"


class Answer(Enum):
    YES = "yes"
    NO = "no"
    NONE = "none"  # the form was closed, or came back without the one field that counts


@dataclass
class Session:
    """What this client's person was asked and has refused; as long as the process lives.

    `asked` holds the digest of the report for each question that is open, by its state.
    """

    refused: set[str] = field(default_factory=set)
    asked: dict[str, bytes] = field(default_factory=dict)

    def has_refused(self, draft: Draft) -> bool:
        """Whether the person said no to any report about this page."""
        return _page(draft) in self.refused

    def settle(self, draft: Draft, answer: Answer) -> bool:
        """Whether to send; a no holds for the page, in whatever order the answers come."""
        if answer is Answer.NO:
            self.refused.add(_page(draft))
        return answer is Answer.YES and not self.has_refused(draft)

    def ask_by_answer(self, question: Question) -> InputRequiredResult:
        """The question, as the answer to the call."""
        state = secrets.token_urlsafe(16)
        self.asked[state] = _digest(question.draft)
        return InputRequiredResult(input_requests={KEY: question.request()}, request_state=state)

    def answered(self, draft: Draft, params: CallToolRequestParams) -> Answer | None:
        """The answer that came with a repeated call; None where this report was not asked about.

        A question is open for one answer, and for the very report that was shown.
        """
        asked = self.asked.pop(params.request_state or "", None)
        given = (params.input_responses or {}).get(KEY)
        if asked != _digest(draft) or not isinstance(given, ElicitResult):
            return None
        return _read(given)


def preapproved() -> bool:
    """Whether a person has agreed to everything, in the environment of the server."""
    return os.environ.get("DOCFEEDBACK_CONSENT") == "preapproved"


def can_ask(session: ServerSession) -> bool:
    """Whether the client can show a form."""
    capabilities = session.client_capabilities
    if capabilities is None or capabilities.elicitation is None:
        return False
    modes = capabilities.elicitation
    return modes.form is not None or modes.url is None  # none named: from before there were any


def asks_by_answer(session: ServerSession) -> bool:
    """Whether the protocol has questions as answers to calls."""
    return session.protocol_version in MODERN_PROTOCOL_VERSIONS


async def ask(question: Question, session: ServerSession, request_id: str | int | None) -> Answer:
    """Ask in the middle of the call; MCPError where the client cannot after all."""
    return _read(await session.elicit_form(question.message(), FORM, request_id))


def _read(result: ElicitResult) -> Answer:
    if result.action == "decline":
        return Answer.NO
    send = (result.content or {}).get("send") if result.action == "accept" else None
    if not isinstance(send, bool):
        return Answer.NONE
    return Answer.YES if send else Answer.NO


def _page(draft: Draft) -> str:
    return canonical.page(draft.body["doc_url"], draft.page)


def _digest(draft: Draft) -> bytes:
    return hashlib.sha256(draft.data).digest()
