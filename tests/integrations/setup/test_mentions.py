"""A template addresses only accounts that can be assigned in its repository, and teams of its owner."""

import pytest
from django.test import Client

from integrations import github_api
from integrations.models import Integration
from integrations.setup import mentions
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

URL = "/v1/orgs/me/integrations/github"
PAGE = "/settings/integration/"
DOCS = {"repo_owner": "acme", "repo_name": "docs"}
AS_CODE = "or put it between backticks, as code, outside of HTML."


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


@pytest.fixture
def user(acme, code_host):
    return build.member(acme, github_id=code_host.account("alice").id)


@pytest.fixture
def alice(user) -> Client:
    return build.api(build.token(user))


@pytest.fixture
def browser(user, client) -> Client:
    client.force_login(user)
    return client


def save(client: Client, template: str, **changes: str):
    body = DOCS | {"issue_template": template} | changes
    return client.post(URL, body, content_type="application/json")


def issue(code_host):
    return code_host.issues("acme/docs")[-1]


def test_who_can_be_assigned_and_teams_of_the_owner_are_mentioned(alice, client, code_host):
    answer = save(alice, "cc @Alice, @bob and @acme/writers: {summary}")
    build.send(client)

    assert answer.status_code == 200
    assert Integration.objects.get().mentions == ["acme/writers", "alice", "bob"]
    assert issue(code_host).body.startswith("cc @Alice, @bob and @acme/writers: ")


@pytest.mark.parametrize(
    ("template", "found", "said"),
    [
        (
            "@alice and @charlie {summary}",
            "@charlie",
            (
                "@charlie cannot be mentioned: no issue of acme/docs can be assigned to charlie. "
                f"Give charlie access there, {AS_CODE}"
            ),
        ),
        (
            "&#64;nobody",
            "@nobody",
            (
                "@nobody cannot be mentioned: no issue of acme/docs can be assigned to nobody. "
                f"Give nobody access there, {AS_CODE}"
            ),
        ),
        (
            "@initech/writers",
            "@initech/writers",
            (
                "@initech/writers cannot be mentioned: it would be a team of initech. "
                f"Mention teams of acme only, {AS_CODE}"
            ),
        ),
        (
            "@" + "x" * 200,
            "@" + "x" * 99,
            f"@{'x' * 99} cannot be mentioned: no account has such a name. Remove it, {AS_CODE}",
        ),
        (
            "see initech/app#1",
            "initech/app#1",
            (
                "initech/app#1 refers to another repository, whose people GitHub would tell of each issue. "
                f"Remove it, {AS_CODE}"
            ),
        ),
        (
            " ".join(f"@acme/team-{number}" for number in range(11)),
            "@acme/team-10",
            "The template mentions 11 accounts and teams. Keep at most 10.",
        ),
    ],
)
def test_a_template_that_addresses_others_is_refused_with_what_to_do(alice, template, found, said):
    answer = save(alice, template)

    assert answer.status_code == 400
    assert answer.json() == {"error": "template_names_others", "message": said, "found": found}
    assert Integration.objects.get().issue_template == ""


def test_what_is_code_or_an_address_is_saved_and_stays(alice, client, code_host):
    template = "`@charlie` docs@example.com\n\n```\n@decorator\n```"

    answer = save(alice, template)
    build.send(client)

    assert answer.status_code == 200
    assert issue(code_host).body.startswith(template)
    assert Integration.objects.get().mentions == []


def test_nothing_is_saved_while_github_does_not_say_who_can_be_assigned(alice, monkeypatch):
    def away(*_, **__):
        raise github_api.Unreachable("GitHub could not be reached.")

    monkeypatch.setattr(github_api, "assignable", away)

    answer = save(alice, "@alice")

    assert (answer.status_code, answer.json()["error"]) == (502, "code_host_unavailable")
    assert Integration.objects.get().issue_template == ""


def test_templates_that_mention_nobody_are_saved_as_often_as_before(alice, monkeypatch):
    monkeypatch.setattr(mentions, "ASKED", "1/hour")

    codes = [save(alice, template).status_code for template in ("@alice", "@alice", "{summary}")]

    assert codes == [200, 429, 200]


def test_another_repository_has_its_own_people(alice, code_host):
    code_host.add_repository("acme", "handbook")
    code_host.installation_on(code_host.account("acme")).repositories = None
    code_host.grant("charlie", "acme/docs", "pull")

    here = save(alice, "@charlie")
    there = save(alice, "@charlie", repo_name="handbook")

    assert here.status_code == 200
    assert there.json()["found"] == "@charlie"


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ("@charlie {summary}", "@\u200bcharlie "),
        ("initech/app#1 {summary}", "initech/app#\u200b1 "),
    ],
)
def test_a_template_that_was_saved_before_is_broken_until_it_is_saved_anew(
    browser, acme, code_host, template, shown
):
    Integration.objects.update(issue_template=template)

    build.send(browser)
    before = browser.get("/settings/").content.decode()
    browser.post(PAGE, {"repository": "acme/docs", "issue_template": "`@charlie` {summary}"})
    after = browser.get("/settings/").content.decode()

    assert issue(code_host).body.startswith(shown)
    assert "Your template addresses others than your organization may." in before
    assert "Not live in your issues: " in before
    assert "Your template addresses others" not in after


def test_the_page_says_so_beside_the_field_and_in_the_preview(browser):
    form = {"repository": "acme/docs", "issue_template": "@charlie {summary} {doc_url} {details}"}

    refused = browser.post(PAGE, form)
    preview = browser.post(PAGE, form | {"live": "1"}).content.decode()

    assert list(refused.context["form"].errors) == ["issue_template"]
    assert "@charlie cannot be mentioned" in refused.content.decode()
    assert "Not live before the template is saved: @charlie. Then GitHub is asked" in preview


def test_the_preview_says_what_cannot_be_saved_and_is_silent_about_what_was(browser, alice):
    save(alice, "@alice {summary}")
    form = {"repository": "acme/docs", "live": "1"}
    template = "@alice {summary} {doc_url} {details}"

    known = browser.post(PAGE, form | {"issue_template": template}).content.decode()
    wrong = browser.post(PAGE, form | {"issue_template": template + "a/b#1"}).content.decode()

    assert 'class="notice' not in known
    assert "a/b#1 refers to another repository" in wrong


def test_the_preview_is_about_the_repository_in_the_form(browser, alice):
    save(alice, "@alice {summary}")
    template = "@alice @acme/writers @initech/writers acme/docs#1 {summary} {doc_url} {details}"
    form = {"repository": "initech/docs", "live": "1", "issue_template": template}

    other = browser.post(PAGE, form).content.decode()
    allowed = browser.post(
        PAGE,
        form | {"issue_template": "@alice @initech/writers initech/docs#1 {doc_url} {details}"},
    ).content.decode()

    assert "@acme/writers cannot be mentioned: it would be a team of acme." in other
    assert "Mention teams of initech only" in other
    assert "Not live before the template is saved: @alice and @initech/writers." in allowed


def test_without_a_repository_nothing_is_said_of_the_template(browser, alice):
    save(alice, "@acme/writers acme/docs#1 {summary}")

    browser.post(f"{PAGE}disconnect/")
    page = browser.get("/settings/").content.decode()

    assert Integration.objects.get().issue_template.startswith("@acme/writers")
    assert "Your template addresses others" not in page
