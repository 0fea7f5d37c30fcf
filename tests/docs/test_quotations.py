"""What the guides quote from the product: its messages, and the names of its pages and buttons."""

import ast
import html
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.hub_process import ROOT

DOCS = ROOT / "docs" / "v0"
ABOUT_GITHUB = "set-up-the-github-app"  # nearly all names there are GitHub's
GUIDES = [
    path
    for path in [*sorted(DOCS.glob("tutorials/*.md")), *sorted(DOCS.glob("how-to/*.md"))]
    if path.stem != ABOUT_GITHUB
]
PYTHON = ("core", "orgs", "reports", "integrations", "hub", "sandbox", "clients/mcp/src")
MESSAGES = {"message", "reason"}  # headings of the first column of a table of messages
ON_GITHUB = {  # names that stand on its pages
    "Applications", "Configure", "Features", "GitHub Apps", "Issues", "Only select repositories",
    "Settings",
}  # fmt: skip
OF_SOMEBODY = re.compile(
    r"(Join|Keep|Invited by|Open issue|Sign in as|Claim) "
    r"(?:acme|acme/docs|alice|#1|https://acme\.(?:github\.io|pages\.example)/docs/|https://github\.com/acme/docs/)"
)

CODE = re.compile(r"```.*?```", re.DOTALL)
NAME = re.compile(r"(?<![*\w])\*([A-Z][^*]+)\*(?!\*)")
SENTENCE = re.compile(r"(?<=[.?!]) ")
ANYTHING, PUT_IN = ".+?", "\0"  # for a value: in a pattern, in a text
LETTERS = 8  # a sentence with fewer, besides what is put in, tells nothing


def page(path: Path) -> str:
    return path.relative_to(DOCS).with_suffix("").as_posix()


@pytest.mark.parametrize("path", GUIDES, ids=page)
def test_the_messages_in(path: Path):
    wrong = [each for each in quoted(path.read_text()) if not is_said(each)]

    assert not wrong


@pytest.mark.parametrize("path", GUIDES, ids=page)
def test_the_names_of_pages_and_buttons_in(path: Path):
    names = {" ".join(name.split()) for name in NAME.findall(CODE.sub("", path.read_text()))}

    assert not {name for name in names if not is_shown(name)}


def test_what_nobody_says_is_found():
    text = "| message | what to do |\n|---|---|\n| You have no push rights to x. Ask a member who has. | |\n"

    assert [each for each in quoted(text) if not is_said(each)] == ["You have no push rights to x."]
    assert not is_shown("Give it up")


def quoted(text: str) -> Iterator[str]:
    """Each sentence in the tables of messages; what begins or ends with an ellipsis is left out."""
    is_quoted = False
    for line, following in zip(text.split("\n"), [*text.split("\n")[1:], ""], strict=True):
        first = re.sub("[`*]", "", line.split("|")[1].strip()) if line.startswith("|") else ""
        if following.startswith("|---"):
            is_quoted = first in MESSAGES
        elif is_quoted and not line.startswith("|---"):
            yield from (each for each in SENTENCE.split(first) if each and "…" not in each)


def is_said(sentence: str) -> bool:
    """Whether the product has such a sentence, or one that begins so."""
    return any(each.fullmatch(sentence) for each in sentences())


@cache
def sentences() -> list[re.Pattern[str]]:
    """The sentences in the code and in the clients' messages; what is put into them is left open."""
    found = {each for text in [*_in_code(), *_in_clients()] for each in _split(text)}
    telling = [each for each in found if len(re.findall("[a-z]", each)) >= LETTERS]
    return [re.compile(ANYTHING.join(map(re.escape, each.split(PUT_IN)))) for each in telling]


def _split(text: str) -> Iterator[str]:
    """The sentences of a text, and what each begins with, up to a comma or a colon."""
    for each in SENTENCE.split(re.sub("[`*]", "", text)):
        yield each.strip()
        yield re.split("[,:] ", each.strip())[0]


def _in_code() -> Iterator[str]:
    """Every string, with a NUL for each value that is put into it."""
    for folder in PYTHON:
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value
                elif isinstance(node, ast.JoinedStr):
                    parts = (getattr(each, "value", None) for each in node.values)
                    yield "".join(each if isinstance(each, str) else PUT_IN for each in parts)


def _in_clients() -> Iterator[str]:
    messages = json.loads((ROOT / "clients/contract/messages.json").read_text())
    for text in messages.values():
        yield re.sub(r"\{\w+\}", PUT_IN, text)


def is_shown(name: str) -> bool:
    """Whether a page of the product has this name of a page, a button, a field or a state."""
    return name in ON_GITHUB or bool(OF_SOMEBODY.fullmatch(name)) or name in _shown()


@cache
def _shown() -> str:
    """All that the pages may show, without their markup."""
    templates = (path.read_text() for path in (ROOT / "templates").rglob("*.html"))
    text = html.unescape(re.sub(r"\{%.*?%\}|\{\{.*?\}\}", "", " ".join(templates)))
    return " ".join(re.sub(r"\s+", " ", each) for each in [text, *_in_code()])
