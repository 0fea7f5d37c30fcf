"""A restored Hub sends nothing twice: what was sent after the backup is found on GitHub."""

import re
from collections import Counter
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core import batches, deadlines
from core import clock as database_clock
from hub.maintenance import RUNNER
from hub.models import Lease
from integrations import github_api
from integrations.alerts import causes, sending
from integrations.delivery import (
    catching_up,
    discarding,
    forwarding,
    holds,
    leased,
    trying_again,
)
from integrations.github_api import looking
from integrations.models import Alert, Delivery, Integration
from orgs.terminals import protocol
from reports import erasing
from tests import build, keeping
from tests.integrations.alerts import world
from tests.orgs.terminals import terminal

pytestmark = pytest.mark.django_db(transaction=True)


def run(command: str, *arguments: str) -> str:
    out = StringIO()
    call_command(command, *arguments, stdout=out)
    return out.getvalue()


def report(client, name: str) -> str:
    """Send one; returns its id."""
    body = build.report(
        f"https://docs.acme.com/{name.replace(' ', '-')}", report__summary=f"{name} is gone"
    )
    return build.send(client, body).json()["id"]


def these(*ids: str):
    return Delivery.objects.filter(report__in=ids)


def settle(clock, rounds: int = 3) -> None:
    """Everything that waits is tried some times."""
    for _ in range(rounds):
        clock.advance(minutes=70)
        holds.probe()
        run("retry_deliveries")


def after_restore(*arguments: str, taken_at: str = "") -> str:
    said = ["--taken-at", taken_at] if taken_at else []
    return run("after_restore", *said, *arguments)


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


@pytest.fixture
def original() -> str:
    name = str(connection.settings_dict["NAME"])
    yield name
    keeping.end(name)


def waiting(client, code_host, name: str) -> str:
    """A report that GitHub did not take in time."""
    github_api.forget_tokens()
    code_host.fail("500", path="token")
    return report(client, name)


def in_every_state(client, code_host) -> dict[str, str]:
    """The ids of reports whose deliveries are unsent, by what keeps them."""
    code_host.fail("502_after_creating")
    ids = {"unknown": report(client, "unknown")}
    code_host.fail("422")
    ids["failed"] = report(client, "failed")
    for name in ("pending", "unsent", "held", "discarded", "killed early", "killed late", "closed"):
        ids[name] = waiting(client, code_host, name)
    trying_again.stop_all(these(ids["held"]))
    discarding.discard(these(ids["discarded"]).get())
    being_sent = {"status": "sending", "lease_until": database_clock.now() + timedelta(seconds=9)}
    these(ids["killed early"], ids["killed late"]).update(**being_sent)
    late = these(ids["killed late"]).get()
    title, body = forwarding.render(late.report, "")
    there = {"repository_id": late.integration.repository_id, "repository": "acme/docs"}
    these(late.report_id).update(title=title, body=body, posted_at=database_clock.now(), **there)
    return ids


def let_all_go(ids: dict[str, str]) -> None:
    """What people do to have everything sent."""
    discarded = these(ids["discarded"]).get()
    if discarded.held_for:
        discarding.restore(discarded)
    for each in these(*ids.values()).exclude(status__in=["sent", "sending"]):
        these(each.report_id).requeue()


def marked(code_host, ids: dict[str, str], repository: str = "acme/docs") -> Counter[str]:
    """How many issues each report has."""
    bodies = [issue.body or "" for issue in code_host.issues(repository)]
    return Counter(
        name for name, each in ids.items() for body in bodies if forwarding.marker(each) in body
    )


def test_what_was_sent_after_the_backup_is_adopted(
    acme, client, code_host, clock, tmp_path, original
):
    ids = in_every_state(client, code_host)
    taken_at = keeping.back_up(tmp_path)
    these(ids["unsent"]).delete()  # the Hub before was stopped before its turn came
    let_all_go({name: each for name, each in ids.items() if name != "unsent"})
    settle(clock)
    sent_before = marked(code_host, ids)
    code_host.close_issue("acme/docs", these(ids["closed"]).get().issue_number, by="alice")

    keeping.restore(tmp_path)
    said = after_restore(taken_at=taken_at)
    again = after_restore(taken_at=taken_at)
    let_all_go(ids)
    settle(clock)

    assert sent_before == Counter(ids.keys() - {"unsent"})
    assert "deliveries and 0 alerts: the Hub looks for each issue" in said
    assert "Marked 0 deliveries and 0 alerts" in again
    assert marked(code_host, ids) == Counter(ids.keys())
    for name, each in ids.items():
        delivery = these(each).get()
        outcome = delivery.attempts.last().outcome
        assert (delivery.status, outcome) == ("sent", "sent" if name == "unsent" else "adopted")
        assert (delivery.repository, bool(delivery.title)) == ("acme/docs", True)
        assert delivery.outcome_unknown_since is None


