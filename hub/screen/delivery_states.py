"""The states of a report's delivery, in words and shapes."""

from typing import NamedTuple

from integrations.api.report_list import NONE

IN_WORDS = {  # a status, for people
    "pending": "Waiting",
    "sending": "Being sent",
    "sent": "Sent",
    "held": "Held",
    "failed": "Failed",
    "discarded": "Discarded",
    NONE: "Not forwarded",
}
TONES = {"sent": "good", "pending": "wait", "sending": "wait", "held": "wait", "failed": "bad"}


class DeliveryState(NamedTuple):
    """A status as the pages show it."""

    words: str
    tone: str


def state_of(status: str) -> DeliveryState:
    """Of a delivery's status, or of `NONE`."""
    return DeliveryState(IN_WORDS[status], TONES.get(status, "off"))
