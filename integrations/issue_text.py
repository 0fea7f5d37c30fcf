"""A report and a maintainer's template become the title and body of an issue.

The template is the maintainer's own text and stays as it is. What comes through a placeholder is a
stranger's: it is made inert by itself (`safe_text`), and for the place where it stands (`seams`).
"""

import re
from collections.abc import Mapping
from difflib import get_close_matches

from integrations.code_blocks import end_code, keep_code
from integrations.github_markdown import shows_code, what_ends
from integrations.safe_text import clean, neutralize, safe_url
from integrations.seams import CONTAINER, continued, placed, takes_code

TITLE_LIMIT = 256  # GitHub's
BODY_LIMIT = 65_000  # GitHub's is 65,536; what is left is for the Hub's footer and marker
TEMPLATE_LIMIT, PLACEHOLDER_LIMIT = 20_000, 50  # what takes longer to fill is a mistake
TITLE_PREFIX = "[docs] "
NO_SUMMARY = "A problem with a documentation page"
DEFAULT_TEMPLATE = """\
{summary}

{details}

- Page: {doc_url}
- Kind: {report_kind}
- Agent: {agent_name}
"""
LONG = {"details", "suggested_fix", "evidence"}  # text of many lines; all others are one line
URLS = {"doc_url", "receipt_url"}
PLACEHOLDERS = (
    "summary",
    "details",
    "doc_url",
    "agent_name",
    "report_kind",
    "suggested_fix",
    "evidence",
    "report_id",
    "receipt_url",
)
_PLACEHOLDER = re.compile(r"(?<!\{)\{([a-z_]+)\}(?!\})")
_PARAGRAPH = re.compile(rf"(?:\A|(?<=\n\n)){CONTAINER}\{{([a-z_]+)\}}[ \t]*(?:\n\n|\n?\Z)")


class _Link(str):
    """An address as `safe_url` spells it."""


def render_issue(
    template: str, fields: Mapping[str, str], *, code_host: str = "github.com"
) -> tuple[str, str]:
    """Title (one line, at most 256 characters) and body (at most 65,000 characters).

    `fields` maps names of PLACEHOLDERS to text as it was reported; a missing one counts as empty.
    Where they are too long the longest are shortened, never the template. A template that is blank
    or beyond a limit counts as the default. What follows the body will be seen, even after a
    template that leaves a code block open. Addresses on `code_host`, where the issue will be, are
    no links.
    """
    template = (template if _usable(template) else DEFAULT_TEMPLATE).replace("\r\n", "\n")
    values = {name: _prepared(name, fields.get(name) or "", code_host) for name in PLACEHOLDERS}
    body, longest = _body(template, values), max(map(len, values.values()))
    while len(body) > BODY_LIMIT:
        longest = longest * BODY_LIMIT // len(body) * 9 // 10
        body = _body(template, {name: _cut(name, values[name], longest) for name in values})
    return _title(values["summary"] or NO_SUMMARY), body


def unknown_placeholder(template: str) -> tuple[str, str] | None:
    """The first placeholder of a template that does not exist, and the known one nearest to it."""
    for name in _PLACEHOLDER.findall(template):
        if name not in PLACEHOLDERS:
            return name, get_close_matches(name, PLACEHOLDERS, n=1, cutoff=0)[0]
    return None


def parts(template: str) -> list[str]:
    """The own text of the template that `render_issue` fills, and names of placeholders, in turn."""
    return _PLACEHOLDER.split(template if _usable(template) else DEFAULT_TEMPLATE)


def is_within_limits(template: str) -> bool:
    return (
        len(template) <= TEMPLATE_LIMIT and len(_PLACEHOLDER.findall(template)) <= PLACEHOLDER_LIMIT
    )


def _usable(template: str) -> bool:
    return is_within_limits(template) and template.strip() != ""


def _prepared(name: str, text: str, code_host: str) -> str:
    if name in URLS and (url := safe_url(text, code_host=code_host)):
        return _Link(url)
    text = clean(text)
    return text.strip() if name in LONG else " ".join(text.split())


def _title(summary: str) -> str:
    limit = TITLE_LIMIT - len(TITLE_PREFIX)
    title, longest = neutralize(summary), len(summary)
    while len(title) > limit:
        longest = min(longest - 1, longest * limit // len(title))
        title = neutralize(_cut("summary", summary, longest))
    return TITLE_PREFIX + title


def _cut(name: str, text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    text = text[: limit - 1].rstrip() + "…" if limit > 0 else ""
    return end_code(text) if name in LONG else text


def _body(template: str, values: Mapping[str, str]) -> str:
    body, code = _filled(template, values, with_code=True)
    if code and not shows_code(body, code):
        body, _ = _filled(template, values, with_code=False)
    return body + what_ends(body)


def _filled(template: str, values: Mapping[str, str], *, with_code: bool) -> tuple[str, list[str]]:
    """The template with each placeholder replaced, in one pass, and the code blocks put in."""
    code: list[str] = []

    def kept(paragraph: re.Match[str]) -> str:
        return "" if values.get(paragraph[1]) == "" else paragraph[0]

    def value(placeholder: re.Match[str]) -> str:
        name, text = placeholder[1], values.get(placeholder[1])
        if not text:
            return placeholder[0] if text is None else ""
        if isinstance(text, _Link):
            return text
        before, after = template[: placeholder.start()], template[placeholder.end() :]
        if with_code and name in LONG and takes_code(before, after):
            text, blocks = keep_code(text)
            code.extend(blocks)
            return continued(text, before)
        return placed(text, before, after)

    template = _PARAGRAPH.sub(kept, template)
    return _PLACEHOLDER.sub(value, template).strip("\n"), code
