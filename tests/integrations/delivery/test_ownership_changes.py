"""What becomes of deliveries when the page's owner changes."""

import re
from collections.abc import Callable, Iterable

import pytest
from django.core.management import call_command
from django.utils import timezone

from core import batches
from hub.maintenance import JOBS
from integrations.delivery import ownership_changes
from integrations.models import Delivery, Integration
from orgs.domains.reverification import maintain
from orgs.models import Domain, Organization
from reports.models import Report
from tests import build
from tests.plans import plan_of, plans_of, whole_tables_in

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
    assert "no longer belongs to your organization" in waiting.reason


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
    Domain.objects.get().remove_claim()

    waiting.refresh_from_db()
    assert (waiting.status, waiting.held_for) == ("held", "ownership")


@pytest.fixture
def unknown(client, code_host):
    """A delivery that GitHub has not answered; the issue may be there."""

    def send(fault: str) -> Delivery:
        build.acme(code_host)
        code_host.fail(fault, path="issues")
        build.send(client)
        return Delivery.objects.get()

    return send


def test_what_may_have_been_sent_is_looked_for_before_it_is_held(unknown, clock, code_host):
    waiting = unknown("502_after_creating")

    Domain.objects.get().remove_claim()
    told = Delivery.objects.get().status
    clock.advance(minutes=3)
    call_command("retry_deliveries")

    [issue] = code_host.issues("acme/docs")
    found = Delivery.objects.get()
    assert (bool(waiting.outcome_unknown_since), told) == (True, "pending")
    assert (found.status, found.issue_number) == ("sent", issue.number)


def test_what_was_not_sent_after_all_is_held(unknown, clock, code_host):
    unknown("502")

    Domain.objects.get().remove_claim()
    clock.advance(seconds=40)
    call_command("retry_deliveries")
    too_early = Delivery.objects.get()
    clock.advance(minutes=3)
    call_command("retry_deliveries")

    held = Delivery.objects.get()
    assert (too_early.status, bool(too_early.outcome_unknown_since)) == ("pending", True)
    assert (held.status, held.held_for, held.reason) == (
        "held",
        "ownership",
        ownership_changes.LOST,
    )
    assert not code_host.issues("acme/docs")


def test_a_page_that_somebody_else_has_given_up_is_the_organizations_again(client, code_host):
    build.acme(code_host, "acme.com")
    code_host.fail("500", path="token")
    build.send(client)
    theirs = build.domain(build.organization("bob"), "docs.acme.com")
    Delivery.objects.update(due_at=Delivery.objects.get().created_at)
    call_command("retry_deliveries")
    held = Delivery.objects.get()
    still = ownership_changes.release_all_regained()

    theirs.remove_claim()
    released = ownership_changes.release_all_regained()
    call_command("retry_deliveries")

    assert (held.status, held.held_for) == ("held", "ownership")
    assert (still, released) == (0, 1)
    assert Delivery.objects.get().status == "sent"


def test_what_is_told_to_stop_releases_nothing(waiting):
    Delivery.objects.hold(Delivery.Cause.OWNERSHIP, ownership_changes.LOST)

    assert ownership_changes.release_all_regained(lambda: False) == 0
    assert ownership_changes.release_all_regained() == 1


@pytest.mark.parametrize("page", ["https://docs.acme.com/", "https://acme.github.io/docs/"])
def test_each_place_is_asked_about_once(waiting, page, django_assert_max_num_queries):
    owner = waiting.integration.organization
    build.site(owner, "acme.github.io", "/docs/")
    give_300_about(page, owner, waiting.integration)
    Domain.objects.update(verified_at=None)
    owner.sites.update(lapsed_at=waiting.created_at)

    with django_assert_max_num_queries(10):
        lost = ownership_changes.hold_lost(owner)
    Domain.objects.update(verified_at=waiting.created_at)
    owner.sites.update(lapsed_at=None)
    with django_assert_max_num_queries(10):
        regained = ownership_changes.release_regained(owner)

    assert (lost, regained) == (301, 301)


def test_a_batch_of_a_hundred_hosts_costs_a_few_statements(
    waiting, django_assert_max_num_queries, monkeypatch
):
    monkeypatch.setattr(batches, "BATCH", 100)
    owner = waiting.integration.organization
    pages = [f"https://h{number}.acme.org/" for number in range(100)]
    pages += [f"https://u{number}.github.io/" for number in range(100)]
    give_one_about_each(pages, owner, waiting.integration)

    with django_assert_max_num_queries(24):
        lost = ownership_changes.hold_lost(owner)
    build.domain(owner, "acme.org")
    with django_assert_max_num_queries(24):
        regained = ownership_changes.release_all_regained()

    assert (lost, regained) == (200, 100)


