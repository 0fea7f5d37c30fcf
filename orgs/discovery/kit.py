"""The texts that the owner of a claim publishes, so that agents and readers find the Hub."""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlencode

WELL_KNOWN = "/.well-known/docs-feedback.json"
LLMS = "/llms.txt"
HERE = Path(__file__).resolve().parent


class Line(NamedTuple):
    """A link for the foot of each page, in the language of a site generator."""

    generator: str
    html: str


def well_known(hub: str, *, opted_out: bool) -> str:
    """The file that clients look for: to which Hub reports about this host go, or that none are wanted."""
    if opted_out:
        said: dict[str, object] = {"protocol_version": "0", "opt_in": False}
    else:
        said = {"protocol_version": "0", "opt_in": True, "endpoint": endpoint(hub)}
    return json.dumps(said, indent=2) + "\n"


def endpoint(hub: str) -> str:
    """Where reports are sent."""
    return f"{hub}/v1/reports"


def form(hub: str) -> str:
    """The report form."""
    return f"{hub}/report/"


def llms_section(hub: str, site: str) -> str:
    """A section for the site's `llms.txt`."""
    return (
        "## Feedback\n\n"
        f"- [Report a problem with a page]({report_link(hub, site)}): for people and agents; "
        "say which page, and what is wrong\n"
        f"- [Report by program]({hub}/v0/reference/reports-api.md): `POST {hub}/v1/reports`\n"
    )


def report_link(hub: str, page: str) -> str:
    """The report form, filled in with the address of a page."""
    return f"{form(hub)}?{urlencode({'doc_url': page}, quote_via=quote)}"


def lines(hub: str, site: str) -> list[Line]:
    """The link for each page's foot; a generator fills in the address of the page."""
    pages = {
        "MkDocs": "{{ page.canonical_url|urlencode }}",
        "Sphinx": "{{ pageurl|urlencode }}",
        "Hugo": "{{ .Permalink | urlquery }}",
        "Jekyll": "{{ page.url | absolute_url | url_encode }}",
        "Any page": quote(site, safe=""),
    }
    return [
        Line(name, f'<a href="{form(hub)}?doc_url={page}">Something wrong on this page?</a>')
        for name, page in pages.items()
    ]


def agents_block(hub: str) -> str:
    """The block for `AGENTS.md`, between its markers, as `docfeedback init` writes it."""
    text = _block().replace("{hub_url}", hub).strip()
    begin, end = "docfeedback:begin first-party v0", "docfeedback:end first-party"
    return f"<!-- {begin} -->\n{text}\n<!-- {end} -->\n"


@cache
def _block() -> str:
    return (HERE / "first-party.md").read_text(encoding="ascii")


def badge(hub: str, claim_id: str, site: str) -> str:
    """The badge, as Markdown."""
    return f"[![Docs feedback]({hub}/badge/{claim_id}.svg)]({report_link(hub, site)})"
