"""Installing: three proofs, and each refusal with its own sentence."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlsplit

import limits
import pytest
import requests
from django.db import connection
from django.test import Client
from django.utils import timezone

from core.at_once import AtOnce
from hub.limits import SIGN_INS_ENDED
from integrations import github_api
from integrations.delivery import pacing
from integrations.github_api import asking
from integrations.github_sync import reconciling
from integrations.models import Delivery, Installation, Integration, OneTimeState, PastTry
from integrations.ownership import push_access, site_claims
from integrations.setup import installing
from orgs.models import User
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

CALLBACK = "/v1/integrations/github/callback"


@pytest.fixture(autouse=True)
def callback_url(code_host, settings) -> str:
    url = settings.HUB_BASE_URL + CALLBACK
    code_host.app.callback_urls = [url]
    return url


@pytest.fixture
def acme():
    return build.organization()


@pytest.fixture
def alice(acme, code_host) -> Client:
    """alice's calls of the API."""
    return build.api(build.token(member(acme, code_host, "alice")))


def member(organization, code_host, login: str):
    return build.member(organization, login, github_id=code_host.account(login).id)


def begin(client: Client) -> dict[str, str]:
    """The answer, and the state that its addresses carry."""
    answer = client.get("/v1/integrations/github/install").json()
    return answer | {"state": parse_qs(urlsplit(answer["install_url"]).query)["state"][0]}


def code_of(code_host, login: str) -> str:
    """What GitHub gives to the browser of somebody who agrees."""
    authorize = f"{code_host.url}/login/oauth/authorize?client_id=client&login={login}"
    answer = requests.get(authorize, allow_redirects=False, timeout=10)
    return parse_qs(urlsplit(answer.headers["Location"]).query)["code"][0]


def come_back(**query) -> tuple[int, dict]:
    """A browser at the callback."""
    answer = Client().get(CALLBACK, query)
    return answer.status_code, answer.json() if answer.content else {}


def test_the_install_url_is_the_apps_page_for_ten_minutes(alice, code_host):
    begun = begin(alice)

    path = "/github-apps/docs-feedback-hub/installations/new?state="
    assert begun["install_url"].startswith(code_host.url + path)
    assert begun["use_existing_url"].startswith(f"{code_host.url}/login/oauth/authorize?")
    assert begun["expires_at"]


def test_on_github_itself_the_apps_page_is_elsewhere(alice, settings):
    settings.HUB_GITHUB_URL = "https://github.com"

    url = begin(alice)["install_url"]

    assert url.startswith("https://github.com/apps/docs-feedback-hub/installations/new?state=")


def test_a_state_is_kept_as_a_hash(alice):
    state = begin(alice)["state"]

    kept = OneTimeState.objects.values().get()

    assert state.partition(".")[2] not in str(kept)


def test_installing_gives_the_organization_its_installation(alice, acme, code_host):
    """The whole way of the browser: GitHub's page, its button, and back."""
    code_host.uninstall(build.installed(code_host))
    begun = begin(alice)
    with requests.Session() as browser:
        browser.get(begun["install_url"], params={"login": "alice"}, timeout=10)
        sent = {"account": "acme", "selection": "all", "state": begun["state"]}
        form = begun["install_url"].partition("?")[0]
        back = browser.post(form, sent, allow_redirects=False, timeout=10).headers["Location"]

    status, body = come_back(**{k: v[0] for k, v in parse_qs(urlsplit(back).query).items()})

    assert status == 200
    assert body == {
        "provider": "github",
        "status": "installed",
        "account": "acme",
        "repo_owner": None,
        "repo_name": None,
        "issue_template": None,
        "problem": None,
        "alerts": False,
        "likeness": "hint",
        "when_reported_again": "comment",
        "shows_known": False,
        "labels": {},
        "assignees": [],
        "issue_type": None,
        "not_applied": None,
    }
    integration = Integration.objects.get(organization=acme)
    assert integration.installation.github_id == build.installed(code_host).id


