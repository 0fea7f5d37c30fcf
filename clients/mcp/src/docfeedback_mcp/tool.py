"""`file_doc_feedback`: from a model's arguments to a report at the Hub, past every guard."""

import os

from anyio import to_thread
from docfeedback import Client, DocFeedbackError, Draft, PolicyRejected, settings
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    Tool,
    ToolAnnotations,
)

from . import arguments, consent, outcome, question, schemas
from .consent import Answer, Session

DISABLED = "Reporting is switched off here by DOCFEEDBACK_DISABLED, so nothing was sent."
REFUSED = (
    "The person does not want to report this page, so nothing was sent, "
    "and they are not asked about it again."
)
CLOSED = "The person gave no answer, so nothing was sent."
NEEDS_APPROVAL = (
    "Nothing was sent, because this client cannot ask the person: show them the draft, "
    "so that they can send it themselves, with the command or the link."
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
        idempotent_hint=True,  # the Hub knows a repeat, and opens no second issue
        open_world_hint=True,
    ),
    input_schema=schemas.REPORT,
    output_schema=schemas.OUTCOME,
)


async def call(
    context: ServerRequestContext, params: CallToolRequestParams, session: Session
) -> CallToolResult | InputRequiredResult:
    """One call of the tool. What goes wrong is told in the result."""
    try:
        _refuse_where_disabled()
        client = Client(timeout=settings.timeout())
        draft = client.draft(arguments.report(params.arguments))  # judges address, then secrets
        answer = _known_answer(draft, params, session) or await _ask(draft, context, session)
        if not isinstance(answer, Answer):
            return answer
        if not session.settle(draft, answer):
            return outcome.of_no(CLOSED if answer is Answer.NONE else REFUSED).result()
        sent = await to_thread.run_sync(client.send, draft.body)
    except DocFeedbackError as error:
        return outcome.of_error(error).result()
    return outcome.of_sent(sent).result()


def _refuse_where_disabled() -> None:
    if os.environ.get("DOCFEEDBACK_DISABLED", "") not in ("", "0"):
        raise PolicyRejected("disabled", DISABLED)


def _known_answer(draft: Draft, params: CallToolRequestParams, session: Session) -> Answer | None:
    """The person's answer, where there is no need to ask."""
    if session.has_refused(draft):
        return Answer.NO
    if consent.preapproved():
        return Answer.YES
    return session.answered(draft, params)


async def _ask(
    draft: Draft, context: ServerRequestContext, session: Session
) -> Answer | CallToolResult | InputRequiredResult:
    """The person's answer, or what the call answers instead."""
    about = await to_thread.run_sync(lambda: question.about(draft, seconds=settings.timeout()))
    if not consent.can_ask(context.session):
        return _needs_approval(about)
    if consent.asks_by_answer(context.session):
        return session.ask_by_answer(about)
    try:
        return await consent.ask(about, context.session, context.request_id)
    except (MCPError, ValueError):  # it said that it can, and could not, or answered nonsense
        return _needs_approval(about)


def _needs_approval(about: question.Question) -> CallToolResult:
    return outcome.Outcome(
        status="needs_approval",
        message=NEEDS_APPROVAL,
        draft=about.draft.body,
        command=about.command(),
        link=about.link(),
    ).result()
