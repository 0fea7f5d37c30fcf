"""Search over the pages of one version, section by section, by the index of their words."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hub.docs.library import Library, Page
from hub.docs.markdown import Section
from hub.docs.words import WORD, Found

LONGEST = 100  # characters of a query
MOST_WORDS = 8
MOST_HITS = 20
MOST_OF_A_PAGE = 3
EXCERPT = 180  # characters
BEFORE = 60  # of them before the first word that was found
EVERYWHERE = re.compile("an?|and|are|can|do|for|how|i|in|is|it|my|of|on|or|the|to|what|with")
IN_PAGE_TITLE, IN_HEADING, IN_TEXT = 16, 6, 2  # points of a word, by where it is
MOST_REPEATS = 3  # of a word in a text, a point each

Part = tuple[str, bool]  # a text, and whether it is marked
Places = Mapping[int, Found]  # where one word of the query is, by the number of the section
Rated = tuple[int, int]  # the points of a section, and its number


@dataclass(frozen=True)
class Hit:
    """A section that was found; the parts of its title and of its text that match are marked."""

    page: Page
    section: Section
    score: int
    title: list[Part]
    excerpt: list[Part]

    @property
    def path(self) -> str:
        """The address of the section."""
        anchor = f"#{self.section.anchor}" if self.section.level > 1 else ""
        return self.page.path + anchor


def words_of(query: str) -> list[str]:
    """The words that are searched for.

    >>> words_of("Verifying a domain?")
    ['verifying', 'domain']
    """
    words = list(dict.fromkeys(WORD.findall(query[:LONGEST].lower())))
    return ([word for word in words if not EVERYWHERE.fullmatch(word)] or words)[:MOST_WORDS]


def search(library: Library, query: str) -> list[Hit]:
    """The sections that have all words, or that have most of them in a page that has all; the best first."""
    forms = [library.words.forms(word) for word in words_of(query)]
    if not forms or not all(forms):
        return []
    words = [library.words.places(each) for each in forms]
    rated = [
        each for numbers in _pages(library, words) for each in _of_page(library, numbers, words)
    ]
    best = sorted(rated, key=lambda each: -each[0])[:MOST_HITS]
    marked = {form for each in forms for form in each}
    return [_hit(library, each, words, marked) for each in best]


def _pages(library: Library, words: Sequence[Places]) -> list[range]:
    """The sections of each page that has all words somewhere, by their numbers."""
    numbers = library.numbers_of_pages
    pages = [{numbers[number] for number in places} for places in words]
    return sorted(set.intersection(*pages), key=lambda each: each.start)


def _of_page(library: Library, numbers: range, words: Sequence[Places]) -> list[Rated]:
    """Its best sections."""
    by_title = [int(numbers[0] in places and places[numbers[0]].in_title) for places in words]
    rated = [(_points(library.sections[n][1].level, n, words, by_title), n) for n in numbers]
    whole = [each for each in rated if all(each[0])]
    best = sorted(((sum(points), n) for points, n in whole or rated), key=lambda each: -each[0])
    return best[: MOST_OF_A_PAGE if whole else 1]


def _points(level: int, number: int, words: Sequence[Places], by_title: Sequence[int]) -> list[int]:
    """What each word is worth in a section; 0 where it is not.

    A section about what the page's title says has a point, though it does not say so again.
    """
    return [
        _worth(places[number], level) if number in places else about
        for places, about in zip(words, by_title, strict=True)
    ]


def _worth(found: Found, level: int) -> int:
    points = IN_TEXT + min(found.times, MOST_REPEATS) if found.times else 0
    if found.in_title:
        points += IN_PAGE_TITLE if level == 1 else IN_HEADING
    return points


def _hit(library: Library, rated: Rated, words: Sequence[Places], marked: Collection[str]) -> Hit:
    score, number = rated
    page, section = library.sections[number]
    firsts = [places[number].first for places in words if number in places]
    first = min((each for each in firsts if each >= 0), default=None)
    excerpt = list(_parts(_excerpt(section.text, first), marked))
    return Hit(page, section, score, list(_parts(section.title, marked)), excerpt)


def _excerpt(text: str, first: int | None) -> str:
    """The text around the first word that was found, cut between words."""
    match = None if first is None else WORD.match(text, first)
    start = max(0, match.start() - BEFORE) if match else 0
    if start:
        start = text.find(" ", start) + 1
    end = start + EXCERPT
    if end < len(text):
        end = max(text.rfind(" ", start, end), match.end() if match else start)
    cut = " ".join(text[start:end].split())
    return f"{'… ' if start else ''}{cut}{' …' if end < len(text) else ''}"


def _parts(text: str, marked: Collection[str]) -> Iterator[Part]:
    end = 0
    for match in WORD.finditer(text):
        if match[0].lower() in marked:
            yield text[end : match.start()], False
            yield match[0], True
            end = match.end()
    yield text[end:], False
