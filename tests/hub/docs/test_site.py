"""The docs of this Hub as they are: complete, linked, and small."""

import gzip
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin

import pytest
from django.test import Client

from hub.docs import library
from tests.hub_process import ROOT

BASE = "https://hub.example"
LIBRARY = library.read(ROOT / "docs" / "v0", base_url=BASE)
MOST = 45_000  # bytes, compressed, of a page and all that it loads


class Found(HTMLParser):
    """The ids of a page, its links and images, and what is loaded with it at once."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if "id" in values:
            self.ids.append(values["id"])
        address = values.get("href", values.get("src", ""))
        if address:
            self.links.append(address)
        is_loaded = "src" in values or values.get("rel") in ("icon", "stylesheet")
        if is_loaded and values.get("loading") != "lazy":
            self.loaded.append(address)


@pytest.fixture(scope="module")
def site() -> dict[str, Found]:
    """Every page of the docs by its path, as a visitor sees it."""
    return {page.path: Found(_text(page.path)) for page in LIBRARY.pages.values()}


def _text(path: str) -> str:
    answer = Client().get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


def _inside(site: dict[str, Found]) -> Iterator[tuple[str, str]]:
    """Each link to this Hub: the page where it stands, and its target in full."""
    for path, page in site.items():
        for link in page.links:
            target = urljoin(BASE + path, link)
            if target.startswith(f"{BASE}/") and not target.startswith(f"{BASE}/static/"):
                yield path, target.removeprefix(BASE)


@pytest.mark.django_db
def test_every_link_of_the_docs_answers(site):
    answers: dict[str, int] = {}
    dead = set()
    for path, target in _inside(site):
        address = urldefrag(target).url
        if address not in answers:
            answers[address] = Client().get(address).status_code
        if answers[address] >= 400:
            dead.add(f"{path} links to {address}: {answers[address]}")

    assert not dead, "\n".join(sorted(dead))


def test_every_anchor_of_the_docs_is_there(site):
    broken = [
        f"{path} links to {target}"
        for path, target in _inside(site)
        for address, anchor in [urldefrag(target)]
        if anchor and address in site and anchor not in site[address].ids
    ]

    assert not broken


def test_no_page_has_an_id_twice(site):
    assert not [path for path, page in site.items() if len(page.ids) != len(set(page.ids))]


def test_the_contents_name_every_page_once_as_it_names_itself():
    listed = [entry for chapter in LIBRARY.chapters for entry in chapter.entries]

    assert sorted(entry.name for entry in listed) == sorted(LIBRARY.pages.keys() - {""})
    assert [entry.title for entry in listed] == [LIBRARY.pages[e.name].title for e in listed]
    assert all(entry.about for entry in listed)


def test_the_six_chapters_are_there():
    titles = [chapter.title for chapter in LIBRARY.chapters]

    assert titles == [
        "Tutorials",
        "How-to guides",
        "Running a Hub",
        "Reference",
        "Explanation",
        "Security",
    ]


@pytest.mark.parametrize("page", LIBRARY.pages.values(), ids=lambda page: page.name or "index")
def test_a_page_begins_with_its_title_and_one_sentence(page):
    title, *others = page.sections

    assert title.level == 1
    assert all(section.level in (2, 3) for section in others)
    assert re.fullmatch(r"[^.!?]+(\.\w[^.!?]*)*\.", page.about), page.about


@pytest.mark.parametrize("page", LIBRARY.pages.values(), ids=lambda page: page.name or "index")
def test_a_page_costs_little_to_load(client, page):
    """Without its pictures: tests/browser/test_docs.py counts those that a browser loads."""
    html = client.get(page.path).content
    files = [_file(address) for address in Found(html.decode()).loaded]

    assert len(files) + 1 <= 6
    assert sum(len(gzip.compress(each)) for each in [html, *files]) <= MOST


def _file(address: str) -> bytes:
    if address.startswith("/static/"):
        return (ROOT / address.lstrip("/")).read_bytes()
    return Client().get(address).content


COLORS = re.compile(r"--(\w+): light-dark\((#\w+), (#\w+)\)")


@pytest.mark.parametrize("name", ["ink", "soft", "accent"])
@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_the_colors_of_code_can_be_read(name: str, theme: int):
    style = (ROOT / "static" / "look.css").read_text()
    colors = {match[1]: (match[2], match[3]) for match in COLORS.finditer(style)}

    for ground in ("sunken", "surface"):
        assert _contrast(colors[name][theme], colors[ground][theme]) >= 4.5


def _contrast(one: str, other: str) -> float:
    """https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio"""
    lower, upper = sorted((_luminance(one), _luminance(other)))
    return (upper + 0.05) / (lower + 0.05)


def _luminance(color: str) -> float:
    digits = color[1:] if len(color) == 7 else "".join(2 * digit for digit in color[1:])
    parts = [int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
