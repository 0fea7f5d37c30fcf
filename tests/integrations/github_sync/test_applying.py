"""What happens at GitHub is noticed: by webhook at once, or when the Hub asks."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from integrations import github_api
from integrations.delivery import likeness
from integrations.github_api import RepositoryFacts
from integrations.github_sync import applying, reconciling, visibility
from integrations.github_sync.reconciling import reconcile_due
from integrations.models import Installation, Integration
from integrations.ownership import site_claims
from integrations.setup import configuration
from orgs.models import Site
from orgs.ownership import owner_of
from sandbox import github_json
from tests import build
from tests.integrations.github_sync.losing import delete, select, suspend, take_out, uninstall
from tests.integrations.world import delivery, integration
from tests.plans import plans_of

pytestmark = pytest.mark.django_db(transaction=True)


def handbook(code_host):
    return code_host.rename("acme/docs", "handbook")


def given_away(code_host):
    """To an account where the app is installed too, so that GitHub tells of it."""
    code_host.add_organization("initech")
    code_host.add_installation("initech")
    code_host.transfer("acme/docs", "initech")


def archive(code_host):
    code_host.archive("acme/docs")


STOPS = [
    (uninstall, "The app was uninstalled from acme."),
    (suspend, "The app was suspended on acme."),
    (take_out, "The app's installation on acme can't see acme/docs."),
    (archive, "acme/docs is archived."),
    (given_away, "initech/docs now belongs to another account."),
]


@pytest.mark.parametrize(("change", "problem"), [*STOPS, (delete, "acme/docs was deleted.")])
def test_a_webhook_stops_what_github_would_not_take(webhooks, code_host, change, problem):
    change(code_host)

    assert integration().problem.startswith(problem)
    assert delivery().status == "held"
    assert code_host.webhooks_sent[-1].status == 202


@pytest.mark.parametrize(
    ("change", "problem"),
    [*STOPS, (delete, "The app's installation on acme can't see acme/docs.")],
)
def test_what_no_webhook_told_is_found_by_asking(acme, code_host, change, problem, capsys):
    change(code_host)

    call_command("reconcile_installations")

    if change is given_away:  # from here, it looks as if it had been taken out
        problem = "The app's installation on acme can't see acme/docs."
    assert integration().problem.startswith(problem)
    assert delivery().status == "held"
    assert "1 installations checked. GitHub answered about all of them." in capsys.readouterr().out


def test_issues_that_were_turned_off_are_found_by_asking(acme, code_host):
    code_host.set_issues("acme/docs", False)

    call_command("reconcile_installations")

    assert integration().problem.startswith("Issues are turned off in acme/docs.")


@pytest.mark.parametrize("by_webhook", [True, False])
def test_after_a_suspension_everything_goes_on(webhooks, code_host, by_webhook):
    suspend(code_host)
    if not by_webhook:
        code_host.app.webhook_url = ""

    code_host.unsuspend(build.installed(code_host))
    call_command("reconcile_installations")
    call_command("retry_deliveries")

    assert integration().problem == ""
    assert len(code_host.issues("acme/docs")) == 1


def unsuspend(code_host):
    code_host.unsuspend(build.installed(code_host))


def claims_its_site(organization) -> None:
    site_claims.claim_site(organization, "https://acme.github.io/docs/")


def test_after_a_suspension_what_was_taken_out_before_is_still_out_of_reach(
    acme, webhooks, code_host
):
    for happens in (take_out, suspend, unsuspend):
        happens(code_host)

    assert integration().problem.startswith("The app's installation on acme can't see acme/docs.")
    assert integration().installation.suspended_at is None
    assert delivery().status == "held"
    with pytest.raises(site_claims.NotConfigured):
        claims_its_site(acme)


@pytest.mark.parametrize("late", [["unsuspend"], ["suspend", "unsuspend"]])
def test_late_news_of_a_suspension_brings_no_app_back_that_was_uninstalled(
    acme, webhooks, code_host, late
):
    uninstall(code_host)
    sent = code_host.webhooks_sent[-1].event

    for action in late:
        code_host.deliver_webhook(sent.name, {**sent.payload, "action": action})

    assert code_host.webhooks_sent[-1].status == 202
    assert integration().is_uninstalled()
    with pytest.raises(site_claims.NotConfigured):
        claims_its_site(acme)


@pytest.mark.parametrize(("before", "change"), [(suspend, uninstall), (suspend, unsuspend)])
def test_an_installation_is_asked_about_soon_after_news_of_it(webhooks, code_host, before, change):
    before(code_host)
    Installation.objects.update(asked_about_at=timezone.now())

    change(code_host)

    assert Installation.objects.to_be_asked_about_soon().exists()


def give_back(code_host):
    code_host.add_to_installation(build.installed(code_host), "acme/docs")


def unarchive(code_host):
    code_host.unarchive("acme/docs")


@pytest.mark.parametrize("by_webhook", [True, False])
@pytest.mark.parametrize(("stop", "repair"), [(archive, unarchive), (take_out, give_back)])
def test_what_is_repaired_goes_on(webhooks, code_host, by_webhook, stop, repair):
    stop(code_host)
    assert integration().problem
    if not by_webhook:
        code_host.app.webhook_url = ""

    repair(code_host)
    if not by_webhook:
        Installation.objects.update(asked_about_at=None)
    reconciling.reconcile_due()  # as `maintain` does each minute
    call_command("retry_deliveries")

    assert integration().problem == ""
    assert len(code_host.issues("acme/docs")) == 1


@pytest.mark.parametrize("late", [["unarchived"], ["archived", "unarchived"]])
@pytest.mark.parametrize("ends", [uninstall, take_out, suspend])
def test_what_was_unarchived_before_the_app_was_gone_releases_nothing(
    webhooks, code_host, ends, late
):
    """These webhooks come late: who has the site is not known until GitHub is asked."""
    repository = github_json.repository(code_host, code_host.repository("acme/docs"))
    told = {"installation": {"id": build.installed(code_host).id}}
    archive(code_host)
    ends(code_host)
    before = (integration().problem, delivery().held_for, Site.objects.get().status)

    for action in late:
        was = repository | {"archived": action == "archived"}
        code_host.deliver_webhook("repository", {**told, "action": action, "repository": was})

    assert (integration().problem, delivery().held_for, Site.objects.get().status) == before
    assert before[:2] != ("", "")
    assert Installation.objects.to_be_asked_about_soon().exists()


def test_issues_that_are_on_again_are_found_by_asking(acme, code_host):
    code_host.set_issues("acme/docs", False)
    call_command("reconcile_installations")
    code_host.set_issues("acme/docs", True)

    call_command("reconcile_installations")

    assert integration().problem == ""
    assert delivery().status == "pending"


def test_a_right_that_the_app_still_lacks_is_waited_for(acme, code_host):
    build.installed(code_host).permissions = {"metadata": "read"}
    call_command("retry_deliveries", "--now")

    call_command("reconcile_installations")

    assert integration().problem.startswith("The app may not write issues in acme/docs.")
    assert delivery().status == "held"


@pytest.mark.parametrize("by_webhook", [True, False])
def test_a_new_name_is_followed_and_the_site_of_the_old_one_lapses(webhooks, code_host, by_webhook):
    if not by_webhook:
        code_host.app.webhook_url = ""

    handbook(code_host)
    call_command("reconcile_installations")

    assert integration().repository == "acme/handbook"
    assert integration().problem == ""
    assert Site.objects.get().status == "lapsed"
    assert (delivery().status, delivery().held_for) == ("held", "ownership")


@pytest.mark.parametrize("by_webhook", [True, False])
def test_a_site_moves_if_only_the_case_of_its_repositorys_name_changes(
    webhooks, code_host, by_webhook
):
    """What is at its address before is 404, or another repository's: GitHub Pages tells them apart."""
    if not by_webhook:
        code_host.app.webhook_url = ""

    code_host.rename("acme/docs", "Docs")
    call_command("reconcile_installations")

    site = Site.objects.get()
    assert (site.url, site.status) == ("https://acme.github.io/Docs/", "verified")
    assert site.repository == "acme/Docs"
    assert owner_of("https://acme.github.io/Docs/install") == site.organization_id
    assert owner_of("https://acme.github.io/docs/install") is None