def test_one_request_looks_at_so_many_and_no_more_and_maintain_does_the_rest(waiting, monkeypatch):
    monkeypatch.setattr(batches, "AT_ONCE", 4)
    monkeypatch.setattr(batches, "BATCH", 2)
    owner, theirs = waiting.integration.organization, Domain.objects.get()
    pages = [f"https://docs.acme.com/{number}" for number in range(8)]
    give_one_about_each(pages, owner, waiting.integration)

    theirs.remove_claim()
    lost = Delivery.objects.held(Delivery.Cause.OWNERSHIP).count()
    call_command("retry_deliveries")
    after_a_round = Delivery.objects.held(Delivery.Cause.OWNERSHIP).count()
    build.domain(owner, "docs.acme.com")
    regained = ownership_changes.release_regained(owner)

    assert (lost, after_a_round) == (4, 9)
    assert regained == 4
    assert [ownership_changes.release_all_regained() for _ in range(3)] == [4, 1, 0]


def test_a_round_that_was_stopped_is_gone_on_with_by_the_next(waiting, monkeypatch):
    """Of somebody with many pages that were lost, nobody else's wait for ever."""
    monkeypatch.setattr(batches, "BATCH", 2)
    lost = [f"https://evil.dev/{number}" for number in range(6)]
    give_one_about_each(lost, waiting.integration.organization, waiting.integration)
    mine = ["https://docs.acme.com/x"]
    give_one_about_each(mine, waiting.integration.organization, waiting.integration)
    Delivery.objects.exclude(pk=waiting.pk).hold(Delivery.Cause.OWNERSHIP, ownership_changes.LOST)
    [release] = [job.run for job in JOBS if job.name == "regained pages"]

    rounds = [release(once()) for _ in range(4)]
    again = Delivery.objects.waiting().hold(Delivery.Cause.OWNERSHIP, ownership_changes.LOST)

    assert rounds == [0, 0, 0, 1]
    assert again == 2
    assert release(lambda: True) == 2  # from the first on


def test_a_backlog_that_stays_held_does_not_delay_what_another_regained(
    waiting, code_host, monkeypatch
):
    monkeypatch.setattr(batches, "AT_ONCE", 6)
    monkeypatch.setattr(batches, "BATCH", 2)
    mine = waiting.integration.organization
    give_one_about_each(
        [f"https://evil.dev/{each}" for each in range(20)], mine, waiting.integration
    )
    other = build.organization("zeta")
    build.domain(other, "docs.zeta.dev")
    give_one_about_each(["https://docs.zeta.dev/"], other, build.integration(other, code_host))
    Delivery.objects.hold(Delivery.Cause.OWNERSHIP, ownership_changes.LOST)
    Delivery.objects.filter(pk=waiting.pk).release(Delivery.Cause.OWNERSHIP)

    assert ownership_changes.release_all_regained() == 1


def test_whose_claims_are_all_gone_has_nothing_checked(waiting, django_assert_num_queries):
    Domain.objects.all().delete()
    Delivery.objects.hold(Delivery.Cause.OWNERSHIP, ownership_changes.LOST)

    with django_assert_num_queries(1):
        assert ownership_changes.release_all_regained() == 0


def test_what_is_checked_is_read_from_an_index(waiting):
    which = plan_of(ownership_changes._that_may_regain())
    Delivery.objects.hold(Delivery.Cause.OWNERSHIP, ownership_changes.LOST)
    [first] = plans_of(lambda: ownership_changes._next_held(waiting.integration_id, 0))

    assert re.search("delivery_held|integrations_delivery_integration", which)  # or of so few
    assert not whole_tables_in([which], "integrations_delivery", "orgs_domain", "orgs_site")
    assert "delivery_held" in first
    assert not re.search("Sort|TEMP B-TREE", first)


def once() -> Callable[[], bool]:
    """What says to go on with one batch."""
    answers = iter([True])
    return lambda: next(answers, False)


def give_300_about(page: str, owner: Organization, integration: Integration) -> None:
    pages = [f"{page}{number % 3}" for number in range(300)]
    give_one_about_each(pages, owner, integration)


def give_one_about_each(
    pages: Iterable[str], owner: Organization, integration: Integration
) -> None:
    now = timezone.now()
    reports = Report.objects.bulk_create(
        Report(organization=owner, received_at=now, last_received_at=now, canonical_url=page)
        for page in pages
    )
    Delivery.objects.bulk_create(Delivery(report=each, integration=integration) for each in reports)
