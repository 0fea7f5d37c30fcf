"""What strangers are told of a problem that is known: its issue, and what the page's owner answers."""

from typing import Any

from integrations.answers import links
from integrations.models import Delivery, Integration
from orgs import renamed
from orgs.renamed import Received

NOTHING: dict[str, Any] = {"known_issue": None, "answer": None}


def of_report(url: str, delivery: Delivery | None, *, is_repeat: bool = False) -> dict[str, Any]:
    """`known_issue` and `answer` for the sender of a report about `url`, as `outcome_of` has found it.

    The issue is known to a report that has joined it, and to one that repeats (`is_repeat`) what has one.
    Whether strangers may know anything of the page is asked before.
    """
    if delivery is None:
        return NOTHING
    return {
        "known_issue": _issue(delivery, is_repeat=is_repeat),
        "answer": answer(url, delivery.integration, delivery.answer_found),
    }


def answer(
    url: str, integration: Integration, found: tuple[str, str] | None
) -> dict[str, str | None] | None:
    """The text and link of an answer, while its organization may speak of the page; no link to what is not theirs.

    Not while an operator holds all that the organization receives.
    """
    mine = integration.organization_id
    if found is None or integration.withholds(url) or integration.words_of_hold:
        return None
    if renamed.address_now(Received(url, mine)) is None:
        return None
    text, link = found
    return {"text": text, "link": link if links.shown([link], mine) else None}


def _issue(delivery: Delivery, *, is_repeat: bool) -> dict[str, str] | None:
    """The issue that everybody may see, unless it is gone."""
    if not (delivery.lead_id or is_repeat):
        return None
    url, state = delivery.public_issue_url(), delivery.public_issue_state()
    if url is None or state is None or state == Delivery.IssueState.DELETED:
        return None
    return {"url": url, "state": state}