@pytest.mark.parametrize("lapsed_at", [None, timezone.now()])
def test_a_site_that_was_claimed_by_both_spellings_is_claimed_once(acme, code_host, lapsed_at):
    build.site(acme, "acme.github.io", "/Docs/", "acme/Docs")
    Site.objects.filter(path="/Docs/").update(lapsed_at=lapsed_at)

    code_host.rename("acme/docs", "Docs")
    call_command("reconcile_installations")

    site = Site.objects.get()
    assert (site.url, site.status) == ("https://acme.github.io/Docs/", "verified")


def test_a_site_lapses_where_its_new_spelling_is_anothers(acme, code_host):
    other = build.organization("initech")
    build.site(other, "acme.github.io", "/Docs/", "acme/Docs")

    code_host.rename("acme/docs", "Docs")
    call_command("reconcile_installations")

    assert owner_of("https://acme.github.io/Docs/install") == other.pk
    assert Site.objects.get(organization=acme).status == "lapsed"


def test_a_repository_that_becomes_private_is_not_shown_any_more(webhooks, code_host):
    call_command("retry_deliveries", "--now")
    receipt = f"/v1/reports/{delivery().report_id}"
    assert Client().get(receipt).json()["issue_url"]

    code_host.set_private("acme/docs", True)

    assert Client().get(receipt).json()["issue_url"] is None


