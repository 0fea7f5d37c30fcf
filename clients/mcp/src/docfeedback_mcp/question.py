"""What the person is shown: the whole report as it will be sent, and other ways to send it."""

import json
import re
import sys
import textwrap
from base64 import urlsafe_b64encode
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from docfeedback import Client, Draft, address, programs
from docfeedback.web import Request

from . import legible

LONGEST_LINK = 5999
NOTHING_FROM_HERE = (  # else Python looks for modules in the current folder first: in the repository
    "-P" if sys.version_info >= (3, 11) else "-I"
)
HIDDEN = "It contains invisible characters, or some that hide others; they are shown as escapes."
BREAK = "\n\n"
PLAIN = re.compile(r"[A-Za-z0-9_./:@-]+")  # means the same in every shell
FLAGS = {
    "/doc_url": "--doc-url",
    "/agent/name": "--agent",
    "/report/kind": "--kind",
    "/report/summary": "--summary",
    "/report/details": "--details",
    "/report/suggested_fix": "--suggested-fix",
}


class Link(NamedTuple):
    """A form that is filled in, and what of the report it does not carry."""

    url: str
    left_out: list[str]


class Question(NamedTuple):
    """A report that waits for consent, and the exact request that will be sent.

    `note`: what the person has to know about the page, in our words.
    """

    draft: Draft
    request: Request
    note: str = ""

    def message(self) -> str:
        """What the person reads."""
        page = self.about_page()
        hidden = f" {HIDDEN}" if self.hides() else ""
        return (
            f"Send this report to {_origin(self.request.url)}? {self.chosen_by()} "
            f"It may become a public issue.{hidden}{BREAK + page + BREAK if page else ' '}"
            f"This is all that is sent, and where:{BREAK}{self.shown()}"
        )

    def form(self) -> dict[str, Any]:
        """The JSON Schema of what the person fills in."""
        return yes("Send this report", "Nothing is sent unless you agree.")

    def about_page(self) -> str:
        """What the person has to know about the page, in short lines."""
        notes = (self.note, address.host_note(self.draft.page))
        return "\n".join(textwrap.fill(each, legible.WIDTH) for each in notes if each)

    def chosen_by(self) -> str:
        """Who chose this Hub."""
        page = self.draft.page
        if self.draft.hub_url is not None or page is None:
            return "This Hub is configured on this computer."
        host = urlsplit(page._replace(rest="").ascii_url() or "").hostname
        return f"This Hub was chosen by {host}, not by you."

    def hides(self) -> bool:
        """Whether some of it is invisible."""
        return legible.hides(self.draft.body)

    def shown(self) -> str:
        """Address and report, in code blocks."""
        report = legible.shown(json.loads(self.request.body or b"{}"))
        return f"```\n{self.request.url}\n```\n\n```json\n{report}\n```"


def yes(title: str, description: str) -> dict[str, Any]:
    """The JSON Schema of a form with one box, which is ticked to agree."""
    box = {"type": "boolean", "title": title, "description": description}
    return {"type": "object", "properties": {"send": box}, "required": ["send"]}


def command(draft: Draft) -> str | None:
    """A command line that sends the report, in words that no shell changes; None if there is none.

    The report is base64url: quotes and backslashes mean something else in each shell, and its text
    could get out of them.
    """
    words = [*_program(), "report"]
    if draft.hub_url is not None:
        words += ["--hub-url", draft.hub_url]
    words += ["--base64", urlsafe_b64encode(draft.data).decode().rstrip("=")]
    return " ".join(words) if all(map(PLAIN.fullmatch, words)) else None


def link(draft: Draft) -> Link | None:
    """The form for people at a Hub that is configured here, filled in; other Hubs may have a different one.

    What makes it too long is left out, the longest text first; None if that is the page.
    """
    if draft.hub_url is None:
        return None
    said = dict(_leaves(draft.body))
    filled = {_field(FLAGS[at]): said[at] for at in said if at in FLAGS}
    while len(url := _form(draft.hub_url, filled)) > LONGEST_LINK:
        if len(filled) == 1:
            return None
        del filled[max(filled.keys() - {"doc_url"}, key=lambda name: len(quote(filled[name])))]
    left_out = [at for at in said if _field(FLAGS.get(at, at)) not in filled]
    return Link(url, [_name(at) for at in left_out if at != "/protocol_version"])


def prepare(client: Client, draft: Draft, note: str = "") -> Question:
    """What the person will be asked. The page's host is looked up only where no Hub is configured.

    Raises OptedOut, or ValidationError if no usable Hub is known.
    """
    request = client.to_known_hub(draft) or client.resolve(draft)
    return Question(draft, request, note)


def _form(hub_url: str, filled: dict[str, str]) -> str:
    return f"{hub_url}/report/?{urlencode(filled, quote_via=quote, safe='')}"


def _field(flag: str) -> str:
    """The name in the form, and in the link, of what this flag says."""
    return flag.removeprefix("--").replace("-", "_")


def _name(pointer: str) -> str:
    return pointer.removeprefix("/report").removeprefix("/").replace("/", ".")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _program() -> list[str]:
    """The command line of the package that is installed here, which may be on nobody's path."""
    if programs.find("docfeedback"):
        return ["docfeedback"]
    return [sys.executable, NOTHING_FROM_HERE, "-m", "docfeedback"]


def _leaves(value: Any, pointer: str = "") -> list[tuple[str, Any]]:
    if not isinstance(value, dict):
        return [(pointer, value)]
    return [leaf for name, item in value.items() for leaf in _leaves(item, f"{pointer}/{name}")]
