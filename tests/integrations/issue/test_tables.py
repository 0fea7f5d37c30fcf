"""Tables in a report: tables in the issue where they are small, text where they are large."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from integrations.issue import github_markdown, tables
from integrations.issue.rendering import DEFAULT_TEMPLATE, render_issue
from tests.integrations.issue.liveness import Page

FUZZ = settings(max_examples=300)

LINES = ["a", "a|b", "-|-", "|-|", ":-", "-", "|", "", " ", ">", "    >", ">     >", "> >", "\t>"]
LINES += [
    "\f",
    "\v-",
    "-\f",
    "\u3000",
    "- a",
    "  b",
    "```",
    "#",
    "\\|",
    "<b>",
    "[^1]: a|b",
    "===",
    "~~~ a",
    "``` `",
]
STARTS = ["", "", "", "> ", "- ", "  ", "    ", "1. ", ">"]
line = st.builds("{}{}".format, st.sampled_from(STARTS), st.sampled_from(LINES))
texts = st.lists(line, min_size=2, max_size=12).map("\n".join)


def table(columns: int, rows: int) -> str:
    """With a header, which is no row of these."""
    return "\n".join([*("|" + f"{cell}|" * columns for cell in ("a", "-")), *["|b|c"] * rows])


def cells(markdown: str) -> int:
    """How many GitHub's parser makes."""
    return len(re.findall(r"<t[hd]\b", github_markdown.html(markdown)))


def issue(template: str, **fields: str) -> str:
    return render_issue(template, fields)[1]


@pytest.mark.parametrize(
    "template",
    [
        "",
        "{details}",
        "> {details}\n>\n> {summary}",
        "- {summary}\n\n  {details}",
        "<details><summary>Report</summary>\n\n{details}\n\n</details>",
        DEFAULT_TEMPLATE + "\n" + table(9, 90),
    ],
)
def test_an_ordinary_table_is_a_table_in_the_issue(template):
    body = issue(template, details=f"Six columns:\n\n{table(6, 30)}\n\nThat is all.")

    assert cells(body) == cells(template) + 6 * 31
    assert Page(body).shows("That is all.")


def test_a_table_beside_code_is_a_table_and_the_code_is_code():
    body = issue("", details=f"{table(2, 2)}\n```\n{table(3, 3)}\n```\n{table(4, 4)}")

    assert Page(body).elements["table"] == 2
    assert table(3, 3) in body


def test_a_table_that_would_be_too_large_is_text():
    wide = "a|" * 600 + "\n" + "-|" * 600 + "\n" + "a\n" * 2_000

    body = issue("", details=wide, evidence=wide)

    assert not cells(body)
    assert len(github_markdown.html(body)) < 3 * len(body)


@pytest.mark.parametrize(("rows", "shown"), [(30, 4 * 31), (99, 4 * 100), (100, 0)])
def test_what_counts_is_all_tables_of_an_issue_together(rows, shown):
    body = issue("{details}\n\n" * 4, details=table(5, rows))

    assert cells(body) == 5 * shown


@pytest.mark.parametrize(
    ("template", "details"),
    [
        ("{details}\n\nb|c\n", "a\n-|-"),
        ("{details}\nName | hidden", "|a|\n|-|\n|b|"),
        ("{details}\n{summary} | hidden", "|a|\n|-|\n|b|"),
        ("> {details}\n> Name | hidden", "|a|\n|-|\n|b|"),
        ("Name | hidden\n{details}", "|-|-|\n|b|c|"),
        ("Name | hidden\n\n{details}|", "|-|-|\n|b|c|"),
        ("- a\n- Name | hidden\n  {details}", "|-|-|\n|b|c|"),
    ],
)
def test_no_line_of_the_template_becomes_part_of_a_strangers_table(template, details):
    body = issue(template, details=details, summary="Name")

    assert not cells(body)
    assert not cells(template) or Page(body).shows("hidden")


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        ("|b|c", 4),
        ("b \\| c | d", 4),
        ("|b|\\|", 4),
        ("\\||b", 4),
        ("\\||b|hidden", 0),
        ("|b|c|hidden|", 0),
        ("b|c|hidden \\|", 0),
        ("b|\\\\|hidden", 0),
        ("b|c|hidden\\|", 0),
    ],
)
def test_no_row_hides_what_it_has_too_much_of(row, shown):
    body = issue("", details=f"|a|a|\n|-|-|\n{row}\n\nb")

    assert cells(body) == shown
    assert Page(body).shows("hidden") == ("hidden" in row)


@given(texts)
@FUZZ
def test_the_parser_never_makes_more_cells_than_were_counted(text):
    lines = text.split("\n")

    assert cells(text) <= sum(table.cells for table in tables.found(lines))


def test_a_table_that_is_wider_than_a_page_is_text():
    narrow, wide = (
        issue("{details}", details=table(20, 2)),
        issue("{details}", details=table(21, 2)),
    )

    assert cells(narrow) == 3 * 20
    assert cells(wide) == 0