def test_a_repository_that_becomes_public_is_shown_once_github_says_so_when_asked(
    webhooks, code_host
):
    code_host.set_private("acme/docs", True)
    call_command("retry_deliveries", "--now")
    reconciling.reconcile_due()
    receipt = f"/v1/reports/{delivery().report_id}"

    code_host.set_private("acme/docs", False)
    before = Client().get(receipt).json()["issue_url"]
    reconciling.reconcile_due()

    assert before is None
    assert Client().get(receipt).json()["issue_url"] == delivery().issue_url


@pytest.mark.parametrize("late", ["publicized", "renamed"])
def test_a_webhook_from_when_it_was_public_that_comes_late_shows_nothing(webhooks, code_host, late):
    call_command("retry_deliveries", "--now")
    code_host.rename("acme/docs", "handbook")
    for private in (True, False, True):
        code_host.set_private("acme/handbook", private)
    events = [each.event for each in code_host.webhooks_sent]
    event = next(each for each in events if each.payload["action"] == late)

    code_host.deliver_webhook(event.name, dict(event.payload))
    shown = integration().repository_private, delivery().public_issue_url()
    reconciling.reconcile_due()

    assert shown == (True, None)
    assert (integration().repository_private, delivery().public_issue_url()) == (True, None)


def test_a_webhook_about_a_repository_that_nobody_uses_has_nobody_asked(webhooks, code_host):
    manual = code_host.add_repository("acme", "manual")
    code_host.add_to_installation(build.installed(code_host), manual)
    reconciling.reconcile_due()
    asked = Installation.objects.get().asked_about_at

    for private in (True, False):
        code_host.set_private("acme/manual", private)

    assert asked
    assert Installation.objects.get().asked_about_at == asked


def while_asked(monkeypatch, question: str, act: Callable[[], object]) -> None:
    """`act` happens once, after GitHub has answered this question and before the Hub has the answer."""
    ask, acts = getattr(github_api, question), iter([act])

    def slowly(*args, **kwargs):
        answer = ask(*args, **kwargs)
        for each in acts:
            each()
        return answer

    monkeypatch.setattr(github_api, question, slowly)


