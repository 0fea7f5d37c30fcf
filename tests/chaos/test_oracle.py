"""The oracle names what is planted, and nothing else."""

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from integrations.models import Comment, Delivery
from reports.models import Account, Report
from sandbox import Issue
from tests import build
from tests.chaos import log_lines, memory, oracle, words
from tests.chaos.__main__ import arguments
from tests.chaos.code_host import ChaosHost, Struck, furnish
from tests.chaos.evidence import Evidence
from tests.chaos.journal import Entry
from tests.chaos.log_lines import Line
from tests.chaos.memory import MIB, Sample
from tests.chaos.oracle import DOUBLED, LOST, STUCK, UNEXPLAINED, Finding
from tests.chaos.run import again
from tests.chaos.verdict import Verdict
from tests.chaos.world import CLOCK, DATABASE, GITHUB, REDIS, SERVER, Away

PAGE = "https://docs.acme0.com/guide/1"
NOW = time.time()


@pytest.fixture
def evidence(db, client) -> Evidence:
    """Two reports that became issues, the first of them also in other words."""
    host = ChaosHost()
    furnish(host, 1)
    owner = build.organization("acme0")
    build.integration(owner, host, "acme0/docs")
    build.domain(owner, "docs.acme0.com")
    entries = [sent(client, "one"), sent(client, "one", "other"), sent(client, "two")]
    for delivery in Delivery.objects.order_by("pk"):  # nothing is committed, so nothing was sent
        deliver(host, delivery)
    return Evidence(entries, host)


def sent(client: Client, summary: str, name: str = "client-1") -> Entry:
    told = words.details(name)
    answer = build.send(client, build.report(PAGE, report__summary=summary, report__details=told))
    return Entry(NOW, NOW, "report", answer.status_code, "", answer.json()["id"], PAGE, told)


def deliver(host: ChaosHost, delivery: Delivery) -> None:
    body = f"Gone\n<!-- hub:{delivery.report_id} -->"
    where = host.repository("acme0/docs")
    opened = host.new_issue(where, "Gone", body=body, user=host.bot.login, by_app=True)
    Delivery.objects.filter(pk=delivery.pk).update(
        status="sent",
        repository_id=where.id,
        repository=where.full_name,
        issue_number=opened.number,
        issue_url=f"https://github.com/acme0/docs/issues/{opened.number}",
        posted_at=timezone.now(),
        tries=1,
    )


def found(evidence: Evidence) -> set[tuple[str, str]]:
    return {(each.kind, each.id) for each in oracle.ask(evidence)}


def first(evidence: Evidence) -> Delivery:
    return Delivery.objects.get(report=evidence.entries[0].id)


def issue(evidence: Evidence) -> Issue:
    return evidence.host.issues("acme0/docs")[0]


def once_more(evidence: Evidence, body: str) -> None:
    host = evidence.host
    host.new_issue(
        host.repository("acme0/docs"), "Again", body=body, user=host.bot.login, by_app=True
    )


def remark(evidence: Evidence, body: str) -> None:
    evidence.host.new_comment(issue(evidence), body, user=evidence.host.bot.login, by_app=True)


def comment(evidence: Evidence, **columns) -> Comment:
    lead = first(evidence)
    return Comment.objects.create(
        integration=lead.integration,
        lead=lead,
        purpose="also",
        occasion=lead.created_at,
        **columns,
    )


def forget(evidence: Evidence) -> None:
    Delivery.objects.filter(pk=first(evidence).pk).delete()
    Report.objects.filter(pk=evidence.entries[0].id).delete()


def fold(evidence: Evidence, **lead: str) -> None:
    """As if the first had joined the issue of the second."""
    second = Delivery.objects.get(report=evidence.entries[2].id)
    Delivery.objects.filter(pk=second.pk).update(**lead)
    Delivery.objects.filter(pk=first(evidence).pk).update(
        status="folded", lead=second, folded_at=second.created_at
    )


def change(**columns) -> Callable[[Evidence], object]:
    return lambda evidence: Delivery.objects.filter(pk=first(evidence).pk).update(**columns)


PLANTED: dict[str, tuple[Callable[[Evidence], object], set[str]]] = {
    "an accepted report is gone": (forget, {LOST, DOUBLED}),
    "a repeat was not counted": (
        lambda e: Report.objects.filter(pk=e.entries[0].id).update(times_reported=1),
        {LOST},
    ),
    "a repeat's words are gone": (lambda e: Account.objects.all().delete(), {LOST}),
    "a delivery is gone": (lambda e: first(e).delete(), {LOST, DOUBLED}),
    "sent without its issue": (lambda e: issue(e).repository.issues.remove(issue(e)), {LOST}),
    "two issues of one report": (lambda e: once_more(e, issue(e).body), {DOUBLED}),
    "joined, with an issue of its own": (fold, {DOUBLED, LOST}),
    "not sent, with an issue": (change(status="held", held_for="pause"), {DOUBLED, UNEXPLAINED}),
    "left in sending": (change(status="sending", lease_until=timezone.now()), {DOUBLED, STUCK}),
    "left pending": (change(status="pending"), {DOUBLED, STUCK}),
    "failed without a cause": (change(status="failed"), {DOUBLED, UNEXPLAINED}),
}