def test_looking_at_the_install_page_consumes_nothing(alice, code_host):
    begun = begin(alice)

    for _ in range(2):
        requests.get(begun["install_url"], params={"login": "alice"}, timeout=10)
    status, _ = come_back(state=begun["state"], code=code_of(code_host, "alice"))

    assert status == 200


def test_an_existing_installation_is_used_without_installing(alice, code_host):
    url = begin(alice)["use_existing_url"]
    back = requests.get(url, params={"login": "alice"}, allow_redirects=False, timeout=10)

    answer = Client().get(back.headers["Location"].replace("https://hub.example", ""))

    assert answer.json()["account"] == "acme"


def test_of_several_existing_installations_one_is_chosen(alice, acme, code_host):
    code_host.add_organization("initech")
    code_host.add_member("initech", "alice", role="admin")
    code_host.add_repository("initech", "manual")
    wanted = code_host.add_installation("initech")
    state = begin(alice)["state"]

    _, asked = come_back(state=state, code=code_of(code_host, "alice"))
    assert [each["account"] for each in asked["choose"]] == ["acme", "initech"]
    follow = Client().get(asked["choose"][1]["url"].replace("https://hub.example", ""))
    status, body = come_back(state=state, code=code_of(code_host, "alice"))

    assert urlsplit(follow["Location"]).path == "/login/oauth/authorize"
    assert (status, body["account"]) == (200, "initech")
    assert Integration.objects.get().installation.github_id == wanted.id


def test_a_callback_without_a_code_goes_on_to_sign_in_with_the_same_state(alice, code_host):
    state = begin(alice)["state"]
    installation = build.installed(code_host)

    answer = Client().get(CALLBACK, {"state": state, "installation_id": installation.id})
    assert answer.status_code == 302
    asked = parse_qs(urlsplit(answer["Location"]).query)
    status, body = come_back(state=asked["state"][0], code=code_of(code_host, "alice"))

    assert asked["state"] == [state]
    assert (status, body["account"]) == (200, "acme")


def test_an_installation_may_serve_several_organizations(alice, code_host):
    other = build.api(build.token(member(build.organization("docs team"), code_host, "bob")))

    for client, login in ((alice, "alice"), (other, "bob")):
        come_back(state=begin(client)["state"], code=code_of(code_host, login))

    assert Integration.objects.count() == 2
    assert len({each.installation_id for each in Integration.objects.all()}) == 1


def test_the_persons_token_is_kept_nowhere(alice, code_host):
    come_back(state=begin(alice)["state"], code=code_of(code_host, "alice"))

    rows = [*Integration.objects.values(), *OneTimeState.objects.values()]
    assert "ghu_" not in str(rows)


def someone_elses(alice, code_host):
    code_host.add_organization("initech")
    code_host.add_repository("initech", "manual")
    theirs = code_host.add_installation("initech")
    return {
        "state": begin(alice)["state"],
        "code": code_of(code_host, "alice"),
        "installation_id": theirs.id,
    }


def no_such_installation(alice, code_host):
    return someone_elses(alice, code_host) | {"installation_id": 999_999}


def used_twice(alice, code_host):
    state = begin(alice)["state"]
    assert come_back(state=state, code=code_of(code_host, "alice"))[0] == 200
    return {"state": state, "code": code_of(code_host, "alice")}


def made_up(alice, code_host):
    return {"state": "x" * 70, "code": code_of(code_host, "alice")}


def altered(alice, code_host):
    return {"state": begin(alice)["state"][:-1] + "_", "code": code_of(code_host, "alice")}


def absent(alice, code_host):
    return {"code": code_of(code_host, "alice")}


def anothers_organization(alice, code_host):
    charlie = build.api(build.token(member(build.organization("initech"), code_host, "charlie")))
    return {"state": begin(charlie)["state"], "code": code_of(code_host, "alice")}


def old_code(alice, code_host):
    return {"state": begin(alice)["state"], "code": "0123456789"}


