"""The part of the integration's page about labels, assignees and types; what GitHub did not take."""

import json
import re

import pytest

from integrations.models import Integration
from orgs.models import Site
from tests import build

PAGE, OVERVIEW = "/settings/integration/", "/settings/"
DOCS = {"repository": "acme/docs", "issue_template": "", "alerts": "no"}
TYPED = {
    "labels_every": "docs feedback, triage",
    "labels_broken": " bug ,, ",
    "assignees": "@alice, bob",
    "issue_type": "Bug",
}
WORDS = (
    "GitHub did not take the label bug and the assignee bob. Create the label in acme/docs yourself, or "
    "choose another one. Whom you assign needs access to acme/docs."
)
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


@pytest.fixture
def alice(acme, code_host, client):
    client.force_login(build.member(acme, github_id=code_host.account("alice").id))
    return client


def text_of(answer) -> str:
    return answer.content.decode()


def save(client, **typed: str) -> str:
    return text_of(client.post(PAGE, DOCS | typed, follow=True))


def value(page: str, name: str) -> str:
    """What a field of the page says."""
    [field] = re.findall(rf'<input[^>]* name="{name}"[^>]*>', page)
    found = re.search(r' value="([^"]*)"', field)
    return found[1] if found else ""


def choice() -> tuple:
    return Integration.objects.get().choice


CHOSEN = ({"*": ["docs feedback", "triage"], "broken": ["bug"]}, ["alice", "bob"], "Bug")


def test_labels_assignees_and_a_type_are_chosen(alice):
    page = save(alice, **TYPED)

    assert choice() == CHOSEN
    assert "Saved. New issues get what you have chosen." in page
    assert value(page, "labels_every") == "docs feedback, triage"
    assert value(page, "labels_broken") == "bug"
    assert value(page, "assignees") == "alice, bob"
    assert value(page, "issue_type") == "Bug"


def test_what_a_form_does_not_send_stays_and_what_it_sends_empty_goes(alice):
    save(alice, **TYPED)
    page = save(alice, issue_template="{details}")
    kept = choice()

    save(alice, labels_every="", assignees="", issue_type="")

    assert "Template saved." in page
    assert kept == CHOSEN
    assert choice() == (None, None, "")


def test_the_part_is_closed_until_something_is_chosen(alice):
    before = text_of(alice.get(PAGE))
    save(alice, assignees="alice")
    chosen = text_of(alice.get(PAGE))
    after = save(alice, labels_other="question", assignees="")

    assert '<details id="labels"><summary>' in before
    assert '<details id="labels" open><summary>' in chosen
    assert "<details><summary>More labels by kind of report" in chosen
    assert "<details open><summary>More labels by kind of report" in after