def make_private(code_host):
    code_host.set_private("acme/docs", True)


def take_two_out(code_host):
    """With another one that nobody uses, in one webhook."""
    both = [code_host.repository("acme/docs"), code_host.add_repository("acme", "manual")]
    select(code_host, "removed", both)


@pytest.mark.parametrize(
    "change", [make_private, handbook, archive, take_out, take_two_out, delete]
)
def test_an_answer_from_before_a_webhook_is_not_saved_and_github_is_asked_again(
    webhooks, code_host, monkeypatch, change
):
    call_command("reconcile_installations")
    while_asked(monkeypatch, "reached", lambda: change(code_host))

    def known():
        now = integration()
        return (
            now.repository,
            now.repository_private,
            now.problem,
            Site.objects.get().lapsed_at is None,
        )

    before = known()
    call_command("reconcile_installations")
    heard, asked_again = known(), Installation.objects.get().asked_about_at is None
    reconciling.reconcile_due()

    assert heard != before
    assert asked_again
    assert known()[:2] == heard[:2]
    assert bool(known()[2]) == bool(heard[2])
    assert Installation.objects.get().asked_about_at


def test_an_answer_from_before_very_many_of_ours_were_taken_out_is_not_saved(
    webhooks, code_host, monkeypatch
):
    monkeypatch.setattr("integrations.github_sync.webhooks.MOST_NAMED", 0)
    while_asked(monkeypatch, "reached", lambda: take_two_out(code_host))

    call_command("reconcile_installations")

    assert integration().problem


def test_an_answer_from_before_an_account_was_renamed_is_not_saved(
    webhooks, code_host, monkeypatch
):
    number = Installation.objects.get().github_id
    renamed = {"action": "renamed", "account": {"login": "initech"}, "installation": {"id": number}}

    def rename():
        code_host.deliver_webhook("installation_target", renamed)

    while_asked(monkeypatch, "installation", rename)

    reconciling.reconcile_due()

    assert Installation.objects.values_list("account", "asked_about_at").get() == ("initech", None)


def test_an_answer_from_before_a_webhook_about_something_else_is_saved(
    webhooks, code_host, monkeypatch
):
    call_command("retry_deliveries", "--now")
    manual = code_host.add_repository("acme", "manual")
    code_host.add_to_installation(build.installed(code_host), manual)
    code_host.app.webhook_url, there = "", code_host.app.webhook_url
    code_host.set_private("acme/docs", True)
    code_host.app.webhook_url = there

    def something_else():
        code_host.set_private("acme/manual", True)
        more = [code_host.add_repository("acme", name) for name in ("blog", "shop")]
        select(code_host, "added", more)
        code_host.close_issue("acme/docs", 1, by="alice")

    while_asked(monkeypatch, "reached", something_else)

    call_command("reconcile_installations")

    assert integration().repository_private


def test_a_repository_that_becomes_private_while_a_report_is_being_sent_is_not_shown(
    webhooks, code_host, monkeypatch
):
    look = likeness.look

    def becomes_private(taken):
        code_host.set_private("acme/docs", True)
        return look(taken)

    monkeypatch.setattr(likeness, "look", becomes_private)

    call_command("retry_deliveries", "--now")

    assert (delivery().status, delivery().public_issue_url()) == ("sent", None)


def chooses_another(code_host):
    code_host.add_to_installation(
        build.installed(code_host), manual := code_host.add_repository("acme", "manual")
    )
    Integration.objects.update(repository_id=manual.id, repo_name="manual")


def test_a_repository_that_is_left_while_a_report_is_being_sent_is_not_shown(
    webhooks, code_host, monkeypatch
):
    look = likeness.look

    def disconnects(taken):
        configuration.forget(integration().organization)
        return look(taken)

    monkeypatch.setattr(likeness, "look", disconnects)

    call_command("retry_deliveries", "--now")

    assert (delivery().status, delivery().public_issue_url()) == ("sent", None)


