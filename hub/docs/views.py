"""The docs as pages, as Markdown, and their images."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import conditional_page, require_safe

from core import page_rates
from hub.docs import search as searching
from hub.docs import shelf
from hub.docs.library import IMAGES, Library, Page, name_of

MARKDOWN = "text/markdown; charset=utf-8"
REPORTING = "reference/reports-api"  # where an agent reads how to report

for_a_while = cache_control(public=True, max_age=300)


def _library(version: str) -> Library:
    if (library := shelf.find(version)) is None:
        raise Http404
    return library


def _page(version: str, name: str) -> tuple[Library, Page]:
    library = _library(version)
    if name not in library.pages:
        raise Http404
    return library, library.pages[name]


@require_safe
@conditional_page
@cache_control(public=True, no_cache=True)
def page(request: HttpRequest, version: str, name: str = "") -> HttpResponse:
    """`/v0/<page>/`: a page in its frame."""
    library, found = _page(version, name)
    previous, following = library.neighbors(found)
    return render(
        request,
        "docs/page.html",
        frame(library, found) | {"previous": previous, "following": following},
    )


def frame(library: Library, page: Page | None = None) -> dict:
    """What the frame of every page of the docs shows, around `page`."""
    latest = shelf.latest()
    name = page.name if page else ""
    in_latest = latest.pages.get(name, latest.index)
    return {
        "room": "docs",
        "library": library,
        "page": page,
        "chapter": library.chapter_of(page) if page else "",
        "is_latest": library.version == latest.version,
        "in_latest": in_latest,
        "canonical": in_latest if name in latest.pages else page,
        "versions": [(each, shelf.address(each, name)) for each in shelf.versions()],
        "reporting": library.pages.get(REPORTING),
        "hub": settings.HUB_BASE_URL,
    }


@require_safe
@page_rates.limited("searches")
@conditional_page
@cache_control(public=True, no_cache=True)
def search(request: HttpRequest, version: str) -> HttpResponse:
    """`/v0/search/?q=`: the sections that have the words."""
    library = _library(version)
    query = request.GET.get("q", "")[: searching.LONGEST].strip()
    found = {
        "query": query,
        "words": searching.words_of(query),
        "hits": searching.search(library, query),
    }
    return render(request, "docs/search.html", frame(library) | found)


@require_safe
@conditional_page
@for_a_while
def as_markdown(request: HttpRequest, version: str, name: str) -> HttpResponse:
    """`/v0/<page>.md`: the text of a page, for agents."""
    _, found = _page(version, name_of(name))
    return HttpResponse(found.source, content_type=MARKDOWN)


@require_safe
@conditional_page
@for_a_while
def image(request: HttpRequest, version: str, name: str) -> HttpResponse:
    """`/v0/<image>`: a picture of a page."""
    path = _library(version).images.get(name)
    if path is None:
        raise Http404
    return HttpResponse(path.read_bytes(), content_type=IMAGES[path.suffix])


@require_safe
def leads_on(request: HttpRequest, version: str, name: str = "") -> HttpResponse:
    """`/v0/<page>`, `/docs/<page>.md`: leads to the address of the page, of its Markdown, or of the search."""
    name = name.strip("/")
    if name == "search":
        return redirect("docs-search", version)
    if name.endswith(".md"):
        return redirect(_page(version, name_of(name.removesuffix(".md")))[1].markdown_path)
    return redirect(_page(version, name)[1].path)
