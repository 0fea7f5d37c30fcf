"""What arrived before its page was claimed: who sees it, and what sending it does."""

from datetime import timedelta
from threading import Barrier, Thread

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from integrations.delivery import retries, turns
from integrations.models import Delivery, Integration
from integrations.ownership import unclaimed
from integrations.ownership.site_claims import NotConfigured
from orgs.models import Domain, Site
from reports import erasing, repeats
from reports.models import Report
from tests import build
from tests.plans import plans_of

pytestmark = pytest.mark.django_db(transaction=True)

DOCS = "https://docs.acme.com"


def reported(*urls: str) -> list[Report]:
    """One report about each of these pages."""
    for number, url in enumerate(urls):
        answer = build.send(Client(), build.report(url, report__summary=f"Number {number}"))
        assert answer.status_code == 201
    return list(Report.objects.order_by("received_at"))


@pytest.fixture
def alice(code_host):
    """acme has chosen a repository, and alice is its member."""
    owner = build.organization()
    build.integration(owner, code_host)
    return build.member(owner).membership


def claimed(alice, name: str = "docs.acme.com") -> Domain:
    return build.domain(alice.organization, name)


def paths(page: unclaimed.Page) -> list[str]:
    return [each.canonical_url.removeprefix("https://") for each in page.reports]


def test_reports_about_the_pages_of_a_claim_newest_first(alice):
    reported(f"{DOCS}/a", f"{DOCS}:8443/b", "http://docs.acme.com/c")
    reported("https://www.acme.com/", "https://docs.acme.org/", "docs/install.md")

    page = unclaimed.page(claimed(alice))

    assert [each.canonical_url for each in page.reports] == [
        "http://docs.acme.com/c",
        f"{DOCS}:8443/b",
        f"{DOCS}/a",
    ]
    assert (page.found, page.is_all, page.following) == (3, True, "")


def test_a_registrable_claim_has_the_names_below_it_but_not_those_of_others(alice):
    reported("https://acme.com/a", f"{DOCS}/b", "https://api.acme.com/c", "https://notacme.com/d")
    build.domain(build.organization("other"), "api.acme.com")

    page = unclaimed.page(claimed(alice, "acme.com"))

    assert paths(page) == ["docs.acme.com/b", "acme.com/a"]


def test_what_a_closer_claim_of_ones_own_has_opted_out_of_is_not_offered(alice):
    """An attack: it was listed, and then not sent, as if somebody had received it meanwhile."""
    reported("https://acme.com/a", f"{DOCS}/b", "https://acme.github.io/c")
    reported("https://acme.github.io/docs/d")
    claimed(alice).opt_out(True)
    build.site(alice.organization, "acme.github.io", "/docs/").opt_out(True)
    site = build.site(alice.organization, "acme.github.io", "/")

    assert paths(unclaimed.page(claimed(alice, "acme.com"))) == ["acme.com/a"]
    assert paths(unclaimed.page(site)) == ["acme.github.io/c"]


def test_a_site_has_what_is_below_its_path(alice):
    reported("https://acme.github.io/docs/a", "https://acme.github.io/other/b")
    site = build.site(alice.organization, "acme.github.io", "/docs/")

    assert paths(unclaimed.page(site)) == ["acme.github.io/docs/a"]


def test_what_is_older_erased_or_was_received_is_not_offered(alice, clock):
    old, erased, received, _ = reported(f"{DOCS}/a", f"{DOCS}/b", f"{DOCS}/c", f"{DOCS}/d")
    Report.objects.filter(pk=old.pk).update(received_at=timezone.now() - timedelta(days=31))
    erasing.erase(erased)
    other = build.organization("other")
    Report.objects.filter(pk=received.pk).update(organization=other, unclaimed_name=None)

    assert paths(unclaimed.page(claimed(alice))) == ["docs.acme.com/d"]