def test_an_issue_whose_answer_is_missing_follows_its_repository_too(webhooks, code_host, clock):
    code_host.fail("502_after_creating")
    call_command("retry_deliveries", "--now")
    unknown = delivery().outcome_unknown_since
    chooses_another(code_host)

    code_host.set_private("acme/docs", True)
    clock.advance(minutes=10)
    call_command("retry_deliveries", "--now")

    assert unknown
    assert (delivery().status, delivery().public_issue_url()) == ("sent", None)


def test_no_look_at_all_deliveries_is_needed_for_it(acme):
    facts = RepositoryFacts(
        id=1, owner="acme", name="docs", is_private=True, has_issues=True, is_archived=False
    )

    plans = plans_of(lambda: visibility.apply(facts, installation_id=1))

    assert plans
    assert not [
        each for each in plans if "SCAN integrations_delivery" in each or "Seq Scan" in each
    ]


def test_what_becomes_of_an_issue_is_recorded(webhooks, code_host):
    call_command("retry_deliveries", "--now")
    states = [delivery().issue_state]

    for happens in (code_host.close_issue, code_host.reopen_issue, code_host.delete_issue):
        happens("acme/docs", 1, by="alice")
        states.append(delivery().issue_state)

    assert states == ["", "closed", "open", "deleted"]


@pytest.mark.parametrize("reason", ["completed", "not_planned", "duplicate"])
def test_why_and_when_an_issue_was_closed_is_recorded(webhooks, code_host, reason):
    call_command("retry_deliveries", "--now")

    code_host.close_issue("acme/docs", 1, by="alice", reason=reason)
    closed = delivery()
    code_host.reopen_issue("acme/docs", 1, by="alice")
    reopened = delivery()

    assert closed.issue_state_reason == reason
    assert closed.issue_closed_at
    assert (reopened.issue_state_reason, reopened.issue_closed_at) == ("", None)


def test_a_transferred_issue_is_gone_where_it_was(webhooks, code_host):
    call_command("retry_deliveries", "--now")
    code_host.add_repository("acme", "other")

    code_host.transfer_issue("acme/docs", 1, "acme/other", by="alice")

    assert delivery().issue_state == "deleted"


def test_news_that_come_late_change_nothing(webhooks, code_host):
    call_command("retry_deliveries", "--now")
    noon = {"state_reason": "completed", "closed_at": "2026-03-03T12:00:00Z"}

    build.tell_of_issue(code_host, "closed", "2026-03-03T12:00:00Z", **noon)
    build.tell_of_issue(code_host, "reopened", "2026-03-03T11:59:59Z")  # before that
    closed = delivery()
    build.tell_of_issue(code_host, "reopened", "2026-03-04T12:00:00Z")
    build.tell_of_issue(code_host, "closed", "2026-03-03T12:00:00Z", **noon)
    reopened = delivery()
    build.tell_of_issue(code_host, "deleted", "2026-03-04T12:00:00Z")
    build.tell_of_issue(code_host, "reopened", "2026-03-04T12:00:00Z")

    assert (closed.issue_state, closed.issue_state_reason) == ("closed", "completed")
    assert (reopened.issue_state, reopened.issue_closed_at) == ("open", None)
    assert delivery().issue_state == "deleted"


def test_what_is_told_of_a_second_counts_in_its_order(webhooks, code_host):
    call_command("retry_deliveries", "--now")
    at = "2026-03-03T12:00:00Z"

    for action in ("reopened", "closed"):
        build.tell_of_issue(code_host, action, at, closed_at=at, state_reason="completed")

    assert delivery().issue_state == "closed"


def test_what_another_installation_has_lost_is_of_no_concern(webhooks, code_host):
    lost = [{"id": code_host.repository("acme/docs").id}]
    other = {"id": 999_999}

    sent = code_host.deliver_webhook(
        "installation_repositories",
        {"action": "removed", "installation": other, "repositories_removed": lost},
    )

    assert sent.status == 202
    assert integration().problem == ""


