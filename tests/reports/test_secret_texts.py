"""What is missed, and what is taken for a secret and is none: in two sets of texts."""

import base64
import itertools

import pytest

from reports import secrets
from tests.reports.secret_texts import FAMILIES, ordinary, real_looking

LOGINS = ["//npm.example/:_auth={}", '"auth": "{}"', "Authorization: Basic {}"]
OF_ANYBODY = ["user", "username", "admin", "test", "foo", "root", "demo", "aladdin"]
BEGINNINGS = ["", "pass", "password", "password123", "admin", "test", "bar", "opensesame"]
EXAMPLES = [
    "user:pass", "user:password", "username:password", "username:password123", "admin:admin",
    "admin:password", "admin:changeme", "test:test", "root:secret", "foo:bar", "Aladdin:open sesame",
]  # fmt: skip


def encoded(login: str) -> str:
    return base64.b64encode(login.encode()).decode()


def test_a_secret_is_missed_in_less_than_one_of_fifty_texts():
    pasted = real_looking()

    missed = [each for each in pasted if each.core in secrets.remove(each.text)[0]]

    assert len(pasted) == 400
    assert {each.family for each in pasted} == FAMILIES
    assert len(missed) < len(pasted) / 50, missed


def test_less_than_one_of_two_hundred_ordinary_reports_seems_to_hold_a_secret():
    reports = ordinary()

    alarms = [text for text in reports if secrets.remove(text) != (text, [])]

    assert len(set(reports)) == 800
    assert len(alarms) < len(reports) / 200, alarms


@pytest.mark.parametrize("text", LOGINS)
def test_what_begins_like_the_login_of_an_example_is_found(text):
    """An attack on a reporter: an account named admin, or a password that begins with pass, went out whole."""
    every = itertools.product(OF_ANYBODY, BEGINNINGS)
    logins = [encoded(f"{name}:{beginning}-K9-77zebra!Lm2Qx") for name, beginning in every]

    assert not [each for each in logins if each in secrets.remove(text.format(each))[0]]


@pytest.mark.parametrize("text", LOGINS)
def test_the_login_of_an_example_is_left(text):
    texts = [text.format(encoded(each)) for each in EXAMPLES]

    assert [secrets.remove(each) for each in texts] == [(each, []) for each in texts]
