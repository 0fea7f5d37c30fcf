"""The address of a file of the issue's own repository is a link; what else is on the code host is none."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from integrations.issue.rendering import render_issue
from integrations.issue.safe_text import ZWSP, safe_url
from tests.integrations.issue import hostile
from tests.integrations.issue.liveness import Page, newly_live

SITE = "https://docs.example.com"
PAGE = f"{SITE}/guide"
WRITTEN = ("summary", "details", "evidence", "suggested_fix", "agent_name", "report_kind")
OWN = "https://github.com/acme/docs"
ENTERPRISE = "https://git.acme.com:8443/acme/docs"
FILE = re.compile(rf"{OWN}/blob/[^/?#\s]+/[^?#\s]+(#[^?#\s]*)?")
REFERENCE = re.compile(  # what GitHub makes a reference to something, and what it notifies of
    r"//(?:www\.)?github\.com/[^/]+/[^/]+/(?:issues|pull|discussions|commit|compare|releases|security|labels)"
)
FUZZ = settings(max_examples=300)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (f"{OWN}/blob/main/docs/install.md", f"{OWN}/blob/main/docs/install.md"),
        (f"{OWN}/blob/HEAD/README.md", f"{OWN}/blob/HEAD/README.md"),
        ("http://www.GitHub.com/Acme/Docs/blob/main/a.md", f"{OWN}/blob/main/a.md"),
        (f"{OWN}/blob/refs/heads/main/a.md", f"{OWN}/blob/main/a.md"),
        (f"{OWN}/blob/v1.2/a.md?plain=1#L10", f"{OWN}/blob/v1.2/a.md#L10"),
        (f"{OWN}/blob/main/a.md#123", f"{OWN}/blob/main/a.md#%3123"),
        (f"{OWN}/blob/main/a.md#@octocat", f"{OWN}/blob/main/a.md#%40octocat"),
        (f"{OWN}/blob/main/a b.md".replace(" ", "%20"), f"{OWN}/blob/main/a%20b.md"),
        (f"{OWN}/blob/main/größe.md", f"{OWN}/blob/main/gr%C3%B6%C3%9Fe.md"),
        (f"{OWN}/blob/main/a](https://x", None),
        (f"{OWN}/blob/main/gh-1/*b*`c`.md", f"{OWN}/blob/main/gh%2D1/%2Ab%2A%60c%60.md"),
        (f"{OWN}/blob/main/x/../../../issues/1", None),
        (f"{OWN}/blob/main/x/../y.md", f"{OWN}/blob/main/y.md"),
        (f"{OWN}/blob/main/issues/1", f"{OWN}/blob/main/issues/1"),
        (OWN, None),
        (f"{OWN}/", None),
        (f"{OWN}/tree/main/docs", None),
        (f"{OWN}/raw/main/a.md", None),
        (f"{OWN}/wiki/Setup", None),
        (f"{OWN}/issues/1", None),
        (f"{OWN}/pull/1", None),
        (f"{OWN}/discussions/1", None),
        (f"{OWN}/commit/a5c3785ed8d6a35868bc169f07e40e889087fd2e", None),
        (f"{OWN}/compare/main...next", None),
        (f"{OWN}/releases/tag/v1", None),
        (f"{OWN}/blob/a5c3785/a.md", None),
        (f"{OWN}/blob/a5c3785ed8d6a35868bc169f07e40e889087fd2e/a.md#L1-L5", None),
        (f"{OWN}/blob/refs/heads/a5c3785/a.md", None),
        (f"{OWN}/blob/main", None),
        (f"{OWN}-fork/blob/main/a.md", None),
        (f"{OWN}./blob/main/a.md", None),
        (f"{OWN}/../evil/blob/main/a.md", None),
        ("https://github.com/acme/docs%2F..%2Fevil/blob/main/a.md", None),
        ("https://github.com/initech/docs/blob/main/a.md", None),
        ("https://github.com//acme/docs/blob/main/a.md", None),
        ("https://github.com:8443/acme/docs/blob/main/a.md", None),
        ("https://alice@github.com/acme/docs/blob/main/a.md", None),
        ("https://gist.github.com/acme/docs/blob/main/a.md", None),
        ("https://github.com\\acme/docs/blob/main/a.md", None),
        ("//github.com/acme/docs/blob/main/a.md", None),
        ("javascript://github.com/acme/docs/blob/main/a.md", None),
    ],
)
def test_only_a_file_of_the_very_same_repository_is_a_link(url, expected):
    assert safe_url(url, repository=OWN) == expected
    assert expected is None or safe_url(expected, repository=OWN) == expected
    assert safe_url(url) is None


def test_on_enterprise_it_is_the_same():
    def link(url: str) -> str | None:
        return safe_url(url, code_host="git.acme.com", repository=ENTERPRISE)

    assert link(f"{ENTERPRISE}/blob/main/a.md") == f"{ENTERPRISE}/blob/main/a.md"
    assert link(f"{ENTERPRISE}/issues/1") is None
    assert link("https://git.acme.com/acme/docs/blob/main/a.md") is None  # at another port
    assert link(f"{OWN}/blob/main/a.md") is None
    assert link("https://docs.acme.com/x") == "https://docs.acme.com/x"


def test_in_an_issue_it_can_be_clicked():
    url = f"{OWN}/blob/main/docs/install.md#linux"

    _, body = render_issue("- Page: {doc_url}", {"doc_url": url}, repository=OWN)

    assert Page(body).links == [url]


def test_what_is_no_file_of_it_stays_readable_and_inert():
    url = f"{OWN}/issues/1"

    _, body = render_issue("{doc_url}", {"doc_url": url}, repository=OWN)

    assert not Page(body).links
    assert body.replace(ZWSP, "") == url


CLIMBS = "/../../../../../bob/repo/issues/1"
GLUED = [
    "{doc_url}{summary}",
    "{doc_url}/{agent_name}",
    "{doc_url}/{agent_name}/{agent_name}/{agent_name}/{agent_name}/{agent_name}",
    "{doc_url}{evidence}{summary}",
    "{doc_url}\u00a0{summary}",
    "{doc_url}){summary}",
    "{doc_url}|{summary}",
    "({doc_url}{summary})",
    "**{doc_url}{summary}**",
    "- Page: {doc_url}{details}",
    "| a | b |\n|---|---|\n| {doc_url}{summary} | b |",
    "[page]({doc_url}{summary})",
    "[page](<{doc_url} {summary}>)",
    "[page](<{doc_url}{summary}>)",
    "[page]\n\n[page]: {doc_url}{summary}",
    "[page]\n\n[page]: <{doc_url} {summary}>",
    "![page]({doc_url}/{summary})",
    "<{doc_url}{summary}>",
    '<a href="{doc_url}{summary}">page</a>',
    '<a href="{doc_url}/{agent_name}/{agent_name}/{agent_name}/{agent_name}">page</a>',
    "<a href={doc_url}{summary}>page</a>",
    "{summary}{doc_url}{summary}",
    "{doc_url}{doc_url}{summary}",
]


@pytest.mark.parametrize("template", GLUED)
@pytest.mark.parametrize("text", [CLIMBS, CLIMBS[1:], f" {CLIMBS}", ".."])
def test_no_text_behind_the_address_leads_elsewhere(template, text):
    fields = dict.fromkeys(("summary", "details", "agent_name"), text)
    url = f"{OWN}/blob/main/a.md"

    _, body = render_issue(template, fields | {"doc_url": url}, repository=OWN)

    assert all(link == url or OWN not in link for link in Page(body).links)


@pytest.mark.parametrize(
    "template",
    [
        "{doc_url} {summary}",
        "{doc_url}\n{summary}",
        "{doc_url}<br>{summary}",
        "{summary}{doc_url}",
        "[page]({doc_url}){summary}",
        "[page](<{doc_url}>){summary}",
        '[page]({doc_url} "{summary}")',
        "<{doc_url}>{summary}",
        '<a href="{doc_url}">{summary}</a>',
        "<a href='{doc_url}' title='{summary}'>page</a>",
    ],
)
def test_where_the_template_ends_the_address_it_stays_a_link(template):
    url = f"{OWN}/blob/main/a.md"

    _, body = render_issue(template, {"doc_url": url, "summary": CLIMBS}, repository=OWN)

    assert Page(body).links == [url]


STARTS = ["", "https://github.com/", f"{OWN}/", f"{OWN}/blob/", f"{OWN}/blob/main/", f"{OWN}/wiki/"]
PIECES = [
    "..",
    "/",
    "%2e",
    "%2f",
    "issues",
    "1",
    "acme",
    "docs",
    "blob",
    "main",
    "?",
    "#",
    "#L1",
    "@a",
]
tail = st.lists(st.sampled_from(PIECES) | hostile.fragment, max_size=8).map("".join)


@pytest.mark.slow
@given(st.sampled_from(STARTS), tail)
@FUZZ
def test_no_address_is_a_link_to_anything_else_on_the_code_host(start, rest):
    link = safe_url(start + rest, repository=OWN)

    if link and "//github.com" in link:
        assert FILE.fullmatch(link)
        assert not REFERENCE.search(link)
        assert safe_url(link, repository=OWN) == link


@pytest.mark.slow
@given(
    st.sampled_from(sorted(hostile.TEMPLATES)).map(hostile.TEMPLATES.get),
    st.sampled_from(STARTS),
    tail,
)
@FUZZ
def test_the_address_of_a_file_brings_nothing_else_with_it(template, start, rest):
    url = start + rest
    page = safe_url(url, repository=OWN) or PAGE
    fields = dict.fromkeys(WRITTEN, "word") | {"doc_url": url}

    assert not newly_live(template, fields, links=(page, SITE), repository=OWN)
