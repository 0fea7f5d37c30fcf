"""Sessions: kept under a hash, gone when they end."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.utils import timezone

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


def test_it_ends_by_itself(alice):
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))

    assert not signed_in(alice)


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
