"""What the reference says of calls, fields and errors, so that nothing is described twice."""

import re
from functools import cache
from typing import NamedTuple
from urllib.parse import urljoin

from hub.docs import markdown
from hub.docs.library import HUB
from tests.docs import tables
from tests.openapi.calls import CALLS, ONE

REPORTS, MAINTAINERS = "reports-api", "maintainer-api"
LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
CODES = re.compile(r"Codes?: (.*?)\.(?=\s)", re.DOTALL)
NAMED = re.compile(r"\[`(\w+)`\]\(errors\.md#")


class Section(NamedTuple):
    """A section of a page, with those below it: its address on the Hub of the docs, and its Markdown."""

    url: str
    text: str

    @property
    def first(self) -> str:
        """Its first paragraph, without the codes of its errors; empty if it begins with a block."""
        paragraph = self.text.strip().partition("\n\n")[0]
        begins = "" if paragraph.startswith(("```", "|", "#")) else paragraph
        said = CODES.sub("", f"{begins}\n").strip()
        return LINK.sub(lambda link: f"[{link[1]}]({self._address(link[2])})", said)

    def _address(self, target: str) -> str:
        """Where a link of the page leads, on the Hub of the docs."""
        page = self.url.partition("/#")[0]
        return urljoin(f"{page}.md", target).replace(".md", "/")


def without_links(text: str) -> str:
    """The text of a cell or a sentence, without the addresses of its links."""
    return LINK.sub(r"\1", text)


def sentence(text: str) -> str:
    """The same as a sentence."""
    said = without_links(text)
    return f"{said[:1].upper()}{said[1:]}{'' if said.endswith('.') else '.'}"


def is_public(call: str) -> bool:
    """Whether anybody may make this call."""
    return call in _called(REPORTS)


def summary(call: str) -> str:
    """What a call does, in a few words."""
    said = _called(REPORTS).get(call) or _called(MAINTAINERS)[call]
    return sentence(said).removesuffix(".")


def who(call: str) -> str:
    """Who may make a call of the maintainers' API."""
    rows = tables.rows(MAINTAINERS, "call", "scope", "who")
    return next(people for cell, _, people, _ in rows if tables.codes(cell)[0] == call)


def section(call: str) -> Section:
    """The section that describes a call."""
    page = REPORTS if is_public(call) else MAINTAINERS
    return _section(page, CALLS[call].section or f"`{call}`")


def description(call: str) -> str:
    """What the reference says of a call, before its tables and examples."""
    if CALLS[call].section == ONE:
        *_, said = _act(call)
        return sentence(said)
    return section(call).first


def codes(call: str) -> set[str]:
    """The codes of all errors that a call may answer."""
    text = section(call).text
    if is_public(call):
        intro = tables.page(REPORTS).read_text().partition("\n## ")[0]
        return set(NAMED.findall(intro) + NAMED.findall(text))
    every, with_body = _common()
    own = [code for each in CODES.findall(text) for code in tables.codes(each)]
    if CALLS[call].section == ONE:
        own = tables.codes(_act(call)[1])
    return {*own, *every, *(with_body if CALLS[call].body else ())}


@cache
def errors() -> dict[str, tuple[int, str, str]]:
    """Each code's status, when it comes, and what to do."""
    rows = tables.rows("errors", "code", "status", "when", "what to do")
    return {
        tables.codes(code)[0]: (int(status), sentence(when), sentence(then))
        for code, status, when, then in rows
    }


def meanings(page: str, *header: str, before: str = "") -> dict[str, str]:
    """What the tables with this header say in their last column, by the code in the first; the first one counts.

    `before` begins each sentence.
    """
    rows = reversed(tables.rows(page, *header))
    return {tables.codes(row[0])[0]: sentence(before + row[-1]) for row in rows}


@cache
def rates() -> dict[str, dict[str, str]]:
    """The rates on the page of limits, by their names."""
    found = {}
    for name, value, of, setting in tables.rows("limits", "rate", "value", "of", "setting"):
        found[name] = {"name": name, "rate": tables.codes(value)[0], "of": without_links(of)}
        if named := tables.codes(setting):
            found[name]["setting"] = named[0]
    return found


def _act(call: str) -> list[str]:
    """The row of an act on one report: itself, its codes, what it does."""
    rows = tables.rows(MAINTAINERS, "act", "codes", "what it does")
    return next(row for row in rows if tables.codes(row[0])[0] == call.rpartition("/")[2])


@cache
def _called(page: str) -> dict[str, str]:
    rows = tables.rows(page, "call")
    return {tables.codes(row[0])[0]: row[-1] for row in rows}


@cache
def _common() -> tuple[list[str], list[str]]:
    """The codes of every call with a scope, and those of calls with a body besides."""
    said = re.search(
        r"Every call with a scope may also answer (.*?); those with a body (.*?)\. ",
        tables.page(MAINTAINERS).read_text(),
    )
    return tables.codes(said[1]), tables.codes(said[2])


@cache
def _section(page: str, heading: str) -> Section:
    text = tables.page(page).read_text()
    found = re.search(
        rf"(?ms)^(#+) {re.escape(heading)}\n(.*?)(?=^#{{1,2}} |^### (?=`|Acting)|\Z)", text
    )
    return Section(
        f"{HUB}/v0/reference/{page}/#{markdown.anchor(heading.replace('`', ''))}", found[2]
    )
