"""Whom a maintainer's template addresses on GitHub: accounts, teams, and people of other repositories.

The Hub's app writes the issue, so anybody could have it notify whomever they like. Only mentions that
were allowed when the template was saved stay live (`integrations/setup/mentions.py`).
"""

import re
from collections.abc import Iterable, Iterator
from html import unescape
from itertools import accumulate, takewhile
from typing import NamedTuple

from integrations.issue.github_markdown import HTML_BETWEEN, between, read
from integrations.issue.plain_html import FOOTER, MARKUP
from integrations.issue.safe_text import ZWSP, clean, inert
from integrations.issue.template_limits import PLACEHOLDER, cut, with_line_feeds

_FLAGS = re.ASCII | re.IGNORECASE
_NAME = r"[a-z0-9][a-z0-9_-]*+(?:/[a-z0-9][a-z0-9_-]*+)?+"
_MENTION = re.compile(  # with HTML_BETWEEN anywhere in it
    r"(?<![a-z0-9_])@\0*+([a-z0-9][a-z0-9_\0-]*+(?:/\0*+[a-z0-9][a-z0-9_\0-]*+)?+)", _FLAGS
)
_REFERENCE = (
    re.compile(  # each word, and what of a reference follows it: one may end where the next begins
        r"([\w./\0-]++)((?:#\0*+\d{1,20}+|@(?:\0*+[0-9a-f]){7,40}?)(?![a-z0-9_]))?", _FLAGS
    )
)
_LONGEST = 200  # characters of a name, of an account or team or as `owner/name`
_PLACE = (
    r"(?P<host>[^\s/?#<>\"']++)/++(?P<owner>[^\s/?#]++)/++(?P<name>[^\s/?#]++)/++"
    r"(?:(?:issues|pull|discussions)/++(?=\d)|commit/++(?=[0-9a-f]))"
)
_IN_TEXT = re.compile(rf":/{{2,}}+{_PLACE}\w++", _FLAGS)  # a report's has a ZWSP behind the colon
_IN_ADDRESS = re.compile(rf"(?:\A|[:=\"']\s*+)/{{2,}}+{_PLACE}\w++", _FLAGS)  # or in a tag
_PATH_IN_TAG = re.compile(r"(?<==)(\s*+[\"']?)/(?!/)", _FLAGS)
_IN_LINE = re.compile(  # of a template as it was typed; code first, which stays
    r"(?P<code>(?<!`)`[^`\n]++`(?!`))"
    rf"|(?<![a-z0-9_])@(?=(?P<mention>{_NAME})|\{{)"
    r"|&(?=#0*+64(?!\d)|#x0*+40(?![0-9a-f])|commat;)"
    r"|(?<![\w./-])(?P<reference>[\w./-]++)(?:#(?=\d)|@(?=[0-9a-f]{7,40}+(?![a-z0-9_])))"
    rf"|(?:(?<=//)|(?<![\w.])(?=www\.)){_PLACE}",
    _FLAGS,
)


class Audience(NamedTuple):
    """Whom a template may address, where its issues go.

    `mentions`: logins and `owner/team` in lower case, without `@`. `repository`: as `owner/name`, empty if
    none is chosen; its own issues may be referred to, and teams of its owner mentioned.
    """

    mentions: frozenset[str]
    repository: str
    code_host: str

    def may_mention(self, name: str) -> bool:
        """Whether a mention of this name may be live."""
        name = name.lower()
        owner, _, team = name.partition("/")
        return name in self.mentions and (not team or self.is_owner(owner))

    def is_owner(self, name: str) -> bool:
        """Whether that is the account that has the repository."""
        return bool(name) and name.lower() == self.repository.partition("/")[0].lower()


def may_address(template: str) -> bool:
    """Whether a template has any sign that a mention, reference or URL needs."""
    return any(sign in template for sign in "@&#/")


def found_in_template(template: str, audience: Audience) -> list[str]:
    """As `found_in`, with and without texts in its placeholders; of a template as it is used."""
    if not may_address(template):
        return []
    template = cut(with_line_feeds(template))
    texts = (PLACEHOLDER.sub(text, template) for text in ("", f"{ZWSP}word{ZWSP}"))
    return _once(each for text in texts for each in found_in(text, audience))


def found_in(text: str, audience: Audience) -> list[str]:
    """What of a text is live on GitHub and addresses others than it may: mentions with `@`, and references.

    All of it, where the text has no other HTML than `plain_html` allows.
    """
    reading = read(text + FOOTER)
    parts = [reading.text, *map(_text, reading.html)]
    tags = [each for part in reading.html for each in MARKUP.findall(part)]
    addresses = [*_addresses(reading.urls, tags, audience.code_host)]
    return _once(
        [
            *(each for part in parts for each in _mentions(part, audience)),
            *(each for part in parts for each in _references(part, audience)),
            *(each for part in parts for each in _pages(_IN_TEXT, part, audience)),
            *(each for part in addresses for each in _pages(_IN_ADDRESS, part, audience)),
        ]
    )


