"""Whether the person has agreed, and what they said before. A model cannot answer for them.

Up to protocol 2025-11-25 the server asks in the middle of the call. From 2026-07-28 it answers the
call with a question, and the client repeats the call with the person's answer.
"""

import os
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import anyio
from docfeedback import Draft
from mcp.server.session import ServerSession
from mcp_types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from . import canonical
from .kept import Kept
from .look_up import LookUp
from .question import Question

KEY = "consent"
MOST_CLOSED = 2  # forms for one page
MOST_DECLINED = 3  # pages of one site
MOST_DECLINED_IN_ALL = 9  # forms, whatever they are about
MOST_OPEN = 100  # calls that wait for a form
OPEN_SECONDS = 600  # then a client may have dropped the form, and nobody tells
FORGOTTEN_SECONDS = 3600  # until then it may still be there, and its answer counts


class Answer(Enum):
    """What the person answered."""

    YES = "yes"
    NO = "no"
    NONE = "none"  # the form was closed, or came back without the one field that counts


class Answered(NamedTuple):
    """What the person answered, and to which question. `since`: when, if it was for an earlier call."""

    question: Question | LookUp
    answer: Answer
    since: float | None = None


class _Open(NamedTuple):
    question: Question | LookUp
    page: str
    since: float

    def is_dropped(self) -> bool:
        return time.monotonic() - self.since >= OPEN_SECONDS


@dataclass
class History:
    """What this client's person was asked and has answered, while the process runs.

    `refused` and `closed` are by page; `looked_up` has the addresses that may be looked up. `asked`
    holds the open questions, by their state; `kept` each yes whose report could not be sent; who shows
    a form holds `turn`.
    """

    refused: set[str] = field(default_factory=set)
    closed: Counter[str] = field(default_factory=Counter)
    looked_up: set[str] = field(default_factory=set)
    asked: dict[str, _Open] = field(default_factory=dict)
    kept: Kept = field(default_factory=Kept)
    turn: anyio.Lock = field(default_factory=anyio.Lock)

    def ended(self, draft: Draft) -> Answer | None:
        """The answer after which the person is not asked about this page again, if any."""
        page = _page(draft)
        if page in self.refused:
            return Answer.NO
        return Answer.NONE if self.closed[page] >= MOST_CLOSED else None

    def is_over(self, draft: Draft) -> bool:
        """Whether the person has declined so many pages of this site that they are asked about no other."""
        return self._is_over(draft, [])

    def is_at_an_end(self) -> bool:
        """Whether the person has declined so many forms that they are asked about nothing more."""
        return self._is_at_an_end([])

    def is_asked(self, draft: Draft) -> bool:
        """Whether a question about this page is open."""
        page = _page(draft)
        return any(each.page == page and not each.is_dropped() for each in self.asked.values())

    def has_room(self, draft: Draft, *, at_once: bool) -> bool:
        """Whether one more question may be open; `at_once`: the person sees it beside the other ones.

        Until they count as dropped, those count as if they were declined, since they may be.
        """
        self._forget()
        if not at_once:
            return len(self.asked) < MOST_OPEN
        pages = [each.page for each in self.asked.values() if not each.is_dropped()]
        return not self._is_over(draft, pages) and not self._is_at_an_end(pages)

    def _is_over(self, draft: Draft, others: list[str]) -> bool:
        site = canonical.site(_page(draft))
        pages = self.refused | self.closed.keys() | set(others)
        return sum(canonical.site(page) == site for page in pages) >= MOST_DECLINED

    def _is_at_an_end(self, others: list[str]) -> bool:
        forms = len(self.refused) + self.closed.total() + len(others)
        return forms >= MOST_DECLINED_IN_ALL

    def _forget(self) -> None:
        oldest = time.monotonic() - FORGOTTEN_SECONDS
        self.asked = {state: each for state, each in self.asked.items() if each.since > oldest}

    def allows(self, look_up: LookUp) -> bool:
        """Whether the person has agreed to this look-up, for this or another page of the host."""
        return look_up.url in self.looked_up

    def open(self, question: Question | LookUp) -> str:
        """The state of a new question."""
        state = secrets.token_urlsafe(16)
        self.asked[state] = _Open(question, _page(question.draft), time.monotonic())
        return state

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Wait until no other form is open; one that keeps others waiting for too long counts as dropped."""
        turn = await self._taken()
        try:
            yield
        finally:
            turn.release()

    async def _taken(self) -> anyio.Lock:
        while True:
            turn = self.turn
            with anyio.move_on_after(OPEN_SECONDS):
                await turn.acquire()
                return turn
            if self.turn is turn:
                self.turn = anyio.Lock()

    def answered(self, draft: Draft, params: CallToolRequestParams) -> Answered | None:
        """The answer that came with a repeated call; None if this report was not asked about.

        A question is open for one answer, and for exactly the report that was shown. To any other, and to
        one that is not known, a refusal counts all the same, and whatever else came back as a closed form.
        """
        self._forget()
        asked = self.asked.pop(params.request_state or "", None)
        given = (params.input_responses or {}).get(KEY)
        if given is None and params.request_state is None:
            return None
        answer = _read(given) if isinstance(given, ElicitResult) else Answer.NONE
        if asked is not None and asked.question.draft.data == draft.data:
            return Answered(asked.question, answer)
        pages = {_page(draft), *([asked.page] if asked else [])}
        if answer is Answer.NO:
            self.refused |= pages
        else:
            self.closed.update(pages)
        return None

    def settle(self, answered: Answered) -> bool:
        """Whether to send, or to look up; a refusal holds for the page, in whatever order answers arrive."""
        page = _page(answered.question.draft)
        if answered.answer is Answer.NO:
            self.refused.add(page)
        if answered.answer is Answer.NONE:
            self.closed[page] += 1
        agreed = answered.answer is Answer.YES and page not in self.refused
        if agreed and isinstance(answered.question, LookUp):
            self.looked_up.add(answered.question.url)
        return agreed


def preapproved() -> bool:
    """Whether a person has agreed to everything in advance, in the environment of the server."""
    return os.environ.get("DOCFEEDBACK_CONSENT") == "preapproved"


def can_ask(session: ServerSession) -> bool:
    """Whether the client can show a form."""
    capabilities = session.client_capabilities
    if capabilities is None or capabilities.elicitation is None:
        return False
    modes = capabilities.elicitation
    return modes.form is not None or modes.url is None  # none named: from before there were any


def asks_by_answer(session: ServerSession) -> bool:
    """Whether the client's protocol lets the server answer a call with a question."""
    return session.protocol_version in MODERN_PROTOCOL_VERSIONS


def ask_by_answer(question: Question | LookUp, state: str) -> InputRequiredResult:
    """The question, as the answer to the call."""
    form = ElicitRequestFormParams(message=question.message(), requested_schema=question.form())
    return InputRequiredResult(
        input_requests={KEY: ElicitRequest(params=form)}, request_state=state
    )


async def ask(
    question: Question | LookUp, session: ServerSession, request_id: str | int | None
) -> Answer:
    """Ask in the middle of the call; raises MCPError if the client cannot."""
    return _read(await session.elicit_form(question.message(), question.form(), request_id))


def _read(result: ElicitResult) -> Answer:
    if result.action == "decline":
        return Answer.NO
    send = (result.content or {}).get("send") if result.action == "accept" else None
    if not isinstance(send, bool):
        return Answer.NONE
    return Answer.YES if send else Answer.NO


def _page(draft: Draft) -> str:
    return canonical.page(draft.body["doc_url"], draft.page)
