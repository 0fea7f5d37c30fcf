"""The rule, held against labeled reports of invented pages."""

from itertools import combinations

import pytest

from integrations.likeness.scoring import hints, joins
from tests.integrations.likeness.labeled import PAGES
from tests.integrations.likeness.traps import TRAPS


def pairs(decide):
    """(whether they are one problem, whether they were folded) for each two reports of a page."""
    for url, rows in PAGES.items():
        reports = [
            {"id": str(at), "doc_url": url, "report": report} for at, (_, report) in enumerate(rows)
        ]
        lead_of = {}
        for at, report in enumerate(reports):
            joined = decide(report, reports[:at])
            lead_of[str(at)] = lead_of[joined] if joined else str(at)
        for (i, (one, _)), (j, (other, _)) in combinations(enumerate(rows), 2):
            if one or other:
                yield one == other, lead_of[str(i)] == lead_of[str(j)]


@pytest.mark.parametrize(("decide", "least"), [(joins, 0.8), (hints, 0.8)], ids=["fold", "hint"])
def test_no_report_is_folded_wrongly_and_many_are_folded(decide, least):
    found = list(pairs(decide))

    assert (False, True) not in found
    assert found.count((True, True)) >= least * sum(same for same, _ in found)


def test_the_answer_is_the_same_whatever_was_asked_before():
    url, rows = next(iter(PAGES.items()))
    reports = [{"id": str(at), "doc_url": url, "report": row[1]} for at, row in enumerate(rows)]

    backwards = [joins(reports[at], reports[:at]) for at in reversed(range(len(reports)))]

    assert backwards[::-1] == [joins(reports[at], reports[:at]) for at in range(len(reports))]
    assert joins(reports[1], reports[:1]) == "0"


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap[0][:30])
def test_two_problems_in_nearly_the_same_words_are_told_apart(trap):
    one, other = (as_report(at, text) for at, text in enumerate(trap))

    assert joins(other, [one]) is None
    assert joins(one, [other]) is None


def as_report(at, text):
    summary, _, details = text.partition("|")
    report = {"summary": summary, "details": details}
    return {"id": str(at), "doc_url": "https://docs.acme.example/guide", "report": report}
