"""Names below a proved one that another organization proves: who is told, and where they are listed."""

from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core import batches, counting
from orgs.domains import parts, reverification, verification
from orgs.models import Domain
from orgs.models.signals import domain_verified
from tests import build
from tests.plans import plan_of, whole_tables_in

pytestmark = pytest.mark.django_db(transaction=True)

TOLD = (
    "Other organizations have proved names below acme.com by DNS records, and receive the reports about "
    "them: {}. If you do not know of one, remove its TXT record, such as _hub-challenge.{}. The page of "
    "acme.com lists such names."
)


@pytest.fixture(autouse=True)
def at_one_in_the_morning(clock):
    """A day begins at midnight, UTC."""
    now = timezone.now()
    tomorrow = now.replace(hour=1, minute=0, second=0, microsecond=0) + timedelta(days=1)
    clock.advance(seconds=(tomorrow - now).total_seconds())


@pytest.fixture
def acme():
    """The claim of acme.com, which covers the names below it."""
    return build.domain(build.organization("acme"), "acme.com")


def proved(dns, name: str, by: str = "") -> Domain:
    """A claim that was just proved, by an organization of its own."""
    claim = build.domain(build.organization(by or name), name, verified=False)
    return check(dns, claim)


def check(dns, claim: Domain) -> Domain:
    dns.txt(claim.record_name, claim.record_value)
    member = claim.organization.memberships.first()
    if member is None:
        member = build.member(claim.organization, claim.organization.name).membership
    verification.check(claim, by=member)
    claim.refresh_from_db()
    assert claim.verified_at
    return claim


def notices(claim: Domain) -> list[str]:
    return [each.text for each in claim.organization.notices.all()]


def test_who_has_the_name_above_is_told(acme, dns):
    proved(dns, "docs.acme.com")

    assert notices(acme) == [TOLD.format("docs.acme.com", "docs.acme.com")]


@pytest.mark.parametrize("last", ["docs.acme.com", "acme.com"])
def test_what_is_proved_just_before_midnight_is_told_after_it(acme, dns, clock, last):
    """Whoever proves a name chooses the moment, and what is released with it takes its time."""
    acme.lapse("for a while")
    claims = {"acme.com": acme}
    claims["docs.acme.com"] = build.domain(
        build.organization("docs"), "docs.acme.com", verified=False
    )
    first, second = sorted(claims, key=lambda name: name == last)
    check(dns, claims[first])
    clock.advance(hours=22, minutes=59)

    def past_midnight(**kwargs):
        clock.advance(seconds=120)

    domain_verified.connect(past_midnight)
    try:
        check(dns, claims[second])
    finally:
        domain_verified.disconnect(past_midnight)
    clock.advance(minutes=10)
    proved(dns, "x.acme.com")

    assert notices(acme)[0] == TOLD.format("x.acme.com, docs.acme.com", "x.acme.com")


def test_what_is_proved_on_the_same_day_is_told_with_it(acme, dns, clock):
    proved(dns, "lab.acme.com")
    clock.advance(hours=22)
    proved(dns, "docs.acme.com")

    assert notices(acme) == [TOLD.format("lab.acme.com, docs.acme.com", "lab.acme.com")]

    clock.advance(hours=25)
    proved(dns, "api.acme.com")

    assert notices(acme)[0] == TOLD.format("api.acme.com", "api.acme.com")
    assert len(notices(acme)) == 2


def test_one_name_a_day_takes_none_of_those_before_from_the_news(acme, dns, clock):
    for name in ("a.acme.com", "b.acme.com", "c.acme.com"):
        proved(dns, name)
        clock.advance(hours=20)

    told = " ".join(notices(acme))
    assert "a.acme.com" in told
    assert "b.acme.com" in told
    assert "c.acme.com" in told


def test_what_was_proved_before_the_name_above_stays_told_on_the_day_of_that(dns):
    proved(dns, "docs.acme.com")
    Domain.objects.update(verified_at=timezone.now() - timedelta(days=30))
    acme = proved(dns, "acme.com", by="acme")

    proved(dns, "x.acme.com")

    assert notices(acme) == [TOLD.format("x.acme.com, docs.acme.com", "x.acme.com")]


