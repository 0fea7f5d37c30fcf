"""A report and a maintainer's template become the title and body of an issue.

The template is the maintainer's own text and stays as it is, but for what addresses others than it may
(`addressing`). What fills a placeholder was written by a stranger: it is made inert by itself (`safe_text`),
and for its place (`placement`).
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping
from difflib import get_close_matches
from functools import cache, lru_cache, partial
from typing import NamedTuple
from urllib.parse import urlsplit

from integrations.issue import addressing, plain_html, tables, template_limits
from integrations.issue.addressing import Audience
from integrations.issue.code_blocks import end_code, keep_code
from integrations.issue.gaps import narrowed
from integrations.issue.github_markdown import shows_code, taking_code, what_ends
from integrations.issue.placement import CONTAINER, Surroundings, place
from integrations.issue.safe_text import (
    ARMED,
    NESTED,
    clean,
    inert_with_tables,
    neutralize,
    safe_url,
    without_tables,
)
from integrations.issue.template_limits import LONG, PLACEHOLDER

TITLE_LIMIT = 256  # GitHub's
BODY_LIMIT = 65_000  # GitHub's is 65,536; the rest is for the Hub's footer and marker
RAW_LIMIT = 2 * BODY_LIMIT  # of one text as reported, including invisible characters
TITLE_PREFIX = "[docs] "
NO_SUMMARY = "A problem with a documentation page"
FIX_HEADING = "**Suggested fix:**\n\n"  # only where the report has one
DEFAULT_TEMPLATE = f"""\
{{summary}}

{{details}}

{{evidence}}

{FIX_HEADING}{{suggested_fix}}

- Page: {{doc_url}}
- Kind: {{report_kind}}
- Agent: {{agent_name}}
"""
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
_PARAGRAPH = re.compile(rf"(?:\A|(?<=\n\n)){CONTAINER}\{{([a-z_]+)\}}[ \t]*(?:\n\n|\n?\Z)")

_MARKUP = 3  # characters per byte in percent-encoding
_SHARES = (
    3  # how often a text that is too long is shortened, each time by a third of its first length
)


class _Link(str):
    """A URL as `safe_url` writes it."""


class _File(_Link):
    """That of a file of the issue's own repository: a link only where it surely ends where it ends."""


class _Template(NamedTuple):
    """The pieces between placeholders, and each placeholder with its place and whether it takes code."""

    pieces: list[str]
    names: list[str]
    places: list[Surroundings]
    takes_code: frozenset[int]  # numbers of places, starting at 1


def render_issue(
    template: str,
    fields: Mapping[str, str],
    *,
    code_host: str = "github.com",
    repository: str = "",
    mentions: Collection[str] = (),
) -> tuple[str, str]:
    """Title (one line, at most 256 characters) and body (at most 65,000 characters).

    `fields` maps names of PLACEHOLDERS to reported text; a missing one counts as empty. If the texts
    are too long, the longest are shortened, never the template. A blank template counts as the default;
    one beyond a limit is shortened by `template_limits.cut`. What follows the body stays visible, even
    after a template that leaves a code block open. URLs on `code_host`, where the issue will be, are
    not links, except for files of its own repository; `repository` is the URL of that. Of the template's
    own mentions only `mentions` are live (as `Audience` has them), and of references only those to its own
    repository.
    """
    prepared = partial(_prepared, code_host=code_host, repository=repository)
    values = {name: prepared(name, fields.get(name) or "") for name in PLACEHOLDERS}
    title = TITLE_PREFIX + inert_title(
        values["summary"] or NO_SUMMARY, limit=TITLE_LIMIT - len(TITLE_PREFIX)
    )
    template = _within_limits(template)
    if template == DEFAULT_TEMPLATE and not values["suggested_fix"]:
        template = template.replace(FIX_HEADING, "")
    name = urlsplit(repository).path.strip("/")
    return title, _body(template, values, Audience(frozenset(mentions), name, code_host))


def unknown_placeholder(template: str) -> tuple[str, str] | None:
    """The first placeholder of a template that does not exist, and the most similar known one."""
    for name in PLACEHOLDER.findall(template):
        if name not in PLACEHOLDERS:
            return name, get_close_matches(name, PLACEHOLDERS, n=1, cutoff=0)[0]
    return None


def parts(template: str) -> list[str]:
    """The template in parts: text, name of a placeholder, text, and so on."""
    return PLACEHOLDER.split(_within_limits(template))


def shown(name: str, text: str) -> str:
    """A reported text as it stands in an issue, before it is shortened and made inert."""
    text = clean(text[:RAW_LIMIT])
    return narrowed(text).strip() if name in LONG else " ".join(text.split())


