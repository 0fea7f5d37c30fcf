"""The choice to be told bad news by an issue, and what is said first after a sign-in."""

import re
from http.cookies import SimpleCookie

import pytest
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.models import AnonymousUser
from django.contrib.messages import ERROR, get_messages
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.messages.storage.base import Message
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from core import as_shown
from hub.messages import HostCookie
from hub.screen import overview
from integrations.models import Installation, Integration
from orgs.models import User
from tests import build
from tests.integrations.alerts import world

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "/settings/integration/"
CHOSEN = re.compile(r'name="alerts" value="(\w+)"[^>]* checked')


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


@pytest.fixture
def alice(acme, code_host) -> User:
    return build.member(acme, github_id=code_host.account("alice").id)


@pytest.fixture
def browser(alice, client) -> Client:
    client.force_login(alice)
    return client


def chosen(page) -> list[str]:
    return CHOSEN.findall(page.content.decode())


@pytest.mark.parametrize(
    ("alerts", "private", "expected"),
    [
        (None, True, "yes"),
        (None, False, "no"),
        (True, False, "yes"),
        (False, True, "no"),
    ],
)
def test_the_form_shows_the_choice_or_the_default(browser, alerts, private, expected):
    Integration.objects.update(alerts=alerts, repository_private=private)

    assert chosen(browser.get(PAGE)) == [expected]


@pytest.mark.parametrize(("private", "expected"), [(True, "yes"), (False, "no")])
def test_before_a_repository_is_chosen_it_depends_on_those_that_are_offered(
    browser, code_host, private, expected
):
    secret = code_host.add_repository("acme", "secret", private=True)
    code_host.add_to_installation(build.installed(code_host), secret)
    code_host.set_private("acme/docs", private)
    Integration.objects.update(repository_id=None, repo_owner="", repo_name="")

    assert chosen(browser.get(PAGE)) == [expected]


def test_what_was_chosen_is_kept_while_repositories_are_looked_through(browser):
    Integration.objects.update(repository_id=None, repo_owner="", repo_name="")
    form = {"repository": "", "issue_template": "", "alerts": "yes", "page": "1"}

    assert chosen(browser.post(PAGE, form)) == ["yes"]


@pytest.mark.parametrize(("choice", "saved"), [("yes", True), ("no", False), ("", None)])
def test_the_choice_is_saved(browser, choice, saved):
    form = {"repository": "acme/docs", "issue_template": "", "alerts": choice}

    browser.post(PAGE, form)

    assert Integration.objects.get().alerts is saved


def test_a_change_to_a_public_repository_says_who_reads_them(browser, code_host):
    other = code_host.add_repository("acme", "other")
    code_host.add_to_installation(build.installed(code_host), other)
    form = {"repository": "acme/other", "issue_template": "", "alerts": "yes"}

    page = browser.post(PAGE, form, follow=True).content.decode()

    assert "acme/other is public. Everybody can read" in page


SHOWN = re.compile(r'name="(shown-alerts)" value="(\w+)"')


@pytest.fixture
def opened(code_host) -> str:
    """A public repository, which the private one before is changed for."""
    other = code_host.add_repository("acme", "open")
    code_host.add_to_installation(build.installed(code_host), other)
    code_host.set_private("acme/docs", True)
    Integration.objects.update(repository_private=True)
    return "acme/open"


def sent_as_it_is(browser, repository, **changes) -> dict:
    """The form of the page with nothing but another repository chosen."""
    page = browser.get(PAGE)
    shown = dict(SHOWN.findall(page.content.decode()))
    form = {"repository": repository, "issue_template": "", "alerts": chosen(page)[0]}
    return form | shown | changes


@pytest.mark.parametrize("known", [None, True])
def test_a_yes_is_not_carried_to_a_public_repository(browser, opened, known):
    """The attack: only the repository is changed, and bad news is told where everybody reads it."""
    Integration.objects.update(alerts=known)

    page = browser.post(PAGE, sent_as_it_is(browser, opened), follow=True).content.decode()

    assert Integration.objects.get().repository == opened
    assert Integration.objects.get().alerts is False
    assert "acme/open is public. No issue about lapsed claims" in page
    assert chosen(browser.get(PAGE)) == ["no"]


def test_a_yes_is_not_carried_to_a_public_repository_by_the_question_about_sites(
    browser, acme, opened
):
    build.site(acme, "acme.github.io", "/docs/")
    asked = browser.post(PAGE, sent_as_it_is(browser, opened)).content.decode()
    hidden = dict(re.findall(r'type="hidden" name="([\w-]+)" value="([^"]*)"', asked))

    browser.post(PAGE, hidden | {"sure": "1"})

    assert Integration.objects.get().repository == opened
    assert Integration.objects.get().alerts is False


def test_a_yes_that_somebody_chose_is_kept_through_a_preview(browser, opened):
    Integration.objects.update(alerts=False)
    form = sent_as_it_is(browser, opened, alerts="yes")

    seen = browser.post(PAGE, form | {"preview": "1"}).content.decode()
    shown = dict(SHOWN.findall(seen))
    browser.post(PAGE, form | shown)

    assert shown == as_shown.marks({"alerts": False})
    assert Integration.objects.get().alerts is True


