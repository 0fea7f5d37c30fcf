"""Search over the pages of one version, section by section, in time linear in their text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from hub.docs.library import Library, Page
from hub.docs.markdown import Section

LONGEST = 100  # characters of a query
MOST_WORDS = 8
MOST_HITS = 20
MOST_OF_A_PAGE = 3
EXCERPT = 180  # characters
BEFORE = 60  # of them before the first word that was found
ENDINGS = ("ying", "ies", "ied", "ing", "ed", "es", "s", "y", "e")
SHORTEST_STEM = 4
IN_PAGE_TITLE, IN_HEADING, IN_TEXT = 16, 6, 2  # points of a word, by where it is
MOST_REPEATS = 3  # of a word in a text, a point each

Part = tuple[str, bool]  # a text, and whether it is marked


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
    ['verifying', 'a', 'domain']
    """
    return list(dict.fromkeys(re.findall(r"\w+", query[:LONGEST].lower())))[:MOST_WORDS]


def stem(word: str) -> str:
    """The beginning that a word shares with its other forms.

    >>> [stem(word) for word in ("verify", "verified", "claims", "string")]
    ['verif', 'verif', 'claim', 'string']
    """
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST_STEM:
            return word.removesuffix(ending)
    return word


def search(library: Library, query: str) -> list[Hit]:
    """The sections that have all words, or that have most of them in a page that has all; the best first."""
    patterns = [re.compile(rf"\b{re.escape(stem(word))}\w*", re.I) for word in words_of(query)]
    if not patterns:
        return []
    pages = library.in_order()[1:]  # the index only names the others
    hits = [hit for page in pages for hit in _of_page(page, patterns)]
    return sorted(hits, key=lambda hit: -hit.score)[:MOST_HITS]


def _of_page(page: Page, patterns: Sequence[re.Pattern]) -> list[Hit]:
    """Its best sections, if all words are in it somewhere."""
    rated = [(_points(page, section, patterns), section) for section in page.sections]
    if not all(any(points[n] for points, _ in rated) for n in range(len(patterns))):
        return []
    whole = [each for each in rated if all(each[0])]
    best = sorted(whole or rated, key=lambda each: -sum(each[0]))
    kept = best[:MOST_OF_A_PAGE] if whole else best[:1]
    return [_hit(page, section, sum(points), patterns) for points, section in kept]


def _points(page: Page, section: Section, patterns: Iterable[re.Pattern]) -> list[int]:
    """What each word is worth in a section; 0 where it is not."""
    return [_worth(page, section, pattern) for pattern in patterns]


def _worth(page: Page, section: Section, pattern: re.Pattern) -> int:
    found = list(islice(pattern.finditer(section.text), MOST_REPEATS))
    points = IN_TEXT + len(found) if found else 0
    if pattern.search(section.title):
        points += IN_PAGE_TITLE if section.level == 1 else IN_HEADING
    if not points and pattern.search(page.title):
        return 1  # a section about it, though it does not say so again
    return points


def _hit(page: Page, section: Section, score: int, patterns: Sequence[re.Pattern]) -> Hit:
    marked = re.compile("|".join(each.pattern for each in patterns), re.I)
    excerpt = list(_parts(_excerpt(section.text, marked), marked))
    return Hit(page, section, score, list(_parts(section.title, marked)), excerpt)


def _excerpt(text: str, marked: re.Pattern) -> str:
    """The text around the first word that was found, cut between words."""
    match = marked.search(text)
    start = max(0, match.start() - BEFORE) if match else 0
    if start:
        start = text.find(" ", start) + 1
    end = start + EXCERPT
    if end < len(text):
        end = max(text.rfind(" ", start, end), match.end() if match else start)
    cut = " ".join(text[start:end].split())
    return f"{'… ' if start else ''}{cut}{' …' if end < len(text) else ''}"


def _parts(text: str, marked: re.Pattern) -> Iterator[Part]:
    end = 0
    for match in marked.finditer(text):
        yield text[end : match.start()], False
        yield match[0], True
        end = match.end()
    yield text[end:], False
