"""The rule for a list of reports, to be held against labeled ones; nothing of the Hub is needed."""

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from integrations.likeness.choosing import Candidate, Match, nearest
from integrations.likeness.terms import Terms, terms_of

Report = Mapping[str, Any]


def joins(report: Report, earlier: Sequence[Report]) -> str | None:
    """The id of the earlier report whose issue `report` joins, of some hundred of one page at most."""
    match = _matches(tuple(map(_terms, earlier)), _terms(report))[-1]
    return earlier[match.id]["id"] if match and match.is_same else None


def hints(report: Report, earlier: Sequence[Report]) -> str | None:
    """The id of the earlier report whose issue `report` joins or would name as perhaps the same."""
    match = _matches(tuple(map(_terms, earlier)), _terms(report))[-1]
    return earlier[match.id]["id"] if match else None


@lru_cache(10_000)
def _matches(earlier: tuple[Terms, ...], new: Terms) -> tuple[Match | None, ...]:
    """What each of the reports matches, as they come in; the ids are their places."""
    known = _matches(earlier[:-1], earlier[-1]) if earlier else ()
    joined = [match.id if match and match.is_same else None for match in known]
    leads = [
        Candidate(at, terms, partial(_members, earlier, joined, at))
        for at, terms in enumerate(earlier)
        if joined[at] is None
    ]
    return (*known, nearest(new, leads[::-1]))


def _members(earlier: Sequence[Terms], joined: Sequence[int | None], lead: int) -> list[Terms]:
    return [terms for terms, joins_it in zip(earlier, joined, strict=True) if joins_it == lead]


def _terms(row: Report) -> Terms:
    report = row["report"]
    evidence = tuple((each["kind"], each["text"]) for each in report.get("evidence") or ())
    texts = report["summary"], report.get("details") or "", report.get("suggested_fix") or ""
    return _made(texts, evidence, row["doc_url"])


@lru_cache(10_000)
def _made(texts: tuple[str, str, str], evidence: tuple[tuple[str, str], ...], url: str) -> Terms:
    summary, details, fix = texts
    pieces = [{"kind": kind, "text": text} for kind, text in evidence]
    return terms_of(summary, details, pieces, fix, url)
