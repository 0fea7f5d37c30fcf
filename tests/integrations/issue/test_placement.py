"""A report between the parts of a template: what meets, and what many lines keep to."""

import pytest

from integrations.issue.rendering import render_issue
from integrations.issue.safe_text import ZWSP

PAGE = "https://docs.example.com/guide"


def body(template: str, **fields: str) -> str:
    """The body, with `|` for each zero-width space."""
    return render_issue(template, fields)[1].replace(ZWSP, "|")


@pytest.mark.parametrize(
    ("template", "fields", "expected"),
    [
        ("@{agent_name}", {"agent_name": "octocat/team"}, "@|octocat/team"),
        ("#{summary} GH-{details}", {"summary": "1", "details": "2"}, "#|1 GH-|2"),
        ("{summary}{details}", {"summary": "GH", "details": "-1"}, "GH|||-1"),
        ("https:{details}", {"details": "//evil.example"}, "https:|/|/evil.example"),
        ("https://{agent_name}/", {"agent_name": "evil.example"}, "https:// ||evil.example|/"),
        ("www.{agent_name}", {"agent_name": "evil.example"}, "www. |evil.example"),
        (
            "https://docs.example.com{summary}",
            {"summary": ".evil"},
            "https://docs.example.com ||.evil",
        ),
        (
            "https://x.example/?q={summary}",
            {"summary": "a b/@c"},
            "https://x.example/?q=a%20b%2F%40c",
        ),
        ("https://x.example/#{summary}", {"summary": "1"}, "https://x.example/#|1"),
        ("https://x.example/gh-{summary}", {"summary": "1"}, "https://x.example/gh-|1"),
        ("[{summary}]({details})", {"summary": "a", "details": "/o/r"}, "[|a|](| |/|o/r)"),
        ("[a]({doc_url})", {"doc_url": "docs/a.md"}, "[a](| |docs/a.md)"),
        ("[a]({doc_url}) {doc_url}", {"doc_url": PAGE}, f"[a]({PAGE}) {PAGE}"),
        ("[a]: {summary}", {"summary": "evil.example"}, "[a]: | |evil.example"),
        ("[{summary}] a", {"summary": "x"}, "[|x|] a"),
        ("<{summary}", {"summary": "!-- x"}, "<|!-- x"),
        ('<a href="{doc_url}">', {"doc_url": PAGE}, f'<a href="{PAGE}">'),
        ("<i title='{summary}'>", {"summary": "'><b>"}, "<i title='%27%3E%3Cb%3E'>"),
        ("<!-- {details} -->", {"details": "hub:1 --> <b>"}, "<!-- hub|:1 --|> <|b> -->"),
        ("`{summary}` {agent_name}", {"summary": "a`@b", "agent_name": "`"}, "`a'@|b` '"),
        ("```{agent_name}\nx\n```", {"agent_name": "a`b"}, "```|a'b\nx\n```"),
        ("~~~ {agent_name}\nx\n~~~", {"agent_name": "mermaid"}, "~~~ |mermaid\nx\n~~~"),
        ("~~{summary}~~", {"summary": "~"}, "~~|~|~~"),
        ("a\n-{summary}", {"summary": "--"}, "a\n-||--"),
        ("{summary} #12", {"summary": "It fixes"}, "It fixes| #12"),
        ("{summary}: #12", {"summary": "Closes"}, "Closes|: #12"),
        ("- [{summary}] a", {"summary": "x"}, "- [|x|] a"),
        ("\\{summary}", {"summary": "`a`"}, "\\|`a`"),
        ("{summary}*", {"summary": "a\\"}, "a\\|*"),
        ("**{summary}** ({agent_name}).", {"summary": "a", "agent_name": "b"}, "**a** (b)."),
        (">{summary}", {"summary": "\n\u0301a"}, ">|\u0301a"),
    ],
)
def test_a_half_in_the_template_makes_nothing_of_the_other_half(template, fields, expected):
    assert body(template, **fields) == expected


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("> {details}\nz", "> a\n>\n>   b\nz"),
        ("> > - {details}", "> > - a\n> >\n> >     b"),
        ("12. {details}", "12. a\n\n      b"),
        ("- x\n\n  {details}", "- x\n\n  a\n\n    b"),
        ("    {details}", "    a\n\n      b"),
        ("> **Details:** {details}", "> **Details:** a\n>\n>   b"),
        ("  ```\n  {details}\n  ```", "  ```\n  a\n\n    b\n  ```"),
        ("| x |\n|---|\n| {details} |", "| x |\n|---|\n| a b |"),
        ("`{details}`", "`a b`"),
        ("{details}", "a\n\n  b"),
    ],
)
def test_many_lines_stay_in_the_quote_or_list_of_the_first(template, expected):
    assert body(template, details="a\n\n  b\n") == expected


def test_a_cell_of_a_table_stays_one_cell():
    assert body("| {summary} | b |", summary="a | c") == "| a ¦ c | b |"
