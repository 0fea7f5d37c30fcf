"""The issue that a report becomes."""

import pytest

from integrations.issue.rendering import (
    BODY_LIMIT,
    DEFAULT_TEMPLATE,
    PLACEHOLDERS,
    render_issue,
    unknown_placeholder,
)
from integrations.issue.safe_text import ZWSP
from tests.integrations.issue.liveness import FOOTER, Page, newly_live

PAGE = "https://docs.example.com/guide"
REPORT = {
    "summary": "Broken example",
    "details": "It does not compile.\n\nSee the `last` line.",
    "doc_url": PAGE,
    "agent_name": "agent-x",
    "report_kind": "broken",
}


def body(template: str, **fields: str) -> str:
    """The body, with `|` for each zero-width space."""
    return render_issue(template, fields)[1].replace(ZWSP, "|")


def test_the_default_template_has_the_page_the_kind_and_the_agent_in_a_list():
    title, text = render_issue(DEFAULT_TEMPLATE, REPORT)

    assert title == "[docs] Broken example"
    assert text == (
        "Broken example\n\nIt does not compile.\n\nSee the `last` line.\n\n"
        "- Page: https://docs.example.com/guide\n- Kind: broken\n- Agent: agent-x"
    )


def test_the_default_template_has_the_evidence_and_the_fix_of_a_report_that_has_them():
    said = REPORT | {"evidence": "**Ran:** acme init", "suggested_fix": "Write `acme start`."}

    _, text = render_issue(DEFAULT_TEMPLATE, said)

    assert text.startswith(
        "Broken example\n\nIt does not compile.\n\nSee the `last` line.\n\n**Ran:** acme init\n\n"
        "**Suggested fix:**\n\nWrite `acme start`.\n\n- Page: "
    )


@pytest.mark.parametrize("template", ["", " \n\n"])
def test_a_blank_template_counts_as_the_default(template):
    assert render_issue(template, REPORT) == render_issue(DEFAULT_TEMPLATE, REPORT)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{summary}", "s"),
        ("{{summary}} {{x}} ${{ y }}", "{{summary}} {{x}} ${{ y }}"),
        ("{unknown} {Summary} {} { summary }", "{unknown} {Summary} {} { summary }"),
        ('{"a": {"b": 1}}', '{"a": {"b": 1}}'),
        ("{report_kind}", "{summary}"),
        ("#1 <b>x</b> {summary}\r\n/close", "#1 <b>x</b> s\n/close"),
    ],
)
def test_only_placeholders_are_replaced_and_only_once(template, expected):
    assert body(template, summary="s", report_kind="{summary}") == expected


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("a\n\n{details}\n\nb", "a\n\nb"),
        ("{details}\n\n> {evidence}\n\n- {suggested_fix}\n\nb", "b"),
        ("a\n\n{details}", "a"),
        ("a\n{details}\n---", "a\n\n---"),  # or `a` would become a heading
        ("a {details} b", "a  b"),
    ],
)
def test_an_empty_paragraph_leaves_no_gap(template, expected):
    assert body(template, details=" \n\u200b\n") == expected


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{summary} {detail}", ("detail", "details")),
        ("{url}", ("url", "doc_url")),
        ("{agent}", ("agent", "agent_name")),
        ("{kind}", ("kind", "report_kind")),
        ("{sumary} {detials}", ("sumary", "summary")),
        ("{zzz}", ("zzz", "summary")),
        ("{{title}} {Title} {} {1}", None),
        (" ".join(f"{{{name}}}" for name in PLACEHOLDERS), None),
    ],
)
def test_an_unknown_placeholder_is_named_with_the_nearest_known_one(template, expected):
    assert unknown_placeholder(template) == expected


