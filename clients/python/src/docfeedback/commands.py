"""The commands: each takes parsed arguments and returns what to print."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any, Callable, Dict, List, Optional, Tuple, cast

from . import (
    checkout,
    config,
    files,
    init,
    known,
    login,
    outcome,
    questions,
    reports,
    settings,
    terminal,
    watch,
    words,
)
from .answers import SentReport
from .arguments import Arguments, check_command, usage_error
from .client import Client
from .contract import message, text
from .report import Kind, Report
from .result import Result
from .visible import json_lines

SHELLS = ("bash", "zsh", "fish")
REQUIRED = ("--doc-url", "--summary", "--agent", "--kind")
OPTIONAL = ("--details", "--suggested-fix")
WHOLE: Dict[str, Callable[[str], Any]] = {
    "--file": files.read_json,
    "--base64": files.read_base64,
}


def report(arguments: Arguments) -> Result:
    """Send a report, or show it (`--dry-run`)."""
    asked = questions.completed(arguments)
    body, notes = _body(asked or arguments)
    body = _addressed(body, arguments)
    client = _client(asked or arguments)
    key = arguments.get("--idempotency-key")
    if "--dry-run" in arguments.flags:
        return _dry_run(client, body, key, notes)
    if asked is not None or questions.is_unread(arguments):
        questions.confirm(client.draft(body, key))
    return _sent(client.send(body, key), client, body["doc_url"], notes)


def status(arguments: Arguments) -> Result:
    """Show what became of a report, once or (`--watch`) until it is no longer being delivered."""
    client = _client(arguments)
    if "--watch" in arguments.flags:
        return watch.follow(client, arguments.argument, as_json="--json" in arguments.flags)
    receipt = client.receipt(arguments.argument)
    return Result(outcome.of_receipt(receipt), asdict(receipt))


def known_problems(arguments: Arguments) -> Result:
    """Show the open problems of a page that are known, if its owner shows them."""
    asked = _addressed({"doc_url": arguments.argument}, arguments)
    page = _client(arguments).known(asked["doc_url"])
    return Result(known.lines(page, asked["doc_url"]), page)


def me(arguments: Arguments) -> Result:
    """Show where and as whom you are signed in, and what is set up."""
    client = _client(arguments)
    hub_url = settings.required_hub_url(client.hub_url)
    organization, used = login.organization(client)
    lines = [
        message("hub_line", url=hub_url),
        *_person(organization["caller"]),
        used.line(),
        message(
            "organization_line",
            name=words.name(organization["name"] or "-"),
            id=words.ulid(organization["id"]),
        ),
        *_integration(organization["integration"]),
    ]
    for domain in words.first(organization["domains"]):
        lines.append(
            message(
                "domain_line",
                name=words.name(domain["domain"]),
                status=words.state(domain["status"]),
            )
        )
        if record := domain["dns_record"]:
            lines.append(
                message(
                    "record_line",
                    name=words.name(record["name"]),
                    value=words.name(record["value"]),
                )
            )
    lines += words.more(organization["domains"])
    for site in words.first(organization["sites"]):
        lines.append(
            message("site_line", name=words.site(site["url"]), status=words.state(site["status"]))
        )
    lines += words.more(organization["sites"])
    return Result(lines, {**organization, "hub_url": hub_url, **used.data()})


def completion(arguments: Arguments) -> Result:
    """Print the completion script for a shell."""
    if arguments.argument not in SHELLS:
        raise usage_error("unknown_shell", name=arguments.argument)
    script = text(f"completion/docfeedback.{arguments.argument}")
    return Result(script.splitlines(), {"script": script})


def help_page(arguments: Arguments) -> Result:
    """Show the help of a command, or of all."""
    if arguments.argument:
        check_command(arguments.argument)
    page = text(f"help/{arguments.argument or 'docfeedback'}.txt")
    return Result(page.splitlines(), {"help": page})


COMMANDS: Dict[str, Callable[[Arguments], Result]] = {
    "report": report,
    "status": status,
    "known": known_problems,
    "reports": reports.run,
    "login": login.login,
    "logout": login.logout,
    "me": me,
    "init": init.run,
    "config": config.run,
    "completion": completion,
    "help": help_page,
}


def _client(arguments: Arguments) -> Client:
    return Client(
        arguments.get("--hub-url"),
        timeout=settings.timeout(),
        allow_private="--allow-private" in arguments.flags,
    )


def _body(arguments: Arguments) -> Tuple[Dict[str, Any], List[str]]:
    """The report as JSON, from the file or from the flags, and notes about it."""
    given = [flag for flag in (*REQUIRED, *OPTIONAL) if flag in arguments.flags]
    whole = [flag for flag in WHOLE if flag in arguments.flags]
    if not whole:
        return _from_flags(arguments, given), []
    if others := [*whole[1:], *given]:
        raise usage_error("file_and_flags", flag=whole[0], names=", ".join(others))
    read = WHOLE[whole[0]]
    return _without_transcript(read(arguments.flags[whole[0]]))


def _from_flags(arguments: Arguments, given: List[str]) -> Dict[str, Any]:
    missing = [flag for flag in REQUIRED if flag not in given]
    if missing:
        raise usage_error("missing_flags", names=", ".join(missing))
    details = arguments.get("--details")
    return Report(
        arguments.flags["--doc-url"],
        arguments.flags["--summary"],
        cast(Kind, arguments.flags["--kind"]),  # what is sent is checked
        arguments.flags["--agent"],
        details=files.read_text("-") if details == "-" else details,
        suggested_fix=arguments.get("--suggested-fix"),
    ).body()


def _addressed(body: Any, arguments: Arguments) -> Any:
    """The report with the address of its file, which is shown before anything is sent."""
    path = body.get("doc_url") if isinstance(body, dict) else None
    if not isinstance(path, str):
        return body
    located = checkout.locate(path, allow_private="--allow-private" in arguments.flags)
    if located.note is not None:
        terminal.write(sys.stderr, [message("note", text=located.note)])
    return {**body, "doc_url": located.url or located.path}


def _without_transcript(body: Any) -> Tuple[Any, List[str]]:
    """Transcripts are never sent, whatever a file holds."""
    context = body.get("task_context") if isinstance(body, dict) else None
    if not isinstance(context, dict) or "transcript_excerpt" not in context:
        return body, []
    kept = {name: value for name, value in body.items() if name != "task_context"}
    rest = {name: value for name, value in context.items() if name != "transcript_excerpt"}
    return {**kept, **({"task_context": rest} if rest else {})}, [message("transcript_dropped")]


def _dry_run(client: Client, body: Any, key: Optional[str], notes: List[str]) -> Result:
    draft = client.draft(body, key)
    data = {"dry_run": True, "hub_url": draft.hub_url, "report": draft.body}
    outcome = message("dry_run_to", url=draft.hub_url) if draft.hub_url else message("dry_run")
    return Result(json_lines(draft.body), data, [*notes, outcome])


def _sent(sent: SentReport, client: Client, doc_url: str, notes: List[str]) -> Result:
    became = outcome.of(sent, doc_url)
    lines = [message("duplicate" if sent.is_duplicate else "sent", outcome=became)]
    where = outcome.report(sent.id)
    if sent.receipt_url:
        where = words.link(sent.receipt_url, settings.hub_url(client.hub_url))
    lines += known.said(sent.answer)
    if where != became:
        lines.append(where)
    removed = [
        message("removed", field=words.name(notice["field"]), kind=words.quote(notice["kind"]))
        for notice in words.first(sent.notices)
    ]
    return Result(lines, asdict(sent), [*notes, *removed, *words.more(sent.notices)])


def _person(caller: Optional[Dict[str, Any]]) -> List[str]:
    """Who the Hub says it is; an older Hub says nothing."""
    return [] if caller is None else [message("user_line", name=words.name(caller["login"]))]


def _integration(integration: Optional[Dict[str, Any]]) -> List[str]:
    if integration is None:
        return [message("no_integration_line")]
    owner, name = integration["repo_owner"], integration["repo_name"]
    lines = [
        message(
            "integration_line",
            provider=words.name(integration["provider"]),
            status=words.state(integration["status"]),
            repository=words.name(f"{owner}/{name}") if owner and name else "no repository",
        )
    ]
    if problem := integration["problem"]:
        lines.append(message("problem_line", problem=words.quote(problem)))
    return lines
