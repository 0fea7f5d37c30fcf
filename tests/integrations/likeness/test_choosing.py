"""Which of the issues of a page a new report is about."""

from integrations.likeness.choosing import Candidate, nearest
from integrations.likeness.terms import Terms, terms_of

URL = "https://docs.acme.example/cli/backup"


def terms(summary: str, details: str = "", error: str = "") -> Terms:
    evidence = [{"kind": "error_message", "text": error}] if error else []
    return terms_of(summary, details, evidence, page_url=URL)


KEEP_LAST = terms(
    "`acme backup --keep-last` is refused: unknown flag", error="error: unknown flag: --keep-last"
)


def test_a_report_joins_the_issue_that_it_has_rare_terms_in_common_with():
    new = terms("The flag --keep-last was removed", "I got `unknown flag: --keep-last`.")
    other = terms("Nothing is said about encryption of archives")

    match = nearest(new, [Candidate(1, other), Candidate(2, KEEP_LAST)])

    assert match
    assert (match.id, match.is_same) == (2, True)
    assert "--keep-last" in match.terms


def test_terms_are_the_same_after_json():
    assert Terms.from_json(KEEP_LAST.as_json()) == KEEP_LAST
