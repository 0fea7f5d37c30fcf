"""A page of settings was opened before a colleague saved the same settings, and its form is sent after that."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from django.test import Client

from hub.screen.one_issue import OneIssueForm
from integrations.issue.rendering import DEFAULT_TEMPLATE
from integrations.models import Integration
from integrations.setup import configuration
from tests import build, waiting
from tests.hub.screen import controls

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "/settings/integration/"
BOX = f"{PAGE}one-issue/"
TEMPLATE = "{summary}\n\n{details}  \n\n- Page: {doc_url}\n\n"
SAVED = {
    "issue_template": TEMPLATE,
    "labels": {"*": ["docs", "needs triage"], "broken": ["bug"]},
    "assignees": ["alice", "bob"],
    "issue_type": "Bug",
    "alerts": False,
}
TOLD = "was changed in the meantime"


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


@pytest.fixture
def alice(acme, code_host) -> Client:
    return browser_of(acme, code_host, "alice")


@pytest.fixture
def bob(acme, code_host) -> Client:
    return browser_of(acme, code_host, "bob")


def browser_of(acme, code_host, login: str) -> Client:
    code_host.add_member("acme", login, role="admin")
    browser = Client()
    browser.force_login(build.member(acme, login, github_id=code_host.account(login).id))
    return browser


def opened(browser: Client) -> dict[str, str]:
    return controls.form(browser, PAGE, "issue_template")


def opened_box(browser: Client) -> dict[str, str]:
    return controls.form(browser, PAGE, "likeness")


def press(browser: Client, page: str, sent: dict[str, str]) -> str:
    return browser.post(page, sent, follow=True).content.decode()


def stored(*names: str) -> dict:
    return Integration.objects.values(*(names or SAVED)).get()


def save_all(browser: Client) -> None:
    """A colleague chooses everything that the form has."""
    typed = {
        "issue_template": TEMPLATE,
        "labels_every": "docs, needs triage",
        "labels_broken": "bug",
        "assignees": "alice, @bob",
        "issue_type": "Bug",
    }
    press(browser, PAGE, opened(browser) | typed)


def test_a_choice_on_an_old_page_undoes_nothing_that_a_colleague_has_saved(alice, bob):
    old = opened(alice)
    save_all(bob)
    assert stored() == SAVED

    page = press(alice, PAGE, old | {"alerts": "yes"})

    assert stored() == SAVED | {"alerts": True}
    assert TOLD not in page


@pytest.mark.parametrize(
    "template", ["", DEFAULT_TEMPLATE, TEMPLATE, "\n\n{summary}\n", "a{summary}"]
)
def test_what_a_browser_sends_of_a_form_that_nobody_touched_changes_nothing(alice, bob, template):
    """Its line ends are those of Windows, and lists are one text."""
    save_all(bob)
    Integration.objects.update(issue_template=template)
    untouched = opened(alice)
    now = {"issue_template": "{summary} {doc_url}", "labels": None, "assignees": None}
    Integration.objects.update(**now, issue_type="")

    press(alice, PAGE, untouched)

    assert stored(*now) == now
    assert stored("issue_type") == {"issue_type": ""}


def test_labels_of_one_kind_are_changed_beside_those_of_another(alice, bob):
    old = opened(alice)
    press(bob, PAGE, opened(bob) | {"labels_broken": "bug"})

    press(alice, PAGE, old | {"labels_every": "docs"})

    assert stored("labels") == {"labels": {"*": ["docs"], "broken": ["bug"]}}


def test_what_both_have_changed_is_said_and_the_second_press_saves_it(alice, bob):
    old = opened(alice)
    save_all(bob)

    typed = {"labels_every": "guide", "issue_template": "Mine: {summary}", "alerts": "yes"}
    page = press(alice, PAGE, old | typed)
    refused = stored()
    again = controls.of_text(page, "issue_template")
    done = press(alice, PAGE, again)

    assert refused == SAVED
    assert (
        f"“Labels of every issue” {TOLD}: it is now “docs, needs triage”. Nothing was saved."
        in page
    )
    assert "<summary>The template that is saved now</summary>" in page
    assert "{details}  \n\n- Page: {doc_url}" in page
    assert "once the template is valid" not in page
    assert (again["labels_every"], again["issue_template"]) == ("guide", "Mine: {summary}")
    assert (again["labels_broken"], again["assignees"], again["issue_type"]) == (
        "bug",
        "alice, bob",
        "Bug",
    )
    assert TOLD not in done
    mine = {"labels": {"*": ["guide"], "broken": ["bug"]}, "issue_template": "Mine: {summary}"}
    assert stored() == SAVED | mine | {"alerts": True}


def test_what_both_have_changed_to_the_same_is_no_conflict(alice, bob):
    old = opened(alice)
    save_all(bob)

    page = press(
        alice, PAGE, old | {"labels_every": "docs,needs triage", "issue_template": TEMPLATE}
    )

    assert TOLD not in page
    assert stored() == SAVED


def test_a_preview_on_an_old_page_forgets_nothing_of_what_it_has_shown(alice, bob):
    old = opened(alice)
    save_all(bob)

    page = press(alice, PAGE, old | {"issue_type": "Task", "preview": "1"})
    seen = controls.of_text(page, "issue_template")
    refused = press(alice, PAGE, seen)
    press(alice, PAGE, seen | {"issue_type": "", "alerts": "yes"})

    assert f"{TOLD}: it is now “Bug”." in refused
    assert stored() == SAVED | {"alerts": True}


def test_where_issues_go_elsewhere_by_now_the_page_says_where_and_what_else_was_changed(
    alice, bob, code_host
):
    manual = code_host.add_repository("acme", "manual", private=True)
    code_host.add_to_installation(build.installed(code_host), manual)
    old = opened(alice)
    press(bob, PAGE, opened(bob) | {"repository": "acme/manual", "labels_every": "docs"})

    page = press(alice, PAGE, old | {"labels_every": "guide", "issue_type": "Bug"})
    refused = stored("repo_name", "labels", "issue_type")
    again = controls.of_text(page, "issue_template")
    press(alice, PAGE, again)

    assert f"“Repository” {TOLD}: it is now “acme/manual”." in page
    assert f"{TOLD}: it is now “docs”." in page
    assert refused == {"repo_name": "manual", "labels": {"*": ["docs"]}, "issue_type": ""}
    assert again["repository"] == "acme/manual"
    now = {"repo_name": "manual", "labels": {"*": ["guide"]}, "issue_type": "Bug"}
    assert stored(*now) == now


def test_what_else_was_chosen_is_kept_where_something_is_refused(alice, bob, code_host):
    manual = code_host.add_repository("acme", "manual")
    code_host.add_to_installation(build.installed(code_host), manual)
    old = opened(alice)
    press(bob, PAGE, opened(bob) | {"issue_type": "Bug"})

    typed = {"repository": "acme/manual", "issue_type": "Task", "own_files": "on"}
    page = press(alice, PAGE, old | typed)
    again = controls.of_text(page, "issue_template")

    assert f"{TOLD}: it is now “Bug”." in page
    assert {name: again[name] for name in typed} == typed


def test_a_choice_about_bad_news_is_not_carried_to_a_repository_that_a_colleague_has_chosen(
    alice, bob, code_host
):
    """The attack: bad news is chosen for a private repository, and a colleague has chosen a public one."""
    code_host.add_to_installation(
        build.installed(code_host), code_host.add_repository("acme", "open")
    )
    code_host.set_private("acme/docs", True)
    Integration.objects.update(repository_private=True, alerts=False)
    old = opened(alice)
    press(bob, PAGE, opened(bob) | {"repository": "acme/open"})

    page = press(alice, PAGE, old | {"alerts": "yes"})
    press(alice, PAGE, controls.of_text(page, "issue_template"))

    assert f"{TOLD}: it is now “acme/open”." in page
    assert stored("repo_name", "alerts") == {"repo_name": "open", "alerts": False}


def test_a_colleague_who_saves_while_github_is_asked_is_not_overtaken(alice, bob, monkeypatch):
    old = opened(alice)
    ask = configuration._writable

    def asked(*args):
        monkeypatch.setattr(configuration, "_writable", ask)
        save_all(bob)
        return ask(*args)

    monkeypatch.setattr(configuration, "_writable", asked)
    page = press(alice, PAGE, old | {"issue_template": "Mine: {summary}"})

    assert TOLD in page
    assert stored() == SAVED

    Integration.objects.update(issue_template="")
    old = opened(alice)
    monkeypatch.setattr(configuration, "_writable", asked)
    page = press(alice, PAGE, old | {"alerts": "yes"})

    assert configuration.TEMPLATE_CHANGED in page
    assert stored() == SAVED


def test_a_page_of_the_version_before_saves_what_it_sends(alice, bob):
    """It has no marks."""
    old = {name: value for name, value in opened(alice).items() if not name.startswith("shown-")}
    save_all(bob)

    press(alice, PAGE, old | {"issue_type": "Task"})

    assert stored("issue_type", "assignees") == {"issue_type": "Task", "assignees": None}


def test_joining_chosen_on_an_old_page_tells_strangers_nothing_again(alice, bob):
    """The attack: a colleague has just turned off what everybody is told, and the old page has it ticked."""
    Integration.objects.update(shows_known=True)
    old, fresh = opened_box(alice), opened_box(bob)
    fresh.pop("shows_known")
    press(bob, BOX, fresh)

    page = press(alice, BOX, old | {"likeness": "fold"})

    assert "Saved. This applies to what is sent from now on." in page
    now = {"likeness": "fold", "when_reported_again": "comment", "shows_known": False}
    assert stored(*OneIssueForm.base_fields) == now


@pytest.mark.postgresql
def test_of_two_who_choose_at_once_neither_undoes_what_the_other_has_chosen(alice):
    Integration.objects.update(shows_known=True)
    old = opened_box(alice)

    def choose_joining() -> None:
        press(alice, BOX, old | {"likeness": "fold"})
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            list(Integration.objects.select_for_update(no_key=True))
            chosen = pool.submit(choose_joining)
            assert waiting.wait_until(waiting.is_somebody_waiting_for_a_lock)
            Integration.objects.update(shows_known=False)
        chosen.result()

    assert stored("likeness", "shows_known") == {"likeness": "fold", "shows_known": False}


def test_a_choice_that_both_have_made_is_the_first_ones_until_it_is_made_again(alice, bob):
    old = opened_box(alice)
    press(bob, BOX, opened_box(bob) | {"likeness": "off"})

    page = press(alice, BOX, old | {"likeness": "fold", "shows_known": "on"})
    refused = stored("likeness", "shows_known")
    press(alice, BOX, controls.of_text(page, "likeness") | {"likeness": "fold"})

    assert f"This {TOLD}. Nothing was saved. Look at what is chosen now, and choose again." in page
    assert refused == {"likeness": "off", "shows_known": False}
    assert stored("likeness", "shows_known") == {"likeness": "fold", "shows_known": False}


def test_a_box_of_the_version_before_saves_what_it_sends(alice, bob):
    press(bob, BOX, opened_box(bob) | {"likeness": "off"})

    press(alice, BOX, {"likeness": "hint", "when_reported_again": "reopen"})

    assert stored("likeness", "when_reported_again") == {
        "likeness": "hint",
        "when_reported_again": "reopen",
    }


def test_a_badge_that_a_colleague_has_taken_away_is_not_shown_again(alice, bob, acme):
    claim = acme.domains.get()
    claim.choose_badge("count")
    kit = f"/settings/claims/{claim.pk}/kit/"
    old = controls.form(alice, kit, "badge")
    press(bob, f"{kit}badge/", controls.form(bob, kit, "badge") | {"badge": ""})

    untouched = press(alice, f"{kit}badge/", old)
    changed = press(alice, f"{kit}badge/", old | {"badge": "state"})

    claim.refresh_from_db()
    assert claim.badge == ""
    assert "There is no badge now." in untouched
    assert f"{TOLD}. Nothing was saved." in changed
