"""PostgreSQL: who changes the rows of several integrations, or those of one, locks them in one order."""

import pytest
from django.db import transaction
from django.utils import timezone

from integrations.github_api.installations import InstallationFacts
from integrations.github_sync import webhooks
from integrations.models import Attempt, Delivery, Installation, Integration, OneTimeState
from integrations.setup import installing, leaving
from tests import build
from tests.waiting import free_while_it_waits

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgresql]


@pytest.fixture
def integrations(code_host) -> list[Integration]:
    """Those of three organizations on one account; the row of the first is the last, also in each index."""
    code_host.add_repository("acme", "manual")
    code_host.add_repository("acme", "site")
    names = ("acme/site", "acme/manual", "acme/docs")
    found = [build.integration(build.organization(each), code_host, each) for each in names]
    Integration.objects.filter(pk=found[0].pk).update(probe_at=timezone.now())
    return found


def heard(integrations: list[Integration], event: str, action: str) -> None:
    """A webhook about the account, and all of the repositories."""
    repositories = [
        {"id": each.repository_id, "full_name": each.repository} for each in integrations
    ]
    payload = {
        "action": action,
        "installation": {"id": integrations[0].installation.github_id},
        "repositories_added": repositories,
        "repositories_removed": repositories,
    }
    with transaction.atomic():
        webhooks.ACTIONS[event, action](payload)


@pytest.mark.parametrize(
    ("event", "action"),
    [
        ("installation", "suspend"),
        ("installation", "unsuspend"),
        ("installation", "deleted"),
        ("installation_repositories", "added"),
        ("installation_repositories", "removed"),
    ],
)
def test_integrations_of_several_organizations_are_locked_in_the_order_of_their_ids(
    integrations, event, action
):
    first, *others = Integration.objects.order_by("pk").values_list("pk", flat=True)

    free = free_while_it_waits(
        lambda: heard(integrations, event, action),
        Integration.objects.filter(pk=first),
        Integration.objects.filter(pk__in=others),
    )

    assert free == {*others}


def test_integrations_that_one_repository_has_are_locked_in_that_order_too(integrations):
    number = integrations[0].repository_id
    Integration.objects.update(repository_id=number)
    first, *others = Integration.objects.order_by("pk").values_list("pk", flat=True)
    Integration.objects.filter(pk=first).update(probe_at=None)  # its row is the last again

    free = free_while_it_waits(
        transaction.atomic(lambda: list(webhooks._integrations(number))),
        Integration.objects.filter(pk=first),
        Integration.objects.filter(pk__in=others),
    )

    assert free == {*others}


def test_who_installs_locks_those_of_others_in_that_order_too(integrations):
    installation = integrations[0].installation
    Installation.objects.update(suspended_at=timezone.now())
    first, *_, last = Integration.objects.order_by("pk")
    state, _ = OneTimeState.objects.begin(build.member(last.organization).membership)
    facts = InstallationFacts(
        installation.github_id, installation.account, is_suspended=False, may_write_issues=True
    )
    mine = Integration.objects.filter(pk=last.pk)

    free = free_while_it_waits(
        lambda: installing._save(state, facts), Integration.objects.filter(pk=first.pk), mine
    )

    assert free == {last.pk}
    assert not Installation.objects.get().suspended_at


def test_deliveries_that_are_deleted_are_locked_before_their_attempts(client, code_host):
    """As where reports are deleted for their age."""
    acme = build.acme(code_host)
    build.send(client)
    attempts = {each.pk for each in Attempt.objects.all()}

    free = free_while_it_waits(
        lambda: sum(leaving.deleted(acme)), Delivery.objects.all(), Attempt.objects.all()
    )

    assert free == attempts != set()
    assert not Delivery.objects.exists()
