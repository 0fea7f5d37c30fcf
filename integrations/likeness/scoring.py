"""The rule for a list of reports, as it is held against labeled ones; nothing of the Hub is needed."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from integrations.likeness.choosing import Candidate, nearest
from integrations.likeness.terms import Terms, terms_of

_joined: dict[tuple[str, ...], Any] = {}  # what each report joined, by all ids up to it


def joins(report: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]]) -> str | None:
    """The id of the earlier report whose issue `report` joins."""
    lead_of: dict[str, str] = {}
    for at, each in enumerate(earlier):
        lead_of[each["id"]] = _lead(each, earlier[:at], lead_of) or each["id"]
    return _lead(report, earlier, lead_of)


def _lead(
    report: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]], lead_of: dict[str, str]
) -> str | None:
    key = (report["page"], *(each["id"] for each in earlier), report["id"])
    if key not in _joined:
        by_id = {each["id"]: _terms(each) for each in earlier}
        leads = [
            Candidate(
                i, by_id[i], lambda i=i: [by_id[m] for m in by_id if m != i and lead_of[m] == i]
            )
            for i in reversed(by_id)
            if lead_of[i] == i
        ]
        match = nearest(_terms(report), leads)
        _joined[key] = match.id if match and match.is_same else None
    return _joined[key]


def _terms(row: Mapping[str, Any]) -> Terms:
    report = row["report"]
    evidence = tuple((each["kind"], each["text"]) for each in report.get("evidence") or ())
    return _made(
        report["summary"],
        report.get("details") or "",
        evidence,
        report.get("suggested_fix") or "",
        row["doc_url"],
    )


@lru_cache(10_000)
def _made(
    summary: str, details: str, evidence: tuple[tuple[str, str], ...], fix: str, url: str
) -> Terms:
    pieces = [{"kind": kind, "text": text} for kind, text in evidence]
    return terms_of(summary, details, pieces, fix, url)