def broken(template: str, audience: Audience) -> str:
    """A template with a zero-width space in what addresses others, as far as it is written plainly; code stays."""

    def replaced(found: re.Match[str]) -> str:
        if found["code"]:
            return found[0]
        if (name := found["mention"]) and audience.may_mention(name.rstrip("-")):
            return found[0]
        if (token := found["reference"]) and not _is_of_others(token, found[0][-1], audience):
            return found[0]
        if found["host"] and not _is_page_of_others(found, audience):
            return found[0]
        return found[0] + ZWSP

    code = read(template).code_lines
    lines = template.split("\n")
    return "\n".join(
        line if number in code else _IN_LINE.sub(replaced, line)
        for number, line in enumerate(lines)
    )


def made_inert(template: str) -> str:
    """A template of which nothing acts on GitHub any more, as if a stranger had written it."""
    parts = PLACEHOLDER.split(template)
    parts[::2] = [inert(clean(part)[: len(part)]).replace("{", "{" + ZWSP) for part in parts[::2]]
    parts[1::2] = [f"{{{name}}}" for name in parts[1::2]]
    return "".join(parts)


def _text(written: str) -> str:
    """What GitHub may take for text in HTML, with what is `between` for its tags and comments."""
    return unescape(MARKUP.sub(lambda tag: between(tag[0]), written))


def _addresses(urls: Iterable[str], tags: Iterable[str], code_host: str) -> Iterator[str]:
    """Where links lead, and tags, in which there may be such; the paths of the code host as URLs."""
    yield from (_absolute(each, code_host) for each in urls)
    for tag in tags:
        yield _PATH_IN_TAG.sub(rf"\1//{code_host}/", unescape(tag))


def _mentions(text: str, audience: Audience) -> Iterator[str]:
    for each in _MENTION.finditer(text):
        for name in _beginnings(each[1]):
            if (name := name.rstrip("-/")) and not audience.may_mention(name):
                yield f"@{name}"


def _references(text: str, audience: Audience) -> Iterator[str]:
    for each in _REFERENCE.finditer(text):
        number = (each[2] or "").replace(HTML_BETWEEN, "")
        for name in _ends(each[1]) if number else ():
            if _is_of_others(name, number[0], audience):
                yield name + number


def _beginnings(name: str) -> Iterator[str]:
    """What a name with HTML in between may be if it ends there: as long as names are, and all of it."""
    parts = name.split(HTML_BETWEEN)
    yield from takewhile(_is_short, accumulate(parts[:-1]))
    yield "".join(parts)


def _ends(name: str) -> Iterator[str]:
    """What a name with HTML in between may be if it begins there: all of it, and as long as names are."""
    parts = name.split(HTML_BETWEEN)
    yield "".join(parts)
    yield from takewhile(_is_short, accumulate(parts[:0:-1], lambda end, part: part + end))


def _is_short(name: str) -> bool:
    return len(name) <= _LONGEST


def _is_of_others(token: str, sign: str, audience: Audience) -> bool:
    """Whether `owner/name#1`, `owner/name@sha` or `owner@sha` is about another repository.

    No longer path is, but where an owner may begin behind a dot, which is in no name of one.
    """
    *path, owner, name = ["", *token.split("/")]
    if len(path) > 1:
        if "." not in owner:
            return False
        owner = owner.rpartition(".")[2]
    if owner and name:
        return f"{owner}/{name}".lower() != audience.repository.lower()
    return sign == "@" and not path and bool(name) and not audience.is_owner(name)


def _pages(pattern: re.Pattern[str], text: str, audience: Audience) -> Iterator[str]:
    for instead in "\n", "":
        plain = text.replace(HTML_BETWEEN, instead)
        for each in pattern.finditer(plain):
            if _is_page_of_others(each, audience):
                yield plain[each.start("host") : each.end()]


def _is_page_of_others(found: re.Match[str], audience: Audience) -> bool:
    host = found["host"].rpartition("@")[2].partition(":")[0].rstrip(".")
    if host.lower().removeprefix("www.") not in ("github.com", audience.code_host.lower()):
        return False
    if found["owner"].lower() == "orgs":  # whose discussions are at such addresses
        return not audience.is_owner(found["name"])
    return f"{found['owner']}/{found['name']}".lower() != audience.repository.lower()


def _absolute(url: str, code_host: str) -> str:
    return f"//{code_host}{url}" if url.startswith("/") and not url.startswith("//") else url


def _once(found: Iterable[str]) -> list[str]:
    return [*{each.lower(): each for each in found}.values()]