@pytest.mark.parametrize(
    ("field", "typed", "message"),
    [
        ("labels_every", "a" * 51, f"The label {'a' * 40}… has 51 characters. Shorten it to 50."),
        ("labels_other", "bug, Bug", "bug and Bug are the same label on GitHub. Keep one."),
        ("labels_broken", ",".join(map(str, range(21))), "Must have at most 20 items."),
        ("assignees", "alice; bob", "'alice; bob' is not the login of a person on GitHub."),
        ("assignees", "an-agent[bot]", "'an-agent[bot]' is not the login of a person on GitHub."),
        ("issue_type", "x" * 101, f"The issue type {'x' * 40}… has 101 characters."),
        ("labels_every", "x" * 2001, "Ensure this value has at most 2000 characters"),
        ("labels_every", "a\0b", "Null characters are not allowed."),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_lost(alice, field, typed, message):
    sent = TYPED | {field: typed}

    page = save(alice, **sent)

    told = page.replace("&#x27;", "'")
    assert f'<a href="#id_{field}">{message}' in told
    assert told.count(message) >= 2
    assert choice() == (None, None, "")
    for name, kept in sent.items():
        if "\0" not in kept:
            assert value(page, name) == kept
    assert '<details id="labels" open>' in page


def test_looking_keeps_what_was_typed_and_shows_what_an_issue_gets(alice):
    page = text_of(alice.post(PAGE, DOCS | TYPED | {"preview": "1"}))
    live = text_of(
        alice.post(
            PAGE,
            DOCS | TYPED | {"live": "1", "assignees": "alice, bob", "labels_outdated": "<b>old"},
        )
    )

    assert value(page, "labels_broken") == " bug ,, "
    assert choice() == (None, None, "")
    ordinary, hostile = live.split("<article")[1:3]
    for shown in (ordinary, hostile):
        assert "It gets: label docs feedback · label triage" in shown
        assert "· assignee alice · assignee bob · issue type Bug</footer>" in shown
    assert "· label &lt;b&gt;old ·" in ordinary
    assert "old" not in hostile


def test_a_huge_list_is_not_made_larger_by_its_preview(alice):
    sent = DOCS | {"live": "1", "labels_every": "a," * 500_000}

    assert len(text_of(alice.post(PAGE, sent))) < 50_000


def test_what_was_chosen_goes_through_the_page_that_asks_before_claims_lapse(
    alice, acme, code_host
):
    build.site(acme, "acme.github.io", "/docs/")
    code_host.add_to_installation(build.installed(code_host), code_host.add_repository("acme", "b"))
    moved = {"repository": "acme/b"}

    asked = text_of(alice.post(PAGE, DOCS | TYPED | moved))
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', asked))
    alice.post(PAGE, DOCS | hidden | moved | {"sure": "1"})

    assert Integration.objects.get().repo_name == "b"
    assert choice() == CHOSEN
    assert Site.objects.get().lapsed_at


def test_that_page_leaves_out_what_was_not_sent(alice, acme, code_host):
    save(alice, **TYPED)
    build.site(acme, "acme.github.io", "/docs/")
    code_host.add_to_installation(build.installed(code_host), code_host.add_repository("acme", "b"))

    asked = text_of(alice.post(PAGE, DOCS | {"repository": "acme/b"}))

    assert "Change to acme/b?" in asked
    assert "labels_" not in asked


def test_what_github_did_not_take_is_said_on_both_pages_until_it_does(alice, code_host):
    save(alice, **TYPED)
    code_host.drops = {"labels", "assignees", "type"}
    build.send(alice, build.report(report__summary="One"))
    integration, overview = text_of(alice.get(PAGE)), text_of(alice.get(OVERVIEW))
    code_host.drops = set()
    build.send(alice, build.report(report__summary="Two"))

    for page in (integration, overview):
        assert "Issues lack " in page
        assert "GitHub did not take the label docs feedback, the label triage, the assignee" in page
    assert 'href="/settings/integration/#labels"' in overview
    assert "Issues lack" not in text_of(alice.get(PAGE)) + text_of(alice.get(OVERVIEW))


def test_what_github_did_not_take_is_escaped_and_gone_with_the_next_choice(alice):
    Integration.objects.update(labels={"*": ["<b>"]}, not_applied="label <b>\nassignee bob")

    before = text_of(alice.get(PAGE))
    save(alice, labels_every="docs")

    assert "the label &lt;b&gt; and the assignee bob" in before
    assert "<b>" not in before
    assert "Issues lack" not in text_of(alice.get(PAGE))


def test_the_export_has_the_choice_and_what_is_missing(alice):
    save(alice, **TYPED)
    Integration.objects.update(not_applied="label bug")

    answer = alice.get("/settings/account/export.json")
    [mine] = json.loads(b"".join(answer.streaming_content))["integrations"]

    assert (mine["labels"], mine["assignees"], mine["issue_type"]) == CHOSEN
    assert mine["not_applied"] == "label bug"


def test_operators_see_them(acme, client, admin_user):
    mine = Integration.objects.get()
    Integration.objects.update(labels={"*": ["docs-bug"]}, not_applied="label docs-bug")
    client.force_login(admin_user)

    page = text_of(client.get(f"/admin/integrations/integration/{mine.pk}/change/"))

    assert page.count("docs-bug") >= 2


def test_a_test_report_says_what_github_did_not_take(alice, acme, code_host):
    save(alice, assignees="nobody")

    page = text_of(alice.post("/settings/test/", {"page": "https://docs.acme.com/"}, follow=True))

    assert "Issue #1 opened in acme/docs" in page
    assert "GitHub did not take the assignee nobody. Whom you assign needs access" in page