def inert_title(text: str, *, limit: int = TITLE_LIMIT) -> str:
    """A line of text made inert, and cut so that it has at most `limit` characters then."""
    text, longest = _cut("summary", text, limit), limit
    title = neutralize(text)
    while len(title) > limit:
        longest = min(longest - 1, longest * limit // len(title))
        title = neutralize(_cut("summary", text, longest))
    return title


def _within_limits(template: str) -> str:
    template = template_limits.cut(template_limits.with_line_feeds(template))
    return template if template.strip() else DEFAULT_TEMPLATE


def _prepared(name: str, text: str, *, code_host: str, repository: str) -> str:
    if name in URLS and (url := safe_url(text, code_host=code_host, repository=repository)):
        return _File(url) if repository and url.startswith(f"{repository}/") else _Link(url)
    return shown(name, text)


def _cut(name: str, text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    text = text[: limit - 1].rstrip() + "…" if limit > 0 else ""
    return end_code(text) if name in LONG else text


def _body(template: str, values: Mapping[str, str], audience: Audience) -> str:
    """The body; a template that addresses others than it may is broken there.

    It is made inert if that is not enough, and if it has HTML that not every parser reads alike.
    """
    for kept in _kept(template, audience):
        body = _whole(kept, values)
        if _is_odd(template, body):
            break
        if not addressing.may_address(template) or not addressing.found_in(body, audience):
            return body
    return _whole(addressing.made_inert(template), values)


def _kept(template: str, audience: Audience) -> Iterator[str]:
    """The template as it is, and broken: made only where that is needed, since it costs as much as an issue."""
    yield template
    yield addressing.broken(template, audience)


def _is_odd(template: str, body: str) -> bool:
    """Whether there is odd HTML in a template, or in what a report makes of it: a list may take in a fence below."""
    return "<" in template and bool(plain_html.odd_in_template(template) or plain_html.odd_in(body))


def _whole(template: str, values: Mapping[str, str]) -> str:
    parsed = _parsed(
        _PARAGRAPH.sub(lambda found: found[0] if values.get(found[1], "x") else "", template)
    )
    limit = _limit(parsed, values)
    for share in range(_SHARES, -1, -1):
        longest = limit * share // _SHARES
        body = _ended(parsed, {name: _cut(name, values[name], longest) for name in values})
        if len(body) <= BODY_LIMIT:
            return body
    raise AssertionError("A template without reported text is within the limit.")


@lru_cache(maxsize=64)
def _parsed(template: str) -> _Template:
    pieces, names = PLACEHOLDER.split(template)[::2], PLACEHOLDER.findall(template)
    places = [
        place(template[: each.start()], template[each.end() :])
        for each in PLACEHOLDER.finditer(template)
    ]
    alone = {
        number: each.prefix
        for number, (name, each) in enumerate(zip(names, places, strict=True), 1)
        if name in LONG and each.is_alone
    }
    return _Template(pieces, names, places, taking_code(pieces, alone) if alone else frozenset())


def _limit(template: _Template, values: Mapping[str, str]) -> int:
    """How long a text may be so that all of them fit into the body; computed before any is rendered."""
    room = BODY_LIMIT - sum(map(len, template.pieces))
    lengths = range(max(map(len, values.values())) + 1)
    used = [
        (name, at)
        for name, at in zip(template.names, template.places, strict=True)
        if name in values
    ]

    def needed(length: int) -> int:
        cut = {name: _Size.of(text[:length]) for name, text in values.items()}
        return sum(cut[name].placed(at) for name, at in used)

    if needed(lengths[-1]) <= room:
        return lengths[-1]
    return max(0, bisect_right(lengths, room, key=needed) - 1)


class _Size(NamedTuple):
    """What determines how long a text is once it is inert and in its place."""

    characters: int
    bytes: int
    armed: int  # how many characters may need a zero-width space
    lines: int

    @classmethod
    def of(cls, text: str) -> "_Size":
        armed = sum(map(text.count, ARMED)) + sum(1 for _ in NESTED.finditer(text))
        return cls(len(text), len(text.encode()), armed, text.count("\n"))

    def placed(self, at: Surroundings) -> int:
        if at.in_address:
            return _MARKUP * self.bytes
        return self.characters + self.armed + self.lines * len(at.prefix)


def _ended(template: _Template, values: Mapping[str, str]) -> str:
    """The body, and the line that closes what it leaves open.

    Code blocks are kept if they are shown as such, and tables if they are small and complete.
    """
    prose = cache(inert_with_tables)  # once per text, however many places it has
    body, code = _filled(template, values, prose, with_code=True, with_tables=True)
    if not tables.can_be_shown(body):
        body, code = _filled(template, values, prose, with_code=True, with_tables=False)
    if len(body) > BODY_LIMIT:
        return body
    if code and not shows_code(body, code):
        body, _ = _filled(template, values, prose, with_code=False, with_tables=False)
    return body if len(body) > BODY_LIMIT else body + what_ends(body)


def _filled(
    template: _Template,
    values: Mapping[str, str],
    prose: Callable[[str], str],
    *,
    with_code: bool,
    with_tables: bool,
) -> tuple[str, list[str]]:
    """The template with each placeholder replaced, in one pass, and the code blocks that were put in."""
    plain, coded = cache(lambda each: without_tables(prose(each))), cache(keep_code)
    code: list[str] = []
    text = [template.pieces[0]]
    for number, (name, at) in enumerate(zip(template.names, template.places, strict=True), 1):
        value, safe = values.get(name), prose if with_tables and at.is_paragraph else plain
        if value is None:
            text.append(f"{{{name}}}")
        elif with_code and value and number in template.takes_code:
            written, blocks = coded(value, safe)
            code += blocks
            text.append(at.continued(written))
        elif value:
            text.append(value if _is_link(value, at) else at.placed(value, safe))
        text.append(template.pieces[number])
    return "".join(text).strip("\n"), code


def _is_link(value: str, at: Surroundings) -> bool:
    return isinstance(value, _Link) and not (isinstance(value, _File) and at.goes_on)