def test_what_is_well_is_found_well(evidence):
    assert {each.status for each in Delivery.objects.all()} == {"sent"}
    assert found(evidence) == set()


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_named_with_its_report(evidence, name):
    plant, kinds = PLANTED[name]

    plant(evidence)

    assert found(evidence) == {(kind, evidence.entries[0].id) for kind in kinds}


def test_a_lead_that_was_not_sent(evidence):
    fold(evidence, status="held", held_for="discarded")

    assert (LOST, evidence.entries[0].id) in found(evidence)


@pytest.mark.parametrize(("delete_first", "kinds"), [(True, set()), (False, {DOUBLED})])
def test_what_somebody_deleted_may_be_opened_again(evidence, delete_first, kinds):
    """The Hub may not have heard of it before."""
    acts = [lambda: evidence.host.delete_issue("acme0/docs", 1, by="alice0")]
    acts.insert(delete_first, partial(once_more, evidence, issue(evidence).body))
    for act in acts:
        act()

    assert {kind for kind, _ in found(evidence)} == kinds


def test_an_issue_without_a_row(evidence):
    once_more(evidence, "<!-- hub:01ARZ3NDEKTSV4RRFFQ69G5FAV -->")

    assert found(evidence) == {(DOUBLED, "01ARZ3NDEKTSV4RRFFQ69G5FAV")}


def test_an_issue_without_a_mark(evidence):
    once_more(evidence, "Not ours?")

    assert found(evidence) == {(DOUBLED, "")}


def test_an_issue_that_others_have_opened_is_none_of_ours(evidence):
    evidence.host.create_issue("acme0/docs", title="Mine", body=issue(evidence).body, user="bob0")

    assert found(evidence) == set()


def test_an_issue_that_was_transferred_is_there_once(evidence):
    evidence.host.transfer_issue("acme0/docs", 1, "acme0/guide", by="alice0")

    assert found(evidence) == set()


def test_two_comments_with_one_mark(evidence):
    mark = f"<!-- hub:{evidence.entries[0].id} also 20261123T181756Z "
    remark(evidence, f"One. {mark}0123 -->")
    remark(evidence, f"Two. {mark}4567 -->")

    assert found(evidence) == {(DOUBLED, evidence.entries[0].id)}


def test_a_comment_that_is_said_to_be_written(evidence):
    written = comment(evidence, status="written", comment_id=1, comment_url="https://github.com")

    assert found(evidence) == {(LOST, written.pk)}


def test_a_report_that_no_comment_names(evidence):
    """As it joined an issue after the list below that was written."""
    fold(evidence)
    issue(evidence).repository.issues.remove(issue(evidence))
    lead = Delivery.objects.get(report=evidence.entries[2].id)
    remark(evidence, "Also reported")
    [listed] = issue(evidence).comments
    row = Comment.objects.create(
        integration=lead.integration,
        lead=lead,
        purpose="also",
        occasion=lead.created_at,
        status="written",
        comment_id=listed.id,
        listed_until=lead.created_at,
    )
    whole = found(evidence)
    Delivery.objects.filter(lead=lead).update(folded_at=timezone.now())

    assert whole == set()
    assert found(evidence) == {(LOST, evidence.entries[0].id)}
    row.delete()
    assert found(evidence) == {(LOST, evidence.entries[0].id)}


def test_a_comment_that_waits_for_ever(evidence):
    waiting = comment(evidence)

    assert found(evidence) == {(STUCK, waiting.pk)}


@pytest.mark.parametrize(
    ("cause", "entry"),
    [
        ("discarded", Entry(NOW, NOW, "discard", 200, id="{id}")),
        ("ownership", Entry(NOW, NOW, "remove claim", 204, id="docs.acme0.com")),
    ],
)
def test_what_a_member_did_explains_what_is_held(evidence, cause, entry):
    report_id = evidence.entries[0].id
    issue(evidence).repository.issues.remove(issue(evidence))
    change(status="held", held_for=cause)(evidence)

    before = found(evidence)
    evidence.entries.append(entry._replace(id=entry.id.format(id=report_id)))

    assert before == {(UNEXPLAINED, report_id)}
    assert found(evidence) == set()


def test_what_github_refused_explains_what_has_failed(evidence):
    report_id = evidence.entries[0].id
    issue(evidence).repository.issues.remove(issue(evidence))
    change(status="failed")(evidence)

    before = found(evidence)
    evidence.host.struck.append(Struck(NOW, "422", "POST", "/", report_id))

    assert before == {(UNEXPLAINED, report_id)}
    assert found(evidence) == set()