def test_a_site_is_claimed_again_however_the_problem_went_away(acme, code_host):
    installation = build.installed(code_host)
    alice = build.member(acme, github_id=code_host.account("alice").id).membership
    code_host.remove_from_installation(installation, "acme/docs")
    call_command("reconcile_installations")
    lapsed = Site.objects.get().status
    code_host.add_to_installation(installation, "acme/docs")

    configuration.try_again(alice)

    assert (lapsed, Site.objects.get().status) == ("lapsed", "verified")


def test_a_site_is_claimed_again_when_an_issue_has_told_that_all_is_well(acme, code_host):
    Site.objects.update(lapsed_at=timezone.now())

    call_command("reconcile_installations")  # there is no problem any more

    assert Site.objects.get().status == "verified"


def test_in_reach_again_by_another_name_it_does_not_bring_back_the_site_of_the_old_one(
    acme, webhooks, code_host
):
    docs, installed = code_host.repository("acme/docs"), build.installed(code_host)
    code_host.remove_from_installation(installed, docs)
    code_host.rename(docs, "old-docs")
    code_host.add_repository("acme", "docs")  # which publishes that site now

    code_host.add_to_installation(installed, docs)

    assert Site.objects.get().status == "lapsed"
    assert Installation.objects.get().asked_about_at is None
    call_command("reconcile_installations")
    assert Site.objects.get().status == "lapsed"


def test_a_site_of_a_name_that_was_given_up_is_not_claimed(acme, code_host):
    applying.apply_account(Installation.objects.get(), "initech")

    with pytest.raises(site_claims.NotConfigured, match="an account that was renamed"):
        site_claims.claim_site(acme, "https://acme.github.io/docs/")


@pytest.mark.parametrize("suspended", [False, True])
def test_who_renames_their_account_keeps_no_site_of_the_old_name(acme, code_host, suspended):
    if suspended:
        suspend(code_host)
    code_host.rename_account("acme", "initech")

    call_command("reconcile_installations")

    assert Installation.objects.get().account == "initech"
    assert Site.objects.get().status == "lapsed"


def test_an_account_whose_name_is_spelled_differently_keeps_its_sites(acme):
    applying.apply_account(Installation.objects.get(), "ACME")

    assert Site.objects.get().status == "verified"


def test_others_are_not_touched(webhooks, code_host):
    code_host.add_organization("initech")
    theirs = code_host.add_installation("initech", repositories=[])
    other = code_host.add_repository("initech", "docs")
    code_host.add_to_installation(theirs, other)

    code_host.archive(other)
    code_host.suspend(theirs)

    assert integration().problem == ""
    assert delivery().status == "pending"


def test_one_installation_that_cannot_be_asked_about_does_not_stop_the_others(
    acme, code_host, capsys
):
    code_host.add_organization("initech")
    manual = code_host.add_repository("initech", "manual")
    code_host.add_installation("initech")
    other = build.organization("initech")
    build.integration(other, code_host, "initech/manual")
    code_host.archive(manual)
    code_host.fail("500", method="GET", path="/api/v3/app/installations/*")

    call_command("reconcile_installations")

    assert (
        "2 installations checked. GitHub did not answer about 1 of them." in capsys.readouterr().out
    )
    assert Integration.objects.get(organization=other).problem


def test_each_installation_is_asked_about_once_an_hour(acme, code_host, clock):
    def asked() -> int:
        """How often, from now on to the end of one round."""
        before = len(code_host.requests)
        reconcile_due()
        paths = [each.path for each in code_host.requests[before:]]
        return sum(path.startswith("/api/v3/app/installations/") for path in paths)

    rounds = [asked(), asked()]
    clock.advance(minutes=61)
    rounds.append(asked())

    assert rounds == [2, 0, 2]