def restored(taken_at: str = "2026-01-01T00:00:00Z") -> None:
    """The database is one that was restored, in which nothing has changed since."""
    after_restore(taken_at=taken_at)


def opened_by_the_hub_before(code_host, repository: str, report_id: str) -> int:
    """The issue that the Hub opened after the backup."""
    body = f"Text\n\n{forwarding.marker(report_id)}"
    return code_host.create_issue(
        repository, title="Gone", body=body, user="docs-feedback-hub[bot]"
    ).number


def test_an_issue_in_a_repository_that_is_chosen_again_is_adopted_there(
    acme, client, code_host, clock
):
    new = code_host.add_repository("acme", "new")
    code_host.add_to_installation(build.installed(code_host), new)
    sent, unsent = (waiting(client, code_host, name) for name in ("sent", "unsent"))
    number = opened_by_the_hub_before(code_host, "acme/new", sent)

    restored()
    Integration.objects.update(repository_id=new.id, repo_name="new")
    settle(clock)

    there = {"status": "sent", "repository": "acme/new", "repository_id": new.id}
    assert these(sent).filter(**there, issue_number=number).exists()
    assert these(unsent).filter(**there).exists()
    assert not code_host.issues("acme/docs")
    assert len(code_host.issues("acme/new")) == 2


def moved_away(client, code_host, clock, how: str) -> str:
    """A report that waited in the backup; its repository is gone, and another one is chosen."""
    lost = waiting(client, code_host, "lost")
    new = code_host.add_repository("acme", "new")
    code_host.add_to_installation(build.installed(code_host), new)
    restored()
    Integration.objects.update(repository_id=new.id, repo_name="new")
    if how == "deleted":
        code_host.delete_repository("acme/docs")
    else:
        code_host.remove_from_installation(build.installed(code_host), "acme/docs")
    github_api.forget_tokens()
    settle(clock)
    return lost


@pytest.mark.parametrize("how", ["deleted", "removed"])
@pytest.mark.parametrize("is_there", [True, False])
def test_where_the_old_repository_is_gone_a_person_decides(
    acme, client, code_host, clock, how, is_there
):
    lost = moved_away(client, code_host, clock, how)
    told = these(lost).get()
    before = len(code_host.issues("acme/new"))
    number = opened_by_the_hub_before(code_host, "acme/new", lost) if is_there else before + 1

    these(lost).requeue()
    settle(clock)

    assert (told.status, before) == ("failed", 0)
    assert "If acme/docs is gone for good: Try again sends it" in told.reason
    assert these(lost).filter(status="sent", repository="acme/new", issue_number=number).exists()
    assert len(code_host.issues("acme/new")) == 1


def test_what_may_be_in_a_repository_that_is_gone_can_be_discarded(acme, client, code_host, clock):
    """It stays unknown, so that it is looked for should somebody restore it."""
    lost = moved_away(client, code_host, clock, "removed")

    discarding.discard(these(lost).get())
    discarded = these(lost).get()
    settle(clock)
    number = opened_by_the_hub_before(code_host, "acme/docs", lost)
    code_host.add_to_installation(build.installed(code_host), "acme/docs")
    discarding.restore(these(lost).get())
    settle(clock)

    assert (discarded.state, discarded.repository) == ("discarded", "acme/docs")
    assert discarded.outcome_unknown_since
    assert these(lost).filter(repository="acme/docs", issue_number=number).exists()


def test_what_had_no_repository_is_looked_for_where_one_is_chosen(acme, client, code_host, clock):
    ids = [waiting(client, code_host, name) for name in ("sent", "unsent")]
    mine = Integration.objects.get()
    Integration.objects.update(repository_id=None, repo_owner="", repo_name="")
    catching_up.catch_up()
    number = opened_by_the_hub_before(code_host, "acme/docs", ids[0])

    restored()
    settle(clock)
    before = set(these(*ids).values_list("status", flat=True))
    Integration.objects.update(
        repository_id=mine.repository_id, repo_owner=mine.repo_owner, repo_name=mine.repo_name
    )
    these(*ids).requeue()
    settle(clock)

    assert before == {"held"}
    assert these(ids[0]).filter(issue_number=number, repository="acme/docs").exists()
    assert these(ids[1]).filter(status="sent").exists()
    assert len(code_host.issues("acme/docs")) == 2


def test_what_failed_is_made_anew_once_it_is_not_found(acme, client, code_host, clock):
    """The text that GitHub has refused may be another one now."""
    code_host.fail("422")
    failed = report(client, "failed")

    restored()
    Integration.objects.update(issue_template="Another: {summary}")
    these(failed).requeue()
    settle(clock)

    [issue] = code_host.issues("acme/docs")
    assert issue.body.startswith("Another: ")


