"""A page of a report was opened before a colleague said something else of it, and its forms are sent after that."""

import re

import pytest
from django.test import Client

from integrations.delivery.telling_apart import CHANGED
from integrations.models import Delivery, Verdict
from tests import build
from tests.hub.screen.controls import browser_of
from tests.integrations.delivery.alike import AGAIN, ONCE_MORE, OTHER, PUSH, mode, sent

pytestmark = pytest.mark.django_db(transaction=True)

FORM = re.compile(r'<form method="post"(?: action="([^"]*)")?.*?</form>', re.DOTALL)
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')


@pytest.fixture
def acme(code_host):
    organization = build.acme(code_host)
    mode("fold")
    return organization


@pytest.fixture
def alice(acme) -> Client:
    return browser_of(acme, "alice")


@pytest.fixture
def bob(acme) -> Client:
    return browser_of(acme, "bob")


def path(delivery: Delivery, act: str = "") -> str:
    return f"/settings/reports/{delivery.report_id}/{act}"


def shown(browser: Client, page: str, target: str = "") -> dict[str, str]:
    """The hidden fields of the page's first form that is sent to that path, or to the page itself."""
    text = browser.get(page).content.decode()
    form = next(each for each in FORM.finditer(text) if (each[1] or page) == (target or page))
    return dict(HIDDEN.findall(form[0]))


def press(browser: Client, target: str, typed: dict[str, str]) -> str:
    return browser.post(target, typed, follow=True).content.decode()


def name(browser: Client, delivery: Delivery, lead: Delivery) -> str:
    """Say that it is the same as the issue of a lead, on a page that was just opened."""
    target = path(delivery, "same-as/")
    fields = shown(browser, path(delivery), target)
    return press(browser, target, fields | {"issue_url": lead.issue_url})


def now(delivery: Delivery) -> Delivery:
    return Delivery.objects.select_related("lead").get(pk=delivery.pk)


def said() -> list[tuple[str, bool, str]]:
    rows = Verdict.objects.order_by("pk")
    return list(rows.values_list("other", "is_same", "made_by"))


@pytest.mark.parametrize("opened", ["its own", "the lead's"])
def test_not_the_same_is_not_said_of_an_issue_that_it_has_joined_since(
    alice, bob, code_host, opened
):
    lead, joined, other = sent(PUSH), sent(AGAIN), sent(OTHER)
    fields = shown(
        alice, path(joined if opened == "its own" else lead), path(joined, "not-the-same/")
    )
    name(bob, joined, other)

    page = press(alice, path(joined, "not-the-same/"), fields)

    assert fields["other"] == lead.report_id
    assert CHANGED in page
    assert now(joined).lead == other
    assert said() == [(other.report_id, True, "bob")]
    assert len(code_host.issues("acme/docs")) == 2


def test_not_the_same_is_not_said_of_what_was_named_instead_of_a_hint(alice, bob):
    other = sent(OTHER)
    mode("hint")
    lead, hinted = sent(PUSH), sent(AGAIN)
    fields = shown(alice, path(hinted), path(hinted, "not-the-same/"))
    name(bob, hinted, other)

    page = press(alice, path(hinted, "not-the-same/"), fields)

    assert fields["other"] == lead.report_id
    assert CHANGED in page
    assert said() == [(other.report_id, True, "bob")]


def test_the_same_as_a_hint_does_not_replace_what_was_said_since(alice, bob):
    mode("hint")
    lead, hinted = sent(PUSH), sent(AGAIN)
    fields = shown(alice, path(hinted), path(hinted, "same-as/"))
    press(bob, path(hinted, "not-the-same/"), {"other": lead.report_id})

    page = press(alice, path(hinted, "same-as/"), fields)

    assert CHANGED in page
    assert said() == [(lead.report_id, False, "bob")]


def test_what_has_joined_another_issue_since_is_not_moved_from_there(alice, bob):
    """The page comes back with what was typed and shows where it is now, so that a second press moves it."""
    lead, joined, other = sent(PUSH), sent(AGAIN), sent(OTHER)
    third = sent({"report__summary": "The download link of the installer leads nowhere"})
    fields = shown(alice, path(joined), path(joined, "same-as/"))
    name(bob, joined, other)

    typed = fields | {"issue_url": third.issue_url}
    page = press(alice, path(joined, "same-as/"), typed)
    refused = now(joined).lead
    again = name(alice, joined, third)

    assert fields["other"] == lead.report_id
    assert CHANGED in page
    assert f'value="{third.issue_url}"' in page
    assert f'name="other" value="{other.report_id}"' in page
    assert refused == other
    assert "It has joined issue #3." in again


def test_two_who_say_the_same_agree(alice, bob, code_host):
    lead = sent(PUSH)
    code_host.fail("422")
    failed = sent(OTHER)
    fields = shown(alice, path(failed), path(failed, "same-as/"))
    name(bob, failed, lead)

    page = press(alice, path(failed, "same-as/"), fields | {"issue_url": lead.issue_url})

    assert fields["other"] == ""
    assert "It has joined issue #1." in page
    assert now(failed).lead == lead


def test_what_joins_while_the_question_is_open_is_not_split_off(alice, bob, code_host):
    """A colleague says it, or strangers do it all the time; nobody was asked about those."""
    lead, joined, other = sent(PUSH), sent(AGAIN), sent(OTHER)
    code_host.fail("422")
    failed = sent({"report__summary": "The download link of the installer leads nowhere"})
    fields = shown(alice, path(lead, "split-all/"))
    name(bob, failed, lead)
    later = sent(ONCE_MORE)

    page = press(alice, path(lead, "split-all/"), fields)

    assert "1 report was split off." in page
    assert "There are more: look at them, and do it again." in page
    assert (now(joined).lead, now(failed).lead, now(later).lead) == (None, lead, lead)
    assert (lead.report_id, True, "bob") in said()
    assert other.status == "sent"


def test_where_all_that_was_asked_about_has_left_nothing_is_split_off(alice, bob):
    lead, joined = sent(PUSH), sent(AGAIN)
    fields = shown(alice, path(lead, "split-all/"))
    other = sent(OTHER)
    name(bob, joined, other)
    later = sent(ONCE_MORE)

    page = press(alice, path(lead, "split-all/"), fields)

    assert CHANGED in page
    assert (now(joined).lead, now(later).lead) == (other, lead)


@pytest.mark.parametrize(
    "until",
    ["", "None", "soon", "0001-01-01T00:00+23:59", "2026-01-01\0", "9999-12-31T23:59:59.999999"],
)
def test_a_time_that_no_page_has_splits_nothing_off(alice, until):
    lead, joined = sent(PUSH), sent(AGAIN)

    page = press(alice, path(lead, "split-all/"), {"until": until})

    assert CHANGED in page
    assert now(joined).lead == lead