def cancelled(alice, code_host):
    return {"state": begin(alice)["state"], "error": "access_denied"}


def only_requested(alice, code_host):
    return {"state": begin(alice)["state"], "setup_action": "request", "code": "x"}


def not_installed(alice, code_host):
    code_host.uninstall(build.installed(code_host))
    return {"state": begin(alice)["state"], "code": code_of(code_host, "alice")}


def not_a_number(alice, code_host):
    return {"state": begin(alice)["state"], "installation_id": "1; DROP"}


@pytest.mark.parametrize(
    ("made", "status", "error", "message"),
    [
        (someone_elses, 403, "not_your_installation", "That installation belongs to someone else."),
        (no_such_installation, 403, "not_your_installation", "belongs to someone else"),
        (used_twice, 400, "invalid_state", "is already complete"),
        (made_up, 400, "invalid_state", "This link is not valid"),
        (altered, 400, "invalid_state", "This link is not valid"),
        (absent, 400, "invalid_state", "This link is not valid"),
        (anothers_organization, 403, "not_a_member", "you are alice, who is not a member of"),
        (old_code, 400, "invalid_code", "GitHub does not accept this code"),
        (cancelled, 403, "declined", "You cancelled on GitHub"),
        (only_requested, 409, "not_installed", "GitHub has asked an owner"),
        (not_installed, 409, "not_installed", "not installed on any of your accounts"),
        (not_a_number, 400, "validation_error", "Invalid request"),
    ],
)
def test_without_all_three_proofs_it_is_refused_and_said_why(
    alice, code_host, made: Callable, status, error, message
):
    query = made(alice, code_host)
    before = list(Integration.objects.values())

    answered, body = come_back(**query)

    assert (answered, body["error"]) == (status, error)
    assert message in body["message"]
    assert list(Integration.objects.values()) == before


@pytest.mark.parametrize("query", [{"error": "access_denied"}, {"setup_action": "request"}])
def test_a_link_of_others_says_nothing_of_what_nobody_has_begun(alice, acme, query):
    browser = Client(headers={"Accept": "text/html"})
    browser.force_login(acme.memberships.get().user)

    led_here = browser.get(CALLBACK, query, follow=True).text
    begin(alice)
    came_back = browser.get(CALLBACK, query, follow=True).text

    words = ("You cancelled on GitHub", "GitHub has asked an owner")
    assert not any(each in led_here for each in words)
    assert any(each in came_back for each in words)


def test_an_expired_state_is_refused(alice, code_host, clock):
    state = begin(alice)["state"]
    clock.advance(minutes=10, seconds=1)

    status, body = come_back(state=state, code=code_of(code_host, "alice"))

    assert status == 400
    assert "more than ten minutes ago" in body["message"]


def test_of_two_who_use_one_state_at_once_one_succeeds(alice):
    state = OneTimeState.objects.find(begin(alice)["state"])

    assert [state.use_up(), state.use_up()] == [True, False]


def test_a_suspended_installation_is_taken_with_its_problem(alice, acme, code_host):
    code_host.suspend(build.installed(code_host))

    _, body = come_back(state=begin(alice)["state"], code=code_of(code_host, "alice"))

    assert body["account"] == "acme"
    me = alice.get("/v1/orgs/me").json()
    assert me["integration"]["problem"] == (
        "The app was suspended on acme. Unsuspend it on GitHub to resume."
    )


def test_what_a_webhook_told_while_github_was_asked_is_asked_about_soon(alice, acme, code_host):
    installation = build.installed(code_host)
    Installation.objects.create(
        github_id=installation.id, account="acme", asked_about_at=timezone.now()
    )

    come_back(state=begin(alice)["state"], code=code_of(code_host, "alice"))

    assert Installation.objects.to_be_asked_about_soon().get().github_id == installation.id


def exchanges(code_host) -> int:
    """How many codes GitHub was asked about."""
    return [each.path for each in code_host.requests].count("/login/oauth/access_token")


