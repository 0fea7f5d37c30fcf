"""What was lost, doubled, stuck or cannot be explained, after everything has settled.

It asks the database, the code host and the journal of the clients; none of the Hub's own code decides.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

from integrations.models import Alert, Comment, Delivery
from reports.models import Account, Report
from tests.chaos.evidence import OF_A_REPORT, Evidence, name
from tests.chaos.journal import Entry
from tests.chaos.log_lines import unexplained
from tests.chaos.world import CLOCK, DATABASE, DISK, GITHUB, SERVER

OF_A_COMMENT = re.compile(r"<!-- hub:(\w{26} \w+ \w+) ")
LOST, DOUBLED, STUCK, UNEXPLAINED = "lost", "doubled", "stuck", "unexplained"


class Finding(NamedTuple):
    """Something that must not be. `id` is the report, comment or alert that it is about, if any."""

    kind: str
    what: str
    id: str = ""


Question = Callable[[Evidence], Iterator[Finding]]


def ask(evidence: Evidence) -> list[Finding]:
    """All that is wrong."""
    return [finding for question in QUESTIONS for finding in question(evidence)]


def accepted_reports_are_there(evidence: Evidence) -> Iterator[Finding]:
    """An id that was answered has its row, and counts at least as many as were answered."""
    answered = Counter(each.id for each in evidence.accepted())
    rows = dict(Report.objects.values_list("pk", "times_reported"))
    for report_id, times in answered.items():
        if report_id not in rows:
            yield Finding(LOST, "A report that was accepted is not there.", report_id)
        elif rows[report_id] < times:
            what = f"It was accepted {times} times, and counts {rows[report_id]}."
            yield Finding(LOST, what, report_id)


def words_are_there(evidence: Evidence) -> Iterator[Finding]:
    """What a repeat said in other words is kept with the report, unless there was no room."""
    kept: dict[str, set[str]] = defaultdict(set)
    for report_id, details in Account.objects.values_list("report", "details"):
        kept[report_id].add(details)
    excused = set(Report.objects.filter(accounts_not_kept__gt=0).values_list("pk", flat=True))
    excused |= evidence.done("erase")
    for report_id, details in Report.objects.values_list("pk", "details"):
        kept[report_id].add(details)
    for each in evidence.accepted():
        if each.words and each.id not in excused and each.words not in kept[each.id]:
            yield Finding(LOST, f"These words of it are gone: {each.words}", each.id)


def claimed_pages_have_deliveries(evidence: Evidence) -> Iterator[Finding]:
    """A report about a page that was claimed all the time is to be delivered."""
    with_one = set(Delivery.objects.values_list("report", flat=True))
    for each in evidence.accepted():
        if each.page.startswith("https://docs.acme") and each.id not in with_one:
            yield Finding(LOST, "A report about a claimed page has no delivery.", each.id)


def sent_ones_have_their_issue(evidence: Evidence) -> Iterator[Finding]:
    """Each sent delivery has one issue with its mark; each folded one has none, and a lead that is sent."""
    marked = evidence.marked()
    for each in Delivery.objects.select_related("lead"):
        number = len(marked[each.report_id])
        if evidence.are_doubled(marked[each.report_id]):
            told = ", ".join(map(evidence.in_words, marked[each.report_id]))
            yield Finding(DOUBLED, f"It has {number} issues: {told}", each.report_id)
        if each.status == "sent" and not number:
            yield Finding(LOST, "It is sent, and there is no issue.", each.report_id)
        if each.status == "folded":
            if number:
                yield Finding(DOUBLED, "It has joined an issue, and has one.", each.report_id)
            if each.lead is None or each.lead.status != "sent":
                yield Finding(LOST, "It has joined an issue that was not sent.", each.report_id)
        elif each.status != "sent" and number:
            what = f"It has an issue, and is {each.status}: {each.reason}"
            yield Finding(DOUBLED, what, each.report_id)


def issues_have_rows(evidence: Evidence) -> Iterator[Finding]:
    """Each issue of the app's belongs to a delivery or an alert."""
    rows = set(Delivery.objects.values_list("report", flat=True))
    alerts = Counter[str]()
    known = set(Alert.objects.exclude(issue_number=None).values_list("pk", flat=True))
    for issue in evidence.issues():
        mark = OF_A_REPORT.findall(issue.body or "")[-1:]
        if not mark:
            yield Finding(DOUBLED, f"{name(issue)} has no mark.")
        elif mark[0] in known:
            alerts[mark[0]] += 1
        elif mark[0] not in rows:
            yield Finding(DOUBLED, f"{name(issue)} has no row.", mark[0])
    for alert, number in alerts.items():
        if number > 1:
            yield Finding(DOUBLED, f"The alert has {number} issues.", alert)


def comments_are_there_once(evidence: Evidence) -> Iterator[Finding]:
    """No two comments have the same mark."""
    for issue in evidence.issues():
        marks = Counter(
            mark
            for each in issue.comments
            if each.by_app
            for mark in OF_A_COMMENT.findall(each.body)[-1:]
        )
        for mark, number in marks.items():
            if number > 1:
                yield Finding(DOUBLED, f"{name(issue)} has {number} comments {mark!r}.", mark[:26])


