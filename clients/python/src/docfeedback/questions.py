"""What `report` asks the person at a terminal: what is missing, and whether to send."""

from __future__ import annotations

import sys
from typing import Optional

from . import address, settings, terminal
from .arguments import Arguments, usage_error
from .client import Draft
from .contract import message
from .errors import DocFeedbackError, ValidationError
from .report import KINDS
from .visible import json_lines

QUESTIONS = {
    "--doc-url": "ask_doc_url",
    "--kind": "ask_kind",
    "--summary": "ask_summary",
    "--agent": "ask_agent",
    "--hub-url": "ask_which_hub",
}
REQUIRED = [flag for flag in QUESTIONS if flag != "--hub-url"]
TRIES = 3
YES = ("y", "yes")


def completed(arguments: Arguments) -> Optional[Arguments]:
    """The arguments with what was missing, the Hub too; None if no required flag is, or nobody can be asked."""
    missing = [flag for flag in REQUIRED if flag not in arguments.flags]
    is_given = bool({"--file", "--base64"} & arguments.flags.keys())
    if not missing or is_given or arguments.get("--details") == "-":
        return None
    if "--json" in arguments.flags or not terminal.is_attended():
        return None
    if "--dry-run" not in arguments.flags and not settings.hub_url(arguments.get("--hub-url")):
        missing.append("--hub-url")
    answers = {flag: _answer(flag, arguments) for flag in missing}
    return arguments._replace(flags={**arguments.flags, **answers})


def is_unread(arguments: Arguments) -> bool:
    """Whether the person at this terminal could not read the report in their own command."""
    is_for_programs = "--json" in arguments.flags
    return "--base64" in arguments.flags and not is_for_programs and terminal.is_attended()


def confirm(draft: Draft) -> None:
    """Show the whole report, and ask whether to send it. Raises ValidationError if not."""
    question = _to_send(draft)
    terminal.write(sys.stderr, json_lines(draft.body))
    if note := address.host_note(draft.page):
        terminal.write(sys.stderr, [message("note", text=note)])
    terminal.forget_typed()
    if (terminal.ask(question) or "").lower() not in YES:
        raise ValidationError.of("not_confirmed")


def _to_send(draft: Draft) -> str:
    """Whether to send it, and where. Raises ValidationError if neither the user nor a page can name the Hub."""
    if draft.hub_url is not None:
        return message("ask_to_send_to", url=draft.hub_url)
    host = draft.page and address.ascii_host(draft.page.host)  # other letters may look like these
    if not host:
        raise settings.no_hub_url()
    return message("ask_to_send", host=host)


def _answer(flag: str, arguments: Arguments) -> str:
    for _ in range(TRIES):
        answer = terminal.ask(message(QUESTIONS[flag]))
        if answer is None:
            break
        fault = _fault(flag, answer, arguments)
        if fault is None:
            return answer
        terminal.write(sys.stderr, [message("error", text=fault)])
    raise usage_error("missing_flags", names=flag) if flag in REQUIRED else settings.no_hub_url()


def _fault(flag: str, answer: str, arguments: Arguments) -> Optional[str]:
    """What is wrong with an answer, in words; None if nothing is."""
    if flag == "--hub-url":
        known = not answer or settings.is_hub_url(answer)
        return None if known else message("invalid_hub_url", url=settings.without_user_info(answer))
    if not answer:
        return message("field_required")
    if flag == "--kind" and answer not in KINDS:
        return message("unknown_kind", name=answer)
    if flag == "--doc-url":
        try:
            address.check(answer, "--allow-private" in arguments.flags)
        except DocFeedbackError as error:
            return str(error)
    return None
