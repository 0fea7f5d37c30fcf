"""Who signs in, who is invited, and how programs sign in for them."""

from datetime import timedelta
from unittest import mock

from allauth.socialaccount.models import SocialAccount
from django.test import Client

from hub.maintenance import RUNNER
from hub.models import Lease, Offer
from hub.setup import code_host
from integrations.models import OneTimeState
from orgs.models import Invitation, Membership, Organization, User
from orgs.people import leaving, members
from sandbox.records import Account
from tests import build
from tests.orgs.terminals import terminal
from tests.upgrades.filling.world import Hub, Team


def sign_in(hub: Hub) -> Team:
    """alice and bob have signed in, and work together; charlie is invited. alice has a token and a terminal."""
    for login in ("alice", "bob"):
        _welcome(hub.host.account(login))
    User.objects.create_user("charlie")  # who has never come back
    alice = Membership.objects.get(login="alice")
    Organization.objects.filter(pk=alice.organization_id).update(name="acme")
    owner = client_of("alice")
    hub.host.add_user("docs-bot")
    for login, role in {"bob": "member", "docs-bot": "member", "charlie": "owner"}.items():
        owner.post("/settings/account/", {"login": login, "role": role})
    invitation = Invitation.objects.get(login="bob")
    client_of("bob").post(f"/settings/invitations/{invitation.pk}/", {"join": "member"})
    form = {"name": "CI", "days": "90", "scopes": ["orgs:read", "orgs:write"]}
    assert owner.post("/settings/tokens/", form).status_code == 200
    assert terminal.me(terminal.sign_in(alice.user)).status_code == 200
    terminal.sign_in(alice.user)
    docs = Team(hub, "docs", Organization.objects.get(name="acme"), {"shows_known": True})
    labels = {"": ["docs", "übersetzt"]}
    docs.choose(labels=labels, assignees=["alice"], issue_type="Bug", mentions=["alice"])
    return docs


def _welcome(account: Account) -> None:
    """As after the first sign-in of an account at GitHub."""
    user = User.objects.create_user(account.login)
    SocialAccount.objects.create(user=user, provider="github", uid=str(account.id))
    members.welcome(user, github_id=account.id, login=account.login)


def client_of(login: str) -> Client:
    """A browser in which this member is signed in."""
    client = Client()
    user = Membership.objects.get(login=login).user
    assert user
    client.force_login(user)
    return client


def leave(hub: Hub) -> None:
    """An organization is being deleted, whose issue still counts at the installation."""
    left = hub.team("left")
    left.send("Of one who has left")
    with mock.patch.object(leaving, "LONGEST", -1):
        leaving.leave(build.member(left.organization, "dora"), "left")
    goes_on = iter([True, True])
    leaving.delete_left(lambda: next(goes_on, False))


def begin_what_ends_soon(docs: Team) -> None:
    """What somebody is in the middle of."""
    alice = Membership.objects.get(login="alice")
    OneTimeState.objects.begin(alice)
    state, _ = OneTimeState.objects.begin(alice)
    state.remember(1)
    assert state.use_up()
    code_host.remember()
    Offer.objects.begin(name="Docs Feedback Hub", organization="acme", is_public=False)
    Lease.objects.take(RUNNER, holder="a-host:1:0a0b0c0d", duration=timedelta(seconds=15))
