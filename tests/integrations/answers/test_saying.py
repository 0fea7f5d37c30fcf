"""Members answer those who report a problem, through the API."""

import json
from threading import Barrier, Thread

import pytest
from django.db import connections
from django.test import Client

from core import clock
from integrations.answers import saying
from integrations.folding import joining
from integrations.models import Answer, Delivery, Integration
from integrations.ownership import site_claims
from orgs.models import Domain, Membership, Organization, User
from reports import erasing
from tests import build
from tests.integrations.answers.world import LINK, TEXT, answered, join, report_of, told

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme(code_host) -> Organization:
    return build.acme(code_host)


@pytest.fixture
def bob(acme):
    return build.api(build.token(build.member(acme, "bob", role="member")))


@pytest.fixture
def lead(client, acme) -> Delivery:
    return report_of(client, "The flag --yes is gone")


def put(api, report_id: str, **body):
    path = f"/v1/orgs/me/reports/{report_id}/answer"
    return api.put(path, data=body, content_type="application/json")


def fault(api, lead, **body) -> tuple[str, str]:
    answer = put(api, lead.report_id, **body)
    assert answer.status_code == 400
    assert answer.json()["error"] == "validation_error"
    assert not Answer.objects.exists()
    [each] = answer.json()["details"]
    return each["path"], each["message"]


def test_a_member_answers_changes_it_and_takes_it_back(client, bob, lead):
    said = put(bob, lead.report_id, text=TEXT, link=LINK)
    assert said.status_code == 200
    assert {**said.json(), "changed_at": None} == {
        "text": TEXT,
        "link": LINK,
        "made_by": "bob",
        "changed_at": None,
    }
    assert bob.get(f"/v1/orgs/me/reports/{lead.report_id}").json()["answer"] == said.json()
    assert told(client, lead.report_id)[1] == {"text": TEXT, "link": LINK}

    assert put(bob, lead.report_id, text="Fixed in 2.4.").json()["link"] is None
    assert told(client, lead.report_id)[1] == {"text": "Fixed in 2.4.", "link": None}

    path = f"/v1/orgs/me/reports/{lead.report_id}/answer"
    assert [bob.delete(path).status_code for _ in range(2)] == [204, 204]
    assert told(client, lead.report_id)[1] is None
    assert bob.get(f"/v1/orgs/me/reports/{lead.report_id}").json()["answer"] is None


def test_the_answer_to_a_report_that_has_joined_another_is_that_of_the_other(client, bob, lead):
    other = report_of(client, "There is no flag --yes")
    join(other, lead)

    put(bob, other.report_id, text=TEXT)

    assert Answer.objects.get().delivery_id == lead.pk
    answers = [
        bob.get(f"/v1/orgs/me/reports/{each.report_id}").json()["answer"] for each in (lead, other)
    ]
    assert answers[0] == answers[1] != None  # noqa: E711
    bob.delete(f"/v1/orgs/me/reports/{other.report_id}/answer")
    assert not Answer.objects.exists()


def test_an_answer_after_a_report_joined_takes_the_place_of_the_one_before(client, bob, lead):
    """Or the earlier one would come back if it were split off."""
    other = report_of(client, "Another flag is gone")
    answered(other, "Fixed in 2.0.")
    join(other, lead)

    put(bob, other.report_id, text="Not fixed in 2.0.")

    assert [(each.delivery, each.text) for each in Answer.objects.all()] == [
        (lead, "Not fixed in 2.0.")
    ]


def test_what_was_said_of_one_report_is_told_of_no_other(client, lead):
    """It may be about the file of a private repository, of which strangers are told nothing."""
    other = report_of(client, "Another flag is gone")
    Delivery.objects.filter(pk=other.pk).update(status="pending", issue_number=None, issue_url="")
    answered(other)

    joining.fold_under(Delivery.objects.filter(pk=other.pk), lead, by="bob")

    for each in (lead, other):
        assert told(client, each.report_id)[1] is None


def test_a_stranger_answers_nobody(client, lead):
    charlie = build.caller("zenith")

    assert put(charlie, lead.report_id, text=TEXT).status_code == 404
    assert charlie.delete(f"/v1/orgs/me/reports/{lead.report_id}/answer").status_code == 404
    assert put(charlie, "x", text=TEXT).status_code == 404