def test_bad_codes_of_one_person_soon_ask_github_nothing(alice, code_host, monkeypatch):
    monkeypatch.setattr(installing, "ENDED_BY_ONE", "2/hour")
    bob = build.api(build.token(member(build.organization("docs team"), code_host, "bob")))
    state = begin(alice)["state"]

    bad = [come_back(state=state, code="0123456789") for _ in range(4)]
    other, _ = come_back(state=begin(bob)["state"], code=code_of(code_host, "bob"))

    assert [status for status, _ in bad] == [400, 400, 429, 429]
    assert "Too many installations. Try again in " in bad[-1][1]["message"]
    assert exchanges(code_host) == 3
    assert other == 200


def bad_codes_from(*addresses: str) -> list:
    """The answers to a code that GitHub refuses, from each address by an organization of its own."""
    states = [
        begin(build.api(build.token(build.member(build.organization(f"o{n}"), f"eve{n}"))))["state"]
        for n in range(len(addresses))
    ]
    return [
        Client(REMOTE_ADDR=address).get(CALLBACK, {"state": state, "code": "bad"})
        for address, state in zip(addresses, states, strict=True)
    ]


def test_accounts_in_one_network_use_up_no_codes_of_everybody_else(alice, code_host, monkeypatch):
    """GitHub answers so many an hour for all installations and sign-ins together."""
    monkeypatch.setattr(installing, "ENDED", "20/hour")

    bad = bad_codes_from(*(f"203.0.113.{n}" for n in range(4)))
    status, _ = come_back(state=begin(alice)["state"], code=code_of(code_host, "alice"))

    assert [each.status_code for each in bad] == [400, 400, 429, 429]
    assert bad[-1].headers["Retry-After"].isdecimal()
    assert exchanges(code_host) == 3
    assert status == 200


def test_five_codes_of_a_network_that_github_refuses_end_it(alice, code_host):
    """Thirty accounts in ten networks could keep everybody from installing the app."""
    bad = bad_codes_from(*(f"203.0.113.{n}" for n in range(7)))
    status, _ = come_back(state=begin(alice)["state"], code=code_of(code_host, "alice"))

    assert [each.status_code for each in bad] == [400] * 5 + [429] * 2
    assert "Too many refused codes from your network." in bad[-1].json()["message"]
    assert exchanges(code_host) == 6
    assert status == 200


