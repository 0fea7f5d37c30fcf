"""The states of a report's delivery, as words and colors."""

from typing import NamedTuple

from integrations.api.report_filters import NONE

IN_WORDS = {  # each status, as shown to people
    "pending": "Waiting",
    "sending": "Being sent",
    "sent": "Sent",
    "folded": "Joined",
    "held": "Held",
    "failed": "Failed",
    "discarded": "Discarded",
    NONE: "Not forwarded",
}
MEANINGS = {  # what each status means, in one line
    "pending": "In the queue. It is sent in its turn.",
    "sending": "Being sent to GitHub right now.",
    "sent": "It became an issue.",
    "folded": "It is about the same problem as an earlier report, and has joined its issue.",
    "held": "Stopped until something is fixed. The report says what.",
    "failed": "GitHub refused it, or a day of tries failed. You can try again.",
    "discarded": "Kept but not sent, until somebody restores it.",
    NONE: "It arrived before a repository was chosen, so it is not sent.",
}
TONES = {
    "sent": "good",
    "folded": "good",
    "pending": "wait",
    "sending": "wait",
    "held": "wait",
    "failed": "bad",
}


class DeliveryState(NamedTuple):
    """A status as the pages show it."""

    words: str
    tone: str

    @property
    def shape(self) -> str:
        """The CSS classes of a mark that is loud only where somebody may have to act."""
        return f"{'pill' if self.tone in ('wait', 'bad') else 'state'} {self.tone}"


def state_of(status: str) -> DeliveryState:
    """How to show a delivery's status, or `NONE`."""
    return DeliveryState(IN_WORDS[status], TONES.get(status, "off"))
