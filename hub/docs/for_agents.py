"""The files that agents, crawlers and scanners look for: pure text, from the docs and the settings."""

import json
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache, partial
from pathlib import Path
from urllib.parse import urljoin

from hub.docs import markdown
from hub.docs.library import HUB, Library, Page
from orgs.discovery import kit

OPENAPI = Path(__file__).with_name("openapi.json")  # written by script/openapi
TITLE = "Docs Feedback Hub"
ABOUT = (
    "Takes reports about problems in documentation pages, from agents and people, "
    "and opens an issue where the maintainers of the page work."
)
CALLS = "every call of the API for programs, with its errors and examples (OpenAPI 3.1)"
PUBLIC = ("/", "/report/", "/connect/", "/privacy/")  # and the docs
NOT_FOR_CRAWLERS = (
    *("/settings/", "/r/", "/admin/", "/login/", "/v1/", "/v0/search/"),
    "/report/?",  # every page of the docs of others has a link of its own there
)
SECURITY_LASTS = timedelta(days=360)  # https://www.rfc-editor.org/rfc/rfc9116#section-2.5.5


def llms(library: Library, base_url: str) -> str:
    """`/llms.txt`: what this is, all pages as Markdown, and how to report (https://llmstxt.org)."""
    lines = [f"# {TITLE}", "", f"> {ABOUT}", ""]
    for chapter in library.chapters:
        entries = [each for each in chapter.entries if each.name in library.pages]
        if entries:
            pages = (_line(library.pages[each.name], each.about, base_url) for each in entries)
            lines += [f"## {chapter.title}", "", *pages, ""]
    lines += ["## OpenAPI", "", f"- [openapi.json]({base_url}/openapi.json): {CALLS}", ""]
    return "\n".join([*lines, kit.llms_section(base_url, base_url + library.index.path)])


def _line(page: Page, about: str, base_url: str) -> str:
    return f"- [{page.title}]({base_url}{page.markdown_path}): {about}"


def llms_full(library: Library, base_url: str) -> str:
    """`/llms-full.txt`: all pages in order, each with its address; their links are absolute."""
    return "\n".join(_with_absolute_links(page, base_url) for page in library.in_order())


@lru_cache(maxsize=256)  # pages; all of them took 80 ms
def _with_absolute_links(page: Page, base_url: str) -> str:
    here = base_url + page.markdown_path
    text = markdown.with_links(page.source, link=partial(urljoin, here))
    return f"<!-- {base_url}{page.path} -->\n\n{text}"


@lru_cache(maxsize=1)
def openapi(base_url: str) -> str:
    """`/openapi.json`: every call of the API, with the address of this Hub (https://spec.openapis.org/oas/v3.1.1)."""
    return OPENAPI.read_text(encoding="utf-8").replace(HUB, base_url)


def robots(base_url: str) -> str:
    """`/robots.txt`: what crawlers leave alone."""
    lines = [f"Disallow: {path}" for path in NOT_FOR_CRAWLERS]
    return "\n".join(["User-agent: *", *lines, "", f"Sitemap: {base_url}/sitemap.xml", ""])


def well_known(base_url: str, contact: str) -> dict:
    """`/.well-known/docs-feedback.json` of this Hub's own docs, as the open protocol describes it."""
    document = json.loads(kit.well_known(base_url, opted_out=False))
    document["policy_url"] = f"{base_url}/privacy/"
    uri = contact_uri(contact)
    return document | ({"contact": uri} if uri else {})


def security(base_url: str, contact: str, today: date) -> str:
    """`/.well-known/security.txt` (RFC 9116), the same all day."""
    expires = datetime.combine(today + SECURITY_LASTS, time(), UTC)
    return (
        f"Contact: {contact_uri(contact)}\n"
        f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}\n"
        "Preferred-Languages: en\n"
        f"Canonical: {base_url}/.well-known/security.txt\n"
    )


def contact_uri(contact: str) -> str:
    """The contact as `mailto:` or `https:`; empty where it is neither.

    >>> contact_uri("security@hub.example.com")
    'mailto:security@hub.example.com'
    """
    if contact.startswith("https://"):
        return contact
    return f"mailto:{contact}" if "@" in contact and "://" not in contact else ""