@pytest.mark.parametrize("what", ["image", "iframe", "empty"])
def test_what_other_sites_have_a_browser_ask_uses_up_no_codes_of_its_network(
    alice, code_host, what
):
    """Of a state of their own, and from the browsers of all who look at a page of theirs."""
    state = begin(alice)["state"]
    browser = Client(headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": what})

    asked = [browser.get(CALLBACK, {"state": state, "code": f"bad{n}"}) for n in range(6)]
    refused = exchanges(code_host)
    document = Client(headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"})
    back = document.get(CALLBACK, {"state": state, "code": code_of(code_host, "alice")})

    assert {each.json()["error"] for each in asked} == {"invalid_state"}
    assert refused == 0
    assert back.status_code == 200


def test_all_installations_together_leave_github_codes_for_sign_ins(code_host, monkeypatch):
    hourly = [limits.parse(each).amount for each in (installing.ENDED, SIGN_INS_ENDED)]
    monkeypatch.setattr(installing, "ENDED", "2/hour")

    bad = bad_codes_from(*(f"203.0.{n}.1" for n in range(3)))

    assert [each.status_code for each in bad] == [400, 400, 429]
    assert sum(hourly) < 2000


def test_a_refusal_uses_nothing_up(alice, code_host):
    query = someone_elses(alice, code_host)
    assert come_back(**query)[0] == 403

    status, _ = come_back(state=query["state"], code=code_of(code_host, "alice"))

    assert status == 200


def test_who_is_signed_in_elsewhere_cannot_finish_it(alice, code_host):
    """Nobody is led into an organization that is not theirs by a link that somebody sends them."""
    browser = Client()
    browser.force_login(member(build.organization("initech"), code_host, "charlie"))
    query = {"state": begin(alice)["state"], "code": code_of(code_host, "alice")}

    body = browser.get(CALLBACK, query).json()

    assert body["error"] == "begun_elsewhere"
    assert "Another organization started this installation" in body["message"]


@pytest.mark.parametrize(
    ("goes", "error"),
    [
        (lambda alice: alice.delete(), "invalid_state"),
        (lambda alice: alice.update(organization=build.organization("new")), "begun_elsewhere"),
    ],
)
def test_what_somebody_began_who_has_left_is_void(alice, acme, code_host, goes, error):
    member(acme, code_host, "bob")
    state = begin(alice)["state"]
    goes(acme.memberships.filter(login="alice"))

    _, body = come_back(state=state, code=code_of(code_host, "bob"))

    assert body["error"] == error


@pytest.mark.parametrize(
    ("kind", "method", "path"),
    [
        ("500", "POST", "/login/oauth/access_token"),
        ("refuse", "GET", "/api/v3/user"),
        ("502", "GET", "/api/v3/user/installations"),
        ("429", "GET", "/api/v3/user"),
    ],
)
def test_where_github_cannot_be_asked_nothing_is_saved(alice, code_host, kind, method, path):
    state = begin(alice)["state"]
    code = code_of(code_host, "alice")
    code_host.fail(kind, method=method, path=path)

    status, body = come_back(state=state, code=code)

    assert (status, body["error"]) == (502, "code_host_unavailable")
    assert not Integration.objects.exists()
    assert come_back(state=state, code=code_of(code_host, "alice"))[0] == 200


@pytest.mark.parametrize("body", ["<html>", "null", "[]", "{}", '{"installations": 7}'])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/login/oauth/access_token"),
        ("GET", "/api/v3/user"),
        ("GET", "/api/v3/user/installations"),
    ],
)
def test_an_answer_that_makes_no_sense_is_none(alice, code_host, method, path, body):
    query = {"state": begin(alice)["state"], "code": code_of(code_host, "alice")}
    code_host.fail("answer", method=method, path=path, status=200, body=body)

    status, answer = come_back(**query)

    assert (status, answer["error"]) == (502, "code_host_unavailable")


def test_on_another_account_the_repository_is_to_be_chosen_again(alice, acme, code_host):
    build.integration(acme, code_host)
    site = build.site(acme, "acme.github.io", "/docs/")
    query = someone_elses(alice, code_host)
    code_host.add_member("initech", "alice", role="admin")

    status, body = come_back(**query)

    assert (status, body["account"], body["status"]) == (200, "initech", "installed")
    site.refresh_from_db()
    assert site.status == "lapsed"


def test_after_a_new_installation_on_the_same_account_the_repository_stays(alice, acme, code_host):
    build.integration(acme, code_host)
    code_host.uninstall(build.installed(code_host))
    code_host.add_installation("acme")

    _, body = come_back(state=begin(alice)["state"], code=code_of(code_host, "alice"))

    assert (body["status"], body["repo_name"]) == ("configured", "docs")
    now = Integration.objects.get().installation
    assert now.github_id == build.installed(code_host).id


def test_there_it_goes_on_once_github_has_confirmed_the_repository(alice, acme, code_host):
    has_tried_once(acme, code_host)
    code_host.uninstall(build.installed(code_host))
    reconciling.reconcile()
    code_host.add_installation("acme")

    come_back(state=begin(alice)["state"], code=code_of(code_host, "alice"))
    before = Integration.objects.get().problem, Delivery.objects.get().status
    reconciling.reconcile_due()

    assert "confirms that it can see acme/docs" in before[0]
    assert before[1] == Delivery.Status.HELD
    assert Integration.objects.get().problem == ""
    assert Delivery.objects.get().status != Delivery.Status.HELD


