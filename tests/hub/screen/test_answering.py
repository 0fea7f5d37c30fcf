"""The form on a report's page by which members answer those who report the problem."""

import pytest
from django.test import Client

from integrations.answers.saying import NOBODY
from integrations.models import Answer, Delivery
from orgs.models import Domain
from tests import build
from tests.integrations.answers.world import LINK, TEXT, answered, join, report_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


@pytest.fixture
def bob(acme) -> Client:
    client = Client()
    client.force_login(build.member(acme, "bob", role="member"))
    return client


@pytest.fixture
def lead(client, acme) -> Delivery:
    return report_of(client, "The flag --yes is gone")


@pytest.fixture
def other(client, acme) -> Delivery:
    return report_of(client, "The page names no license")


def seen(page: str) -> str:
    return page.partition('name="seen" value="')[2].partition('"')[0]


def page_of(bob, delivery: Delivery) -> str:
    return bob.get(f"/settings/reports/{delivery.report_id}/").content.decode()


def post(bob, delivery: Delivery, **fields):
    return bob.post(f"/settings/reports/{delivery.report_id}/answer/", fields, follow=True)


def receipt(client, delivery: Delivery) -> str:
    page = client.get(f"/r/{delivery.report_id}/", headers={"Accept": "text/html"})
    return page.content.decode()


def test_a_member_writes_an_answer_and_removes_it(client, bob, lead):
    assert "Remove it" not in page_of(bob, lead)

    saved = post(bob, lead, text=f"{TEXT}\nThen <b>update</b>.", link=LINK).content.decode()

    assert "Saved. Whoever reports this problem" in saved
    assert f"{TEXT} Then &lt;b&gt;update&lt;/b&gt;.</textarea>" in saved
    assert "Written by bob" in saved
    page = receipt(client, lead)
    assert f'<blockquote class="said"><p>{TEXT} Then &lt;b&gt;update&lt;/b&gt;.</p>' in page
    assert f'<a href="{LINK}" rel="nofollow ugc noopener noreferrer">{LINK}</a>' in page

    post(bob, lead, remove="1", text="still typed")

    assert "blockquote" not in receipt(client, lead)
    assert not Answer.objects.exists()


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"text": ""}, "Write an answer, or remove it."),
        ({"text": "a\x07", "link": LINK}, "Must not contain control characters."),
        ({"text": TEXT, "link": "https://evil.com/x"}, "evil.com is none."),
        ({"text": TEXT, "link": "http\u017f://docs.acme.com/x"}, "Must begin with https://."),
    ],
)
def test_what_was_typed_is_kept_with_the_error(bob, lead, fields, error):
    page = post(bob, lead, **fields).content.decode()

    assert error in page
    assert "<title>Error: " in page
    for typed in fields.values():
        assert typed.replace("\x07", "") in page.replace("\x07", "")
    assert not Answer.objects.exists()


def test_the_page_of_a_report_that_has_joined_another_shows_the_answer_of_that(client, bob, lead):
    other = report_of(client, "There is no flag --yes")
    join(other, lead)

    post(bob, lead, text=TEXT)

    assert f"{TEXT}</textarea>" in page_of(bob, other)
    page = receipt(client, other)
    assert f"<p>{TEXT}</p>" in page
    assert f'<a href="{lead.issue_url}">an issue that is open</a>' in page


def test_the_page_says_what_nobody_is_shown(bob, lead):
    post(bob, lead, text=TEXT, link=LINK)
    assert "not shown" not in page_of(bob, lead)

    build.domain(lead.integration.organization, "acme.com")
    Answer.objects.update(link="https://blog.acme.com/x")
    Domain.objects.filter(name="acme.com").delete()
    assert "Its link is not shown now" in page_of(bob, lead)

    Domain.objects.all().delete()
    assert "Nobody is shown it now, since the page is not yours." in page_of(bob, lead)


def test_an_answer_that_nobody_is_shown_is_saved_and_says_so(bob, lead):
    shown = post(bob, lead, text=TEXT).content.decode()
    Domain.objects.all().delete()

    page = post(bob, lead, text=TEXT).content.decode()

    assert "Saved. Whoever reports this problem is shown your answer." in shown
    assert "Saved. Nobody is shown it now, since the page is not yours." in page
    assert Answer.objects.get().text == TEXT


def test_nobody_answers_what_is_not_theirs(client, lead):
    charlie = Client()
    charlie.force_login(build.member(build.organization("zenith"), "charlie"))

    assert post(charlie, lead, text=TEXT).status_code == 404
    assert post(client, lead, text=TEXT).redirect_chain[0][0].startswith("/login/")
    assert not Answer.objects.exists()


def test_a_report_without_a_delivery_has_no_form(client, acme, bob):
    Delivery.objects.all().delete()
    sent = report_of(client, "x")
    Delivery.objects.all().delete()

    assert "Answer those who report this" not in page_of(bob, sent)
    assert NOBODY in post(bob, sent, text=TEXT).content.decode()
    assert not Answer.objects.exists()


def test_who_answers_what_has_joined_an_issue_meanwhile_is_told_what_is_said_there(
    bob, lead, other
):
    """Or their words would take the place of a colleague's, whose problem they have not seen."""
    opened = page_of(bob, other)
    answered(lead)
    join(other, lead)

    refused = post(bob, other, text="We cannot reproduce this.", seen=seen(opened)).content.decode()

    assert f"It is now “{TEXT}”, by alice." in refused
    assert "We cannot reproduce this.</textarea>" in refused
    assert Answer.objects.get().text == TEXT

    post(bob, other, text="We cannot reproduce this.", seen=seen(refused))

    assert Answer.objects.get().text == "We cannot reproduce this."


def test_who_removes_an_answer_removes_the_one_that_was_shown(bob, lead, other):
    answered(other, "Not ours.")
    opened = page_of(bob, other)
    answered(lead)
    join(other, lead)

    refused = post(bob, other, remove="1", seen=seen(opened)).content.decode()

    assert "The answer was changed in the meantime." in refused
    assert "Before it joined, alice had answered: “Not ours.” Nobody is shown that now." in refused
    assert Answer.objects.count() == 2

    post(bob, other, remove="1", seen=seen(refused))

    assert not Answer.objects.exists(), "what nobody is shown would come back if it were split off"
