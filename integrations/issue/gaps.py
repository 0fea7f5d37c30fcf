"""Gaps in a reported text: what stands behind a wide one, or below a high one, is out of sight.

GitHub shows a line of code as wide as it is, and each line that has nothing on it as high as any other.
"""

import re

WIDEST = 40  # columns
HIGHEST = 10  # lines

_WIDE = re.compile(r"[ \t]{6,}")  # no fewer are wider
_FENCE = r"[ \t]*+(?:`{3}|~{3})"  # stays: the text behind it would no longer be code, or no longer be prose
# What quotes, items, rules, breaks, cells and empty code are made of: GitHub shows no word of such a line.
_EMPTY = rf"(?!{_FENCE})(?:[ \t>*+_\\|:`~-]|\d{{1,9}}+[.)])*+"
_LINES = re.compile(rf"^((?:{_EMPTY}\n){{1,{HIGHEST}}}+)(?:{_EMPTY}\n)*+", re.MULTILINE)
_NOTHING = re.compile(rf"(?:{_EMPTY}\n)*+{_EMPTY}")


def narrowed(text: str) -> str:
    """A cleaned text with no gap that is wider or higher than the limits."""
    return _LINES.sub(r"\1", _WIDE.sub(_narrow, text))


def is_one(text: str) -> bool:
    """Whether a cleaned text has nothing to be seen, whatever it is shown as."""
    return bool(_NOTHING.fullmatch(text))


def _narrow(gap: re.Match[str]) -> str:
    return gap[0] if len(gap[0].expandtabs(8)) <= WIDEST else WIDEST * " "
