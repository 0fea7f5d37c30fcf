"""Previews of issues, made by the same function as the issues."""

from collections.abc import Sequence
from typing import NamedTuple

from hub.screen import rendered
from integrations.delivery.forwarding import marker, render
from integrations.issue.rendering import DEFAULT_TEMPLATE, parts
from integrations.models import Integration
from orgs.models import Organization
from reports.models import Report

ORDINARY = {
    "kind": Report.Kind.OUTDATED,
    "summary": "The install command names a package that is gone",
    "details": "Step 2 says:\n\n```sh\nnpm install acme-cli\n```\n\nThe package is called `@acme/cli`.",
    "suggested_fix": "Write `npm install @acme/cli`.",
    "evidence": [{"kind": "error_message", "text": "404 Not Found: acme-cli"}],
}
HOSTILE = {
    "kind": Report.Kind.OTHER,
    "summary": "@everyone look at #1 <img src=x onerror=alert(1)>",
    "details": "/close\nFixes #1, GH-2 and a1b2c3d4e5\n[Free tokens](https://evil.example) @admin\n"
    "<!-- hidden --> ![pixel](https://evil.example/p.png)\n```",
    "suggested_fix": "Visit www.evil.example and mail me@evil.example",
    "evidence": [],
}
PLACEHOLDERS = {  # what they become, in their order as buttons
    "summary": "what is wrong, in one line",
    "details": "more about it, in any number of lines",
    "suggested_fix": "what the page should say",
    "evidence": "commands, errors and quotes, each with its label",
    "doc_url": "the page, as a link",
    "report_kind": "broken, incorrect, outdated, missing, unclear or other",
    "agent_name": "who reported it, as they call themselves",
    "report_id": "the id of the report",
    "receipt_url": "the public receipt of the report",
}
NEEDED = {
    "doc_url": "an issue would not say which page it is about.",
    "details": "an issue would leave out what the reporter wrote about it.",
}


class Preview(NamedTuple):
    """An issue as it would be opened now; `gets`: its labels, assignees and type."""

    name: str
    kind: str
    issue: rendered.Issue
    gets: Sequence[str] = ()


def previews(template: str, organization: Organization) -> list[Preview]:
    """An ordinary report, a hostile one, and the organization's latest one, if any."""
    page, agent = "https://docs.example.com/install", "docs-agent"
    shown = [
        ("Ordinary", Report(doc_url=page, agent_name=agent, **ORDINARY)),
        ("Hostile", Report(doc_url=page, agent_name="@admin", **HOSTILE)),
    ]
    if latest := Report.objects.newest_first(organization).filter(erased_at=None).first():
        shown.append(("Your latest", latest))
    mine = Integration.objects.configured().of(organization).first()
    return [Preview(name, report.kind, _issue(report, template, mine)) for name, report in shown]


def left_out(template: str) -> list[str]:
    """What every issue would lack with this template, a sentence each."""
    names = parts(template or DEFAULT_TEMPLATE)[1::2]
    return [
        f"Your template has no {{{name}}}: {lack}"
        for name, lack in NEEDED.items()
        if name not in names
    ]


def _issue(report: Report, template: str, mine: Integration | None) -> rendered.Issue:
    there, mentions = (mine.repository, mine.mentions) if mine else ("", [])
    title, body = render(report, template, repository=there, mentions=mentions)
    return rendered.issue(title, body.removesuffix(marker(report.id)).rstrip())