@pytest.mark.parametrize(
    ("summary", "title"),
    [
        ("a\nb\r\n\tc", "[docs] a b c"),
        ("", "[docs] A problem with a documentation page"),
        ("\u200b \u3164\u2060\n", "[docs] A problem with a documentation page"),
        ("@octocat breaks GH-1", "[docs] @|octocat breaks GH|-1"),
        ("x" * 250, "[docs] " + "x" * 248 + "…"),
        ("```" + "x" * 300, "[docs] ``|`" + "x" * 244 + "…"),
    ],
)
def test_the_title_is_one_line_of_at_most_256_characters(summary, title):
    rendered, _ = render_issue(DEFAULT_TEMPLATE, {"summary": summary})

    assert rendered.replace(ZWSP, "|") == title
    assert len(rendered) <= 256


@pytest.mark.parametrize("name", ["summary", "details", "agent_name", "doc_url", "evidence"])
def test_what_is_too_long_is_shortened_and_the_template_is_not(name):
    template = "```\n{" + name + "}\n```\n\n> " + "y" * 10_000 + "\n\n{details}\n\n<b>end</b>"

    _, text = render_issue(template, {**REPORT, name: "[@a](x) " * 10_000})

    assert BODY_LIMIT * 3 / 4 < len(text) <= BODY_LIMIT
    assert text.endswith("\n\n<b>end</b>")
    assert "y" * 10_000 in text
    assert "…\n```" in text
    assert not newly_live(template, {**REPORT, name: "[@a](x) " * 10_000}, links=(PAGE,))


def test_the_page_stays_a_link_however_long_the_details_are():
    _, text = render_issue(DEFAULT_TEMPLATE, {**REPORT, "details": "@" * 100_000})

    assert f"- Page: {PAGE}\n" in text


@pytest.mark.parametrize(
    "template",
    ["{summary}\n\n```\n{details}", "~~~~\n{details}\n", "<!-- {summary}", "<pre>\n{details}"],
)
def test_what_follows_is_seen_after_a_template_that_leaves_something_open(template):
    _, text = render_issue(template, REPORT)

    page = Page(text + FOOTER)

    assert page.around("Receipt") == [{"p", "a"}]


@pytest.mark.parametrize(
    "url",
    [
        "https://git.acme.com/acme/docs/issues/1",
        "http://GIT.acme.com:80/acme/docs/pull/2",
        "https://media.git.acme.com/x",
        "https://github.com/acme/docs/issues/1",
    ],
)
def test_an_address_on_the_code_host_is_no_link(url):
    _, body = render_issue("{doc_url}", {"doc_url": url}, code_host="git.acme.com")

    assert "://" not in body
    assert body.replace(ZWSP, "") == url


def test_an_address_beside_the_code_host_is_a_link():
    fields = {"doc_url": "https://mygit.acme.com/x"}

    assert render_issue("{doc_url}", fields, code_host="git.acme.com")[1] == fields["doc_url"]


@pytest.mark.parametrize("field", ["details", "suggested_fix", "evidence"])
def test_nothing_stands_behind_a_wide_gap(field):
    text = f"```\npip install acme{' ' * 250}# hidden\n{chr(9) * 6}# hidden\n```"

    _, body = render_issue(f"{{{field}}}", {field: text})

    assert body == f"```\npip install acme{' ' * 40}# hidden\n{' ' * 40}# hidden\n```"


@pytest.mark.parametrize("blank", ["", " ", "\u00a0", "\u2800", "\U0001d159\u3000"])
@pytest.mark.parametrize("field", ["details", "suggested_fix", "evidence"])
def test_nothing_stands_below_a_high_gap(field, blank):
    blanks = f"{blank}\n" * 2600
    text = f"```\nnpm install x\n{blanks}hidden\n```"

    _, body = render_issue(f"{{{field}}}", {field: text})

    assert body == "```\nnpm install x" + "\n" * 11 + "hidden\n```"


@pytest.mark.parametrize("opened", ["Pattern [^\n", "[^", "> [^\n> "])
@pytest.mark.parametrize("words", ["日本語の文書 ] が古い", "é] |-|-|", "字/]\n]"])
def test_a_note_that_a_template_leaves_open_takes_any_words(opened, words):
    """GitHub's parser cuts characters in two there."""
    assert words.split()[0] in body(f"{opened}{{details}}", details=words).replace("|", "")
