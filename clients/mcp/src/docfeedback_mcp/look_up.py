"""Where no Hub is configured: nobody's host is asked which Hub takes its reports before the person agrees.

The name of a host can carry what a page has told an agent to put there, and looking it up tells its owner.
"""

import json
import textwrap
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from docfeedback import Draft, discovery

from . import legible
from .question import yes


class LookUp(NamedTuple):
    """A report whose Hub only the page's host can name, in the file at `url`, which waits for consent.

    `note`: what the person has to know about the page, in our words.
    """

    draft: Draft
    url: str
    note: str = ""

    def message(self) -> str:
        """What the person reads."""
        return (
            f"Ask {self.host()} which Hub takes reports about its pages? An agent wants to report one "
            "of them, and no Hub is configured on this computer. The host learns that somebody may "
            "report it. The report is not sent yet: if a Hub is named, you are asked again, with the "
            f"whole report and its address. Only this is requested now, and where it redirects, at most "
            f"{discovery.MAX_REDIRECTS} times, also to other hosts:\n\n```\n{self.url}\n```"
        )

    def host(self) -> str:
        """Whose file it is, in ASCII."""
        return urlsplit(self.url).hostname or ""

    def form(self) -> dict[str, Any]:
        """The JSON Schema of what the person fills in."""
        return yes("Ask this host", "The report is not sent yet.")

    def about_page(self) -> str:
        """What the person has to know about the page, in short lines."""
        return textwrap.fill(self.note, legible.WIDTH)

    def chosen_by(self) -> str:
        """Who chooses the Hub to which the command sends it."""
        return (
            f"No Hub is configured on this computer, and {self.host()} was not asked for one. The "
            f"command asks it, and sends the report to the Hub that it names."
        )

    def hides(self) -> bool:
        """Whether some of the report is invisible."""
        return legible.hides(self.draft.body)

    def shown(self) -> str:
        """What would be looked up, and the report, in code blocks."""
        report = legible.shown(json.loads(self.draft.data))
        return f"```\n{self.url}\n```\n\n```json\n{report}\n```"


def needed(draft: Draft, note: str = "") -> LookUp | None:
    """What has to be looked up before it is known where the report goes; None: nothing, or it is cached."""
    if draft.hub_url is not None or draft.page is None or discovery.cached(draft.page) is not None:
        return None
    url = draft.page._replace(rest=discovery.PATH).ascii_url()
    return LookUp(draft, url, note) if url else None
