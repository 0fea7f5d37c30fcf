"""A page passes on to another organization while reports about it are under way."""

from collections.abc import Callable

import pytest
from django.test import Client

from integrations.models import Delivery
from orgs.models import Domain, Organization
from reports import repeats
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "https://docs.acme.com/install"


@pytest.fixture
def others(code_host) -> tuple[Organization, Organization]:
    """Two organizations with repositories of their own; a report about the page came before any of them."""
    build.send(Client(), build.report(PAGE))
    code_host.add_organization("initech")
    code_host.add_installation(
        "initech", repositories=[code_host.add_repository("initech", "docs")]
    )
    acme, initech = build.organization("acme"), build.organization("initech")
    build.integration(acme, code_host)
    build.integration(initech, code_host, "initech/docs")
    return acme, initech


def passes_to(owner: Organization) -> None:
    Domain.objects.all().delete()
    build.domain(owner, "docs.acme.com")


def meanwhile(monkeypatch, *happens: Callable[[], None]) -> None:
    """It happens once a request has found who owns the page, and before it counts the report."""
    count = repeats.count

    def count_late(*args):
        monkeypatch.setattr(repeats, "count", count)
        for each in happens:
            each()
        return count(*args)

    monkeypatch.setattr(repeats, "count", count_late)


def send() -> None:
    build.send(Client(), build.report(PAGE))


def test_who_is_late_takes_no_report_from_its_new_owner(others, code_host, monkeypatch):
    acme, initech = others
    passes_to(acme)
    meanwhile(monkeypatch, lambda: passes_to(initech), send)

    send()

    delivery = Delivery.objects.get()
    assert delivery.report.organization == delivery.integration.organization == initech
    assert (delivery.report.times_reported, delivery.status) == (3, "sent")
    assert not code_host.issues("acme/docs")


def test_what_the_former_owner_has_received_is_not_given_to_the_new_one(
    others, code_host, monkeypatch
):
    acme, initech = others
    passes_to(initech)
    meanwhile(monkeypatch, lambda: passes_to(acme), send, lambda: passes_to(initech))

    send()

    received = {each.integration.organization: each.report for each in Delivery.objects.all()}
    assert {owner: report.organization for owner, report in received.items()} == {
        acme: acme,
        initech: initech,
    }
    assert [len(code_host.issues(f"{each}/docs")) for each in ("acme", "initech")] == [1, 1]