def test_what_an_organization_received_that_was_deleted_is_not_offered(alice):
    other = build.organization("other")
    build.domain(other, "docs.acme.com")
    reported(f"{DOCS}/a")
    other.delete()

    assert not unclaimed.page(claimed(alice)).reports


def test_nobody_without_push_access_sees_what_is_about_a_site(alice):
    reported("https://acme.github.io/docs/a", f"{DOCS}/b")
    site = build.site(alice.organization, "acme.github.io", "/docs/")
    Integration.objects.update(rights_lost_at=timezone.now())

    assert not unclaimed.page(site).reports
    assert len(unclaimed.page(claimed(alice)).reports) == 1


def test_pages_go_on_where_the_last_one_ended(alice, monkeypatch):
    monkeypatch.setattr(unclaimed, "PAGE_SIZE", 2)
    reported(*(f"{DOCS}/{number}" for number in range(5)))
    claim = claimed(alice)

    pages = [unclaimed.page(claim)]
    while pages[-1].following:
        pages.append(unclaimed.page(claim, pages[-1].following))

    assert [[path[-1] for path in paths(page)] for page in pages] == [["4", "3"], ["2", "1"], ["0"]]


def test_a_page_looks_at_so_many_and_says_that_there_are_older_ones(alice, monkeypatch):
    monkeypatch.setattr(unclaimed, "LOOKED_AT", 3)
    reported(f"{DOCS}/a", *(f"https://www.acme.com/{number}" for number in range(3)))
    claim = claimed(alice)

    first = unclaimed.page(claim)

    assert (first.reports, first.is_all) == ([], False)
    assert paths(unclaimed.page(claim, first.following)) == ["docs.acme.com/a"]


def test_an_unknown_place_is_the_first_page(alice):
    reported(f"{DOCS}/a")

    assert len(unclaimed.page(claimed(alice), "nonsense\0").reports) == 1


def test_nothing_is_sent_by_itself(alice, code_host):
    reported(f"{DOCS}/a")
    claim = claimed(alice)
    unclaimed.page(claim)

    assert not Delivery.objects.exists()
    assert not turns.due_ids()


def test_what_is_chosen_is_sent_in_its_turn(alice, code_host):
    first, second, third = reported(f"{DOCS}/a", f"{DOCS}/b", f"{DOCS}/c")
    claim = claimed(alice)

    number = unclaimed.send(alice, claim, [first.pk, third.pk, first.pk])

    assert number == 2
    assert not code_host.issues("acme/docs")  # not in this request
    assert {each.status for each in Delivery.objects.all()} == {"pending"}
    assert sorted(each.turn for each in Delivery.objects.all()) == [0, 1]
    retries.retry(turns.due_ids())
    assert len(code_host.issues("acme/docs")) == 2
    assert [each.pk for each in unclaimed.page(claim).reports] == [second.pk]


def test_what_is_new_goes_before_most_of_it(alice):
    chosen = reported(*(f"{DOCS}/{number}" for number in range(4)))
    unclaimed.send(alice, claimed(alice), [each.pk for each in chosen])
    new = build.send(Client(), build.report(f"{DOCS}/new")).json()["id"]

    turn = dict(Delivery.objects.values_list("report_id", "turn"))

    assert turn[new] == 0
    assert sorted(turn.values()) == [0, 0, 1, 2, 3]


def test_so_many_at_a_time(alice, monkeypatch):
    monkeypatch.setattr(unclaimed, "PAGE_SIZE", 2)
    chosen = reported(f"{DOCS}/a", f"{DOCS}/b", f"{DOCS}/c")

    assert unclaimed.send(alice, claimed(alice), [each.pk for each in chosen]) == 2
    assert Delivery.objects.count() == 2


def test_what_is_not_ones_own_is_left_as_it_is(alice):
    others, erased, mine = reported("https://other.example/", f"{DOCS}/b", f"{DOCS}/c")
    erasing.erase(erased)
    ids = [others.pk, erased.pk, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "nonsense\0", mine.pk]

    assert unclaimed.send(alice, claimed(alice), ids) == 1
    assert Delivery.objects.get().report_id == mine.pk
    assert not Report.objects.exclude(pk=mine.pk).exclude(organization=None).exists()


