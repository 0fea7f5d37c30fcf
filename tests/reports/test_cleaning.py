"""Text as readers see it, with the few marks on one character that a script needs."""

import random
import unicodedata
from itertools import groupby

from reports import plain
from reports.cleaning import MAX_MARKS, clean, without_marks

# All that become combining marks, or have some.
MARKED = [
    each
    for each in map(chr, range(0x110000))
    if any(map(unicodedata.combining, unicodedata.normalize("NFKD", each)))
]


def longest_heap(text: str) -> int:
    """How many marks are on one character: to put so many in order takes the square of that."""
    marks = map(unicodedata.combining, unicodedata.normalize("NFKD", text))
    return max(len(list(heap)) for is_mark, heap in groupby(marks, bool) if is_mark)


def check(text: str) -> None:
    cleaned = clean(text)

    assert longest_heap(cleaned) <= MAX_MARKS + 3  # with those that the character itself has
    assert clean(cleaned) == cleaned


def test_no_marks_are_heaped_whatever_they_are_made_of():
    """The attack: U+0F73, no mark itself, becomes two of them that have to be put in order."""
    for each in MARKED:
        for text in (each, f"{each}\u0301", f"\u0323{each}"):
            check(f"a{text * 40}")


def test_nor_are_mixtures_of_them():
    dice = random.Random(1)
    for _ in range(5000):
        check(
            "".join(dice.choices([*"ab\u0f40\uff76", *dice.choices(MARKED, k=40)], k=60)) + "\u0301"
        )


def test_without_marks_a_secret_is_found_in_the_same_places():
    """A template may have marks, to which those of a report come; no heap of them is put in order."""
    for each in MARKED:
        written = f"gh\u0301{each * 40}\u0323p_{each}"

        assert longest_heap(f"{without_marks(written)}\u0301") <= 4
        assert plain._seen(written) == plain._UNSEEN.sub("", unicodedata.normalize("NFKD", written))
        assert plain.places(written).last[-1] < len(written)