@pytest.mark.parametrize("is_known", [True, False], ids=["uninstalled", "not known yet"])
def test_who_has_taken_the_name_of_an_account_lends_no_site_to_those_of_before(
    alice, acme, code_host, is_known
):
    """The old acme has another name now. alice may look at the new one, and push to nothing there."""
    build.integration(acme, code_host)
    code_host.uninstall(build.installed(code_host))
    if is_known:
        reconciling.reconcile()
    code_host.rename_account("acme", "initech")
    code_host.add_organization("acme")
    code_host.add_member("acme", "alice")
    code_host.add_repository("acme", "docs")
    code_host.add_installation("acme")

    come_back(state=begin(alice)["state"], code=code_of(code_host, "alice"))
    with pytest.raises(site_claims.NotConfigured, match="once GitHub confirms"):
        site_claims.claim_site(acme, "https://acme.github.io/docs/")
    reconciling.reconcile_due()

    with pytest.raises(site_claims.NotConfigured, match="can't see acme/docs"):
        site_claims.claim_site(acme, "https://acme.github.io/docs/")


def test_a_state_that_is_sent_six_times_at_once_is_used_once(alice, code_host, monkeypatch):
    monkeypatch.setattr(asking, "looks", AtOnce(6, "Six at once are let through here."))
    state = begin(alice)["state"]
    codes = [code_of(code_host, "alice") for _ in range(6)]

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda code: _in_a_thread(state=state, code=code), codes))

    assert sorted(status for status, _ in answers) == [200] + 5 * [400]
    assert {body.get("error") for status, body in answers if status == 400} == {"invalid_state"}


def _in_a_thread(**query) -> tuple[int, dict]:
    try:
        return come_back(**query)
    finally:
        connection.close()


def test_who_is_removed_while_github_is_asked_finishes_nothing(alice, acme, code_host, monkeypatch):
    """bob brings the code; alice, who began, is moved while GitHub takes its time."""
    member(acme, code_host, "bob")
    query = {"state": begin(alice)["state"], "code": code_of(code_host, "bob")}
    ask = github_api.visitor

    def ask_while_she_goes(*args, **kwargs):
        acme.memberships.filter(login="alice").update(organization=build.organization("new"))
        return ask(*args, **kwargs)

    monkeypatch.setattr(github_api, "visitor", ask_while_she_goes)
    status, body = come_back(**query)

    assert (status, body["error"]) == (403, "begun_elsewhere")
    assert not Integration.objects.exists()


@pytest.mark.parametrize("who", ["alice", "bob"])
def test_whom_an_operator_has_deactivated_ends_no_installation(alice, acme, code_host, who):
    """alice has begun, bob brings the code; no session is needed."""
    member(acme, code_host, "bob")
    query = {"state": begin(alice)["state"], "code": code_of(code_host, "bob")}
    User.objects.filter(membership__login=who).update(is_active=False)

    status, body = come_back(**query)

    expected = {"alice": "begun_elsewhere", "bob": "not_a_member"}
    assert (status, body["error"]) == (403, expected[who])
    assert not Integration.objects.exists()


def test_a_member_who_is_no_owner_moves_nothing_to_another_account(acme, code_host):
    build.integration(acme, code_host)
    code_host.add_organization("initech")
    code_host.add_member("initech", "bob", role="admin")
    code_host.add_repository("initech", "manual")
    theirs = code_host.add_installation("initech")
    user = build.member(acme, "bob", role="member", github_id=code_host.account("bob").id)
    begun = begin(build.api(build.token(user)))

    status, answer = come_back(
        state=begun["state"], code=code_of(code_host, "bob"), installation_id=theirs.id
    )

    assert (status, answer["error"]) == (403, "not_an_owner")
    assert Integration.objects.get().repository == "acme/docs"


def becomes_a_member(acme, code_host) -> None:
    acme.memberships.filter(login="bob").update(role="member")


def chooses_another_repository(acme, code_host) -> None:
    another = code_host.add_repository("acme", "manual")
    Integration.objects.of(acme).update(repository_id=another.id, repo_name=another.name)


