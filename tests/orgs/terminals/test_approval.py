"""The page at which a person approves that a terminal signs in."""

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from orgs.models import Terminal, User
from orgs.people import leaving, members
from orgs.terminals import codes
from tests import build
from tests.orgs.terminals import terminal

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(codes, "INTERVAL", 0)


@pytest.fixture
def alice():
    return build.member(build.organization())


def text_of(answer) -> str:
    return " ".join(answer.content.decode().split())


def test_who_is_not_signed_in_comes_back_after_signing_in(client):
    page = client.get("/device/?user_code=BCDF-GHJK")

    assert page["Location"] == "/login/?next=/device/%3Fuser_code%3DBCDF-GHJK"
    assert "Sign in to approve a terminal" in text_of(client.get(page["Location"]))
    assert "terminal" not in text_of(client.get("/login/?next=/settings/"))


def test_the_page_says_who_what_where_and_shows_the_code(alice):
    waiting = terminal.begin("orgs:read")

    page = terminal.browser(alice).get(f"/device/?user_code={waiting['user_code'].lower()}")

    text = text_of(page)
    for said in ("Sign in a terminal as alice?", "docfeedback", "acme", waiting["user_code"],
                 "see the settings, the claims and the reports", "90 days"):  # fmt: skip
        assert said in text
    assert "change the settings" not in text
    began = codes.waiting(waiting["user_code"]).began_at
    assert timezone.now() - timedelta(minutes=1) < began <= timezone.now()
    assert f"{began:%H:%M} UTC" in text
    assert "no-store" in page["Cache-Control"]


def test_the_page_names_the_hub_that_the_terminal_must_name(alice, settings):
    """An attack: a hostile Hub gives its own people the codes of another one, and leads them there."""
    waiting = terminal.begin()
    settings.HUB_BASE_URL = "https://hub.acme.com"

    text = text_of(terminal.browser(alice).get(f"/device/?user_code={waiting['user_code']}"))

    assert f"<dt>It must show the code</dt><dd>{waiting['user_code']}</dd>" in text
    assert "<dt>It must name the Hub</dt><dd>https://hub.acme.com</dd>" in text
    assert "If it names another address, somebody else’s Hub wants to act for you here" in text


@pytest.mark.parametrize("site", ["cross-site", "same-site", "anything else"])
def test_a_code_that_another_site_has_brought_along_is_asked_for(alice, settings, site):
    code, browser = terminal.begin()["user_code"], terminal.browser(alice)
    settings.HUB_BASE_URL = "https://hub.acme.com"

    page = browser.get("/device/", {"user_code": code}, headers={"Sec-Fetch-Site": site})

    text = text_of(page)
    assert "Another site has sent you here, so its code is not filled in." in text
    assert "says that the code is for <strong>https://hub.acme.com</strong>" in text
    assert code not in text
    assert ">Approve<" not in text


