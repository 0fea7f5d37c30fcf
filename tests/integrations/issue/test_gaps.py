"""Gaps, out of whose other side nobody would look."""

import pytest

from integrations.issue.gaps import HIGHEST, WIDEST, is_one, narrowed

EMPTY = [
    "",
    " ",
    "\t",
    "\\",
    "> \\",
    ">",
    "> >",
    "-",
    "- - +",
    "*",
    "1.",
    "12) >",
    "***",
    "- - -",
    "_",
]
EMPTY += ["` `", "|", "| | |", "|:-:|", "~~ ~~", ":", "   - \\"]
SEEN = [
    "x",
    ".",
    "#",
    "=",
    "```",
    "  ```js",
    "~~~",
    "&nbsp;",
    "<br>",
    "1",
    "v1.",
    "-x",
    "- [ ]",
    "\\!",
    "é",
]


@pytest.mark.parametrize("line", EMPTY)
def test_of_many_lines_that_show_nothing_the_first_ones_are_kept(line):
    line_end = f"{line}\n"

    assert narrowed(f"a\n{line_end * 3900}b") == f"a\n{line_end * HIGHEST}b"
    assert is_one(f"{line}\n{line}")


@pytest.mark.parametrize("line", SEEN)
def test_lines_on_which_something_is_seen_are_kept(line):
    text = "a\n" + f"{line}\n" * 50 + "b"

    assert narrowed(text) == text
    assert not is_one(f"\n{line}\n")


def test_lines_that_show_nothing_are_one_gap_whatever_is_on_them():
    lines = "".join(f"{line}\n" for line in EMPTY)

    assert narrowed(f"a\n{lines * 20}b").count("\n") == 1 + HIGHEST


def test_what_an_honest_report_has_stays():
    diff = "\n".join(["- a", "-", "+", "+", "+ b", "", "", "", "---", "", "> c", ">", "> d"])
    table = "|a|b|\n|-|-|\n| | |\n|1| |"
    code = "```\n" + "\n" * HIGHEST + "```"
    text = f"{diff}\n\n{table}\n\n{code}\n\n-{' ' * WIDEST}e"

    assert narrowed(text) == text


@pytest.mark.parametrize("fence", ["```", "~~~", "  ```python"])
def test_a_fence_stays_wherever_it_stands(fence):
    gap, end = 50 * "\n", fence.strip()[:3]
    text = f"{gap}{fence}\n{gap}x\n{gap}{end}"

    assert narrowed(text).replace("\n", "") == f"{fence}x{end}"
    assert narrowed(narrowed(text)) == narrowed(text)
