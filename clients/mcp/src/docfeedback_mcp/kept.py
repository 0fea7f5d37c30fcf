"""A yes whose report could not be sent: it holds for the same bytes at the same address, and no others."""

import time
from dataclasses import dataclass, field
from typing import NamedTuple

from docfeedback import DocFeedbackError, Draft, Unreachable
from docfeedback.hub import AGAIN_STATUSES

from .question import Question

MOST = 20
SECONDS = 3600
TOO_MANY = 429


class _Yes(NamedTuple):
    question: Question
    since: float

    def is_for(self, question: Question) -> bool:
        """Whether the person would read the very same words, of the very same request."""
        agreed = self.question
        same = agreed.request == question.request and agreed.message() == question.message()
        return same and time.monotonic() - self.since < SECONDS


@dataclass
class Kept:
    """By the bytes of the report; each is for one more attempt, and kept again only if that fails, too."""

    _given: dict[bytes, _Yes] = field(default_factory=dict)

    def keep(self, question: Question, since: float | None = None) -> None:
        """Keep the yes to this question; `since`: when it was given, if not now."""
        while len(self._given) >= MOST:
            del self._given[next(iter(self._given))]
        now = time.monotonic()
        self._given[question.draft.data] = _Yes(question, now if since is None else since)

    def take(self, draft: Draft) -> _Yes | None:
        """The yes for exactly these bytes, which is then no longer kept."""
        return self._given.pop(draft.data, None)


def can_be_tried_again(error: DocFeedbackError) -> bool:
    """Whether the Hub could not be reached, or asked to wait."""
    return isinstance(error, Unreachable) or error.status in (TOO_MANY, *AGAIN_STATUSES)
