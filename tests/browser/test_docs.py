"""The docs in a browser: every page is looked at by axe; tabs and search need no script."""

import gzip
import re

import pytest

from hub.docs import library
from tests.browser.screens import Screen, Visit
from tests.hub_process import ROOT

pytestmark = pytest.mark.django_db(transaction=True)

LIBRARY = library.read(ROOT / "docs" / "v0", base_url="https://hub.example")
TABBED = [page for page in LIBRARY.pages.values() if " tab=" in page.source]
LONGEST = max(LIBRARY.pages.values(), key=lambda page: len(page.source))
HEAVIEST = max(LIBRARY.pages.values(), key=lambda page: page.source.count("-light.webp"))

OTHERS = [Screen(1280, "dark"), Screen(375, "dark", axe=False), Screen(1280, "light", axe=False)]


CUT = """[...document.querySelectorAll('.docs table')]
    .filter(each => each.scrollWidth > each.parentElement.clientWidth).length
    + [...document.querySelectorAll('.docs pre')]
    .filter(each => each.scrollHeight > each.clientHeight).length"""
SPLIT = """() => {
    const place = document.createRange(), split = [];
    for (const cell of document.querySelectorAll('.docs :is(th, td)')) {
        const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        for (let text; (text = texts.nextNode());) {
            if (text.parentElement.closest('code')) continue;
            for (const word of text.data.matchAll(/\\w+/g)) {
                place.setStart(text, word.index);
                place.setEnd(text, word.index + word[0].length);
                const tops = [...place.getClientRects()].map(each => Math.round(each.top));
                if (new Set(tops).size > 1) split.push(word[0]);
            }
        }
    }
    return split;
}"""


def test_every_page_of_the_docs(visit):
    window = visit(Screen(320))
    faults, cut, split = [], [], []
    for page in LIBRARY.pages.values():
        window.page.goto(page.path)
        faults += window.faults()
        split += window.page.evaluate(SPLIT)
        for width in (320, 720, 1280):
            window.page.set_viewport_size({"width": width, "height": 900})
            cut += [f"{page.path} at {width}"] * window.page.evaluate(CUT)
        window.page.set_viewport_size({"width": 320, "height": 900})

    assert not faults
    assert not cut
    assert not split


@pytest.mark.parametrize(
    ("screen", "others"),
    [(Screen(320), OTHERS), (Screen(375, script=False), [])],
    ids=["with-script", "plain"],
)
def test_the_docs_on_every_screen(visit, screen, others):
    window = visit(screen, others=others)

    faults = window.look_at(
        {
            "docs": "/v0/",
            "docs-longest": LONGEST.path,
            "docs-tabs": (TABBED or [LONGEST])[0].path,
            "docs-search": "/v0/search/?q=report",
            "docs-search-nothing": "/v0/search/?q=zebra",
        }
    )

    assert not faults


def test_somebody_finds_a_place_without_script(visit):
    window = visit(Screen(1280, script=False))
    window.page.goto("/v0/")

    field = window.page.get_by_label("Search the docs")
    field.fill(LONGEST.title)
    field.press("Enter")
    window.page.get_by_role("link", name=LONGEST.title).last.click()

    assert window.page.url.partition("#")[0] == window.url + LONGEST.path


@pytest.mark.skipif(not TABBED, reason="NO PAGE HAS TABS: they are not tested in a browser")
def test_tabs_need_no_script(visit):
    window = visit(Screen(1280, script=False))
    window.page.goto(TABBED[0].path)
    group = window.page.locator(".panels").first

    before = [group.locator(f".p{n}").is_visible() for n in (1, 2)]
    group.get_by_role("radio").nth(1).check(force=True)

    assert before == [True, False]
    assert [group.locator(f".p{n}").is_visible() for n in (1, 2)] == [False, True]


def test_code_is_copied_without_its_colors(visit):
    page = next((each for each in LIBRARY.pages.values() if "```sh" in each.source), None)
    if page is None:
        pytest.skip("NO PAGE HAS CODE: its button is not tested in a browser")
    window = visit(Screen())
    window.context.grant_permissions(["clipboard-read", "clipboard-write"])
    window.page.goto(page.path)
    place = window.page.locator(".copyable").first

    place.get_by_role("button", name="Copy code").click()
    place.get_by_text("Copied").wait_for()

    copied = window.page.evaluate("navigator.clipboard.readText()")
    assert copied == place.locator("code").text_content().strip()
    assert not re.search("<span|Copied", copied)


def test_the_page_with_most_pictures_costs_little_to_load(windows, hub_process):
    """Cold and compressed: 45 KB and 6 requests at most."""
    context = windows.new(hub_process.url, Screen())
    visit = Visit(context, hub_process.url, Screen())

    visit.page.goto(HEAVIEST.path, wait_until="networkidle")

    bodies = [each.response().body() for each in visit.finished]
    context.close()
    assert sum(min(len(body), len(gzip.compress(body))) for body in bodies) <= 45_000
    assert len(bodies) <= 6