def test_what_somebody_has_received_meanwhile_stays_theirs(alice):
    [report] = reported(f"{DOCS}/a")
    other = build.organization("other")
    Report.objects.update(organization=other, unclaimed_name=None)

    assert unclaimed.send(alice, claimed(alice), [report.pk]) == 0
    assert Report.objects.get().organization == other


def test_a_claim_that_has_opted_out_gets_none(alice):
    [report] = reported(f"{DOCS}/a")
    claim = claimed(alice)
    claim.opt_out(out=True)

    assert unclaimed.send(alice, claim, [report.pk]) == 0
    assert not Delivery.objects.exists()


def test_without_a_repository_nothing_is_given_away(alice):
    [report] = reported(f"{DOCS}/a")
    Integration.objects.all().delete()

    with pytest.raises(NotConfigured):
        unclaimed.send(alice, claimed(alice), [report.pk])
    assert Report.objects.get().organization is None


def test_a_repository_that_goes_away_in_between_undoes_it(alice, monkeypatch):
    [report] = reported(f"{DOCS}/a")
    claim = claimed(alice)
    monkeypatch.setattr(Delivery.objects, "create_for", lambda report: False)

    assert unclaimed.send(alice, claim, [report.pk]) == 0
    assert Report.objects.get().organization is None


def test_a_repeat_after_it_was_sent_is_counted(alice):
    [report] = reported(f"{DOCS}/a")
    unclaimed.send(alice, claimed(alice), [report.pk])

    reported(f"{DOCS}/a")

    assert Report.objects.get().times_reported == 2
    assert Delivery.objects.count() == 1


def test_a_repeat_at_the_same_moment_makes_no_second_delivery(alice, code_host, monkeypatch):
    """Both have found the report without an owner, and go on together."""
    [report] = reported(f"{DOCS}/a")
    claim = claimed(alice)
    start, outcomes = Barrier(2), []
    said_by = repeats._said_by

    def wait_for_the_other(new: Report):
        start.wait(timeout=60)
        return said_by(new)

    monkeypatch.setattr(repeats, "_said_by", wait_for_the_other)

    def repeat() -> None:
        outcomes.append(build.send(Client(), build.report(f"{DOCS}/a", report__summary="Number 0")))
        connection.close()

    def send() -> None:
        start.wait(timeout=60)
        unclaimed.send(alice, claim, [report.pk])
        connection.close()

    threads = [Thread(target=repeat), Thread(target=send)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    retries.retry(turns.due_ids())
    assert [each.status_code for each in outcomes] == [201]
    assert Report.objects.get().organization == alice.organization
    assert Report.objects.get().times_reported == 2
    assert Delivery.objects.count() == 1
    assert len(code_host.issues("acme/docs")) == 1


def test_they_are_read_from_their_index(alice):
    reported(*(f"{DOCS}/{number}" for number in range(3)))
    claim = claimed(alice)

    plans = plans_of(lambda: unclaimed.page(claim))

    [read] = [plan for plan in plans if "unclaimed_name" in plan.sql]
    assert "report_unclaimed" in read
    assert "Sort" not in read
    assert "TEMP B-TREE" not in read


def test_a_site_that_lapsed_has_none(alice):
    reported("https://acme.github.io/docs/a")
    site = build.site(alice.organization, "acme.github.io", "/docs/")
    Site.objects.update(lapsed_at=timezone.now())

    assert not unclaimed.page(site).reports


def test_what_a_repeat_has_given_to_its_owner_is_no_longer_offered(alice, code_host):
    reported(f"{DOCS}/a")
    claim = claimed(alice)

    reported(f"{DOCS}/a")

    assert not unclaimed.page(claim).reports
    assert len(code_host.issues("acme/docs")) == 1
