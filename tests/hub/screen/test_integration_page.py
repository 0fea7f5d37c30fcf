"""The page of the integration: the template with its preview, and what is said of both."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from hub.screen import integration, previews
from integrations.delivery import forwarding, operator_holds
from integrations.github_sync import applying
from integrations.issue import rendering
from integrations.models import Delivery, Hold, Integration
from integrations.setup import configuration
from orgs.models import User
from tests import build

PAGE = "/settings/integration/"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


@pytest.fixture
def alice(acme, code_host, client):
    client.force_login(build.member(acme, github_id=code_host.account("alice").id))
    return client


@pytest.fixture
def bob(acme, code_host, client):
    client.force_login(build.member(acme, "bob", role="member"))
    return client


def text_of(answer) -> str:
    return answer.content.decode()


def preview(client, template: str, **others: str) -> str:
    form = {"repository": "acme/docs", "issue_template": template, "live": "1"}
    return text_of(client.post(PAGE, form | others))


def test_an_issue_is_seen_as_on_github_and_as_markdown(alice):
    page = preview(alice, "# Problem\n\n**{summary}**\n\n<i>{doc_url}</i>")

    assert "<h4>Problem</h4>" in page
    assert "<strong>The install command names a package that is gone</strong>" in page
    assert "<i><u>https://docs.example.com/install</u></i>" in page
    assert "# Problem\n\n**The install command" in page
    assert "acme/docs, opened by docs-feedback-hub" in page


def test_nothing_of_a_template_acts_in_its_preview(alice):
    template = '</p></div><a href="x" onclick="alert(1)">x</a> {summary}\n\n![x](//evil.example/x)'

    page = preview(alice, template)

    assert ' onclick="' not in page
    assert page.count("</article>") == 2
    assert "<img" not in page


def test_nothing_of_a_template_acts_where_its_preview_is_refused(alice):
    page = preview(alice, "<script>alert(1)</script>\n\n</article><form>\n\n![x](//evil.example/x)")

    assert "<script" not in page
    assert "<code>&lt;script&gt;</code> is HTML that GitHub does not show." in page
    assert "<form" not in page
    assert "<img" not in page


def test_a_preview_counts_before_its_template_is_read(alice, monkeypatch):
    monkeypatch.setattr(integration, "PREVIEWS", "1/minute")

    first, second = (preview(alice, "<video>") for _ in range(2))

    assert "is HTML that GitHub does not show." in first
    assert "is HTML that GitHub does not show." not in second


def test_the_preview_that_is_open_stays_open_while_somebody_types(alice):
    first, then = preview(alice, "{summary}"), preview(alice, "{summary}!", shown="Hostile")

    assert 'value="Ordinary" form="template" checked>' in first
    assert 'value="Hostile" form="template" checked>' in then
    assert then.count(" checked>") == 1
    assert 'value="Ordinary" form="template" checked>' in preview(alice, "", shown="<nonsense>")


def test_the_latest_report_is_seen_too(alice):
    build.send(alice, build.report(report__summary="The FAQ is gone"))

    assert "[docs] The FAQ is gone" in preview(alice, "{summary}")


@pytest.mark.parametrize(
    ("template", "missing"),
    [
        ("{details}", ["doc_url"]),
        ("{doc_url}", ["details"]),
        ("nothing {{doc_url}}", ["doc_url", "details"]),
        ("{doc_url} {details}", []),
        ("", []),
        (rendering.DEFAULT_TEMPLATE, []),
    ],
)
def test_who_leaves_out_page_or_text_is_warned_and_not_refused(alice, template, missing):
    form = {"repository": "acme/docs", "issue_template": template}
    seen = preview(alice, template)
    saved = text_of(alice.post(PAGE, form, follow=True))

    for page in (seen, saved):
        named = [name for name in previews.NEEDED if f"Your template has no {{{name}}}: " in page]
        assert named == missing
    assert "Template saved." in saved


def test_each_placeholder_has_a_button_and_a_meaning(alice):
    page = text_of(alice.get(PAGE))

    assert previews.PLACEHOLDERS.keys() == set(rendering.PLACEHOLDERS)
    for name, meaning in previews.PLACEHOLDERS.items():
        assert f">{{{name}}}</button>" in page
        assert f"<dt><code>{{{name}}}</code></dt><dd>{meaning}</dd>" in page
    assert 'aria-label="Insert a placeholder" data-script hidden>' in page


def test_the_default_comes_back_into_the_form_and_is_not_saved(alice):
    Integration.objects.update(issue_template="{summary}")
    typed = {"repository": "acme/docs", "issue_template": "half a", "default": "1"}

    page = text_of(alice.post(PAGE, typed))

    assert "{details}\n\n{evidence}" in page
    assert Integration.objects.get().issue_template == "{summary}"


def test_a_repository_that_is_not_in_the_list_is_given_access_on_github(alice, code_host):
    page = text_of(alice.get(PAGE))

    assert f'Not in the list? <a href="{code_host.url}/' in page


def test_an_app_that_was_uninstalled_is_installed_again_by_one_button(alice):
    applying.mark_uninstalled(Integration.objects.get().installation)

    page = text_of(alice.get(PAGE))

    assert "The app was uninstalled from acme. Install it again to resume." in page
    assert page.count("Install it again</button>") == 1
    assert "Install on another account" not in page
    assert "Try again" not in page


def test_a_suspended_app_is_said_once(alice, code_host):
    code_host.suspend(build.installed(code_host))
    suspended = Integration.objects.get().installation
    applying.mark_suspended(suspended)

    page = text_of(alice.get("/settings/integration/"))
    assert "The app was suspended on acme." in page
    assert "could not be loaded" not in page

    Integration.objects.update(paused_at=timezone.now())
    assert "could not be loaded" in text_of(alice.get("/settings/integration/"))


def test_the_page_begins_with_the_state_that_the_overview_shows(alice, acme):
    receiving = text_of(alice.get(PAGE))
    acme.domains.get().opt_out(out=True)
    opted_out = text_of(alice.get(PAGE))

    assert '<span class="state good">Receiving</span> · issues go to acme/docs' in receiving
    assert '<span class="pill wait">Opted out</span> · acme/docs' in opted_out


def test_the_only_repository_is_chosen_already(alice):
    Integration.objects.update(repository_id=None, repo_owner="", repo_name="")

    page = text_of(alice.get(PAGE))

    assert '<span class="state todo">To do</span> · Check the repository, then save' in page


def test_a_member_neither_disconnects_nor_moves_to_another_account(bob):
    page = text_of(bob.get(PAGE))

    assert "Only owners of your organization can do that." in page
    assert "Disconnect …" not in page
    assert "Install on another account" not in page
    assert "Pause</button>" in page


def test_whoever_resumes_is_told_what_else_stops_it(alice):
    alice.post(f"{PAGE}pause/")
    Integration.objects.update(problem="Issues are turned off in acme/docs.")

    page = text_of(alice.post(f"{PAGE}resume/", follow=True))

    assert "Resumed, but nothing is sent yet. Issues are turned off in acme/docs." in page


def test_whoever_resumes_without_a_repository_is_told_to_choose_one(alice):
    alice.post(f"{PAGE}pause/")
    alice.post(f"{PAGE}disconnect/")

    page = text_of(alice.post(f"{PAGE}resume/", follow=True))

    assert "Resumed, but nothing is sent yet. No repository is chosen." in page
    assert "Reports are sent again." not in page


def test_a_repository_that_takes_issues_again_says_what_else_stops_it(alice):
    alice.post(f"{PAGE}pause/")

    page = text_of(alice.post(f"{PAGE}try-again/", follow=True))

    assert "acme/docs accepts issues again. The integration is paused." in page
    assert "Held reports are sent." not in page


def test_trying_again_says_that_an_operator_holds_all(alice, acme):
    root = User.objects.create(username="root", is_staff=True, is_superuser=True)
    operator_holds.make(Hold(kind="organization", value=acme.pk, reason="Spam."), by=root)
    Integration.objects.update(problem="Issues are turned off in acme/docs.")

    page = text_of(alice.post(f"{PAGE}try-again/", follow=True))

    assert "acme/docs accepts issues again. An operator of this Hub holds all that" in page
    assert "Held reports are sent." not in page


def test_without_a_repository_trying_again_says_what_keeps_one_from_being_chosen(alice, code_host):
    alice.post(f"{PAGE}disconnect/")
    applying.mark_suspended(Integration.objects.get().installation)

    page = text_of(alice.post(f"{PAGE}try-again/", follow=True))

    assert page.count("The app was suspended on acme. Unsuspend it on GitHub to resume.") == 2
    assert "Choose a repository first." not in page


@pytest.mark.parametrize("press", ["pause", "resume"])
def test_without_an_installation_there_is_nothing_to_pause_or_resume(alice, press):
    Integration.objects.all().delete()

    page = text_of(alice.post(f"{PAGE}{press}/", follow=True))

    assert "Install the app on your account first." in page


SHOWN = re.compile(r'name="repository_id" value="(\d*)"')
MANUAL = {"repository": "acme/manual", "issue_template": ""}


@pytest.fixture
def two_owners(acme, code_host) -> list[Client]:
    """The browsers of two owners of an organization that has two repositories."""
    manual = code_host.add_repository("acme", "manual", private=True)
    code_host.add_to_installation(build.installed(code_host), manual)
    browsers = []
    for login in ("alice", "bob"):
        code_host.add_member("acme", login, role="admin")
        browsers.append(Client())
        person = build.member(acme, login, github_id=code_host.account(login).id)
        browsers[-1].force_login(person)
    return browsers


def test_who_was_asked_about_another_repository_disconnects_nothing(two_owners):
    """A colleague changes it while the question is open."""
    alice, bob = two_owners
    asked = text_of(alice.get(f"{PAGE}disconnect/"))
    bob.post(PAGE, MANUAL | {"sure": "1"})

    form = {"repository_id": SHOWN.search(asked)[1]}
    answered = text_of(alice.post(f"{PAGE}disconnect/", form, follow=True))

    assert "Disconnect acme/docs?" in asked
    assert configuration.CHANGED in answered
    assert Integration.objects.get().repository == "acme/manual"


def test_a_form_that_showed_another_repository_moves_no_issues_back(two_owners):
    """A colleague changes it to a private one while the template is typed."""
    alice, bob = two_owners
    page = text_of(alice.get(PAGE))
    bob.post(PAGE, MANUAL)

    typed = {"repository": "acme/docs", "issue_template": "Mine: {summary}"}
    answered = text_of(alice.post(PAGE, typed | {"repository_id": SHOWN.search(page)[1]}))

    assert (
        "“Repository” was changed in the meantime: it is now “acme/manual”. Nothing was saved."
        in answered
    )
    assert "Mine: {summary}" in answered
    assert Integration.objects.get().repository == "acme/manual"
    assert Integration.objects.get().issue_template == ""


def test_what_was_shown_is_what_is_changed_and_disconnected(two_owners, acme):
    alice, _ = two_owners
    build.site(acme, "acme.github.io", "/docs/")

    for path, typed in (("", MANUAL), ("", MANUAL | {"sure": "1"}), ("disconnect/", {})):
        shown = SHOWN.search(text_of(alice.get(f"{PAGE}{path}")))[1]
        answer = alice.post(f"{PAGE}{path}", typed | {"repository_id": shown})

    assert answer.status_code == 302
    assert Integration.objects.get().repository_id is None


def test_the_question_about_claims_is_about_the_repository_of_now(two_owners, acme):
    alice, bob = two_owners
    old = SHOWN.search(text_of(alice.get(PAGE)))[1]
    bob.post(PAGE, MANUAL)
    build.site(acme, "acme.github.io", "/manual/", repository="acme/manual")

    typed = {"repository": "acme/docs", "issue_template": "", "repository_id": old}
    asked = text_of(alice.post(PAGE, typed))
    alice.post(PAGE, typed | {"sure": "1", "repository_id": SHOWN.search(asked)[1]})

    assert "Keep acme/manual" in asked
    assert Integration.objects.get().repository == "acme/docs"


STOPPED = [{"paused_at": timezone.now()}, {"problem": "Issues are turned off in acme/docs."}]


@pytest.mark.parametrize("columns", STOPPED)
def test_before_a_test_report_is_sent_the_page_says_that_it_will_wait(alice, columns):
    runs = text_of(alice.get("/settings/test/"))
    Integration.objects.update(**columns)

    page = text_of(alice.get("/settings/test/"))

    assert "Nothing is sent now." not in runs
    assert f"Nothing is sent now. {Integration.objects.get().obstacle}" in page


def test_a_test_report_shows_how_far_it_is(alice, code_host):
    code_host.set_issues("acme/docs", False)
    alice.post("/settings/test/", {"page": "https://docs.acme.com/"})
    delivery = Delivery.objects.get()
    page = f"/settings/test/{delivery.report_id}/"

    held = text_of(alice.get(page))
    Delivery.objects.update(status="pending", held_for="", reason="")
    waiting = text_of(alice.get(page))
    code_host.set_issues("acme/docs", True)
    forwarding.forward(delivery.report_id)
    opened = text_of(alice.get(page))

    steps = [re.findall(r"<li.*?><b.*?>(\w+)", each) for each in (held, waiting, opened)]
    assert steps == [
        ["Sent", "Matched", "Held", "Issue"],
        ["Sent", "Matched", "Waiting", "Issue"],
        ["Sent", "Matched", "Issue"],
    ]
    Delivery.objects.update(status="failed", reason="GitHub said no.", issue_number=None)
    failed = text_of(alice.get(page))

    assert f'href="/settings/reports/{delivery.report_id}/">Show the report</a>' in failed
    assert "Show the report" not in opened
    assert "Issues are turned off in acme/docs." in held
    assert "data-again" in waiting
    assert "data-again" not in held + opened
    assert "Issue #1 opened in acme/docs" in opened
