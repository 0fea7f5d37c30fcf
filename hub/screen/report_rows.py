"""Reports as rows: what the list of reports and the overview show of each."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from hub.screen.delivery_states import DeliveryState, state_of
from integrations.api.report_list import Received
from integrations.delivery.waiting import Wait
from integrations.models import Delivery
from reports.cleaning import clean
from reports.models import Report

PARTS = re.compile(
    r"(?:https?://([^/?#]*))?([^?#]*)(\?[^#]*)?(?:#.*)?", re.ASCII | re.IGNORECASE | re.DOTALL
)


class Row(NamedTuple):
    """A report, its delivery, why that waits, its state, and its page.

    The page is its path, with the host where there are several.
    """

    report: Report
    delivery: Delivery | None
    wait: Wait | None
    state: DeliveryState
    page: str
    acts: frozenset[str]  # of `acts.FOR_MANY`, what may be done to it


ACTS = {  # for each state; anything else says why not when it is tried
    "pending": {"discard"},
    "held": {"retry", "discard"},
    "failed": {"retry", "discard"},
    "folded": {"discard"},
    "discarded": {"restore"},
}


def rows_of(received: Iterable[Received]) -> list[Row]:
    """Each of them as a row."""
    found = list(received)
    pages = short_addresses([each.report.doc_url for each in found])
    return [
        Row(*each, state_of(each.status), page, frozenset(ACTS.get(each.status, ())))
        for each, page in zip(found, pages, strict=True)
    ]


def short_addresses(urls: Iterable[str]) -> list[str]:
    """Each without scheme, fragment and what nobody sees, and without its host if all have the same.

    >>> short_addresses(["https://docs.acme.com", "https://docs.acme.com/install?v=2#top"])
    ['/', '/install?v=2']
    >>> short_addresses(["https://docs.acme.com/a", "https://acme.github.io/a"])
    ['docs.acme.com/a', 'acme.github.io/a']
    """
    parts = [match.groups("") for each in urls if (match := PARTS.fullmatch(clean(each)))]
    has_one_host = len({host.lower() for host, _, _ in parts}) < 2
    return [f"{'' if has_one_host else host}{path or '/'}{query}" for host, path, query in parts]