def test_a_report_without_a_delivery_has_no_answer(client):
    acme = build.organization()
    build.domain(acme, "docs.acme.com")
    sent = build.send(client).json()
    alice = build.api(build.token(build.member(acme)))

    refused = put(alice, sent["id"], text=TEXT)

    assert (refused.status_code, refused.json()["error"]) == (409, "cannot_answer")
    assert alice.delete(f"/v1/orgs/me/reports/{sent['id']}/answer").status_code == 204


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("Use\n--yes,\r\n\tuntil 2.4.", "Use --yes, until 2.4."),
        ("  Use --yes  ", "Use --yes"),
        ("Use \u202e--yes\u200b", "Use --yes"),
        ("<b>Use</b> [--yes](x) @acme", "<b>Use</b> [--yes](x) @acme"),
        ("用 --yes 代替", "用 --yes 代替"),
        ("x" * 500, "x" * 500),
    ],
)
def test_an_answer_is_one_line_of_plain_text(bob, lead, text, stored):
    assert put(bob, lead.report_id, text=text).json()["text"] == stored


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Must not be empty."),
        (" \n\u200b", "Must not be empty."),
        ("x" * 501, "Must be at most 500 characters."),
        ("㎐" * 300, "Must be at most 500 characters."),
        ("\x1b[31mred", "Must not contain control characters."),
        ("a\x9bb", "Must not contain control characters."),
        (7, "Must be a string."),
        (
            "Use ghp" + "_abcdefghijklmnopqrstuvwABC0123456789",
            "Must not contain a secret; this looks like one: GitHub token.",
        ),
    ],
)
def test_what_cannot_be_an_answer_is_refused(bob, lead, text, message):
    assert fault(bob, lead, text=text) == ("/text", message)


OTHER = (
    "Must be a public page of a domain, a site or a repository that your organization has claimed; "
    "{} is none."
)


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("http://docs.acme.com/2.4", "Must begin with https://."),
        ("docs/2.4.md", "Must begin with https://."),
        ("http\u017f://docs.acme.com/x", "Must begin with https://."),  # a long s
        ("javascript:alert(1)", "Must begin with https:// or http://, or be a path."),
        ("https://docs.acme.com@evil.com/", "Must not contain a user name or password."),
        ("https://docs.acme.com\\@evil.com/", "Must not contain backslashes, spaces or control characters."),
        ("https://docs.acme.com/a b", "Must not contain backslashes, spaces or control characters."),
        ("https://evil.com/", OTHER.format("evil.com")),
        ("https://acme.com/", OTHER.format("acme.com")),
        ("https://docs.acme.com.evil.com/", OTHER.format("docs.acme.com.evil.com")),
        ("https://github.com/acme/docs/issues/1", OTHER.format("github.com")),
        (f"https://docs.acme.com/{'x' * 2028}", "Must be at most 2048 characters."),
        (
            "https://docs.acme.com/?t=ghp" + "_abcdefghijklmnopqrstuvwABC0123456789",
            "Must not contain a secret; this looks like one: GitHub token.",
        ),
    ],
)  # fmt: skip
def test_a_link_leads_to_a_page_of_the_organization(bob, lead, link, message):
    assert fault(bob, lead, text=TEXT, link=link) == ("/link", message)


@pytest.mark.parametrize(
    ("link", "stored"),
    [
        ("HTTPS://DOCS.acme.com/A/?x=1#b", "https://docs.acme.com/A/?x=1#b"),
        ("https://docs.acme.com/größe\"<'", "https://docs.acme.com/gr%C3%B6%C3%9Fe%22%3C'"),
        ("https://docs.acme.com/%C3%B6", "https://docs.acme.com/%C3%B6"),
        ("https://docs.acme.com", "https://docs.acme.com"),
        ("https://docs.acme.com:443/x", "https://docs.acme.com/x"),
        ("", None),
        (None, None),
    ],
)
def test_a_link_is_kept_in_ascii_with_its_fragment(bob, lead, link, stored):
    assert put(bob, lead.report_id, text=TEXT, link=link).json()["link"] == stored


