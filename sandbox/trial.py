"""Reports that a person sends to the Hub by pressing a button, and what the Hub says about them.

The Hub calls the code host while it takes a report, so it is asked in the background, without the lock.
"""

import threading
from collections import deque
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from . import the_hub, variants

KEPT = 20  # reports


@dataclass(eq=False)
class Sent:
    """A report that was sent from the page of docs, and what the Hub has said about it so far."""

    number: int
    variant: variants.Variant
    body: dict[str, Any]
    answer: dict[str, Any] = field(default_factory=dict)
    receipt: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    busy: bool = True

    @property
    def has_issue(self) -> bool:
        """Whether the Hub says that its issue exists."""
        return bool(self.receipt.get("issue_url"))

    @property
    def is_matched(self) -> bool:
        """Whether the Hub says that somebody receives it."""
        return self.receipt.get("status") in ("forwarding", "forwarded")

    @property
    def is_open(self) -> bool:
        """Whether the Hub may soon say more."""
        return not self.problem and not self.has_issue


class Trial:
    """A page of docs that somebody has claimed at a Hub.

    `site` is the address that was claimed, `hub_url` the Hub's, `repository` where the issues go.
    """

    def __init__(self, *, site: str, hub_url: str, repository: str = "acme/docs") -> None:
        self.site, self.hub_url, self.repository = site, hub_url, repository
        self._numbers = count(1)
        self._sent: deque[Sent] = deque(maxlen=KEPT)

    @property
    def page(self) -> str:
        """The address that the page of docs would have."""
        return f"{self.site}install"

    @property
    def sent(self) -> list[Sent]:
        """The latest, newest first."""
        return list(reversed(self._sent))

    def find(self, number: str) -> Sent | None:
        """The report with this number; None if there is none."""
        return next((each for each in self._sent if str(each.number) == number), None)

    def send(self, variant: variants.Variant) -> Sent:
        """Send a report of this kind, in the background."""
        number = next(self._numbers)
        sent = Sent(number, variant, variant.body(self.page, number))
        self._sent.append(sent)
        threading.Thread(target=self._send, args=[sent], daemon=True).start()
        return sent

    def look_again(self, sent: Sent) -> None:
        """Ask for the report's receipt, in the background, unless it is being asked for."""
        if not sent.busy and sent.answer:
            sent.busy = True
            threading.Thread(target=self._look, args=[sent], daemon=True).start()

    def _send(self, sent: Sent) -> None:
        try:
            sent.answer = the_hub.send(self.hub_url, sent.body)
        except the_hub.NoAnswer as error:
            sent.problem = str(error)
        self._look(sent)

    def _look(self, sent: Sent) -> None:
        try:
            if sent.answer:
                sent.receipt = the_hub.receipt(self.hub_url, str(sent.answer.get("id", "")))
                sent.problem = ""
        except the_hub.NoAnswer as error:
            sent.problem = str(error)
        finally:
            sent.busy = False
