"""The pages of one version of the docs: read from a folder, in the order of its `index.md`."""

import itertools
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from markdown_it.token import Token

from hub.docs import markdown
from hub.docs.markdown import Section
from hub.docs.words import Index

HUB = "https://hub.example.com"  # stands for this Hub in the texts
LATEST = "v0"  # the version that is worked on, to which absolute links lead
INDEX = "index"
CALL = re.compile(r"(?:GET|POST|PUT|PATCH|DELETE) /")
IMAGES = {".svg": "image/svg+xml", ".png": "image/png", ".webp": "image/webp"}


@dataclass(frozen=True)
class Entry:
    """A line of `index.md`: a page, and what it is in a few words."""

    name: str
    title: str
    about: str


@dataclass(frozen=True)
class Chapter:
    """Pages of one kind, below their heading in `index.md`."""

    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Page:
    """One page: `name` is its path below the version, without slashes at its ends; empty for the index."""

    version: str
    name: str
    source: str

    @property
    def path(self) -> str:
        """Its address on this Hub."""
        return f"/{self.version}/{self.name}/" if self.name else f"/{self.version}/"

    @property
    def markdown_path(self) -> str:
        """The address of its Markdown."""
        return f"/{self.version}/{self.name or INDEX}.md"

    @cached_property
    def sections(self) -> list[Section]:
        """Its sections in order; the first has its title."""
        return markdown.sections(self.source)

    @property
    def title(self) -> str:
        """Its title."""
        return self.sections[0].title

    @property
    def about(self) -> str:
        """The sentence below its title."""
        return self.sections[0].text.partition("\n")[0]

    @property
    def on_this_page(self) -> list[Section]:
        """The sections that a reader may jump to, and the calls that are described in them."""
        return [each for each in self.sections if each.level == 2 or CALL.match(each.title)]

    @cached_property
    def html(self) -> str:
        """The page as HTML."""
        return markdown.html(self.source, link=self._link)

    def _link(self, target: str) -> str:
        """The address of a link: a Markdown file's becomes its page's, an image's is below the version."""
        parts = urlsplit(target)
        if parts.scheme or parts.netloc or not parts.path or parts.path.startswith("/"):
            return target
        folder = posixpath.dirname(self.name)
        name = posixpath.normpath(posixpath.join("/", self.version, folder, parts.path))
        anchor = f"#{parts.fragment}" if parts.fragment else ""
        if not name.endswith(".md"):
            return name + anchor
        return f"{name.removesuffix('.md').removesuffix(f'/{INDEX}')}/{anchor}"


@dataclass(frozen=True)
class Library:
    """All pages of a version by name, its chapters in order, and its images by path."""

    version: str
    pages: dict[str, Page]
    chapters: tuple[Chapter, ...]
    images: dict[str, Path]

    @property
    def index(self) -> Page:
        """The first page."""
        return self.pages[""]

    def in_order(self) -> list[Page]:
        """The pages in the order in which they are read, the index first."""
        names = [entry.name for chapter in self.chapters for entry in chapter.entries]
        return [self.index, *(self.pages[name] for name in names if name in self.pages)]

    @cached_property
    def sections(self) -> list[tuple[Page, Section]]:
        """All sections that can be searched, each with its page; the index only names the others."""
        return [(page, section) for page in self.in_order()[1:] for section in page.sections]

    @cached_property
    def numbers_of_pages(self) -> list[range]:
        """For each of these sections, the numbers of all sections of its page."""
        every: list[range] = []
        for page in self.in_order()[1:]:
            numbers = range(len(every), len(every) + len(page.sections))
            every += [numbers] * len(numbers)
        return every

    @cached_property
    def words(self) -> Index:
        """Where each word of these sections is."""
        return Index([section for _, section in self.sections])

    def neighbors(self, page: Page) -> tuple[Page | None, Page | None]:
        """The page before and the page after."""
        pages = self.in_order()
        if page not in pages:
            return None, None
        place = pages.index(page)
        return (pages[place - 1] if place else None), next(iter(pages[place + 1 :]), None)

    def chapter_of(self, page: Page) -> str:
        """The title of its chapter; empty for the index."""
        for chapter in self.chapters:
            if page.name in [entry.name for entry in chapter.entries]:
                return chapter.title
        return ""


def name_of(path: str) -> str:
    """The name of the page in a file, by its path below the version, without `.md`."""
    return "" if path == INDEX else path


def read(folder: Path, *, base_url: str) -> Library:
    """The library in `folder`, whose name is the version; `base_url` is the address of this Hub."""
    texts = {
        path.relative_to(folder).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*.md"))
    }
    here = {f"{HUB}/{LATEST}/": f"{base_url}/{folder.name}/", HUB: base_url}
    pages = {name_of(name): _replaced(text, here) for name, text in texts.items()}
    images = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.suffix in IMAGES
    }
    return Library(
        folder.name,
        {name: Page(folder.name, name, text) for name, text in pages.items()},
        tuple(_chapters(pages[""])),
        images,
    )


def _replaced(text: str, words: Mapping[str, str]) -> str:
    for word, other in words.items():
        text = text.replace(word, other)
    return text


def _chapters(text: str) -> Iterator[Chapter]:
    """The lists of an index: `- [Title](folder/page.md): what it is`, below a heading each."""
    title = ""
    entries: list[Entry] = []
    tokens = markdown.parse(text)
    for opening, token in itertools.pairwise(tokens):
        if opening.type == "heading_open":
            if title:
                yield Chapter(title, tuple(entries))
            title, entries = (markdown.plain(token) if opening.tag == "h2" else ""), []
        elif token.type == "inline" and token.level > 1 and (entry := _entry(token)):
            entries.append(entry)
    if title:
        yield Chapter(title, tuple(entries))


def _entry(inline: Token) -> Entry | None:
    link, *rest = inline.children or []
    if link.type != "link_open":
        return None
    end = next(place for place, each in enumerate(rest) if each.type == "link_close")
    title, about = ("".join(each.content for each in part) for part in (rest[:end], rest[end:]))
    return Entry(str(link.attrGet("href")).removesuffix(".md"), title, about.removeprefix(": "))
