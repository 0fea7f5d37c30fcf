"""An operator shuts somebody out: what they had before opens nothing, also once they are let in again."""

import pytest
from django.test import Client

from orgs.models import User
from tests import build
from tests.orgs.terminals import terminal

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def operator(admin_client) -> Client:
    return admin_client


def set_active(operator: Client, person: User, is_active: bool) -> None:
    """The form in `/admin/`."""
    form = {"is_active": "on"} if is_active else {}
    operator.post(f"/admin/orgs/user/{person.pk}/change/", form)
    assert User.objects.get(pk=person.pk).is_active is is_active


def test_who_is_let_in_again_signs_in_again(operator):
    person = build.member(build.organization())
    browser, caller = terminal.browser(person), build.api(build.token(person))
    tokens = terminal.sign_in(person)

    def open_doors() -> list[int]:
        answers = browser.get("/settings/"), caller.get("/v1/orgs/me"), terminal.me(tokens)
        return [each.status_code for each in answers]

    before = open_doors()
    set_active(operator, person, False)
    set_active(operator, person, True)

    assert before == [200, 200, 200]
    assert open_doors() == [302, 401, 401]
    assert terminal.refresh(tokens).json()["error"] == "invalid_grant"
    assert not person.terminals.exists()
    assert terminal.browser(User.objects.get(pk=person.pk)).get("/settings/").status_code == 200
