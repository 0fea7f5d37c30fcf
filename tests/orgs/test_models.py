"""What must be unique is unique in the database, on whichever it is."""

import pytest
from django.db import IntegrityError, transaction

from core.ids import new_id
from orgs.models import Domain, Membership, Site, User
from tests import build

pytestmark = pytest.mark.django_db


def refused(build_it) -> bool:
    try:
        with transaction.atomic():
            build_it()
    except IntegrityError:
        return True
    return False


def test_a_domain_has_one_verified_owner_and_any_number_of_pending_claims():
    alice, bob = build.organization("alice"), build.organization("bob")
    build.domain(alice, "acme.com")

    assert not refused(lambda: build.domain(bob, "acme.com", verified=False))
    assert refused(lambda: build.domain(bob, "acme.com"))
    assert refused(lambda: build.domain(alice, "acme.com", verified=False))


def test_a_verified_domain_has_not_lapsed():
    domain = build.domain(build.organization(), "acme.com")

    assert refused(lambda: Domain.objects.filter(pk=domain.pk).update(lapsed_at=domain.verified_at))


def test_a_site_has_one_live_owner():
    alice, bob = build.organization("alice"), build.organization("bob")
    site = build.site(alice, "alice.github.io", "/repo/")

    assert refused(lambda: build.site(bob, "alice.github.io", "/repo/"))
    Site.objects.filter(pk=site.pk).update(lapsed_at=site.verified_at)
    assert not refused(lambda: build.site(bob, "alice.github.io", "/repo/"))


@pytest.mark.parametrize("path", ["", "repo", "/repo", "repo/"])
def test_a_sites_path_is_between_slashes(path):
    owner = build.organization()

    assert refused(lambda: build.site(owner, "alice.github.io", path))


def test_an_account_belongs_to_one_organization():
    alice, bob = build.organization("alice"), build.organization("bob")
    user = User.objects.create(username="alice")
    Membership.objects.create(
        organization=alice, user=user, github_id=1, login="alice", role="owner"
    )

    assert refused(lambda: Membership.objects.create(organization=bob, github_id=1, login="alice"))
    assert refused(
        lambda: Membership.objects.create(organization=bob, user=user, github_id=2, login="a")
    )


def test_ids_do_not_tell_the_next_one():
    ids = [new_id() for _ in range(1000)]

    assert {len(each) for each in ids} == {26}
    assert ids != sorted(ids)  # those of one millisecond do not follow each other


def test_who_claims_a_name_over_and_over_fills_no_memory_with_its_values(monkeypatch):
    monkeypatch.setattr("orgs.models.domain.EARLIER", 2)
    alice = build.organization("alice")
    for challenge in ("first", "second", "third"):
        alice.earlier_challenges.create(name="acme.com", challenge=challenge)

    earlier = build.domain(alice, "acme.com", verified=False).earlier_values()

    assert earlier == {"hub-verify=second", "hub-verify=third"}


def test_who_claims_and_removes_names_over_and_over_keeps_only_the_latest_values(monkeypatch):
    monkeypatch.setattr("orgs.models.domain.MOST_EARLIER", 3)
    alice, bob = build.organization("alice"), build.organization("bob")
    build.domain(bob, "acme.com", verified=False).remove_claim()

    removed = []
    for number in range(5):
        claim = build.domain(alice, f"{number}.acme.com", verified=False)
        removed.append(claim.challenge)
        claim.remove_claim()

    assert [each.challenge for each in alice.earlier_challenges.order_by("pk")] == removed[2:]
    assert bob.earlier_challenges.count() == 1
