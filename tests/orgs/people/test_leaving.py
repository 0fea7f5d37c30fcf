"""Who leaves, and what goes with them."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from allauth.idp.oidc.models import Token
from allauth.socialaccount.models import SocialAccount
from django.db import connection, transaction

from core import batches
from hub.screen import inviting
from integrations.delivery import forwarding, pacing
from integrations.models import Delivery, Installation, Integration, OneTimeState, PastTry
from orgs.domains import claiming
from orgs.models import Domain, Membership, Notice, Organization, PersonalToken, Site, User
from orgs.people import leaving, members
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme(client):
    """An organization with all that can hang on one, a report included."""
    organization = build.organization()
    build.domain(organization, "docs.acme.com")
    build.site(organization, "acme.github.io")
    Integration.objects.create(
        organization=organization,
        installation=Installation.objects.create(github_id=1, account="acme"),
        repository_id=7,
        repo_owner="acme",
        repo_name="docs",
    )
    build.send(client)
    assert Delivery.objects.get().report.organization == organization
    return organization


@pytest.fixture
def alice(acme):
    alice = build.member(acme)
    SocialAccount.objects.create(user=alice, provider="github", uid="1")
    build.token(alice)
    return alice


def count(*models) -> list[int]:
    return [model.objects.count() for model in models]


def test_the_last_owner_takes_the_organization_along(alice):
    leaving.leave(alice, "acme")

    gone = (Organization, Membership, Domain, Site, Integration, Delivery)
    assert count(*gone) == [0] * len(gone)
    assert count(User, SocialAccount, Token, PersonalToken) == [0, 0, 0, 0]


def test_reports_stay_without_a_name(alice, client):
    report = Report.objects.get()

    leaving.leave(alice, "acme")

    assert Report.objects.get().organization is None
    assert client.get(f"/v1/reports/{report.id}").json()["status"] == "received"


@pytest.mark.parametrize("is_of_an_earlier_version", [False, True])
@pytest.mark.parametrize("details", ["What the old owner has read.", "Other words."])
def test_the_next_owner_receives_nothing_that_the_old_one_has_received(
    alice, client, details, is_of_an_earlier_version
):
    Report.objects.all().delete()
    build.send(client, build.report(report__details="What the old owner has read."))
    old = Report.objects.get()
    leaving.leave(alice, "acme")
    if is_of_an_earlier_version:
        Report.objects.update(dedup_key=old.dedup_key)
    build.domain(build.organization("next"), "docs.acme.com")

    answer = build.send(client, build.report(report__details=details)).json()

    assert not answer["is_duplicate"]
    mine = Report.objects.exclude(organization=None).get()
    assert (mine.pk, mine.details) == (answer["id"], details)
    old.refresh_from_db()
    assert (old.organization_id, old.times_reported, old.further_accounts) == (None, 1, 0)


@pytest.mark.parametrize("details", ["", "Other words."])
def test_what_repeats_its_reports_is_new_and_waits_for_the_next_owner(alice, client, details):
    leaving.leave(alice, "acme")

    answer = build.send(client, build.report(report__details=details)).json()

    assert not answer["is_duplicate"]
    assert Report.objects.get(pk=answer["id"]).unclaimed_name == "acme.com"


def test_the_accounts_of_its_members_go_too(acme, alice):
    bob = build.member(acme, "bob", role="member")
    value = build.token(bob)
    Membership.objects.create(organization=acme, github_id=3, login="charlie")

    leaving.leave(alice, "acme")

    assert count(User, Membership) == [0, 0]
    assert build.api(value).get("/v1/orgs/me").status_code == 401


def test_an_operator_stays_one(acme, alice):
    bob = build.member(acme, "bob", role="member")
    User.objects.filter(pk=bob.pk).update(is_staff=True)

    leaving.leave(alice, "acme")

    assert [each.username for each in User.objects.all()] == ["bob"]
    assert User.objects.get().membership.organization.name == "bob"


def test_a_member_leaves_alone(acme, alice):
    bob = build.member(acme, "bob", role="member")
    value = build.token(bob)

    leaving.leave(bob, "bob")

    assert build.api(value).get("/v1/orgs/me").status_code == 401
    assert [each.login for each in acme.memberships.all()] == ["alice"]
    assert count(Domain, Site, Integration, Delivery) == [1, 1, 1, 1]


def test_an_organization_is_told_what_a_member_had_claimed_whose_account_is_deleted(acme, alice):
    bob = build.member(acme, "bob", role="member")
    claiming.claim_domain(bob.membership, "bob.dev")

    leaving.leave(bob, "bob")

    told = acme.notices.get()
    assert told.kind == "gone"
    assert "bob, who is no longer a member, had claimed bob.dev." in told.text


def test_an_owner_among_owners_leaves_alone(acme, alice):
    build.member(acme, "bob", role="owner")

    leaving.leave(alice, "alice")

    assert [each.login for each in acme.memberships.all()] == ["bob"]
    assert count(Domain, Token) == [1, 0]


def test_who_meant_to_leave_alone_takes_nothing_along(acme, alice):
    bob = build.member(acme, "bob", role="owner")
    leaving.leave(bob, "bob")  # meanwhile, so that alice is the last

    with pytest.raises(leaving.NotConfirmed, match="Type acme"):
        leaving.leave(alice, "alice")

    assert count(Organization, User) == [1, 1]


def test_another_organization_stays_as_it_is(alice, client):
    bobs = build.organization("bobs")
    build.member(bobs, "bob")
    build.domain(bobs, "bob.example")
    build.send(client, build.report("https://bob.example/"))

    leaving.leave(alice, "acme")

    assert count(Organization, Domain, User) == [1, 1, 1]
    assert Report.objects.get(organization=bobs)


def test_what_is_free_again_can_be_claimed_by_another(alice, client):
    leaving.leave(alice, "acme")
    bobs = build.organization("bobs")
    build.domain(bobs, "docs.acme.com")

    answer = build.send(client)

    assert Report.objects.get(pk=answer.json()["id"]).organization == bobs


def test_who_belongs_to_no_organization_can_leave(db):
    operator = User.objects.create(username="operator")

    leaving.leave(operator, "operator")

    assert count(User) == [0]


def test_the_page_asks_for_the_name_and_then_deletes(client, acme, alice):
    client.force_login(alice)

    asked = client.get("/settings/account/delete/")
    mistaken = client.post("/settings/account/delete/", {"name": "something"})
    assert count(Organization) == [1]
    done = client.post("/settings/account/delete/", {"name": "acme"}, follow=True)

    assert "Type <strong>acme</strong> to delete it." in asked.content.decode()
    assert "<title>Error: " in mistaken.content.decode()
    assert "acme was deleted." in done.content.decode()
    assert count(Organization, User) == [0, 0]
    assert client.get("/settings/").status_code == 302


def test_a_member_types_their_own_name(client, acme, alice):
    client.force_login(build.member(acme, "bob", role="member"))

    client.post("/settings/account/delete/", {"name": "acme"})
    assert count(User) == [2]
    client.post("/settings/account/delete/", {"name": "bob"})

    assert count(User, Organization) == [1, 1]


@pytest.mark.django_db(transaction=True)
def test_of_two_owners_who_leave_at_once_one_stays():
    acme = build.organization()
    owners = [build.member(acme, login) for login in ("alice", "bob")]
    ready = threading.Barrier(len(owners))

    def leave(user: User) -> None:
        ready.wait()
        with suppress(leaving.NotConfirmed):
            leaving.leave(user, user.username)
        connection.close()

    with ThreadPoolExecutor(len(owners)) as pool:
        list(pool.map(leave, owners))

    assert count(Organization, User, Membership) == [1, 1, 1]


def test_who_moves_again_and_again_is_told_so(client, alice, monkeypatch):
    def move(*organization_ids: str) -> None:
        members.go_alone(Membership.objects.get(user=alice))

    monkeypatch.setattr(members, "lock", move)
    client.force_login(alice)

    answer = client.post("/settings/account/delete/", {"name": "acme"})

    assert "You have just moved to another organization." in answer.content.decode()
    assert count(User) == [1]


def test_who_was_deactivated_does_not_come_back_because_a_colleague_leaves(acme, alice):
    bob = build.member(acme, "bob")
    SocialAccount.objects.create(user=bob, provider="github", uid="2")
    User.objects.filter(pk=bob.pk).update(is_active=False)

    leaving.leave(alice, "acme")

    bob.refresh_from_db()
    assert not bob.is_active
    assert SocialAccount.objects.get().user == bob
    assert bob.membership.organization.name == "bob"
    assert count(Domain, Site, Integration, Delivery) == [0] * 4


def test_the_page_says_who_stays_when_the_organization_goes(client, acme, alice):
    User.objects.filter(pk=build.member(acme, "bob").pk).update(is_active=False)
    client.force_login(alice)

    page = client.get("/settings/account/delete/").content.decode()

    assert "You are the last owner of acme." in page
    assert "except those of operators and those that an operator has deactivated" in page


def with_a_backlog(acme, number: int = 7) -> None:
    """More reports, each of which has joined the issue of the first or is sent."""
    lead = Delivery.objects.get()
    Delivery.objects.update(status="sent", repository_id=7, issue_number=1)
    for turn in range(number):
        now = lead.report.received_at
        report = Report.objects.create(received_at=now, last_received_at=now)
        joined = {"status": "folded", "lead": lead, "folded_at": now} if turn % 2 else {}
        Delivery.objects.create(report=report, integration=lead.integration, **joined)
        Report.objects.filter(pk=report.pk).update(organization=acme)


@pytest.fixture
def few(monkeypatch) -> None:
    monkeypatch.setattr(batches, "BATCH", 2)
    monkeypatch.setattr(leaving, "LONGEST", 0)


def test_its_claims_and_people_go_first_and_the_rest_a_little_at_a_time(acme, alice, few):
    with_a_backlog(acme)

    leaving.leave(alice, "acme")
    first = count(Domain, Site, Membership, User, Organization, Delivery)
    goes_on = iter([True, True, False])
    leaving.delete_left(lambda: next(goes_on))
    then = count(Organization, Delivery)
    leaving.delete_left()

    assert first == [0, 0, 0, 0, 1, 8]
    assert then == [1, 8 - 3]  # in two batches those that have joined, which cannot lose their lead
    assert count(Organization, Integration, Delivery) == [0, 0, 0]
    assert {each.organization for each in Report.objects.all()} == {None}


def test_one_that_was_left_is_not_deleted_with_the_account_if_that_fails(
    acme, alice, few, monkeypatch
):
    with monkeypatch.context() as failing:
        failing.setattr(leaving, "LONGEST", 60)
        failing.setattr(Organization, "delete", lambda self: 1 / 0)
        leaving.leave(alice, "acme")
    assert count(User, Organization) == [0, 1]

    leaving.delete_left()

    assert count(Organization) == [0]


def test_what_repeats_a_report_of_one_that_is_being_deleted_is_new(alice, client, few):
    old = Report.objects.get()
    leaving.leave(alice, "acme")
    assert Report.objects.get().organization_id

    answer = build.send(client).json()

    assert not answer["is_duplicate"]
    assert Report.objects.get(pk=answer["id"]).unclaimed_name == "acme.com"
    old.refresh_from_db()
    assert old.times_reported == 1


def test_nobody_joins_one_that_is_being_deleted(acme, alice, few):
    bob = build.member(build.organization("bobs"), "bob", github_id=7).membership
    invitation = inviting.Invitation.objects.create(
        organization=acme, github_id=7, login="bob", role="owner", invited_by=alice.membership
    )
    leaving.leave(alice, "acme")

    with pytest.raises(inviting.Withdrawn):
        inviting.join(bob, invitation.pk, "owner")


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_what_is_begun_while_somebody_leaves_does_not_wait_for_the_organization():
    """Or each would wait for the other."""
    acme = build.organization()
    alice = build.member(acme).membership

    def begin() -> None:
        OneTimeState.objects.begin(alice)
        connection.close()

    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        members.lock_own(Membership.objects.filter(user=alice.user))
        pool.submit(begin).result(timeout=60)

    assert OneTimeState.objects.count() == 1


def test_its_notices_go_a_few_at_a_time(acme, alice, few):
    for each in range(5):
        acme.tell(Notice.Kind.LOST, f"Notice {each}")
    Integration.objects.all().delete()
    leaving.leave(alice, "acme")
    left = []

    while Organization.objects.exists():
        goes_on = iter([True, False])
        leaving.delete_left(lambda goes_on=goes_on: next(goes_on))
        left.append(acme.notices.count())

    assert left[-4:] == [3, 1, 0, 0]


def test_nothing_of_one_that_is_being_deleted_is_sent(alice, few):
    leaving.leave(alice, "acme")

    forwarding.forward(Report.objects.get().pk)

    assert (Delivery.objects.get().status, Delivery.objects.get().held_for) == ("held", "ownership")


def test_what_it_has_tried_counts_at_its_installation(alice, clock, settings):
    settings.HUB_ISSUE_RATE = "20/minute;400/hour"
    Delivery.objects.update(last_tried_at=clock.now(), source="a" * 16)
    installation = Installation.objects.get()
    Integration.objects.update(paused_at=clock.now())

    leaving.leave(alice, "acme")

    [minute, hour] = pacing.used([installation.pk])[installation.pk]
    assert (minute.tried, hour.tried) == (1, 1)
    clock.advance(minutes=2)
    assert [each.tried for each in pacing.used([installation.pk])[installation.pk]] == [0, 1]
    clock.advance(days=3)
    pacing.forget_sources()
    assert not PastTry.objects.exists()


def test_what_it_has_tried_is_not_counted_twice(acme, alice, few, clock):
    with_a_backlog(acme)
    Delivery.objects.update(last_tried_at=clock.now())
    installation = Installation.objects.get()
    tried = []

    leaving.leave(alice, "acme")
    while Organization.objects.exists():
        goes_on = iter([True, False])
        leaving.delete_left(lambda goes_on=goes_on: next(goes_on))
        tried.append(pacing.used([installation.pk])[installation.pk][0].tried)

    assert set(tried) == {8}