def test_what_was_erased_is_not_sent(acme, client, code_host, clock):
    erased = waiting(client, code_host, "erased")

    restored()
    erasing.erase(these(erased).get().report)
    settle(clock)

    assert these(erased).filter(status="failed", reason="Its text was erased.").exists()
    assert not code_host.issues("acme/docs")


def test_what_was_erased_in_flight_is_not_of_a_backup(acme, client, code_host, clock):
    """It has no text either, but its attempt is known, and so is where it went."""
    code_host.fail("502_after_creating")
    erased = report(client, "erased")
    erasing.erase(these(erased).get().report)

    is_of_a_backup = these(erased).get().is_of_a_backup()
    settle(clock)

    assert not is_of_a_backup
    assert these(erased).get().status == "sent"
    assert not looking._read


@pytest.mark.parametrize("is_told", [True, False])
def test_bad_news_that_was_told_is_not_told_again(acme, code_host, clock, is_told):
    Integration.objects.update(alerts=True)
    world.lose_record()
    causes.compare()
    if is_told:
        opened_by_the_hub_before(code_host, "acme/docs", Alert.objects.get().pk)

    said = after_restore(taken_at="2026-01-01T00:00:00Z")
    for _ in range(3):
        sending.send_due()
        clock.advance(minutes=5)

    [issue] = code_host.issues("acme/docs")
    assert "0 deliveries and 1 alert:" in said
    assert (Alert.objects.get().status, Alert.objects.get().issue_number) == ("open", issue.number)


def test_more_issues_than_one_look_can_read_are_read_in_several(
    acme, client, code_host, clock, monkeypatch
):
    """Each look ends after a page; nothing is sent before the last one was read."""
    ids = [waiting(client, code_host, name) for name in ("sent", "unsent")]
    for number in range(7):
        other = code_host.create_issue("acme/docs", title=f"Other {number}", user="charlie")
        other.updated_at -= timedelta(minutes=10 - number)
    monkeypatch.setattr(looking, "PAGE_SIZE", 2)
    monkeypatch.setattr(forwarding, "DEADLINE", -1)
    monkeypatch.setattr(deadlines, "_result", lambda future, deadline: future.result())
    number = opened_by_the_hub_before(code_host, "acme/docs", ids[0])

    restored()
    clock.advance(minutes=5)
    run("retry_deliveries")
    first = set(these(*ids).values_list("status", "reason"))
    settle(clock, rounds=5)
    monkeypatch.setattr(forwarding, "DEADLINE", 10)
    settle(clock)

    assert first == {("pending", str(github_api.Unfinished(clock)))}
    assert these(ids[0]).get().issue_number == number
    assert these(ids[1]).get().status == "sent"
    assert len(code_host.issues("acme/docs")) == 9


@pytest.mark.parametrize("is_told", [True, False])
def test_bad_news_is_looked_for_in_several_looks_too(acme, code_host, clock, monkeypatch, is_told):
    """GitHub answers, so that none of them ends the round of the others."""
    Integration.objects.update(alerts=True)
    for number in range(7):
        other = code_host.create_issue("acme/docs", title=f"Other {number}", user="charlie")
        other.updated_at -= timedelta(minutes=20 - number)
    world.lose_record()
    causes.compare()
    alert = Alert.objects.get()
    if is_told:
        opened_by_the_hub_before(code_host, "acme/docs", alert.pk)
    monkeypatch.setattr(looking, "PAGE_SIZE", 2)
    monkeypatch.setattr(leased, "DEADLINE", -1)
    monkeypatch.setattr(deadlines, "_result", lambda future, deadline: future.result())

    restored()
    marked = Alert.objects.get()
    before = len(code_host.issues("acme/docs"))
    reached = sending.send(alert.pk)
    first = Alert.objects.get()
    for _ in range(12):
        clock.advance(minutes=40)
        sending.send_due()
    looked = Alert.objects.get()
    monkeypatch.setattr(leased, "DEADLINE", 10)
    clock.advance(minutes=40)
    sending.send_due()

    assert reached
    assert (first.status, first.reason) == ("pending", str(github_api.Unfinished(clock)))
    assert first.posted_at > marked.posted_at
    assert looked.status == ("open" if is_told else "pending")
    assert Alert.objects.get().status == "open"
    assert len(code_host.issues("acme/docs")) == before + (not is_told)


