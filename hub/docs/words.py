"""The words of all sections, and where they are: read once, so that a search reads no text."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hub.docs.markdown import Section

WORD = re.compile(r"\w+")
ENDINGS = ("ying", "ies", "ied", "ing", "ed", "es", "s", "y", "e")
SHORTEST_STEM = 4


@dataclass(slots=True)
class Found:
    """A word in one section: how often it is in the text, where first, and whether it is in the title."""

    times: int = 0
    first: int = -1
    in_title: bool = False


def stem(word: str) -> str:
    """The beginning that a word shares with its other forms.

    >>> [stem(word) for word in ("verify", "verified", "claims", "string")]
    ['verif', 'verif', 'claim', 'string']
    """
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST_STEM:
            return word.removesuffix(ending)
    return word


class Index:
    """Finds words in sections, which it names by their numbers."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self._found: dict[str, dict[int, Found]] = {}
        for number, section in enumerate(sections):
            self._read(number, section)
        self._words = sorted(self._found)

    def _read(self, number: int, section: Section) -> None:
        for match in WORD.finditer(section.text):
            found = self._in(number, match)
            found.times += 1
            if found.first < 0:
                found.first = match.start()
        for match in WORD.finditer(section.title):
            self._in(number, match).in_title = True

    def _in(self, number: int, match: re.Match) -> Found:
        return self._found.setdefault(match[0].lower(), {}).setdefault(number, Found())

    def forms(self, word: str) -> list[str]:
        """The words of all sections that `word` is searched as; a short one only as it is, or with an `s`."""
        begin = stem(word)
        if len(begin) < SHORTEST_STEM:
            return [each for each in (begin, f"{begin}s") if each in self._found]
        return list(self._with(begin))

    def _with(self, begin: str) -> Iterator[str]:
        place = bisect_left(self._words, begin)
        while place < len(self._words) and self._words[place].startswith(begin):
            yield self._words[place]
            place += 1

    def places(self, forms: Iterable[str]) -> dict[int, Found]:
        """The sections that have one of these words, by number, with all of them counted together."""
        every: dict[int, Found] = {}
        for form in forms:
            for number, found in self._found[form].items():
                every[number] = _both(every[number], found) if number in every else found
        return every


def _both(one: Found, other: Found) -> Found:
    starts = [each.first for each in (one, other) if each.first >= 0]
    return Found(one.times + other.times, min(starts, default=-1), one.in_title or other.in_title)
