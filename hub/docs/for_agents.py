"""The files that agents, crawlers and scanners look for: pure text, from the docs and the settings."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from urllib.parse import urljoin, urlsplit

from hub.docs import markdown
from hub.docs.library import Library, Page

TITLE = "Docs Feedback Hub"
ABOUT = (
    "Takes reports about faults of documentation pages, from agents and people, "
    "and opens an issue where the maintainers of the page work."
)
PUBLIC = ("/", "/report/", "/connect/", "/privacy/")  # and the docs
NOT_FOR_CRAWLERS = ("/settings/", "/r/", "/admin/", "/login/", "/v1/", "/v0/search/")
SECURITY_LASTS = timedelta(days=360)  # https://www.rfc-editor.org/rfc/rfc9116#section-2.5.5


def llms(library: Library, base_url: str, reporting: Page | None) -> str:
    """`/llms.txt`: what this is, how to report, and all pages as Markdown (https://llmstxt.org)."""
    lines = [f"# {TITLE}", "", f"> {ABOUT}", "", *_how_to_report(base_url, reporting)]
    for chapter in library.chapters:
        pages = [library.pages[e.name] for e in chapter.entries if e.name in library.pages]
        if pages:
            lines += ["", f"## {chapter.title}", ""]
            lines += [
                f"- [{page.title}]({base_url}{page.markdown_path}): {page.about}" for page in pages
            ]
    return "\n".join(lines) + "\n"


def _how_to_report(base_url: str, reporting: Page | None) -> Iterator[str]:
    yield (
        f"To report a fault of a documentation page, POST a report to {base_url}/v1/reports. "
        "Ask the person you work for first."
    )
    if reporting:
        yield f"What a report is made of: {base_url}{reporting.markdown_path}"


def llms_full(library: Library, base_url: str) -> str:
    """`/llms-full.txt`: all pages in order, each with its address; their links are absolute."""
    return "\n".join(
        f"<!-- {base_url}{page.path} -->\n\n{markdown.with_links(page.source, link=_absolute(page, base_url))}"
        for page in library.in_order()
    )


def _absolute(page: Page, base_url: str) -> markdown.Link:
    return lambda target: urljoin(base_url + page.markdown_path, target)


def robots(base_url: str) -> str:
    """`/robots.txt`: what crawlers leave alone."""
    lines = [f"Disallow: {path}" for path in NOT_FOR_CRAWLERS]
    return "\n".join(["User-agent: *", *lines, "", f"Sitemap: {base_url}/sitemap.xml", ""])


def well_known(base_url: str, contact: str) -> dict:
    """`/.well-known/docs-feedback.json` of this Hub's own docs, as the open protocol describes it."""
    document = {
        "protocol_version": "0",
        "opt_in": True,
        "endpoint": f"{base_url}/v1/reports",
        "doc_domains": [urlsplit(base_url).hostname],
        "policy_url": f"{base_url}/privacy/",
    }
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
    if contact.startswith(("mailto:", "https://")):
        return contact
    return f"mailto:{contact}" if "@" in contact and "://" not in contact else ""