def test_a_no_is_carried_to_a_private_repository(browser, code_host):
    other = code_host.add_repository("acme", "secret", private=True)
    code_host.add_to_installation(build.installed(code_host), other)

    browser.post(PAGE, sent_as_it_is(browser, "acme/secret"))

    assert Integration.objects.get().alerts is False


def test_a_yes_that_the_page_showed_is_an_answer_for_its_repository(browser, opened):
    browser.post(PAGE, sent_as_it_is(browser, "acme/docs"))

    assert Integration.objects.get().alerts is True


def test_a_yes_of_a_page_that_was_private_is_dropped(browser, opened, code_host):
    form = sent_as_it_is(browser, "acme/docs")
    code_host.set_private("acme/docs", False)

    browser.post(PAGE, form)

    assert Integration.objects.get().alerts is None


def test_a_yes_that_was_shown_before_there_was_a_repository_is_not_carried_to_a_public_one(
    browser, code_host
):
    """All that were offered were private; the one that is chosen is public by now."""
    Integration.objects.update(repository_id=None, repo_owner="", repo_name="")
    code_host.set_private("acme/docs", True)
    form = sent_as_it_is(browser, "acme/docs")
    code_host.set_private("acme/docs", False)

    browser.post(PAGE, form)

    assert form["alerts"] == "yes"
    assert Integration.objects.get().alerts is False


def test_the_choice_survives_the_question_about_sites(browser, acme, code_host):
    build.site(acme, "acme.github.io", "/docs/")
    other = code_host.add_repository("acme", "other", private=True)
    code_host.add_to_installation(build.installed(code_host), other)
    form = {"repository": "acme/other", "issue_template": "", "alerts": "no"}

    asked = browser.post(PAGE, form).content.decode()

    assert '<input type="hidden" name="alerts" value="no"' in asked


def signed_in(user: User) -> HttpRequest:
    request = RequestFactory().get("/login/github/callback/")
    for middleware in (SessionMiddleware, MessageMiddleware):
        middleware(lambda _: HttpResponse()).process_request(request)
    request.user = AnonymousUser()
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return request


def said_at_sign_in(user: User) -> list[str]:
    return [str(message) for message in get_messages(signed_in(user))]


def test_what_was_not_read_is_gone_after_a_sign_out(browser, alice):
    """The attack: a program signs in and out, and the next person in that browser reads the news."""
    left = SimpleCookie()
    left[HostCookie.cookie_name] = HostCookie(RequestFactory().get("/"))._encode(
        [Message(ERROR, "Your claim of docs.acme.com has lapsed.")]
    )
    browser.cookies.update(left)

    browser.post("/logout/")

    assert browser.cookies[HostCookie.cookie_name].value == ""
    assert "docs.acme.com" not in browser.get("/login/").content.decode()


def test_all_is_well(alice):
    assert said_at_sign_in(alice) == []


def test_a_problem_of_the_repository_is_said_first(alice):
    Integration.objects.update(problem="acme/docs is archived.", alerts=True)

    assert said_at_sign_in(alice) == ["Nothing is being sent to acme/docs. acme/docs is archived."]


def test_the_overview_says_bad_news_once(alice, acme):
    Integration.objects.update(problem="acme/docs is archived.")
    build.domain(acme, "lapsed.acme.com")
    world.lapse("lapsed.acme.com")
    request = signed_in(alice)
    messages.success(request, "Something else.")

    page = overview.overview(request).content.decode()

    assert page.count("acme/docs is archived.") == page.count("of lapsed.acme.com has lapsed") == 1
    assert "Something else.</div>" in page


def test_the_overview_says_bad_news_that_a_pause_would_hide(alice, clock):
    Integration.objects.update(problem="acme/docs is archived.", paused_at=clock.now())

    assert "acme/docs is archived." in overview.overview(signed_in(alice)).content.decode()


def test_what_no_issue_says_is_said_first(alice):
    world.lose_record()
    [said] = said_at_sign_in(alice)
    assert said.startswith("Your claim of docs.acme.com lapses on ")

    Integration.objects.update(alerts=True)
    world.maintain()
    assert said_at_sign_in(alice) == []


def test_missing_push_access_is_said_first_unless_an_issue_says_it(alice):
    world.lose_rights()
    [said] = said_at_sign_in(alice)
    assert said.startswith("Nothing is being sent to acme/docs. No member of your organization")

    Integration.objects.update(alerts=True)
    world.maintain()
    assert said_at_sign_in(alice) == []


def test_a_pause_is_no_news(alice, clock):
    Integration.objects.update(paused_at=clock.now())

    assert said_at_sign_in(alice) == []


def test_only_so_many_claims_are_named(alice, acme):
    for number in range(9):
        build.domain(acme, f"d{number}.acme.com")
        world.lapse(f"d{number}.acme.com")

    assert len(said_at_sign_in(alice)) == 3


def test_somebody_without_an_organization_is_told_nothing(db):
    assert said_at_sign_in(User.objects.create(username="charlie")) == []


def test_a_suspended_app_is_said_first(alice, code_host):
    installation = Installation.objects.get()
    code_host.suspend(build.installed(code_host))
    Integration.objects.update(alerts=True)
    world.lose_record()
    world.maintain()
    assert Installation.objects.get(pk=installation.pk).suspended_at

    first, second = said_at_sign_in(alice)

    assert first.startswith("Nothing is being sent to acme/docs. The app is suspended")
    assert second.startswith("Your claim of docs.acme.com lapses on")
