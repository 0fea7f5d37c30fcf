"""GitHub's answer is on its way while a member or a webhook changes what it is about."""

from collections.abc import Callable

import pytest
from django.core.management import call_command
from django.db.models.functions import Now

from integrations import github_api
from integrations.alerts import sending
from integrations.delivery import holds
from integrations.github_sync.reconciling import reconcile_due
from integrations.models import Alert, Attempt, Installation
from integrations.ownership.site_claims import NotConfigured, claim_site
from integrations.setup import configuration
from tests import build
from tests.integrations.alerts import world
from tests.integrations.world import delivery, integration

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme(code_host):
    acme = build.acme(code_host)
    new = code_host.add_repository("acme", "new")
    code_host.add_to_installation(build.installed(code_host), new)
    return acme


@pytest.fixture
def late(monkeypatch) -> Callable[[Callable[[], object]], None]:
    """Does something once GitHub has refused the next issue, and before the Hub has read that."""
    ask = github_api.create_issue

    def arrange(meanwhile: Callable[[], object]) -> None:
        def create(*args, **kwargs):
            try:
                return ask(*args, **kwargs)
            except github_api.Refused:
                monkeypatch.setattr(github_api, "create_issue", ask)
                meanwhile()
                raise

        monkeypatch.setattr(github_api, "create_issue", create)

    return arrange


def choose_new(acme, code_host) -> Callable[[], object]:
    member = build.member(acme, github_id=code_host.account("alice").id).membership
    return lambda: configuration.configure(member, repo_owner="acme", repo_name="new")


def asked_about(code_host) -> int:
    """How often one round of the background asks about installations."""
    before = len(code_host.requests)
    reconcile_due()
    paths = [each.path for each in list(code_host.requests)[before:]]
    asked = [each for each in paths if each.startswith("/api/v3/app/installations/")]
    return len([each for each in asked if not each.endswith("/access_tokens")])


def test_a_late_refusal_of_the_old_repository_does_not_stop_the_new_one(
    acme, client, code_host, clock, late
):
    code_host.archive("acme/docs")
    late(choose_new(acme, code_host))

    build.send(client)
    waits = delivery()
    clock.advance(seconds=61)
    call_command("retry_deliveries")

    assert integration().problem == ""
    assert (waits.status, waits.repository_id) == ("pending", None)
    assert "acme/docs is archived" in Attempt.objects.get(number=1).reason
    assert delivery().status == "sent"
    assert len(code_host.issues("acme/new")) == 1


def test_a_late_refusal_stops_nothing_that_was_disconnected(acme, client, code_host, clock, late):
    code_host.archive("acme/docs")
    late(lambda: configuration.forget(acme))

    build.send(client)
    clock.advance(seconds=61)
    call_command("retry_deliveries")

    assert integration().problem == ""
    assert (delivery().status, delivery().reason) == ("held", holds.NO_REPOSITORY)


def test_an_alert_that_the_old_repository_refuses_late_is_opened_in_the_new_one(
    acme, code_host, clock, late
):
    choose = choose_new(acme, code_host)
    configured = integration()
    configured.alerts = True
    configured.save()
    code_host.archive("acme/docs")
    late(lambda: (choose(), type(configured).objects.update(alerts=True)))
    world.lose_record()

    world.maintain()
    waits = Alert.objects.get()
    clock.advance(seconds=61)
    sending.send_due()

    assert integration().problem == ""
    assert (waits.status, waits.repository_id) == ("pending", None)
    assert Alert.objects.get().repository == "acme/new"
    assert len(code_host.issues("acme/new")) == 1


def test_a_late_success_ends_no_problem_that_came_up_since(
    acme, client, code_host, clock, monkeypatch
):
    """The app was uninstalled right after it had opened the issue: it proves no site any more."""
    code_host.set_issues("acme/docs", False)
    build.send(client)
    code_host.set_issues("acme/docs", True)
    ask = github_api.create_issue

    def create(*args, **kwargs):
        issue = ask(*args, **kwargs)
        code_host.uninstall(build.installed(code_host))
        reconcile_due()
        return issue

    monkeypatch.setattr(github_api, "create_issue", create)
    clock.advance(minutes=61)
    holds.probe()
    call_command("retry_deliveries")

    assert delivery().status == "sent"
    assert integration().problem.startswith("The app was uninstalled from acme.")
    with pytest.raises(NotConfigured):
        claim_site(acme, "https://acme.github.io/docs/")


def test_a_late_word_of_a_suspension_that_is_over_ends_with_the_next_round(
    acme, client, code_host, clock, late
):
    reconcile_due()
    code_host.suspend(build.installed(code_host))

    def unsuspend():
        code_host.unsuspend(build.installed(code_host))
        holds.unsuspend(Installation.objects.get())  # as the webhook does

    late(unsuspend)
    build.send(client)
    was_suspended = Installation.objects.get().suspended_at
    rounds = [asked_about(code_host), asked_about(code_host)]
    clock.advance(seconds=61)
    call_command("retry_deliveries")

    assert was_suspended
    assert Installation.objects.get().suspended_at is None
    assert rounds == [1, 0]
    assert delivery().status == "sent"


def test_a_suspended_installation_is_asked_about_once_and_then_hourly(
    acme, client, code_host, clock
):
    reconcile_due()
    code_host.suspend(build.installed(code_host))
    build.send(client)

    rounds = [asked_about(code_host) for _ in range(3)]
    clock.advance(minutes=61)
    holds.probe()
    call_command("retry_deliveries")  # and is told again that it is suspended
    rounds += [asked_about(code_host) for _ in range(3)]

    assert rounds == [1, 0, 0, 1, 0, 0]
    assert Installation.objects.get().suspended_at


def test_word_of_a_known_suspension_is_no_reason_to_ask(acme):
    Installation.objects.update(suspended_at=Now(), asked_about_at=Now())

    holds.suspend(Installation.objects.get(), "The app was suspended on acme.")

    assert Installation.objects.get().asked_about_at