@pytest.mark.parametrize(
    ("status", "away", "kinds"),
    [
        (201, None, set()),
        (429, None, set()),
        (500, DATABASE, {UNEXPLAINED}),
        (503, None, {UNEXPLAINED}),
        (502, GITHUB, {UNEXPLAINED}),
        (503, REDIS, {UNEXPLAINED}),
        (503, DATABASE, set()),
        (None, None, {UNEXPLAINED}),
        (None, DATABASE, {UNEXPLAINED}),
        (None, SERVER, set()),
    ],
)
def test_an_answer_has_a_cause(evidence, status, away, kinds):
    evidence.entries.append(Entry(NOW, NOW + 1, "receipt", status))
    if away:
        evidence.notes.append(Away(away, NOW - 5, NOW - 1))

    assert {kind for kind, _ in found(evidence)} == kinds


def test_a_member_may_be_told_that_github_cannot_be_asked(evidence):
    evidence.entries.append(Entry(NOW, NOW + 1, "configure", 502, "code_host_unavailable"))

    before = found(evidence)
    evidence.notes.append(Away(GITHUB, NOW - 5, NOW - 1))

    assert before == {(UNEXPLAINED, "")}
    assert found(evidence) == set()


def test_a_limit_of_github_lasts(evidence):
    told = "code_host_unavailable: GitHub's rate limit for acme0 is reached."
    evidence.entries.append(Entry(NOW, NOW + 1, "configure", 502, told))

    before = found(evidence)
    evidence.host.struck.append(Struck(NOW - 600, "429", "POST", "/", ""))

    assert before == {(UNEXPLAINED, "")}
    assert found(evidence) == set()


def test_an_answer_long_after_a_fault_is_not_explained_by_it(evidence):
    evidence.entries.append(Entry(NOW, NOW + 1, "receipt", 503))
    evidence.notes.append(Away(DATABASE, NOW - 90, NOW - 30))

    assert found(evidence) == {(UNEXPLAINED, "")}


@pytest.mark.parametrize(
    ("message", "away", "is_explained"),
    [
        ("OperationalError: the connection is closed", DATABASE, True),
        ("couldn't get a connection after 5.00 sec", DATABASE, True),
        ("OperationalError: the connection is closed", None, False),
        ("OperationalError: the connection is closed", REDIS, False),
        ("KeyError: 'id'", DATABASE, False),
    ],
)
def test_an_error_in_the_log_has_a_cause(message, away, is_explained):
    notes = [Away(away, NOW - 5, NOW - 1)] if away else []

    left = log_lines.unexplained([Line(NOW, "hub", "It failed", message)], notes)

    assert bool(left) is not is_explained


@pytest.mark.parametrize(("what", "is_explained"), [(CLOCK, True), (REDIS, False)])
def test_a_line_of_a_clock_that_is_off_is_from_when_that_was(what, is_explained):
    line = Line(NOW + 3600, "django.request", "Service Unavailable: /v1/reports", "")
    notes = [Away(what, NOW - 5, NOW + 5), Away(DATABASE, NOW - 5, NOW + 5)]

    assert bool(log_lines.unexplained([line], notes)) is not is_explained


def test_errors_are_read_from_the_log(tmp_path: Path):
    line = {"time": "2026-11-23T18:00:00+00:00", "level": "error", "logger": "hub", "message": "No"}
    others = [json.dumps({**line, "level": "info"}), "Traceback (most recent call last):", "{"]
    path = tmp_path / "log"
    path.write_text("\n".join([json.dumps(line), *others]))

    assert [each.logger for each in log_lines.errors(path)] == ["hub", "stderr"]


@pytest.mark.parametrize(("last", "is_flat"), [(100, True), (109, True), (120, False)])
def test_memory_that_grows_is_not_flat(last, is_flat):
    sizes = [50] * 20 + [100] * 20 + [last] * 20
    samples = [Sample(NOW, {(0.0, 1): size * MIB, (0.0, 2): size * MIB}) for size in sizes]

    grown = memory.grown(samples)

    assert grown
    assert grown.is_flat is is_flat


def test_a_process_that_was_started_again_is_counted_apart():
    cold, warm = NOW, NOW + memory.WARM
    samples = [Sample(NOW, {(0.0, 1): MIB})] * 60 + [Sample(NOW, {})] * 5
    samples += [Sample(cold, {(NOW, 9): 9 * MIB})] * 60 + [Sample(warm, {(NOW, 9): MIB})] * 60

    grown = memory.grown(samples)

    assert grown
    assert (grown.processes, grown.most_at_once, grown.is_flat) == (2, 1, True)


def test_a_verdict_is_good_only_where_something_was_accepted_and_nothing_is_wrong():
    good = Verdict("sqlite", 1, 5, accepted=3)

    assert good.is_good
    assert not Verdict("sqlite", 1, 5).is_good
    assert not Verdict("sqlite", 1, 5, accepted=3, findings=[Finding(LOST, "Gone")]).is_good


@pytest.mark.parametrize(
    "asked", [["--seed", "7"], ["--db", "postgres", "--queue", "--minutes", "0.5", "--pause", "2"]]
)
def test_a_run_says_how_it_is_repeated(asked):
    options = arguments().parse_args(asked)

    said = again(options).split()

    assert said[0] == "script/chaos"
    assert arguments().parse_args(said[1:]) == options
