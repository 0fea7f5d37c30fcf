"""Members: added by their GitHub login, leaving, sent away."""

import pytest

from integrations import inviting
from integrations.asking import CodeHostUnavailable
from orgs import members
from orgs.models import Membership, Organization
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


def add(login: str, by: Membership, role: str = "member") -> Membership:
    return inviting.invite(login, role=role, by=by)


def test_an_account_is_added_by_the_number_that_github_gives(acme, alice, code_host):
    added = add(" @BOB ", alice, "owner")

    assert (added.github_id, added.login) == (code_host.account("bob").id, "bob")
    assert (added.organization, added.role, added.user) == (acme, "owner", None)


def test_github_is_asked_with_the_installation_where_there_is_one(acme, alice, code_host):
    build.integration(acme, code_host)
    asked = len(code_host.requests)

    add("bob", alice)

    paths = [each.path for each in list(code_host.requests)[asked:]]
    assert [path.rpartition("/")[2] for path in paths] == ["access_tokens", "bob"]


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


def test_whoever_has_an_empty_organization_moves(acme, alice, code_host):
    bob = signed_in(code_host, "bob")

    add("bob", alice)

    bob.refresh_from_db()
    assert (bob.organization, bob.role, bob.user.username) == (acme, "member", "bob")
    assert list(Organization.objects.all()) == [acme]


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
def test_whoever_has_one_in_use_is_refused_in_words(acme, alice, code_host, use):
    bob = signed_in(code_host, "bob")
    use(bob.organization, code_host)

    with pytest.raises(inviting.BelongsElsewhere, match="bob belongs to another organization"):
        add("bob", alice)

    bob.refresh_from_db()
    assert (bob.organization.name, bob.role) == ("bob", "owner")


def test_an_invited_one_who_has_not_come_yet_stays_where_they_were_invited(acme, alice, code_host):
    other = signed_in(code_host, "charlie")
    add("bob", alice)

    with pytest.raises(inviting.BelongsElsewhere):
        add("bob", other)


def test_adding_a_member_again_changes_the_role(acme, alice):
    add("bob", alice)

    add("bob", alice, "owner")

    assert acme.memberships.get(login="bob").role == "owner"
    with pytest.raises(members.AlreadyAMember, match="bob is an owner already"):
        add("bob", alice, "owner")


def test_the_last_owner_does_not_become_a_member(alice):
    with pytest.raises(members.LastOwner, match="alice is the last owner"):
        add("alice", alice, "member")


def test_only_owners_add_and_remove(acme, alice, code_host):
    bob = build.member(acme, "bob", role="member").membership

    with pytest.raises(members.NotAnOwner):
        add("charlie", bob)
    with pytest.raises(members.NotAnOwner):
        members.remove(alice, by=bob)

    assert acme.memberships.count() == 2


def test_who_is_an_owner_no_more_adds_nobody(acme, alice):
    build.member(acme, "bob")
    members.change_role(alice, "member", by=alice)

    with pytest.raises(members.NotAnOwner):
        add("charlie", alice)


def test_a_member_leaves_for_an_organization_of_their_own(acme, alice):
    bob = build.member(acme, "bob", role="member")
    value = build.token(bob)

    members.remove(bob.membership, by=bob.membership)

    assert [each.login for each in acme.memberships.all()] == ["alice"]
    own = build.api(value).get("/v1/orgs/me").json()
    assert own["name"] == "bob"
    assert own["id"] != acme.id
    assert Membership.objects.get(login="bob").role == "owner"


def test_an_owner_sends_somebody_away_who_has_not_come_yet(acme, alice):
    added = add("bob", alice)

    members.remove(added, by=alice)

    assert not Membership.objects.filter(login="bob").exists()


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

    with pytest.raises(Membership.DoesNotExist):
        members.remove(charlie, by=alice)
