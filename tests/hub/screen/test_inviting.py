"""Members: invited by their GitHub login, leaving, sent away."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.rates import RateLimited
from hub.screen import inviting
from integrations.github_api.asking import CodeHostUnavailable
from orgs.models import Invitation, Membership, Organization, User
from orgs.people import members
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme(code_host):
    return build.organization()


@pytest.fixture
def alice(acme, code_host) -> Membership:
    return build.member(acme, github_id=code_host.account("alice").id).membership


def signed_in(code_host, login: str) -> Membership:
    """Somebody in an organization of their own, which is empty."""
    user = build.member(build.organization(login), login, github_id=code_host.account(login).id)
    return user.membership


def add(login: str, by: Membership, role: str = "member") -> Invitation:
    return inviting.invite(login, role=role, by=by)


def test_an_account_is_invited_by_the_number_that_github_gives(acme, alice, code_host):
    invited = add(" @BOB ", alice, "owner")

    assert (invited.github_id, invited.login) == (code_host.account("bob").id, "bob")
    assert (invited.organization, invited.role) == (acme, "owner")
    assert acme.memberships.count() == 1


def test_github_is_asked_with_the_installation_where_there_is_one(acme, alice, code_host):
    build.integration(acme, code_host)
    asked = len(code_host.requests)

    add("bob", alice)

    paths = [each.path for each in list(code_host.requests)[asked:]]
    assert [path.rpartition("/")[2] for path in paths] == ["access_tokens", "bob"]


def test_who_has_no_installation_uses_up_no_calls_of_all(alice, code_host, monkeypatch):
    monkeypatch.setattr(inviting, "NAMELESS", "1/hour")
    add("bob", alice)

    with pytest.raises(RateLimited):
        add("charlie", alice)

    build.integration(alice.organization, code_host)
    assert add("charlie", alice).login == "charlie"


@pytest.mark.parametrize("login", ["nobody", "acme", "", "a/b", "../user", "a b", "-a", "a" * 200])
def test_what_is_no_person_is_refused(alice, login):
    with pytest.raises(inviting.NoSuchAccount):
        add(login, alice)

    assert Membership.objects.count() == 1


def test_nothing_is_saved_where_github_cannot_be_asked(alice, code_host):
    code_host.fail("500", method="GET", path="/api/v3/users/*")

    with pytest.raises(CodeHostUnavailable):
        add("bob", alice)

    assert Membership.objects.count() == 1


def test_nothing_moves_before_a_yes(acme, alice, code_host):
    bob = signed_in(code_host, "bob")
    own = bob.organization

    invited = add("bob", alice)
    before = Membership.objects.get(pk=bob.pk).organization
    joined = inviting.join(bob, invited.pk, "member")

    assert before == own
    assert joined == acme
    bob.refresh_from_db()
    assert (bob.organization, bob.role) == (acme, "member")
    assert list(Organization.objects.all()) == [acme]
    assert not Invitation.objects.exists()


def test_whoever_comes_for_the_first_time_finds_the_invitation(acme, alice, code_host):
    add("bob", alice)

    user = User.objects.create(username="bob")
    bob = members.welcome(user, github_id=code_host.account("bob").id, login="bob")

    assert bob.organization.name == "bob"
    assert [each.organization for each in inviting.of(bob)] == [acme]


def test_tokens_that_were_made_before_end_with_a_yes(acme, alice, code_host):
    bob = signed_in(code_host, "bob")
    api = build.api(build.token(bob.user))

    inviting.join(bob, add("bob", alice).pk, "member")

    assert api.get("/v1/orgs/me").status_code == 401


def test_a_yes_counts_for_what_was_read(acme, alice, code_host):
    bob = signed_in(code_host, "bob")
    invited = add("bob", alice)
    add("bob", alice, "owner")

    with pytest.raises(inviting.Withdrawn):
        inviting.join(bob, invited.pk, "member")

    inviting.withdraw(Invitation.objects.get(), by=alice)
    with pytest.raises(inviting.Withdrawn):
        inviting.join(bob, invited.pk, "owner")
    assert bob.organization.name == "bob"


def test_no_database_is_asked_for_a_role_that_a_browser_wrote(alice, code_host):
    """PostgreSQL takes none with a NUL."""
    invited = add("bob", alice)
    bob = signed_in(code_host, "bob")

    with CaptureQueriesContext(connection) as asked, pytest.raises(inviting.Withdrawn):
        inviting.join(bob, invited.pk, "made up")

    assert not any("made up" in each["sql"] for each in asked)


def test_nobody_answers_for_somebody_else(alice, code_host):
    invited = add("bob", alice)
    charlie = signed_in(code_host, "charlie")

    with pytest.raises(inviting.Withdrawn):
        inviting.join(charlie, invited.pk, "member")
    with pytest.raises(inviting.Withdrawn):
        inviting.decline(charlie, invited.pk)


def test_a_no_is_told_and_changes_nothing(acme, alice, code_host):
    bob = signed_in(code_host, "bob")

    inviting.decline(bob, add("bob", alice).pk)

    told = acme.notices.get()
    assert (told.kind, told.text) == ("declined", "bob has declined the invitation.")
    assert Membership.objects.get(pk=bob.pk).organization.name == "bob"


def test_an_invitation_that_was_just_accepted_is_not_withdrawn(acme, alice, code_host):
    invitation = add("bob", alice)
    inviting.join(signed_in(code_host, "bob"), invitation.pk, "member")

    with pytest.raises(inviting.Withdrawn):
        inviting.withdraw(invitation, by=alice)


def goes(by, code_host):
    members.remove(by, by=build.member(by.organization, "dora").membership)


def becomes_a_member(by, code_host):
    members.change_role(by, "member", by=build.member(by.organization, "dora").membership)


@pytest.mark.parametrize("end", [goes, becomes_a_member])
def test_invitations_end_with_the_owner_who_made_them(alice, code_host, end):
    add("bob", alice)

    end(alice, code_host)

    assert not Invitation.objects.exists()


def test_an_invitation_of_an_owner_whom_an_operator_has_deactivated_lets_nobody_in(
    acme, alice, code_host
):
    invited, bob = add("bob", alice, "owner"), signed_in(code_host, "bob")
    User.objects.filter(pk=alice.user_id).update(is_active=False)

    with pytest.raises(inviting.Withdrawn):
        inviting.join(bob, invited.pk, "owner")
    with pytest.raises(inviting.Withdrawn):
        inviting.decline(bob, invited.pk)

    assert inviting.of(bob) == []
    assert [each.login for each in acme.memberships.all()] == ["alice"]
    User.objects.filter(pk=alice.user_id).update(is_active=True)
    assert inviting.of(bob) == [invited]
    assert inviting.join(bob, invited.pk, "owner") == acme


def test_an_owner_who_is_removed_while_github_is_asked_invites_nobody(
    acme, alice, code_host, monkeypatch
):
    dora = build.member(acme, "dora").membership
    ask = inviting._account

    def slowly(login, organization):
        members.remove(alice, by=dora)
        return ask(login, organization)

    monkeypatch.setattr(inviting, "_account", slowly)

    with pytest.raises(members.NotAnOwner):
        add("bob", alice)


def in_use_by_a_domain(organization, code_host):
    build.domain(organization, "bob.example", verified=False)


def in_use_by_a_site(organization, code_host):
    build.site(organization, "bob.github.io")


def in_use_by_an_integration(organization, code_host):
    build.integration(organization, code_host)


def in_use_by_another(organization, code_host):
    build.member(organization, "charlie")


def in_use_by_a_report(organization, code_host):
    now = organization.created_at
    Report.objects.create(
        organization=organization, received_at=now, last_received_at=now, kind="other"
    )


@pytest.mark.parametrize(
    "use",
    [in_use_by_a_domain, in_use_by_a_site, in_use_by_an_integration, in_use_by_another,
     in_use_by_a_report],
)  # fmt: skip
def test_whoever_has_an_organization_in_use_leaves_it_first(acme, alice, code_host, use):
    bob = signed_in(code_host, "bob")
    use(bob.organization, code_host)

    invited = add("bob", alice)

    with pytest.raises(inviting.InUse, match="You are a member of bob, which is in use"):
        inviting.join(bob, invited.pk, "member")

    bob.refresh_from_db()
    assert (bob.organization.name, bob.role) == ("bob", "owner")
    assert Invitation.objects.exists()


def test_several_may_invite_the_same_account(acme, alice, code_host):
    other = signed_in(code_host, "charlie")

    add("bob", alice)
    add("bob", other)

    assert Invitation.objects.count() == 2


def test_inviting_again_changes_the_role(acme, alice):
    add("bob", alice)

    add("bob", alice, "owner")

    assert acme.invitations.get().role == "owner"


def test_an_organization_waits_for_so_many_answers_only(acme, alice, client, monkeypatch):
    """Its page shows all of them: with 50,000, four visits took 400 MB."""
    monkeypatch.setattr(inviting, "MOST", 2)
    for number in range(2):
        acme.invitations.create(github_id=900 + number, login=f"n{number}", invited_by=alice)

    with pytest.raises(inviting.TooManyInvitations):
        add("bob", alice)
    client.force_login(alice.user)
    assert (
        "Withdraw some of them first"
        in client.post("/settings/account/", {"login": "bob", "role": "member"}).text
    )

    acme.invitations.get(login="n0").delete()
    add("bob", alice)
    assert add("bob", alice, "owner").role == "owner"  # the same one

    acme.invitations.create(github_id=999, login="of-an-earlier-version", invited_by=alice)
    assert client.get("/settings/account/").text.count("Withdraw<") == 2


def test_a_member_is_not_invited(acme, alice):
    with pytest.raises(members.AlreadyAMember, match="alice is already an owner"):
        add("alice", alice, "member")


def test_the_last_owner_does_not_become_a_member(alice):
    with pytest.raises(members.LastOwner, match="alice is the last owner"):
        members.change_role(alice, "member", by=alice)


def test_the_last_owner_who_can_sign_in_does_not_leave_the_organization_to_a_deactivated_one(
    acme, alice
):
    bob = build.member(acme, "bob")
    User.objects.filter(pk=bob.pk).update(is_active=False)

    with pytest.raises(members.LastOwner, match="alice is the last owner"):
        members.remove(alice, by=alice)
    with pytest.raises(members.LastOwner, match="alice is the last owner"):
        members.change_role(alice, "member", by=alice)
    User.objects.filter(pk=bob.pk).update(is_active=True)  # by an operator
    members.change_role(alice, "member", by=alice)

    assert [each.login for each in acme.memberships.filter(role="owner")] == ["bob"]


def test_an_owner_who_has_not_signed_in_yet_counts(acme, alice):
    acme.memberships.create(github_id=3, login="charlie", role="owner")

    assert not members.is_last_owner(alice)


def test_a_deactivated_owner_is_removed_as_anybody_else(acme, alice):
    bob = build.member(acme, "bob")
    User.objects.filter(pk=bob.pk).update(is_active=False)

    members.remove(bob.membership, by=alice)

    assert [each.login for each in acme.memberships.all()] == ["alice"]
    assert not User.objects.get(pk=bob.pk).is_active


def test_only_owners_add_and_remove(acme, alice, code_host):
    bob = build.member(acme, "bob", role="member").membership

    with pytest.raises(members.NotAnOwner):
        add("charlie", bob)
    with pytest.raises(members.NotAnOwner):
        members.remove(alice, by=bob)

    assert acme.memberships.count() == 2


def test_who_is_an_owner_no_more_invites_nobody(acme, alice):
    build.member(acme, "bob")
    members.change_role(alice, "member", by=alice)

    with pytest.raises(members.NotAnOwner):
        add("charlie", alice)


def test_a_member_leaves_for_an_organization_of_their_own(acme, alice):
    bob = build.member(acme, "bob", role="member")
    value = build.token(bob)

    members.remove(bob.membership, by=bob.membership)

    assert [each.login for each in acme.memberships.all()] == ["alice"]
    own = Membership.objects.get(login="bob")
    assert own.organization.name == "bob"
    assert own.organization != acme
    assert own.role == "owner"
    assert build.api(value).get("/v1/orgs/me").status_code == 401  # acme's CI may have it


def test_the_last_owner_cannot_go(acme, alice):
    build.member(acme, "bob", role="member")

    with pytest.raises(members.LastOwner):
        members.remove(alice, by=alice)

    assert acme.memberships.count() == 2


def test_an_owner_among_owners_can_go(acme, alice):
    bob = build.member(acme, "bob").membership

    members.remove(alice, by=bob)

    assert [each.login for each in acme.memberships.all()] == ["bob"]


def test_nobody_sends_away_the_members_of_others(alice, code_host):
    charlie = signed_in(code_host, "charlie")

    with pytest.raises(members.NoSuchMember):
        members.remove(charlie, by=alice)
    with pytest.raises(members.NoSuchMember):
        members.change_role(charlie, "member", by=alice)
