"""`file_doc_feedback`: from a model's arguments to a report at the Hub, with all safety checks."""

import logging
import os
import traceback
from dataclasses import dataclass
from pathlib import Path

from docfeedback import Client, DocFeedbackError, Draft, PolicyRejected, settings, threads
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    Tool,
    ToolAnnotations,
)

from . import agent, arguments, consent, kept, look_up, outcome, places, question, schemas
from .consent import Answer, Answered, History
from .look_up import LookUp
from .progress import Progress
from .question import Question

logger = logging.getLogger(__name__)

DISABLED = "Reporting is disabled by DOCFEEDBACK_DISABLED, so nothing was sent."
REFUSED = (
    "The person does not want to report this page, so nothing was sent, "
    "and they will not be asked about it again."
)
CLOSED = "The person gave no answer, so nothing was sent."
CLOSED_AGAIN = (
    "The person closed this question before, or answered it when it was no longer open, so nothing "
    "was sent, and they will not be asked about this page again."
)
OVER = (
    "The person has declined several questions about this host or repository, so nothing was "
    "sent, and they will not be asked about any page of it again. Do not try others. "
    f"{outcome.WRITE_IT}"
)
AT_AN_END = (
    "The person has declined so many questions that nothing was sent, and they will not be asked "
    f"about any page again while this server runs. Do not try others. {outcome.WRITE_IT}"
)
ASKED_ALREADY = "The person is being asked about this page already, so nothing was sent."
TOO_MANY = (
    "The person is being asked too many questions at once already, so nothing was sent. Call again "
    "once they have answered."
)

TOOL = Tool(
    name="file_doc_feedback",
    title="Report a documentation problem",
    description=(
        "Report a documentation page that is broken, incorrect, outdated, missing or unclear to "
        "its maintainers. Use it when a public page, or this repository's own documentation, "
        "misled you. Not for questions, private or internal pages; never include secrets, private "
        "code or transcripts. The person sees the whole report and decides whether it is sent."
    ),
    annotations=ToolAnnotations(
        read_only_hint=False,
        destructive_hint=False,
        idempotent_hint=False,  # a repeat asks the person again, and is counted at the Hub
        open_world_hint=True,
    ),
    input_schema=schemas.REPORT,
    output_schema=schemas.OUTCOME,
)


async def call(
    context: ServerRequestContext, params: CallToolRequestParams, history: History
) -> CallToolResult | InputRequiredResult:
    """Handle one call of the tool. Errors are returned in the result."""
    progress = Progress(context.session)
    return await progress.during(_Call(context, params, history, progress).result)


@dataclass(frozen=True)
class _Call:
    context: ServerRequestContext
    params: CallToolRequestParams
    history: History
    progress: Progress

    async def result(self) -> CallToolResult | InputRequiredResult:
        try:
            return await self._file()
        except DocFeedbackError as error:
            return outcome.of_error(error).result()
        except Exception as error:
            log(error)
            return outcome.of_failure().result()

    async def _file(self) -> CallToolResult | InputRequiredResult:
        """When the client cancels the call, nothing is sent from then on, to the page's host either."""
        refuse_where_disabled()
        client = Client(timeout=settings.timeout())
        try:
            return await self._file_by(client)
        finally:
            client.stop()

    async def _file_by(self, client: Client) -> CallToolResult | InputRequiredResult:
        session = self.context.session
        body = arguments.report(self.params.arguments, agent.name(session))
        body, note = await places.addressed(body, session)
        draft = client.draft(body)  # judges address, then secrets
        answered = self.history.answered(draft, self.params) or await self._ask(client, draft, note)
        while isinstance(answered, Answered):
            if not self.history.settle(answered):
                return outcome.of_no(CLOSED if answered.answer is Answer.NONE else REFUSED).result()
            if isinstance(answered.question, Question):
                return await self._send(client, answered.question, answered.since)
            answered = await self._ask_to_send(client, draft, note)
        return answered

    async def _ask(
        self, client: Client, draft: Draft, note: str
    ) -> Answered | CallToolResult | InputRequiredResult:
        """The person's answer, or what the call answers instead."""
        ended = self._ended(draft)
        if ended is not None:
            return outcome.of_no(ended).result()
        needed = look_up.needed(draft, note)
        if needed is None or consent.preapproved() or self.history.allows(needed):
            return await self._ask_to_send(client, draft, note)
        return await self._ask_person(needed)

    async def _ask_to_send(
        self, client: Client, draft: Draft, note: str
    ) -> Answered | CallToolResult | InputRequiredResult:
        """The same, once the page's host may be looked up where that is needed."""
        before = self.history.kept.take(draft)
        if draft.hub_url is None:
            await self.progress.say("Looking up whether the page's host takes reports.")
        asked = await threads.run(question.prepare, client, draft, note)
        if before is not None and before.is_for(asked):
            return Answered(asked, Answer.YES, before.since)
        if consent.preapproved():
            return Answered(asked, Answer.YES)
        return await self._ask_person(asked)

    async def _ask_person(
        self, asked: Question | LookUp
    ) -> Answered | CallToolResult | InputRequiredResult:
        session, history = self.context.session, self.history
        if not consent.can_ask(session):
            return outcome.of_question(asked)
        over = self._over(asked.draft)
        if over is not None:
            return outcome.of_no(over).result()
        if history.is_asked(asked.draft):
            return outcome.of_no(ASKED_ALREADY).result()
        by_answer = consent.asks_by_answer(session)
        if not history.has_room(asked.draft, at_once=by_answer):
            return outcome.of_no(TOO_MANY).result()
        state = history.open(asked)
        if by_answer:
            return consent.ask_by_answer(asked, state)
        try:
            async with history.alone():
                ended = self._ended(asked.draft) or self._over(asked.draft)
                if ended is not None:  # by an answer to another question meanwhile
                    return outcome.of_no(ended).result()
                await self.progress.say("Waiting for the person's answer.")
                return Answered(asked, await consent.ask(asked, session, self.context.request_id))
        except (MCPError, ValueError):  # it said that it can, and could not, or answered nonsense
            return outcome.of_question(asked)
        finally:
            history.asked.pop(state, None)

    def _ended(self, draft: Draft) -> str | None:
        """Why the person is not asked about this page again, if they are not."""
        ended = self.history.ended(draft)
        if ended is None:
            return None
        return REFUSED if ended is Answer.NO else CLOSED_AGAIN

    def _over(self, draft: Draft) -> str | None:
        """Why the person is not asked about other pages either, if they are not."""
        if self.history.is_at_an_end():
            return AT_AN_END
        return OVER if self.history.is_over(draft) else None

    async def _send(self, client: Client, asked: Question, since: float | None) -> CallToolResult:
        await self.progress.say("Sending the report.")
        try:
            sent = await threads.run(client.deliver, asked.draft, asked.request)
        except DocFeedbackError as error:
            if not kept.can_be_tried_again(error):
                raise
            self.history.kept.keep(asked, since)
            return outcome.of_delay(error, asked)
        return outcome.of_sent(sent, asked).result()


def refuse_where_disabled() -> None:
    """Raise PolicyRejected if nothing may leave this computer."""
    if os.environ.get("DOCFEEDBACK_DISABLED", "") not in ("", "0"):
        raise PolicyRejected("disabled", DISABLED)


def log(error: Exception) -> None:
    """Log where it failed, without the message, which may quote the report."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    name, file = type(error).__name__, Path(place.filename).name
    logger.error("The tool failed: %s in %s, line %s.", name, file, place.lineno)
