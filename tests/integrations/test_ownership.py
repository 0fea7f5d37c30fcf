"""What becomes of deliveries when the page's owner changes."""

import pytest
from django.core.management import call_command

from integrations.models import Delivery
from orgs.models import Domain
from orgs.reverification import maintain
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def waiting(client, code_host):
    """A delivery that waits, since GitHub is away; of an organization with one domain."""
    build.acme(code_host)
    code_host.fail("500", path="token", times=1000)
    build.send(client)
    return Delivery.objects.get()


def lapse(clock, dns) -> None:
    for _ in range(12 * 2):
        clock.advance(hours=12)
        maintain()


def test_when_a_domain_lapses_what_waits_is_held(waiting, dns, clock):
    lapse(clock, dns)

    waiting.refresh_from_db()
    assert (waiting.status, waiting.held_for) == ("held", "ownership")
    assert "no longer yours" in waiting.reason


def test_verified_again_what_was_held_arrives(waiting, dns, clock, code_host):
    lapse(clock, dns)
    code_host.faults.clear()
    domain = Domain.objects.get()
    dns.txt(domain.record_name, domain.record_value)

    clock.advance(days=1)
    maintain()
    call_command("retry_deliveries")

    waiting.refresh_from_db()
    assert waiting.status == "sent"
    assert len(code_host.issues("acme/docs")) == 1


def test_what_is_about_another_claim_goes_on(waiting, client, dns, clock):
    other = build.domain(waiting.integration.organization, "other.acme.org")
    dns.txt(other.record_name, other.record_value)
    build.send(client, build.report("https://other.acme.org/x"))

    lapse(clock, dns)

    assert sorted(Delivery.objects.values_list("status", flat=True)) == ["held", "pending"]


def test_a_deleted_claim_holds_what_waits(waiting):
    Domain.objects.get().give_up()

    waiting.refresh_from_db()
    assert (waiting.status, waiting.held_for) == ("held", "ownership")