@pytest.mark.parametrize(
    ("happens", "error"),
    [
        (becomes_a_member, (403, "not_an_owner")),
        (chooses_another_repository, (409, "not_installed")),
    ],
)
def test_what_changes_while_github_is_asked_takes_no_repository_away(
    acme, code_host, monkeypatch, happens, error
):
    build.integration(acme, code_host)
    code_host.add_member("acme", "bob", role="admin")
    bobs = code_host.add_installation("bob", repositories=[code_host.add_repository("bob", "own")])
    state = begin(build.api(build.token(member(acme, code_host, "bob"))))["state"]
    ask = push_access.reach

    def ask_meanwhile(*args, **kwargs):
        happens(acme, code_host)
        return ask(*args, **kwargs)

    monkeypatch.setattr(push_access, "reach", ask_meanwhile)
    status, answer = come_back(state=state, code=code_of(code_host, "bob"), installation_id=bobs.id)

    assert (status, answer["error"]) == error
    assert Integration.objects.get().installation.account == "acme"
    assert not OneTimeState.objects.exclude(used_at=None).exists()


def test_nothing_that_is_posted_to_the_callback_is_read():
    browser = Client(enforce_csrf_checks=True, headers={"Accept": "text/html"})
    form = {"csrfmiddlewaretoken": "a" * 32}

    answers = [
        getattr(browser, method)(CALLBACK, form) for method in ("post", "put", "patch", "delete")
    ]

    assert {each.status_code for each in answers} == {405}
    assert {each.json()["error"] for each in answers} == {"method_not_allowed"}
    assert not [each for each in answers if hasattr(each.wsgi_request, "_post")]


def test_a_signed_in_browser_posts_nothing_to_the_callback_either(alice, acme):
    browser = Client(enforce_csrf_checks=True, headers={"Accept": "text/html"})
    browser.force_login(acme.memberships.get().user)

    answer = browser.post(f"{CALLBACK}?state={begin(alice)['state']}")

    assert answer.status_code == 405


def has_tried_once(acme, code_host) -> Integration:
    """Its integration, for which one report has just been tried."""
    integration = build.integration(acme, code_host)
    now = timezone.now()
    report = Report.objects.create(received_at=now, last_received_at=now)
    Delivery.objects.create(report=report, integration=integration, last_tried_at=now)
    return integration


def test_what_was_tried_counts_at_the_installation_that_was_left(alice, acme, code_host):
    integration = has_tried_once(acme, code_host)
    before = integration.installation_id
    code_host.uninstall(build.installed(code_host))
    code_host.add_installation("acme")

    come_back(state=begin(alice)["state"], code=code_of(code_host, "alice"))

    there = Integration.objects.get().installation_id
    assert there != before
    used = pacing.used([before, there])
    assert [each[0].tried for each in used.values()] == [1, 0]


def test_nothing_is_carried_to_the_installation_that_it_moves_to(alice, acme, code_host):
    """However often it moves there and back."""
    integration = has_tried_once(acme, code_host)
    before = integration.installation_id
    there = Installation.objects.create(github_id=99, account="acme")

    for installation in (there, integration.installation) * 3:
        moved = Integration.objects.select_related("installation").get()
        installing._move(moved, installation)

    used = pacing.used([before, there.pk])
    assert [each[0].tried for each in used.values()] == [1, 0]
    assert PastTry.objects.count() == 1


def test_an_installation_of_somebody_who_leaves_meanwhile_is_refused_once_the_browser_is_back(
    alice, code_host, monkeypatch
):
    state, usable = begin(alice)["state"], installing._usable

    def then_deleted(*told):
        found = usable(*told)
        OneTimeState.objects.all().delete()
        return found

    monkeypatch.setattr(installing, "_usable", then_deleted)
    sent_on, _ = come_back(state=state, installation_id=build.installed(code_host).id)
    monkeypatch.undo()
    refused, told = come_back(state=state, code=code_of(code_host, "alice"))

    assert (sent_on, refused, told["error"]) == (302, 400, "invalid_state")
