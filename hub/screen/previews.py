"""Previews of issues, made by the same function as the issues."""

import re
from typing import NamedTuple

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from integrations.delivery.forwarding import marker, render
from integrations.issue.safe_text import ZWSP
from orgs.models import Organization
from reports.models import Report

_ZWSP = re.compile(f"({ZWSP})")

NORMAL = {
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


class Preview(NamedTuple):
    """An issue with its title and body, marked at the `changes` places where text was made harmless."""

    name: str
    title: SafeString
    body: SafeString
    changes: int


def previews(template: str, organization: Organization) -> list[Preview]:
    """A normal report, a hostile one, and the organization's latest one, if any."""
    page, agent = "https://docs.example.com/install", "docs-agent"
    shown = [
        ("A normal report", Report(doc_url=page, agent_name=agent, **NORMAL)),
        ("A hostile report, made safe", Report(doc_url=page, agent_name="@admin", **HOSTILE)),
    ]
    if latest := Report.objects.newest_first(organization).filter(erased_at=None).first():
        shown.append(("Your latest report", latest))
    return [_preview(name, report, template) for name, report in shown]


def _preview(name: str, report: Report, template: str) -> Preview:
    title, body = render(report, template)
    body = body.removesuffix(marker(report.id)).rstrip()
    return Preview(name, _marked(title), _marked(body), (title + body).count(ZWSP))


def _marked(text: str) -> SafeString:
    """HTML with a dot wherever a zero-width space keeps text from being live."""
    parts = _ZWSP.split(text)
    return format_html_join("", "{}", ((MARK if part == ZWSP else part,) for part in parts if part))


MARK = SafeString('<mark title="made harmless here">·</mark>')