def test_names_of_one_owner_below_hide_no_shorter_one(acme, dns):
    for number in range(6):
        proved(dns, f"x{number}.lab.acme.com")
    proved(dns, "docs.acme.com")

    [told] = notices(acme)
    assert "about them: docs.acme.com, x0.lab.acme.com" in told
    assert ", and 2 more. If" in told


def test_nobody_is_told_of_their_own_or_of_what_is_not_below(acme, dns):
    check(dns, build.domain(acme.organization, "docs.acme.com", verified=False))
    proved(dns, "docs.notacme.com")

    assert notices(acme) == []


def test_nobody_is_told_twice_of_what_stays_proved(acme, dns, clock):
    docs = proved(dns, "docs.acme.com")
    clock.advance(hours=25)

    check(dns, docs)

    assert len(notices(acme)) == 1


def test_who_proves_the_name_above_later_is_told_too(dns):
    proved(dns, "docs.acme.com")

    acme = proved(dns, "acme.com", by="acme")

    assert notices(acme) == [TOLD.format("docs.acme.com", "docs.acme.com")]


def test_the_page_of_the_claim_lists_them(acme, dns, monkeypatch):
    monkeypatch.setattr(parts, "SHOWN", 2)
    for name in ("docs.acme.com", "x1.lab.acme.com", "x2.lab.acme.com"):
        proved(dns, name)

    page = page_of(acme)

    assert "Names below it that belong to others" in page
    assert page.index("_hub-challenge.docs.acme.com") < page.index("_hub-challenge.x1.lab.acme.com")
    assert "_hub-challenge.x2" not in page
    assert "These are the shortest of 3." in page


def test_the_page_of_the_claim_counts_no_further_than_all_others(acme, dns, monkeypatch):
    monkeypatch.setattr(parts, "SHOWN", 1)
    monkeypatch.setattr(counting, "MOST", 2)
    for number in range(4):
        proved(dns, f"x{number}.acme.com")

    assert "These are the shortest of more than 2." in page_of(acme)


def page_of(claim: Domain) -> str:
    client = Client()
    client.force_login(build.member(claim.organization, "alice"))
    return client.get(f"/settings/claims/{claim.pk}/").content.decode()


def test_they_are_read_from_an_index(acme):
    other = build.organization("other")
    Domain.objects.bulk_create(
        Domain(
            organization=other,
            name=f"n{number}.acme.com",
            registrable=False,
            below="acme.com",
            verified_at=timezone.now() - timedelta(days=number),
        )
        for number in range(300)
    )

    plan = plan_of(Domain.objects.of_others_below(acme)[: parts.SHOWN])

    assert "domain_below" in plan
    assert not whole_tables_in(plan)


def test_an_upgrade_says_which_name_older_claims_are_below(acme):
    by_the_version_before("docs.acme.com")

    fill_as_an_upgrade_does()

    assert [each.name for each in Domain.objects.of_others_below(acme)] == ["docs.acme.com"]


def test_an_upgrade_locks_no_more_claims_than_one_batch(acme, monkeypatch):
    monkeypatch.setattr(batches, "BATCH", 1)
    for name in ("api.acme.com", "docs.acme.com"):
        by_the_version_before(name)

    with CaptureQueriesContext(connection) as asked:
        fill_as_an_upgrade_does()

    assert Domain.objects.of_others_below(acme).count() == 2
    read = [each["sql"] for each in asked if each["sql"].startswith("SELECT")]
    assert all("LIMIT 1" in each for each in read)
    assert len([each for each in asked if each["sql"].startswith("BEGIN")]) == 2


def by_the_version_before(name: str) -> Domain:
    """A claim that was verified without the name that it is below."""
    claim = build.domain(build.organization(name), name)
    claim.note_below(name)
    assert claim.below == ""
    return claim


def fill_as_an_upgrade_does() -> None:
    migration = import_module("orgs.migrations.0014_fill_names_below")
    with connection.schema_editor(atomic=migration.Migration.atomic) as editor:
        migration.say_what_they_are_below(apps, editor)


def test_what_the_version_before_has_verified_meanwhile_is_listed_after_its_next_check(acme, dns):
    docs = by_the_version_before("docs.acme.com")
    dns.txt(docs.record_name, docs.record_value)

    reverification.run(Domain.objects.filter(pk=docs.pk))

    assert [each.name for each in Domain.objects.of_others_below(acme)] == ["docs.acme.com"]