def test_many_deliveries_are_looked_for_in_one_reading(acme, client, code_host, clock, monkeypatch):
    """Or a backlog would use up what GitHub allows in an hour."""
    ids = [waiting(client, code_host, f"page-{number}") for number in range(6)]
    for minutes in range(40, 0, -1):
        other = code_host.create_issue("acme/docs", title="Other", user="charlie")
        other.updated_at -= timedelta(minutes=minutes)
    numbers = {opened_by_the_hub_before(code_host, "acme/docs", each) for each in ids[:3]}
    monkeypatch.setattr(looking, "PAGE_SIZE", 4)
    code_host.requests.clear()

    restored()
    settle(clock)

    pages = [each for each in code_host.requests if each.method == "GET"]
    adopted = these(*ids).filter(issue_number__in=numbers)
    assert these(*ids).filter(status="sent").count() == 6
    assert adopted.count() == 3
    assert len(pages) < 30  # one reading takes over ten


@pytest.mark.parametrize("remembered", ["MOST_ISSUES", "MOST_REPOSITORIES"])
def test_what_is_remembered_is_bounded(acme, client, code_host, clock, monkeypatch, remembered):
    monkeypatch.setattr(looking, remembered, 1)
    ids = [waiting(client, code_host, name) for name in ("first", "second")]
    numbers = [opened_by_the_hub_before(code_host, "acme/docs", each) for each in ids]

    restored()
    settle(clock)

    assert len(looking._read) <= 1
    assert [these(each).get().issue_number for each in ids] == numbers


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("yesterday", "'yesterday' is no time. Write it as 2026-11-22T21:48:55Z."),
        ("2026-11-22T21:48:55", "has no time zone. Add one, such as Z for UTC"),
        ("2026-11-22", "has no time zone"),
        ("2999-01-01T00:00:00Z", "is in the future, by this machine's clock."),
        ("0001-01-01T00:00:00Z", "is before 2020, when no Hub had sent anything."),
        ("2019-12-31T23:59:59Z", "is before 2020"),
        ("0001-01-01T00:00:00+14:00", "is before 2020"),
        ("", "'' is no time"),
        (None, "Say when the backup was taken, such as --taken-at 2026-11-22T21:48:55Z."),
    ],
)
def test_a_time_that_cannot_be_is_refused(written, sentence):
    with pytest.raises(CommandError, match=re.escape(sentence)):
        call_command("after_restore", taken_at=written)


def test_it_does_not_run_beside_the_hub(acme, client, code_host, clock):
    waits = waiting(client, code_host, "waits")
    Lease.objects.take(RUNNER, holder="somebody", duration=timedelta(minutes=1))
    beside = {"taken_at": "2026-01-01T00:00:00Z"}

    counted = run("after_restore", "--taken-at", beside["taken_at"], "--dry-run")
    with pytest.raises(CommandError, match="Stop the Hub with all its workers"):
        call_command("after_restore", **beside)
    untouched = these(waits).filter(outcome_unknown_since=None).exists()
    clock.advance(minutes=2)
    restored()

    assert counted == "To mark: 1 delivery and 0 alerts.\nNothing was changed (--dry-run).\n"
    assert untouched
    assert these(waits).filter(outcome_unknown_since=None).count() == 0


def test_sessions_and_tokens_that_had_ended_end_again(acme, client, code_host):
    person = build.member(acme)
    token = build.token(person)
    client.force_login(person)

    kept = after_restore(taken_at="2026-01-01T00:00:00Z")
    before = client.get("/settings/").status_code, build.api(token).get("/v1/orgs/me").status_code
    said = after_restore("--end-sessions", "--revoke-tokens", taken_at="2026-01-01T00:00:00Z")
    after = client.get("/settings/").status_code, build.api(token).get("/v1/orgs/me").status_code

    assert "session" not in kept
    assert "Ended 1 session.\nRevoked 1 access token.\n" in said
    assert (before, after) == ((200, 200), (302, 401))


def test_a_terminal_whose_tokens_were_revoked_is_signed_out(acme):
    person = build.member(acme)
    signed_in = terminal.sign_in(person)

    said = after_restore("--revoke-tokens", taken_at="2026-01-01T00:00:00Z")
    told = terminal.refresh(signed_in).json()

    assert "Revoked 2 access tokens.\n" in said
    assert told["error_description"] == protocol.SIGNED_OUT
    assert not person.terminals.exists()


@pytest.mark.parametrize("rows", [7])
def test_it_marks_a_batch_at_a_time(acme, client, code_host, monkeypatch, rows):
    monkeypatch.setattr(batches, "BATCH", 3)
    for number in range(rows):
        waiting(client, code_host, f"page-{number}")

    with CaptureQueriesContext(connection) as queries:
        restored()

    updates = [each["sql"] for each in queries if 'SET "posted_at"' in each["sql"]]
    assert len(updates) == 3
    assert Delivery.objects.filter(outcome_unknown_since=None).count() == 0
