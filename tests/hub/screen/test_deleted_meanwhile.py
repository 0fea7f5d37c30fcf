"""Pages whose rows another member deletes while they work."""

import pytest
from django.test import Client

from hub.screen import inviting
from integrations.delivery import holds
from integrations.setup import configuration
from orgs.models import Invitation, Membership
from orgs.people import leaving, sessions
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "/settings/integration/"
FORM = {"repository": "acme/docs", "issue_template": "", "alerts": "no"}


@pytest.fixture
def alice(code_host) -> Membership:
    """The only owner; where she leaves, the organization is deleted."""
    acme = build.acme(code_host)
    return build.member(acme, github_id=code_host.account("alice").id).membership


@pytest.fixture
def bob(alice, code_host) -> Client:
    """Another member, who may push."""
    code_host.grant("bob", "acme/docs", "push")
    number = code_host.account("bob").id
    return browser(build.member(alice.organization, "bob", role="member", github_id=number))


def browser(user) -> Client:
    client = Client(headers={"Accept": "text/html"}, raise_request_exception=False)
    client.force_login(user)
    return client


@pytest.fixture
def leaves(monkeypatch):
    """Somebody leaves as soon as this function has returned for the first time."""

    def after(module, name: str, who: Membership) -> None:
        known = getattr(module, name)

        def then_leave(*args, **kwargs):
            monkeypatch.setattr(module, name, known)
            found = known(*args, **kwargs)
            leaving.leave(who.user, leaving.name_to_type(who.user))
            return found

        monkeypatch.setattr(module, name, then_leave)

    return after


@pytest.mark.parametrize(
    ("path", "form", "module", "name"),
    [
        ("", FORM, configuration, "_writable"),
        ("try-again/", {}, configuration, "_writable"),
        ("resume/", {}, holds, "resume"),
    ],
)
def test_an_integration_that_was_deleted_meanwhile_is_not_found(
    alice, bob, leaves, caplog, path, form, module, name
):
    leaves(module, name, alice)

    answer = bob.post(f"{PAGE}{path}", form)

    assert_gone(answer, caplog)


def test_an_invitation_of_somebody_who_has_left_meanwhile_is_not_found(alice, leaves, caplog):
    charlie = build.member(build.organization("other"), "charlie", github_id=77).membership
    invitation = Invitation.objects.create(
        organization=alice.organization,
        github_id=77,
        login="charlie",
        role="member",
        invited_by=alice,
    )
    leaves(inviting, "_answered", charlie)

    answer = browser(charlie.user).post(
        f"/settings/invitations/{invitation.pk}/", {"join": "member"}
    )

    assert_gone(answer, caplog)


def test_an_account_that_was_deleted_in_another_browser_is_not_found(alice, leaves, caplog):
    leaves(sessions, "end_all", alice)

    answer = browser(alice.user).post("/settings/tokens/browsers/sign-out/")

    assert_gone(answer, caplog)


def assert_gone(answer, caplog) -> None:
    assert answer.status_code == 404
    assert "was deleted in the meantime" in answer.content.decode()
    lines = [each.levelname for each in caplog.records if each.name == "core.error_answers"]
    assert lines == ["WARNING"]