@pytest.mark.parametrize(
    "headers", [{}, {"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "same-origin"}]
)
def test_a_code_that_somebody_opens_or_types_is_looked_up(alice, headers):
    code, browser = terminal.begin()["user_code"], terminal.browser(alice)

    text = text_of(browser.get("/device/", {"user_code": code}, headers=headers))

    assert "Another site" not in text
    assert ">Approve<" in text


def test_a_code_that_another_site_has_brought_along_is_gone_after_signing_in(client, settings):
    settings.HUB_GITHUB_CLIENT_ID = "Iv1.0123456789abcdef"
    brought = {"Sec-Fetch-Site": "cross-site"}

    asked = client.get("/device/?user_code=BCDF-GHJK", headers=brought, follow=True)
    opened = client.get("/device/?user_code=BCDF-GHJK", follow=True)

    assert '<input type="hidden" name="next" value="/device/">' in text_of(asked)
    assert 'name="next" value="/device/?user_code=BCDF-GHJK"' in text_of(opened)


def test_without_a_code_it_asks_for_one(alice):
    browser = terminal.browser(alice)

    assert "The code in your terminal" in text_of(browser.get("/device/"))
    assert "Enter the code that your terminal shows." in text_of(browser.get("/device/?user_code="))


@pytest.mark.parametrize("code", ["BCDF-GHJK", "x", "<script>", "' OR 1=1", "b" * 500, "\0", "ÿ"])
def test_a_wrong_code_is_said_in_a_sentence(alice, code):
    page = terminal.browser(alice).get("/device/", {"user_code": code})

    assert page.status_code == 200
    assert "<title>Error: " in text_of(page)
    assert "<script>" not in text_of(page)


def ends_browsers(alice: User) -> None:
    terminal.browser(alice).post("/settings/tokens/browsers/sign-out/")


def lets_in_again(alice: User) -> None:
    operator = terminal.browser(
        User.objects.create(username="root", is_staff=True, is_superuser=True)
    )
    page = f"/admin/orgs/user/{alice.pk}/change/"
    operator.post(page, {"was_active": "True"})
    operator.post(page, {"is_active": "on"})
    alice.refresh_from_db()
    assert alice.is_active


@pytest.mark.parametrize("ends", [ends_browsers, lets_in_again])
def test_an_approval_ends_with_the_sessions_of_its_time(alice, ends):
    """An attack: a stolen browser approves a code that is exchanged once it was signed out."""
    waiting = terminal.begin()
    terminal.answer(alice, waiting)

    ends(alice)
    told = terminal.poll(waiting)

    assert (told.status_code, told.json()["error"]) == (400, "access_denied")
    assert not Terminal.objects.exists()


def test_a_used_code_says_so(alice):
    waiting = terminal.begin()
    terminal.answer(alice, waiting)

    again = text_of(terminal.answer(alice, waiting, "deny"))

    assert "This code was already used." in again
    assert terminal.poll(waiting).status_code == 200


@pytest.mark.parametrize("how", ["approve", "deny"])
def test_no_buttons_are_offered_for_a_code_that_was_answered(alice, how):
    waiting = terminal.begin()
    terminal.answer(alice, waiting, how)
    page = f"/device/?user_code={waiting['user_code']}"

    before = text_of(terminal.browser(alice).get(page))
    terminal.poll(waiting)
    after = text_of(terminal.browser(alice).get(page))

    for text in (before, after):
        assert "This code was already used." in text
        assert ">Approve<" not in text


def test_no_buttons_are_offered_for_a_code_that_has_expired(alice, monkeypatch):
    waiting = terminal.begin()
    late = codes.time.time() + codes.LIFETIME
    monkeypatch.setattr(codes.time, "time", lambda: late)

    text = text_of(terminal.browser(alice).get(f"/device/?user_code={waiting['user_code']}"))

    assert "No terminal waits with this code." in text
    assert ">Approve<" not in text


def test_whoever_answered_is_sent_back_to_the_terminal(alice):
    approved = text_of(terminal.answer(alice, terminal.begin()))
    denied = text_of(terminal.answer(alice, terminal.begin(), "deny"))

    assert "Approved. You can close this page and go back to your terminal." in approved
    assert "Denied. The terminal is not signed in." in denied
    assert "No tokens yet" not in approved + denied


def test_what_is_wrong_with_a_code_is_said_once(alice):
    text = text_of(terminal.browser(alice).get("/device/?user_code=BCDF-GHJK"))

    assert text.count("No terminal waits with this code.") == 1
    assert '<a href="#id_user_code">Check the code</a>' in text


def test_looking_and_unknown_answers_approve_nothing(alice):
    waiting = terminal.begin()
    browser = terminal.browser(alice)

    browser.get("/device/", {"user_code": waiting["user_code"], "answer": "approve"})
    browser.post("/device/", {"user_code": waiting["user_code"], "answer": "yes"})
    browser.post(f"/device/?user_code={waiting['user_code']}&answer=approve", {})

    assert terminal.poll(waiting).json()["error"] == "authorization_pending"


def test_another_site_cannot_send_the_form(alice):
    waiting = terminal.begin()
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice)

    refused = browser.post(
        "/device/",
        {"user_code": waiting["user_code"], "answer": "approve"},
        headers={"Origin": "https://evil.example"},
    )

    assert refused.status_code == 403
    assert terminal.poll(waiting).json()["error"] == "authorization_pending"


def test_another_site_cannot_frame_the_page(alice):
    page = terminal.browser(alice).get("/device/")

    assert page["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]


def test_it_sends_nobody_elsewhere(alice):
    own = alice.membership.organization_id
    code = terminal.begin()["user_code"]
    form = {"user_code": code, "organization": own, "answer": "approve"}
    elsewhere = {"next": "https://evil.example/", "redirect_uri": "https://evil.example/"}

    answer = terminal.browser(alice).post("/device/?next=//evil.example", form | elsewhere)

    assert answer.status_code == 200
    assert "evil.example" not in text_of(answer)


def test_a_terminal_acts_for_whoever_approved_it(alice):
    bob = build.member(build.organization("initech"), "bob")
    waiting = terminal.begin()
    terminal.answer(bob, waiting)
    terminal.answer(alice, waiting)

    mine = terminal.me(terminal.poll(waiting).json()).json()

    assert (mine["name"], mine["caller"]["login"]) == ("initech", "bob")


def test_the_organization_that_the_page_named_is_the_one_approved(alice):
    waiting = terminal.begin()
    browser = terminal.browser(alice)
    page = text_of(browser.get(f"/device/?user_code={waiting['user_code']}"))
    shown = alice.membership.organization_id
    assert f'name="organization" value="{shown}"' in page
    alice.membership.organization = build.organization("initech")
    alice.membership.save()
    form = {"user_code": waiting["user_code"], "answer": "approve"}

    for said in ({"organization": shown}, {}):
        assert "You belong to another organization" in text_of(
            browser.post("/device/", form | said)
        )
        assert terminal.poll(waiting).json()["error"] == "authorization_pending"

    assert "initech" in text_of(browser.get(f"/device/?user_code={waiting['user_code']}"))


def test_who_was_deactivated_approves_nothing(alice):
    waiting = terminal.begin()
    browser = terminal.browser(alice)
    alice.is_active = False
    alice.save()

    page = browser.post("/device/", {"user_code": waiting["user_code"], "answer": "approve"})

    assert page["Location"].startswith("/login/")
    assert terminal.poll(waiting).json()["error"] == "authorization_pending"


def test_who_belongs_to_no_organization_is_told(alice):
    alice.membership.delete()

    page = terminal.answer(alice, terminal.begin())

    assert "You do not belong to an organization." in text_of(page)


def test_guessing_codes_is_limited_for_a_person_wherever_they_are(alice, settings):
    settings.HUB_SIGN_IN_RATE = "3/minute"
    settings.HUB_TRUSTED_PROXIES = 1
    waiting, browser = terminal.begin(), terminal.browser(alice)

    def guess(number: int, code: str) -> int:
        headers = {"X-Forwarded-For": f"192.0.2.{number}"}
        return browser.get(f"/device/?user_code={code}", headers=headers).status_code

    assert [guess(number, "CCCC-CCCC") for number in range(4)] == [200, 200, 200, 429]
    assert guess(9, waiting["user_code"]) == 429


def test_guessing_codes_is_limited_for_an_address_whoever_does_it(alice, settings):
    settings.HUB_SIGN_IN_RATE = "3/minute"
    charlie = build.member(alice.membership.organization, "charlie")
    browsers = [terminal.browser(each) for each in (alice, charlie, alice, charlie)]

    guesses = [each.get("/device/?user_code=CCCC-CCCC").status_code for each in browsers]

    assert guesses == [200, 200, 200, 429]


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_sites_do_not_use_up_the_codes_of_those_who_look_at_them(alice, settings, site):
    settings.HUB_SIGN_IN_RATE = "3/minute"
    waiting, browser = terminal.begin(), terminal.browser(alice)

    def ask(code: str, site: str) -> int:
        headers = {"Sec-Fetch-Site": site}
        return browser.get(f"/device/?user_code={code}", headers=headers).status_code

    assert [ask("CCCC-CCCC", site) for _ in range(4)] == [200] * 4
    assert [ask(waiting["user_code"], each) for each in ("none", "same-origin")] == [200, 200]
    assert browser.get("/device/").status_code == 200


def test_who_deletes_the_account_and_signs_in_again_guesses_no_more_codes(alice, settings):
    settings.HUB_SIGN_IN_RATE = "3/minute"
    settings.HUB_TRUSTED_PROXIES = 1
    number = alice.membership.github_id

    def guess(user: User, network: int) -> int:
        headers = {"X-Forwarded-For": f"192.0.2.{network}"}
        return (
            terminal.browser(user).get("/device/?user_code=CCCC-CCCC", headers=headers).status_code
        )

    known = [guess(alice, network) for network in range(3)]
    leaving.leave(alice, "acme")
    again = User.objects.create(username="alice")
    members.welcome(again, github_id=number, login="alice")

    assert [*known, guess(again, 4)] == [200, 200, 200, 429]


def test_terminals_are_listed_and_signed_out(alice):
    tokens = terminal.sign_in(alice)
    browser = terminal.browser(alice)
    page = f"/settings/tokens/terminals/{Terminal.objects.get().pk}/sign-out/"
    listed = text_of(browser.get("/settings/tokens/"))
    assert "Never used" in listed
    assert '<span class="phone">until </span><time' in listed
    assert '<th scope="col" class="end">Action</th>' in listed

    terminal.me(tokens)
    assert "Last used" in text_of(browser.get("/settings/tokens/"))
    assert "Sign out docfeedback?" in text_of(browser.get(page))
    assert terminal.me(tokens).status_code == 200
    done = browser.post(page, follow=True)

    assert "The terminal is signed out." in text_of(done)
    assert terminal.me(tokens).status_code == 401


def test_nobody_sees_or_signs_out_anothers_terminal(alice):
    tokens = terminal.sign_in(alice)
    bob = terminal.browser(build.member(build.organization("initech"), "bob"))
    page = f"/settings/tokens/terminals/{Terminal.objects.get().pk}/sign-out/"

    assert bob.get(page).status_code == bob.post(page).status_code == 404
    assert "Terminals that are signed in" not in text_of(bob.get("/settings/tokens/"))
    assert terminal.me(tokens).status_code == 200


def test_who_joins_another_organization_is_signed_out_in_terminals(alice):
    tokens = terminal.sign_in(alice)
    owner = build.member(build.organization("initech"), "bob").membership
    mine = {"github_id": alice.membership.github_id, "login": "alice", "role": "member"}
    invitation = owner.organization.invitations.create(invited_by=owner, **mine)

    terminal.browser(alice).post(f"/settings/invitations/{invitation.pk}/", {"join": "member"})

    alice.membership.refresh_from_db()
    assert alice.membership.organization == owner.organization
    assert terminal.me(tokens).status_code == 401
    assert not Terminal.objects.exists()


def test_the_export_has_terminals_without_secrets(alice):
    terminal.sign_in(alice)

    export = terminal.browser(alice).get("/settings/account/export.json")

    [row] = json.loads(b"".join(export.streaming_content))["terminals"]
    assert row["client"] == "docfeedback"
    assert "family" not in row


def test_a_call_of_a_terminal_costs_two_queries_more_than_one_of_a_personal_token(
    alice, django_assert_num_queries
):
    tokens = terminal.sign_in(alice)
    terminal.me(tokens)

    with django_assert_num_queries(4 + 2):
        terminal.me(tokens)
    personal = build.api(build.token(alice))
    personal.get("/v1/orgs/me")
    with django_assert_num_queries(4):
        personal.get("/v1/orgs/me")
