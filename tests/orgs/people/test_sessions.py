"""Sessions: kept under a hash, gone when they end."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from hub.screen.domain_page import ANSWER
from orgs.models import Organization, User
from tests import build

pytestmark = pytest.mark.django_db

COOKIE = settings.SESSION_COOKIE_NAME


@pytest.fixture
def alice(client):
    client.force_login(build.member(build.organization()))
    return client


def signed_in(client) -> bool:
    return client.get("/settings/").status_code == 200


def test_the_cookie_is_not_in_the_database(alice):
    key = alice.cookies[COOKIE].value

    assert signed_in(alice)
    assert not Session.objects.filter(session_key=key).exists()


def test_what_is_in_the_database_is_no_cookie(alice):
    alice.cookies[COOKIE] = Session.objects.get().session_key

    assert not signed_in(alice)


def test_signing_out_ends_it(alice):
    key = alice.cookies[COOKIE].value

    alice.post("/logout/")
    alice.cookies[COOKIE] = key

    assert not signed_in(alice)
    assert not Session.objects.exists()


def test_a_person_ends_it_from_another_browser(alice):
    elsewhere, bob = Client(), Client()
    elsewhere.force_login(User.objects.get())
    bob.force_login(build.member(Organization.objects.get(), "bob"))
    key = alice.cookies[COOKIE].value

    told = alice.post("/settings/tokens/browsers/sign-out/", follow=True)

    assert "You are signed out of all other browsers." in told.content.decode()
    assert [signed_in(each) for each in (alice, elsewhere, bob)] == [True, False, True]
    assert alice.cookies[COOKIE].value != key  # somebody may have a copy of this one, too
    alice.cookies[COOKIE] = key
    assert not signed_in(alice)


def test_no_link_ends_it(alice):
    elsewhere = Client()
    elsewhere.force_login(User.objects.get())

    assert alice.get("/settings/tokens/browsers/sign-out/").url == "/settings/tokens/"
    assert signed_in(elsewhere)


def test_it_ends_by_itself(alice):
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))

    assert not signed_in(alice)


@pytest.mark.django_db(transaction=True)
def test_it_ends_as_long_after_the_sign_in_whatever_is_kept_in_it(client, dns, monkeypatch):
    """The attack: a session that somebody has copied, and a check of a domain every few days."""
    owner = build.organization()
    user, claim = build.member(owner), build.domain(owner, "docs.acme.com", verified=False)
    client.force_login(user)
    later = timezone.now() + timedelta(days=13)
    monkeypatch.setattr(timezone, "now", lambda: later)

    client.post(f"/settings/claims/{claim.pk}/")

    assert ANSWER in Session.objects.get().get_decoded()
    assert lasts() == timedelta(days=1)
    assert client.cookies[COOKIE]["max-age"] <= 86_400


def lasts() -> timedelta:
    """How long from now, to the minute."""
    minutes = (Session.objects.get().expire_date - timezone.now()) / timedelta(minutes=1)
    return timedelta(minutes=round(minutes))


def test_one_in_which_nobody_is_signed_in_ends_with_the_state_of_the_sign_in(client, settings):
    settings.HUB_GITHUB_CLIENT_ID = "client"

    answer = client.post("/login/github/")

    assert lasts() == timedelta(minutes=10)
    assert answer.cookies[COOKIE]["max-age"] == 600


def test_it_lasts_two_weeks_once_somebody_is_signed_in(client, settings):
    settings.HUB_GITHUB_CLIENT_ID = "client"
    client.post("/login/github/")

    client.force_login(build.member(build.organization()))

    assert lasts() == timedelta(days=14)


def test_what_has_ended_is_pruned(alice):
    call_command("clearsessions")
    assert Session.objects.exists()
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))

    call_command("clearsessions")

    assert not Session.objects.exists()


@pytest.mark.parametrize("value", ["", "short", "a" * 5000, '"aaaaaaaa\\000"', "ÿ" * 32])
def test_a_cookie_that_was_never_given_out_is_nobody(client, value):
    client.cookies[COOKIE] = value

    assert client.get("/settings/").status_code == 302