def others(code_host) -> None:
    """Two more organizations, each with an installation."""
    for name in ("initech", "zeta"):
        code_host.add_organization(name)
        manual = code_host.add_repository(name, "manual")
        code_host.add_installation(name, repositories=[manual])
        build.integration(build.organization(name), code_host, f"{name}/manual")


def test_a_round_ends_where_github_gives_no_answer_twice(acme, code_host):
    others(code_host)
    code_host.fail("500", method="GET", path="/api/v3/app/installations/*", times=3)

    reconcile_due()

    assert Installation.objects.filter(asked_about_at=None).count() == 1


def test_an_installation_that_is_limited_during_a_round_is_left_alone(acme, code_host, monkeypatch):
    others(code_host)

    def limit_the_others() -> None:
        for each in Installation.objects.filter(asked_about_at=None):
            each.leave_alone_for(timedelta(minutes=5))

    while_asked(monkeypatch, "installation", limit_the_others)

    reconcile_due()

    asked = [each.path for each in code_host.requests if each.method == "GET"]
    assert len([path for path in asked if path.startswith("/api/v3/app/installations/")]) == 1
    assert Installation.objects.filter(asked_about_at=None).count() == 2


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("500", "/api/v3/app/installations/*"),
        ("429", "/api/v3/app/installations/*"),
        ("500", "/api/v3/repositories/*/permission"),
    ],
)
def test_an_installation_that_always_fails_keeps_no_other_from_being_asked_about(
    acme, code_host, kind, path
):
    others(code_host)
    build.member(acme, github_id=code_host.account("alice").id)
    code_host.fail(kind, method="GET", path=path)

    reconcile_due()

    assert not Installation.objects.filter(asked_about_at=None).exists()


@pytest.mark.parametrize(
    ("error", "asked_again"),
    [(OperationalError("deadlock detected"), True), (ValueError("a mistake"), False)],
)
def test_an_error_ends_no_round_and_one_of_the_database_is_asked_about_a_minute_later(
    acme, code_host, monkeypatch, clock, error, asked_again
):
    others(code_host)
    apply, errors, asked = visibility.apply, iter([error]), []

    def fails_once(facts, *, installation_id: int) -> None:
        asked.append(installation_id)
        for each in errors:
            raise each
        apply(facts, installation_id=installation_id)

    monkeypatch.setattr(visibility, "apply", fails_once)

    reconcile_due()
    first = len(asked)
    reconcile_due()
    at_once = len(asked) - first
    clock.advance(seconds=61)
    reconcile_due()

    assert (first, at_once, len({*asked})) == (3, 0, 3)
    assert asked[3:] == asked[:1] * asked_again


def test_a_webhook_during_such_an_error_is_not_forgotten(acme, monkeypatch):
    def a_webhook_comes_in(*args, **kwargs) -> None:
        Installation.objects.update(asked_about_at=None)
        raise OperationalError("deadlock detected")

    monkeypatch.setattr(reconciling, "_reconcile_repository", a_webhook_comes_in)

    reconcile_due()

    assert Installation.objects.get().asked_about_at is None


def test_those_that_something_has_changed_for_keep_no_other_from_being_asked_about(
    acme, code_host, monkeypatch
):
    monkeypatch.setattr(reconciling, "BATCH", 2)
    others(code_host)
    mine = Installation.objects.filter(account="acme")
    long_ago = timezone.now() - timedelta(hours=3)
    mine.update(asked_about_at=long_ago)
    Installation.objects.exclude(account="acme").update(asked_about_at=None)

    reconcile_due()

    assert mine.get().asked_about_at != long_ago
    assert Installation.objects.filter(asked_about_at=None).count() == 1


def test_of_those_that_something_has_changed_for_others_go_first_each_time(acme, code_host):
    others(code_host)

    first = {Installation.objects.to_be_asked_about_soon()[:1].get().account for _ in range(100)}

    assert first == {"acme", "initech", "zeta"}


def test_a_round_ends_when_it_is_told_to(acme):
    reconcile_due(lambda: False)

    assert Installation.objects.filter(asked_about_at=None).count() == 1