def written_comments_are_there(evidence: Evidence) -> Iterator[Finding]:
    """What is said to be written can be read at GitHub, by its number."""
    there = {each.id for issue in evidence.issues() for each in issue.comments if each.by_app}
    written = Comment.objects.filter(status="written", comment_id__isnull=False)
    for each in written.exclude(comment_id__in=there):
        yield Finding(LOST, f"Comment {each.comment_id} is written, and is not there.", each.pk)


def joined_reports_are_listed(evidence: Evidence) -> Iterator[Finding]:
    """Each report that joined an issue stands in a comment below it, or the comment was ended for a reason.

    A list names the newest only, and says how many more there are.
    """
    ended = {
        each.lead_id
        for each in Comment.objects.filter(purpose="also", status__in=["left", "dropped"])
    }
    listed = Comment.objects.filter(purpose="also", status="written")
    wanted = dict(listed.values_list("lead", "listed_until"))
    for each in Delivery.objects.filter(status="folded").exclude(lead__in=ended):
        until = wanted.get(each.lead_id)
        if until is None or until < each.folded_at:
            yield Finding(LOST, "It has joined an issue, and no comment says so.", each.report_id)


def nothing_waits(evidence: Evidence) -> Iterator[Finding]:
    """After hours in which all is well, nothing waits and nothing is being sent."""
    for each in Delivery.objects.filter(status__in=["pending", "sending"]):
        yield Finding(STUCK, f"It is {each.status}: {each.reason}", each.report_id)
    for row in (
        *Comment.objects.filter(status="pending"),
        *Alert.objects.filter(status__in=["pending", "closing"]),
    ):
        yield Finding(STUCK, f"{type(row).__name__} is {row.status}: {row.reason}", str(row.pk))


def held_ones_have_a_cause(evidence: Evidence) -> Iterator[Finding]:
    """What is held is held by what a member did."""
    discarded, removed = evidence.done("discard"), evidence.removed_pages()
    held = Delivery.objects.filter(status="held").select_related("report")
    for each in held:
        by_member = each.held_for == "discarded" and each.report_id in discarded
        by_claim = each.held_for == "ownership" and each.report.canonical_url.startswith(removed)
        if not (by_member or by_claim):
            yield Finding(
                UNEXPLAINED, f"It is held ({each.held_for}): {each.reason}", each.report_id
            )


def failed_ones_have_a_cause(evidence: Evidence) -> Iterator[Finding]:
    """What has failed was refused by GitHub, or erased by a member."""
    erased, moved = evidence.done("erase"), bool(evidence.done("configure"))
    for each in Delivery.objects.filter(status="failed"):
        refused = any(struck.kind == "422" for struck in evidence.struck_by(each.report_id))
        # sent to a repository that refuses to be looked into, after another one was chosen
        out_of_reach = moved and each.reason.startswith(("It was sent to", "It may have been sent"))
        if not (refused or out_of_reach or each.report_id in erased):
            yield Finding(UNEXPLAINED, f"It has failed: {each.reason}", each.report_id)


def answers_have_a_cause(evidence: Evidence) -> Iterator[Finding]:
    """No 5xx but 503 while the database is away; no broken connection unless a server was killed."""
    for each in evidence.entries:
        what = f"{each.act}: {each.status or 'no answer'} after {each.ended - each.begun:.1f} s: {each.problem}"
        if each.status is None:
            if not evidence.was_away(each, SERVER):
                yield Finding(UNEXPLAINED, what, each.id)
        elif each.status >= 500 and not _is_expected(evidence, each):
            yield Finding(UNEXPLAINED, what, each.id)


def _is_expected(evidence: Evidence, entry: Entry) -> bool:
    if entry.status == 503:
        return evidence.was_away(entry, DATABASE, DISK, SERVER)
    if entry.status != 502 or "code_host_unavailable" not in entry.problem:
        return False
    # Members are told that GitHub could not be asked, and nothing was saved.
    is_limited = "rate limit" in entry.problem and evidence.was_limited(entry)
    return is_limited or evidence.was_away(entry, GITHUB, CLOCK)


def the_log_has_no_errors(evidence: Evidence) -> Iterator[Finding]:
    """No error that nothing explains."""
    for each in unexplained(evidence.log, evidence.notes):
        yield Finding(UNEXPLAINED, f"In the log: {each}")


QUESTIONS: list[Question] = [
    accepted_reports_are_there,
    words_are_there,
    claimed_pages_have_deliveries,
    sent_ones_have_their_issue,
    issues_have_rows,
    comments_are_there_once,
    written_comments_are_there,
    joined_reports_are_listed,
    nothing_waits,
    held_ones_have_a_cause,
    failed_ones_have_a_cause,
    answers_have_a_cause,
    the_log_has_no_errors,
]
