"""Reports about one problem: one issue, and a hint where that is not sure."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from integrations import github_api
from integrations.delivery import trying_again
from integrations.folding import joining
from integrations.folding.signals import delivery_folded, delivery_unfolded
from integrations.models import Attempt, Delivery, Integration, Terms, Verdict
from integrations.models.delivery import LeaseLost
from integrations.setup import trial_report
from tests import build
from tests.integrations.delivery.alike import (
    AGAIN,
    ONCE_MORE,
    OTHER,
    PUSH,
    earlier,
    mode,
    of,
    send,
    sent,
)
from tests.integrations.issue import liveness

HTML: dict = {"headers": {"Accept": "text/html"}}
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme(code_host):
    """Reports that are alike join one issue."""
    owner = build.acme(code_host)
    mode("fold")
    return owner


def numbers(code_host) -> list[int]:
    return sorted(issue.number for issue in code_host.issues("acme/docs"))


def retry() -> None:
    call_command("retry_deliveries")


def test_what_is_alike_joins_the_issue_that_is_there(acme, code_host):
    first = sent(PUSH)
    answer = send(AGAIN)

    joined = of(answer)
    assert len(code_host.issues("acme/docs")) == 1
    assert (first.status, joined.status, joined.lead) == ("sent", "folded", first)
    assert joined.likeness_words.startswith("same page; ")
    assert "--overwrite" in joined.likeness_words
    assert (joined.likeness_rule, joined.folded_by, joined.last_tried_at) == (1, "", None)
    assert joined.folded_at
    [attempt] = joined.attempts.all()
    assert attempt.outcome == Attempt.Outcome.FOLDED
    assert answer["status"] == "forwarded"
    assert [each.may_lead for each in Terms.objects.order_by("delivery")] == [True, False]


def test_terms_of_any_script_are_stored_as_they_are_written(acme):
    sent({"report__summary": "Неизвестный флаг «принудительно» на третьем шаге"})

    with connection.cursor() as cursor:
        cursor.execute("SELECT CAST(terms AS text) FROM integrations_terms")
        [(stored,)] = cursor.fetchall()

    assert "флаг" in stored


@pytest.mark.parametrize("reason", ["not_planned", "duplicate"])
def test_what_was_dismissed_takes_nothing_from_an_issue_about_the_same(acme, reason):
    """The attack: a copy of an issue, by an agent that has just joined that, is closed; who joins it is not heard."""
    first, joined = sent(PUSH), sent(AGAIN)
    copy = sent(
        AGAIN | {"report__summary": "`push --force` fails in 4.0: the flag is `--overwrite`"}
    )
    assert (joined.lead, copy.status) == (first, "sent")
    Delivery.objects.filter(pk=copy.pk).update(issue_state="closed", issue_state_reason=reason)

    later = sent({"report__summary": "`push --force` fails: in 4.0 the flag is `--overwrite`"})

    assert later.lead == first


def test_what_was_dismissed_is_joined_where_nothing_else_is_the_same(acme):
    first = sent(PUSH)
    Delivery.objects.update(issue_state="closed", issue_state_reason="not_planned")

    assert sent(AGAIN).lead == first


def test_what_is_not_alike_becomes_an_issue(acme, code_host):
    sent(PUSH)
    other = sent(OTHER)

    assert (other.status, other.lead) == ("sent", None)
    assert len(code_host.issues("acme/docs")) == 2


def test_a_third_one_joins_the_lead_and_not_what_has_joined_it(acme, code_host):
    lead, joined, third = sent(PUSH), sent(AGAIN), sent(ONCE_MORE)

    assert joined.lead == third.lead == lead
    assert len(code_host.issues("acme/docs")) == 1


def test_a_hint_names_the_issue_that_is_maybe_the_same(acme, code_host):
    mode("hint")

    first, second = sent(PUSH), sent(AGAIN)

    [one, two] = sorted(code_host.issues("acme/docs"), key=lambda issue: issue.number)
    assert "Maybe the same as" not in one.body
    assert f"\n\n---\nMaybe the same as #{one.number}: same page; " in two.body
    assert (second.status, second.maybe_lead, second.lead) == ("sent", first, None)
    assert (second.likeness_rule, second.body) == (1, two.body)
    assert Terms.objects.filter(may_lead=True).count() == 2


def test_a_hint_says_that_the_other_issue_is_closed(acme, code_host):
    mode("hint")
    first = sent(PUSH)
    Delivery.objects.filter(pk=first.pk).update(issue_state="closed")

    assert f"Maybe the same as #{first.issue_number} (closed): same page; " in sent(AGAIN).body


HOSTILE = [
    "@alice", "#12", "GH-12", "acme/docs#12", "https://github.com/acme/docs/issues/1", "www.acme.com",
    "<!--hub:1-->", "<img/src=x>", "[x](//y.dev)", "&#64;alice", "`@alice`", "0123456789abcdef",
    "close", "/close", "!!", "—", "|-|",
]  # fmt: skip


@pytest.mark.parametrize("word", HOSTILE)
def test_nothing_in_the_words_of_a_hint_acts_on_github(acme, code_host, word):
    mode("hint")
    first = sent(PUSH, report__summary=f"`frobnicate` {word} `--zzyzx` {word} `quuxify`")
    second = sent(PUSH, report__summary=f"{word} `frobnicate` `--zzyzx` `quuxify`", agent__name="b")

    hint = next(each for each in second.body.splitlines() if each.startswith("Maybe the same"))
    own = f"Maybe the same as #{first.issue_number}: "
    assert hint.startswith(own)
    assert "frobnicate" in hint
    assert not liveness.live(hint.replace(own, "Maybe: "))
    assert not liveness.live_in_raw_text(hint.replace(own, "Maybe: "))


def test_nothing_is_compared_where_it_is_off(acme, code_host):
    mode("off")

    sent(PUSH)
    second = sent(AGAIN)

    assert (second.status, second.maybe_lead) == ("sent", None)
    assert not Terms.objects.exists()
    assert len(code_host.issues("acme/docs")) == 2


@pytest.mark.parametrize("minutes", [0, 9])
def test_one_agent_does_not_report_a_problem_twice_within_ten_minutes(acme, code_host, minutes):
    earlier(sent(PUSH), timedelta(minutes=minutes))

    assert sent(AGAIN, agent__name="claude-code").status == "sent"


@pytest.mark.parametrize("name", ["claude-code", "a reader"])
def test_agents_of_one_name_in_other_networks_are_others(acme, code_host, name):
    lead = sent(PUSH, agent__name=name)
    said = [AGAIN, ONCE_MORE]

    joined = [
        of(send(words, Client(REMOTE_ADDR=f"203.0.{n}.7"), agent__name=name))
        for n, words in enumerate(said)
    ]

    assert [(each.status, each.lead) for each in joined] == [("folded", lead)] * 2


def test_one_agent_may_report_a_problem_again_later(acme, code_host):
    earlier(sent(PUSH), timedelta(minutes=11))

    assert sent(AGAIN, agent__name="claude-code").status == "folded"


def test_what_an_agent_has_just_reported_is_another_problem_also_where_that_has_joined_an_issue(
    acme,
):
    sent(PUSH)
    sent(AGAIN)

    assert sent(ONCE_MORE, agent__name="cursor").status == "sent"


def test_another_page_is_another_problem(acme, code_host):
    sent(PUSH)

    assert sent(AGAIN, doc_url="https://docs.acme.com/other").status == "sent"


def test_another_organization_is_another_problem(acme, code_host):
    lead = sent(PUSH)
    other = build.organization("other")
    code_host.add_organization("other")
    code_host.add_installation("other", repositories=[code_host.add_repository("other", "docs")])
    build.integration(other, code_host, "other/docs")
    mode("fold")
    build.domain(other, "other.dev")
    Terms.objects.update(page=Terms.objects.get().page)

    own = sent(AGAIN, doc_url="https://other.dev/install")

    assert (own.status, own.integration.organization) == ("sent", other)
    assert lead.issue_number in numbers(code_host)


def test_what_is_in_the_repository_before_is_another_problem(acme, code_host):
    sent(PUSH)
    new = code_host.add_repository("acme", "new")
    code_host.add_to_installation(build.installed(code_host), new)
    Integration.objects.update(repository_id=new.id, repo_name="new")

    assert sent(AGAIN).status == "sent"
    assert len(code_host.issues("acme/new")) == 1


@pytest.mark.parametrize("state", ["open", "closed"])
def test_a_closed_issue_is_joined_too(acme, state):
    lead = sent(PUSH)
    Delivery.objects.filter(pk=lead.pk).update(issue_state=state)

    assert sent(AGAIN).lead == lead


def test_nothing_joins_an_issue_that_was_deleted(acme):
    lead = sent(PUSH)
    Delivery.objects.filter(pk=lead.pk).update(issue_state="deleted")

    assert sent(AGAIN).status == "sent"


def test_test_reports_become_issues_each(acme, code_host):
    alice = build.member(acme).membership
    first = of({"id": trial_report.send(alice).id})
    earlier(first, timedelta(hours=1))

    second = of({"id": trial_report.send(alice).id})

    assert (first.status, second.status) == ("sent", "sent")
    assert not Terms.objects.exists()


def test_no_name_of_an_agent_makes_an_issue_of_what_is_alike(acme, code_host):
    lead = sent(PUSH)

    joined = sent(AGAIN, agent__name=trial_report.AGENT)

    assert (joined.status, joined.lead) == ("folded", lead)
    assert len(code_host.issues("acme/docs")) == 1


def test_joining_takes_no_turn(acme, settings, code_host):
    settings.HUB_ISSUE_RATE = "8/hour"
    lead = sent(PUSH)

    several = [
        sent(AGAIN, agent__name=f"agent-{number}", report__details=f"Code {number}")
        for number in range(5)
    ]

    assert {each.lead for each in several} == {lead}


def waiting(words: dict, code_host) -> Delivery:
    """One whose first try has failed."""
    github_api.forget_tokens()
    code_host.fail("500", path="token")
    delivery = sent(words)
    assert delivery.status == "pending"
    return delivery


@pytest.mark.parametrize("is_taken", [True, False])
def test_of_two_at_once_the_second_waits_for_the_first(acme, code_host, clock, is_taken):
    first = waiting(PUSH, code_host)
    if is_taken:
        Delivery.objects.take(first.report_id)

    second = sent(AGAIN)
    waits = (second.status, second.reason, second.last_tried_at)
    clock.advance(seconds=70)
    retry()

    assert waits == ("pending", "A report that is like it is being sent right now.", None)
    assert of({"id": first.report_id}).status == "sent"
    assert of({"id": second.report_id}).lead == first
    assert len(code_host.issues("acme/docs")) == 1


def test_an_older_one_does_not_wait_for_what_failed_after_it(acme, code_host, clock):
    mode("hint")
    older, younger = waiting(PUSH, code_host), waiting(AGAIN, code_host)
    mode("fold")
    for _ in range(3):
        clock.advance(seconds=40)
        retry()

    assert of({"id": older.report_id}).status == "sent"
    assert of({"id": younger.report_id}).lead == older


def test_nobody_waits_for_another_one_for_long(acme, code_host):
    first = waiting(PUSH, code_host)
    Delivery.objects.take(first.report_id)
    second = sent(AGAIN)
    earlier(second, timedelta(minutes=2))
    Delivery.objects.filter(pk=second.pk).update(due_at=second.created_at)
    retry()

    assert of({"id": second.report_id}).status == "sent"


def test_it_may_be_delivered_although_nobody_can_say_what_it_is_like(acme, code_host):
    sent(PUSH)
    Terms.objects.update(terms={"rule": 1})

    assert sent(AGAIN).status == "sent"
    assert len(code_host.issues("acme/docs")) == 2


def test_what_cannot_join_becomes_an_issue(acme, code_host):
    def fail(**kwargs):
        raise RuntimeError

    sent(PUSH)
    delivery_folded.connect(fail)
    try:
        own = sent(AGAIN)
    finally:
        delivery_folded.disconnect(fail)

    assert (own.status, own.lead, own.maybe_lead) == ("sent", None, None)
    assert [each.outcome for each in own.attempts.all()] == ["sent"]
    assert Terms.objects.filter(may_lead=True).count() == 2


def test_terms_of_another_rule_are_not_compared(acme):
    sent(PUSH)
    Terms.objects.update(rule=0)

    assert sent(AGAIN).status == "sent"


def test_who_lost_the_lease_joins_nothing(acme, code_host):
    sent(PUSH)
    mode("hint")
    late = waiting(AGAIN, code_host)
    mine = Delivery.objects.take(late.report_id)
    assert mine
    Delivery.objects.filter(pk=mine.pk).update(tries=9)

    with pytest.raises(LeaseLost):
        mine.fold(Delivery.objects.order_by("pk")[0], rule=1, words="")

    assert of({"id": late.report_id}).lead is None


def split(delivery: Delivery, *, by: str = "alice") -> None:
    """As a member does with all that has joined a lead, so that it may join others."""
    Verdict.objects.create(
        integration=delivery.integration,
        report=delivery.report,
        other=delivery.lead.report,
        is_same=False,
        made_by=by,
        with_all=True,
    )
    joining.unfold(Delivery.objects.filter(pk=delivery.pk))


def test_what_was_split_off_never_joins_again(acme, code_host):
    sent(PUSH)
    joined = sent(AGAIN)
    split(joined)
    retry()

    own = of({"id": joined.report_id})
    assert (own.status, own.lead, own.folded_at, own.likeness_words) == ("sent", None, None, "")
    assert Terms.objects.get(delivery=own).may_lead
    assert len(code_host.issues("acme/docs")) == 2


def test_what_is_nearer_to_what_was_split_off_joins_that(acme, code_host):
    sent(PUSH)
    joined = sent(AGAIN)
    split(joined)
    near = {**AGAIN, "report__details": "", "agent__name": "codex"}

    at_once = sent(
        near, report__summary="`shipyard push --force`: the flag is `--overwrite` since 4.0"
    )
    retry()

    assert (at_once.status, at_once.lead) == ("sent", None)
    assert of({"id": joined.report_id}).lead == at_once


def test_what_is_like_an_issue_joins_the_one_that_a_member_says_is_the_same(acme, code_host):
    lead, joined = sent(OTHER), sent(PUSH)
    pair = {"report": joined.report, "other": lead.report, "is_same": True, "made_by": "alice"}
    Verdict.objects.create(integration=lead.integration, **pair)

    assert sent(AGAIN).lead == lead


def test_two_that_are_each_said_to_be_the_same_as_the_other_end_somewhere(acme, code_host):
    one, other = sent(OTHER), sent(PUSH)
    for report, lead in ((one, other), (other, one)):
        pair = {"report": report.report, "other": lead.report, "is_same": True, "made_by": "bob"}
        Verdict.objects.create(integration=lead.integration, **pair)

    assert sent(AGAIN).lead in (one, other)


def test_a_member_may_say_that_one_which_waits_is_the_same(acme, code_host):
    lead, other = sent(PUSH), waiting(OTHER, code_host)
    told = []

    def hear(delivery, **kwargs):
        told.append(delivery)

    delivery_folded.connect(hear)
    try:
        some = Delivery.objects.filter(pk__in=[lead.pk, other.pk])
        assert joining.fold_under(some, lead, by="alice") == 1
    finally:
        delivery_folded.disconnect(hear)

    folded = of({"id": other.report_id})
    assert (folded.status, folded.lead, folded.folded_by) == ("folded", lead, "alice")
    assert told == [other]
    retry()
    assert len(code_host.issues("acme/docs")) == 1


def test_what_leaves_a_lead_is_told(acme):
    lead, *_ = sent(PUSH), sent(AGAIN), sent(ONCE_MORE)
    told = []

    def hear(lead, **kwargs):
        told.append(lead)

    delivery_unfolded.connect(hear)
    try:
        assert joining.unfold(Delivery.objects.all()) == 2
    finally:
        delivery_unfolded.disconnect(hear)

    assert told == [lead]


def test_what_has_joined_cannot_be_tried_again(acme):
    lead, joined = sent(PUSH), sent(AGAIN)

    with pytest.raises(
        trying_again.CannotTryAgain, match=f"it has joined issue #{lead.issue_number}"
    ):
        trying_again.try_in_turn(joined)

    assert trying_again.try_all_again(Delivery.objects.all()) == 0
    assert Delivery.objects.requeue() == 0


def test_a_discarded_one_leaves_the_issue_and_joins_it_again_once_it_is_restored(acme):
    lead, joined = sent(PUSH), sent(AGAIN)
    alice = build.api(build.token(build.member(acme)))
    path = f"/v1/orgs/me/reports/{joined.report_id}"

    discarded = alice.post(f"{path}/discard").json()["delivery"]
    restored = alice.post(f"{path}/restore").json()["delivery"]
    Delivery.objects.update(due_at=joined.created_at)
    retry()

    assert (discarded["status"], discarded["held_for"]) == ("held", "discarded")
    assert (discarded["lead"], discarded["issue_url"]) == (None, None)
    assert restored["status"] == "pending"
    assert of({"id": joined.report_id}).lead == lead


def test_an_erased_one_stays_where_it_is_without_its_words(acme):
    lead, joined = sent(PUSH), sent(AGAIN)
    alice = build.api(build.token(build.member(acme)))

    alice.post(f"/v1/orgs/me/reports/{joined.report_id}/erase")

    erased = of({"id": joined.report_id})
    assert (erased.status, erased.lead, erased.likeness_words) == ("folded", lead, "")
    assert list(Terms.objects.values_list("delivery", flat=True)) == [lead.pk]
    refused = alice.post(f"/v1/orgs/me/reports/{joined.report_id}/discard")
    assert refused.status_code == 409


def test_what_has_joined_an_erased_lead_stays_and_nothing_else_joins_it(acme):
    lead, joined = sent(PUSH), sent(AGAIN)
    alice = build.api(build.token(build.member(acme)))

    alice.post(f"/v1/orgs/me/reports/{lead.report_id}/erase")
    own = sent(ONCE_MORE)

    assert of({"id": joined.report_id}).lead == lead
    assert own.status == "sent"


def test_a_pause_holds_nothing_that_has_joined_an_issue(acme):
    sent(PUSH)
    joined = sent(AGAIN)
    alice = build.api(build.token(build.member(acme)))

    alice.post("/v1/orgs/me/integrations/github/pause")
    Delivery.objects.all().hold_stopped()

    assert of({"id": joined.report_id}).status == "folded"


def test_an_organization_is_deleted_with_all_that_has_joined(acme):
    sent(PUSH)
    sent(AGAIN)

    acme.delete()

    assert not Delivery.objects.exists()
    assert not Terms.objects.exists()


def test_who_reported_it_does_not_see_an_issue_in_a_private_repository(acme, code_host):
    Integration.objects.update(repository_private=True)
    lead = sent(PUSH)
    answer = send(AGAIN)

    receipt = Client().get(f"/v1/reports/{answer['id']}").json()
    page = Client().get(f"/r/{answer['id']}/", **HTML).content.decode()

    assert of(answer).lead == lead
    assert (receipt["status"], receipt["issue_url"]) == ("forwarded", None)
    assert (receipt["issue_state"], answer["issue_url"]) == (None, None)
    assert "Delivered" in page
    assert lead.issue_url not in page


def test_who_reported_it_sees_the_issue_of_the_lead(acme):
    lead = sent(PUSH)
    answer = send(AGAIN)
    Delivery.objects.filter(pk=lead.pk).update(issue_state="closed")

    receipt = Client().get(f"/v1/reports/{answer['id']}").json()
    page = Client().get(f"/r/{answer['id']}/", **HTML).content.decode()

    assert answer["issue_url"] == receipt["issue_url"] == lead.issue_url != ""
    assert receipt["issue_state"] == "closed"
    assert f"#{lead.issue_number} in acme/docs, closed" in page
    assert "Known already" in page


def test_members_see_where_it_is_and_why(acme):
    lead = sent(PUSH)
    joined = sent(AGAIN)
    alice = build.member(acme)
    api, screen = build.api(build.token(alice)), Client()
    screen.force_login(alice)

    told = api.get(f"/v1/orgs/me/reports/{joined.report_id}").json()
    [listed] = api.get("/v1/orgs/me/reports", {"status": "folded"}).json()["reports"]
    page = screen.get(f"/settings/reports/{joined.report_id}/").content.decode()
    table = screen.get("/settings/reports/", {"status": "folded"}).content.decode()
    csv = screen.get("/settings/reports/reports.csv", {"status": "folded"})

    delivery = told["delivery"]
    assert (delivery["status"], delivery["lead"]) == ("folded", lead.report_id)
    assert (delivery["maybe_lead"], delivery["folded_by"]) == (None, None)
    assert delivery["likeness_words"] == joined.likeness_words
    assert delivery["issue_url"] == told["issue"]["url"] == lead.issue_url
    assert listed["delivery"] == delivery
    assert f"Joined issue #{lead.issue_number}" in page
    assert "ame page; " in page
    assert f"#{lead.issue_number}</a>" in table
    assert lead.issue_url in b"".join(csv.streaming_content).decode()


def restored() -> str:
    said = StringIO()
    call_command("after_restore", "--taken-at", "2026-01-01T00:00:00Z", stdout=said)
    return said.getvalue()


def test_a_restored_hub_leaves_what_has_joined_an_issue(acme, code_host):
    lead, joined = sent(PUSH), sent(AGAIN)

    restored()
    retry()

    kept = of({"id": joined.report_id})
    assert (kept.status, kept.lead, kept.outcome_unknown_since) == ("folded", lead, None)
    assert len(code_host.issues("acme/docs")) == 1


def test_what_waited_in_the_backup_is_looked_for_before_it_joins_an_issue(acme, code_host, clock):
    lead = sent(PUSH)
    mode("hint")
    waits = waiting(AGAIN, code_host)
    mode("fold")
    restored()
    for _ in range(3):
        clock.advance(minutes=3)
        retry()

    joined = of({"id": waits.report_id})
    assert (joined.status, joined.lead) == ("folded", lead)
    assert (joined.outcome_unknown_since, joined.repository_id, joined.posted_at) == (None,) * 3
    assert [each.path for each in code_host.requests if each.path.endswith("/issues")]


def test_what_has_joined_an_issue_is_kept_as_what_became_one(acme, settings, clock):
    sent(PUSH)
    sent(AGAIN)
    settings.HUB_RETENTION_DAYS = 1
    clock.advance(days=9)

    call_command("prune_reports", stdout=StringIO())

    assert Delivery.objects.count() == 2


def test_a_queue_lets_reports_join_too(acme, settings, code_host):
    sent(PUSH)
    settings.HUB_FORWARDING = "queue"
    settings.TASKS = {"default": {"BACKEND": settings.TASK_BACKENDS["queue"]}}
    waits = sent(AGAIN)
    call_command("db_worker", "--batch", "--no-startup-delay", "--no-reload")

    assert waits.status == "pending"
    assert of({"id": waits.report_id}).status == "folded"


def test_operators_see_which_issue_a_report_has_joined(acme, client):
    lead, joined = sent(PUSH), sent(AGAIN)
    operator = build.member(acme)
    operator.is_staff = operator.is_superuser = True
    operator.save()
    client.force_login(operator)

    listed = client.get("/admin/integrations/delivery/", {"status__exact": "folded"})
    page = client.get(f"/admin/integrations/delivery/{joined.pk}/change/")

    assert f'">#{lead.issue_number}</a>' in listed.content.decode()
    assert lead.report_id in page.content.decode()