def test_a_link_to_a_repository_is_shown_while_everybody_may_read_it(client, bob, lead, settings):
    settings.HUB_GITHUB_URL = "https://github.com"
    Domain.objects.update(name="docs.acme.com")
    build.site(lead.integration.organization, "github.com", "/acme/docs/")
    link = "https://github.com/acme/docs/blob/main/CHANGES.md#yes"

    assert put(bob, lead.report_id, text=TEXT, link=link).json()["link"] == link
    assert told(client, lead.report_id)[1]["link"] == link

    Integration.objects.update(repository_private=True)
    assert told(client, lead.report_id)[1]["link"] is None
    assert put(bob, lead.report_id, text=TEXT, link=link).status_code == 400


def test_the_export_has_the_answers(client, bob, lead):
    put(bob, lead.report_id, text=TEXT)
    report_of(client, "Another problem")
    browser = Client()
    browser.force_login(User.objects.get(username="bob"))

    answer = browser.get("/settings/account/export.json")

    rows = json.loads(b"".join(answer.streaming_content))["reports"]
    told = [row["delivery"]["answer"] for row in rows]
    assert (told[0]["text"], told[0]["made_by"], told[1]) == (TEXT, "bob", None)
    assert told[0]["changed_at"]


def test_members_who_answer_at_once_leave_one_answer(client, bob, lead):
    member, start, errors = Membership.objects.get(), Barrier(4), []

    def say(number: int) -> None:
        start.wait()
        try:
            saying.say(member, Delivery.objects.get(pk=lead.pk), f"Answer {number}")
        except Exception as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [Thread(target=say, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert (errors, Answer.objects.count()) == ([], 1)


def test_unknown_fields_and_other_forms_are_refused(bob, lead):
    assert fault(bob, lead, text=TEXT, url=LINK) == ("/url", "Unknown field.")
    assert fault(bob, lead) == ("/text", "This field is required.")


def test_all_that_is_wrong_is_said_at_once(bob, lead):
    refused = put(bob, lead.report_id, text="\x00"[:0] + "\x07", link="https://evil.com/").json()

    assert [each["path"] for each in refused["details"]] == ["/text", "/link"]


def test_the_owners_words_stay_when_the_reporters_are_erased(client, bob, lead):
    put(bob, lead.report_id, text=TEXT)

    erasing.erase(lead.report)

    assert told(client, lead.report_id)[1] == {"text": TEXT, "link": None}


def test_without_push_access_nobody_answers_by_way_of_what_joined_a_page(acme, bob, client):
    site_claims.claim_site(acme, "https://acme.github.io/docs/")
    lead = report_of(client, "The flag is gone", doc_url="https://acme.github.io/docs/walrus")
    joined = report_of(client, "There is no flag --yes")
    join(joined, lead)

    Integration.objects.update(rights_lost_at=clock.now())
    refused = put(bob, joined.report_id, text=TEXT)

    assert (refused.status_code, refused.json()["error"]) == (409, "cannot_answer")
    assert not Answer.objects.exists()


def test_who_has_lost_push_access_speaks_for_the_page_no_longer(acme, client):
    url = "https://acme.github.io/docs/walrus"
    alice = build.member(acme)
    api = build.api(build.token(alice))
    site_claims.claim_site(acme, "https://acme.github.io/docs/")
    Integration.objects.update(shows_known=True)
    lead = report_of(client, "The flag --yes is gone", doc_url=url)
    said = {"text": TEXT, "link": LINK}
    before = put(api, lead.report_id, **said)
    [known] = client.get("/v1/pages", {"url": url}).json()["problems"]

    Integration.objects.update(rights_lost_at=clock.now())
    after = put(api, lead.report_id, **said)
    client.force_login(alice)
    page = client.get(f"/settings/reports/{lead.report_id}/").content.decode()

    assert (before.status_code, known["answer"]) == (200, said)
    assert (after.status_code, after.json()["error"]) == (409, "cannot_answer")
    assert told(client, lead.report_id)[1] is None
    assert client.get("/v1/pages", {"url": url}).status_code == 404
    assert "no member has push access" in page

    Integration.objects.update(rights_lost_at=None)
    assert told(client, lead.report_id)[1] == said
