"""Templates that would make a large issue of a small report."""

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from integrations.issue import github_markdown, template_limits
from integrations.issue.rendering import BODY_LIMIT, DEFAULT_TEMPLATE, PLACEHOLDERS, render_issue
from integrations.issue.safe_text import neutralize
from tests.integrations.issue import hostile

FUZZ = settings(max_examples=60)
MIB = 2**20

BOMB = "\n".join(["> " * 190 + "{details}"] * 49)
NESTED = "- " * 190 + "x\n" + "\n" * 9_000
WIDE_TABLE = "|a" * 60 + "\n" + "|-" * 60 + "\na" * 60
EMPTY_CELLS = "|a" * 60 + "\n" + "|-" * 60 + "%s\n" + "%s\n" * 60
TOO_MUCH = {
    "too long": ("a" * 20_001, "20,001 characters"),
    "too many": ("{summary} " * 51, "51 placeholders"),
    "too often": ("{details}\n\n" * 5, "{details} is in the template 5 times"),
    "bomb": (BOMB, "{details} is in the template 49 times"),
    "quotes": ("a\n" + "> " * 17 + "{details}", "Line 2 begins with 34 characters"),
    "list items": (NESTED, "Line 1 begins with 380 characters"),
    "indentation": (" " * 33 + "{evidence}", "Line 1 begins with 33 characters"),
    "table": (WIDE_TABLE, "The table at line 2 is too large"),
    "table of other line ends": (WIDE_TABLE.replace("\n", "\r"), "The table at line 2"),
    "table of spaces": (EMPTY_CELLS % ("", *["\u3000"] * 60), "The table at line 2"),
    "table of form feeds": (EMPTY_CELLS % ("\f", *["\f"] * 60), "The table at line 2"),
    "table of indented quotes": (EMPTY_CELLS % ("\v", *["    >"] * 60), "The table at line 2"),
}
PARTS = [*(f"{{{name}}}" for name in PLACEHOLDERS), *"\n|->` <", "\n\n", "- " * 12, "> " * 20]
PARTS += ["1. ", "|-" * 90, "\na" * 40, "www.", "](", "]:", '<a "', "```\n", "x" * 900, "{x}", "{"]
templates = st.lists(st.sampled_from(PARTS), max_size=70).map("".join)
reports = st.lists(st.one_of(hostile.fragment, st.sampled_from(["|-|", "a\n" * 9])), min_size=1)


def report(text: str) -> dict[str, str]:
    """The longest one that is accepted, made of this text."""
    sizes = {"details": 8_000, "suggested_fix": 4_000, "evidence": 80_000, "summary": 500}
    return {name: (text * size)[:size] for name, size in sizes.items()}


@pytest.mark.parametrize(("template", "said"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_a_template_that_makes_too_much_of_a_report_is_told_so_in_words(template, said):
    assert said in template_limits.problem(template)


@pytest.mark.parametrize(
    "template",
    [
        DEFAULT_TEMPLATE,
        "{details}\n\n" * 4 + "{suggested_fix} {evidence}",
        "> " * 16 + "{details}",
        "```yaml\n" + " " * 60 + "a: b\n```",
        "| a | b | c |\n|---|---|---|\n" + "| 1 | {summary} | 3 |\n" * 30,
    ],
)
def test_an_ordinary_template_is_used_as_it_is(template):
    assert template_limits.problem(template) == ""
    assert template_limits.cut(template) == template


@pytest.mark.parametrize(
    ("template", "left"),
    [
        ("a" * 30_000, "a" * 20_000),
        ("{summary} " * 52, "{summary} " * 50 + "… … "),
        ("{details}\n" * 6 + "{evidence}", "{details}\n" * 4 + "…\n…\n{evidence}"),
        ("a\n" + ">" * 40 + "{details}\nb", "a\n" + ">" * 31 + " {details}\nb"),
        ("|a" * 60 + "\n" + "|-" * 60 + "\na" * 60, "|a" * 60 + "\na" * 60),
    ],
)
def test_a_template_saved_before_is_cut_by_rule(template, left):
    assert template_limits.cut(template) == left


@given(templates)
@FUZZ
def test_what_is_left_of_a_template_is_within_the_limits(template):
    left = template_limits.cut(template)

    assert template_limits.problem(left) == ""
    assert (left == template) == (template_limits.problem(template) == "")


@pytest.mark.slow
@given(templates, reports.map("".join))
@FUZZ
def test_no_template_makes_more_of_a_report_than_one_issue(template, text):
    fields = report(text)
    tracemalloc.start()

    title, body = render_issue(template, fields)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * MIB
    assert len(title) <= 256
    assert len(body) <= BODY_LIMIT


def test_a_bomb_builds_one_body_and_not_a_hundred():
    fields = report("a\n")
    tracemalloc.start()

    _, body = render_issue(BOMB, fields)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * MIB
    assert body.count("…") == 49  # 45 times instead of the text, and four times at its end
    assert BODY_LIMIT / 2 < len(body) <= BODY_LIMIT


def test_a_table_in_a_report_is_not_filled_up_with_cells():
    table = "a|" * 600 + "\n" + "-|" * 600 + "\n" + "a\n" * 2_000

    assert len(github_markdown.html(neutralize(table))) < 3 * len(table)
    assert len(github_markdown.html(table)) > 500 * len(table)


def test_the_rows_of_a_table_in_the_template_are_its_own():
    _, body = render_issue("|a|b\n|-|-\n{details}", {"details": "x\n" * 2_000})

    assert body.count("\n") == 2
