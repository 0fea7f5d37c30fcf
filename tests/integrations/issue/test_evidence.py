import pytest

from integrations.issue.evidence import evidence_text
from integrations.issue.rendering import render_issue
from tests.integrations.issue.liveness import Page


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("attempted_action", "npm install docs", "**Ran:** npm install docs"),
        ("attempted_action", "f(1)", "**Ran:**\n\n```\nf(1)\n```"),
        ("expected", " It works. ", "**Expected:** It works."),
        ("observed", '{"a": 1}', '**Observed:**\n\n```\n{"a": 1}\n```'),
        ("observed", "one\r\ntwo", "**Observed:**\n\n```\none\ntwo\n```"),
        ("error_message", "Not found", "**Exact error:**\n\n```\nNot found\n```"),
        ("code_snippet", "```\nx\n````", "**Code:**\n\n`````\n```\nx\n````\n`````"),
        ("code_snippet", "｀｀｀\nx", "**Code:**\n\n````\n```\nx\n````"),
        ("quote", "a\n\nb", "**Quote:**\n\n> a\n>\n> b"),
        ("quote", "\u200b\n", ""),
    ],
)
def test_a_piece_of_evidence_is_a_labelled_section(kind, text, expected):
    assert evidence_text([{"kind": kind, "text": text}]) == expected


def test_sections_come_in_the_order_in_which_they_are_read():
    items = [
        {"kind": "quote", "text": "q"},
        {"kind": "observed", "text": "o1"},
        {"kind": "attempted_action", "text": "a"},
        {"kind": "observed", "text": "o2"},
    ]

    text = evidence_text(items)

    assert text == "**Ran:** a\n\n**Observed:** o1\n\n**Observed:** o2\n\n**Quote:**\n\n> q"


def test_no_evidence_is_no_text():
    assert evidence_text([]) == ""


def test_code_in_the_evidence_is_code_in_the_issue():
    error = "```\n<img src=x>\n````\n@octocat"

    _, body = render_issue(
        "> {evidence}", {"evidence": evidence_text([{"kind": "error_message", "text": error}])}
    )

    page = Page(body)
    assert page.elements["pre"] == 1
    assert page.around("<img src=x>") == page.around("octocat") == [{"blockquote", "pre", "code"}]
