"""A site passes on to who administers its repository, once no member of its holder may push there."""

import pytest
from django.test import Client

from integrations.github_api import asking
from integrations.github_sync.reconciling import reconcile_due
from integrations.models import Delivery, Integration
from integrations.ownership import push_access, site_claims, taking_over
from orgs.models import Membership, Organization, Site
from orgs.ownership import owner_of
from tests import build
from tests.integrations.world import delivery
from tests.waiting import free_while_it_waits

pytestmark = pytest.mark.django_db(transaction=True)

URL = "https://acme.github.io/docs/"


@pytest.fixture
def former(code_host) -> Organization:
    """alice's organization, which has claimed the site of acme/docs; she has left acme since."""
    return set_up(code_host, "alice", site=URL)


@pytest.fixture
def bob(former, code_host) -> Client:
    """He administers acme at GitHub now, and has set up an organization of his own here."""
    code_host.remove_member("acme", "alice")
    code_host.add_member("acme", "bob", role="admin")
    return build.api(build.token(set_up(code_host, "bob").memberships.get().user))


def set_up(code_host, login: str, *, site: str = "") -> Organization:
    owner = build.organization(login)
    build.member(owner, login, github_id=code_host.account(login).id)
    build.integration(owner, code_host)
    if site:
        site_claims.claim_site(owner, site)
    return owner


def claim(client: Client):
    return client.post("/v1/orgs/me/sites", {"url": URL}, content_type="application/json")


def test_a_site_passes_on_at_once_and_both_are_told(former, bob, code_host):
    code_host.fail("500", path="token")
    build.send(Client(), build.report(f"{URL}install"))

    answer = claim(bob)
    build.send(Client(), build.report(f"{URL}more"))

    mine = Organization.objects.get(name="bob")
    assert (answer.status_code, answer.json()["status"]) == (201, "verified")
    assert owner_of(URL) == mine.pk
    assert Site.objects.get(organization=former).status == "lapsed"
    theirs, ours = former.notices.get(), mine.notices.get()
    assert (theirs.kind, ours.kind) == ("taken", "gained")
    assert "now belongs to another organization" in theirs.text
    assert "is now yours" in ours.text
    held = delivery_of(former)
    assert (held.status, held.held_for) == ("held", "ownership")
    assert delivery_of(mine).status == "sent"


def delivery_of(organization: Organization) -> Delivery:
    return Delivery.objects.get(integration__organization=organization)


def test_what_has_passed_on_does_not_come_back_to_who_has_no_right(former, bob, clock):
    site_id = claim(bob).json()["id"]
    assert bob.delete(f"/v1/orgs/me/sites/{site_id}").status_code == 204

    for _ in range(2):
        clock.advance(minutes=61)
        reconcile_due()

    assert owner_of(URL) is None


def test_a_site_stays_while_one_member_of_its_holder_may_push(former, bob, code_host):
    charlie = code_host.account("charlie")
    build.member(former, "charlie", role="member", github_id=charlie.id)
    code_host.grant("charlie", "acme/docs", "push")

    refused = claim(bob)
    code_host.revoke("charlie", "acme/docs")
    taken = claim(bob)

    assert (refused.status_code, refused.json()["error"]) == (409, "claimed_elsewhere")
    assert "remove that access on GitHub" in refused.json()["message"]
    assert taken.status_code == 201


def test_a_holder_who_was_renamed_at_github_keeps_the_site(former, bob, code_host):
    code_host.add_member("acme", "alice", role="admin")
    code_host.rename_account("alice", "alicia")

    assert claim(bob).status_code == 409
    assert owner_of(URL) == former.pk


def test_push_right_alone_takes_nothing_over(former, bob, code_host):
    code_host.add_member("acme", "bob", role="member")
    code_host.grant("bob", "acme/docs", "push")

    refused = claim(bob)

    assert refused.status_code == 409
    assert "somebody with admin access there can claim it here" in refused.json()["message"]
    assert owner_of(URL) == former.pk


def test_a_login_that_administers_takes_nothing_over_for_another_account(former, bob, code_host):
    code_host.rename_account("bob", "robert")
    code_host.remove_member("acme", "robert")
    code_host.add_user("bob")
    code_host.add_member("acme", "bob", role="admin")

    assert claim(bob).status_code == 409
    assert owner_of(URL) == former.pk


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "about"), [("500", "bob"), ("403_retry_after", "alice"), ("hang", "alice")]
)
def test_nothing_passes_on_while_github_cannot_be_asked(
    former, bob, code_host, monkeypatch, kind, about
):
    monkeypatch.setattr(asking, "DEADLINE", 1)
    path = f"/api/v3/repositories/*/collaborators/{about}/permission"
    code_host.fail(kind, method="GET", path=path)

    answer = claim(bob)

    assert (answer.status_code, answer.json()["error"]) == (502, "code_host_unavailable")
    assert owner_of(URL) == former.pk
    assert not former.notices.exists()


def test_a_member_who_joins_the_holder_meanwhile_is_asked_about_first(former, bob, monkeypatch):
    mine = Organization.objects.get(name="bob").memberships.get()
    ask = taking_over._ask
    monkeypatch.setattr(
        taking_over,
        "_ask",
        lambda *args: (ask(*args), build.member(former, "charlie", role="member")),
    )

    with pytest.raises(site_claims.ClaimedElsewhere):
        taking_over.claim_site(mine, URL)

    assert owner_of(URL) == former.pk


def test_a_repository_that_is_renamed_meanwhile_takes_nothing_over(former, bob, monkeypatch):
    mine = Organization.objects.get(name="bob")
    ask = taking_over._ask
    monkeypatch.setattr(
        taking_over,
        "_ask",
        lambda *args: (ask(*args), Integration.objects.of(mine).update(repo_name="manual")),
    )

    with pytest.raises(site_claims.NotConfigured, match="changed in the meantime"):
        taking_over.claim_site(mine.memberships.get(), URL)

    assert owner_of(URL) == former.pk


@pytest.mark.postgresql
def test_integrations_of_both_are_locked_in_the_order_of_their_ids(former, bob):
    mine = Organization.objects.get(name="bob")
    theirs, own = (Integration.objects.of(each) for each in (former, mine))

    free = free_while_it_waits(
        lambda: taking_over.claim_site(mine.memberships.get(), URL), theirs, own
    )

    assert free == {own.get().pk}
    assert owner_of(URL) == mine.pk


def test_a_holder_whose_members_are_too_many_to_ask_about_keeps_the_site(
    former, bob, code_host, monkeypatch
):
    monkeypatch.setattr(push_access, "MOST", 2)
    for login in ("charlie", "charlie-too"):
        build.member(former, login, role="member")

    refused = claim(bob)

    assert refused.status_code == 409
    assert "more than 2 members" in refused.json()["message"]
    assert owner_of(URL) == former.pk


def test_an_opt_out_of_the_former_holder_ends_with_their_claim(former, bob):
    Site.objects.get().opt_out(True)
    refused = build.send(Client(), build.report(f"{URL}install"))

    claim(bob)
    taken = build.send(Client(), build.report(f"{URL}install"))

    assert (refused.status_code, taken.status_code) == (410, 201)
    assert delivery().status == "sent"


def test_a_site_can_be_taken_over_on_its_page(former, bob, client, code_host):
    client.force_login(Membership.objects.get(login="bob").user)

    page = client.post("/settings/claims/new/", {"address": URL}, follow=True)

    assert "You now receive reports about it" in page.content.decode()
    assert Integration.objects.get(organization=former).rights_absences == 1
