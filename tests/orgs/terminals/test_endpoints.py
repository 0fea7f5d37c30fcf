"""What terminals ask, and every wrong way to ask it: answered as RFC 6749 and RFC 8628 say, never a 5xx."""

import json

import pytest
from allauth.idp.oidc.models import Client as OAuthClient
from allauth.idp.oidc.models import Token
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from core.error_answers import InternalError
from hub.server import answers
from hub.server.bodies import BodyTooLarge
from hub.server.overload import Overloaded
from orgs.api import authentication
from orgs.models import Terminal
from orgs.terminals import codes, protocol
from tests import build
from tests.hub_process import free_port
from tests.orgs.terminals import terminal
from tests.orgs.terminals.terminal import CLI, DEVICE, FORM, post

pytestmark = pytest.mark.django_db

ENDPOINTS = ("/oauth/device", "/oauth/token", "/oauth/revoke")


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(codes, "INTERVAL", 0)


@pytest.fixture
def alice():
    return build.member(build.organization())


def refusal(answer) -> tuple[int, str]:
    assert answer["Content-Type"] == "application/json"
    assert "no-store" in answer["Cache-Control"]
    return answer.status_code, answer.json()["error"]


def routed(patterns, before: str = ""):
    for each in patterns:
        path = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from routed(each.url_patterns, path)
        elif isinstance(each, URLPattern):
            yield path, each.lookup_str


def test_only_what_terminals_need_is_routed():
    every = dict(routed(get_resolver().url_patterns))

    ours = {path for path, view in every.items() if view.startswith("orgs.terminals")}
    assert {each for each in every if each.startswith(("oauth", ".well-known/o"))} | ours == {
        ".well-known/openid-configuration",
        *(each.removeprefix("/") for each in ENDPOINTS),
        "device/",
    }
    assert not [view for view in every.values() if view.startswith("allauth.idp")]


@pytest.mark.parametrize(
    "path",
    ["/oauth/authorize", "/oauth/userinfo", "/oauth/introspect", "/.well-known/jwks.json",
     "/identity/o/api/token", "/identity/o/authorize"],
)  # fmt: skip
def test_nothing_else_of_an_identity_provider_is_there(client, path):
    assert client.get(path).status_code == client.post(path).status_code == 404


def test_the_metadata_names_the_hubs_own_address_whatever_host_says(client, settings):
    settings.ALLOWED_HOSTS = ["*"]

    known = client.get("/.well-known/openid-configuration", headers={"Host": "evil.example"}).json()

    hub = "https://hub.example"
    assert known["issuer"] == hub
    endpoints = {each for name, each in known.items() if name.endswith("_endpoint")}
    assert endpoints == {hub + path for path in ENDPOINTS}
    assert known["scopes_supported"] == ["orgs:read", "orgs:write"]
    assert "jwks_uri" not in known


def test_the_page_to_approve_at_is_the_hubs_own(settings):
    settings.ALLOWED_HOSTS = ["*"]
    form = f"client_id={CLI}"
    headers = {"Host": "evil.example"}

    asked = Client(headers=headers).post("/oauth/device", form, content_type=FORM).json()

    assert asked["verification_uri"] == "https://hub.example/device/"
    assert asked["verification_uri_complete"] == (
        f"https://hub.example/device/?user_code={asked['user_code']}"
    )
    assert (asked["expires_in"], len(asked["device_code"])) == (600, 30)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({}, (400, "invalid_request")),
        ({"client_id": ""}, (400, "invalid_request")),
        ({"client_id": "nobody"}, (401, "invalid_client")),
        ({"client_id": "a" * 4000}, (401, "invalid_client")),
        ({"client_id": "a\0"}, (400, "invalid_request")),
        ({"client_id": [CLI, CLI]}, (400, "invalid_request")),
        ({"client_id": CLI, "client_secret": "x"}, (401, "invalid_client")),
        ({"client_id": CLI, "scope": "openid"}, (400, "invalid_scope")),
        ({"client_id": CLI, "scope": "orgs:read admin"}, (400, "invalid_scope")),
        ({"client_id": CLI, "scope": "orgs:read,orgs:write"}, (400, "invalid_scope")),
        ({"client_id": CLI, "scope": ["orgs:read", "orgs:write"]}, (400, "invalid_request")),
    ],
)
def test_a_sign_in_that_cannot_begin(fields, error):
    assert refusal(post("/oauth/device", **fields)) == error


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({}, (400, "invalid_request")),
        ({"client_id": CLI}, (400, "invalid_request")),
        ({"grant_type": DEVICE}, (401, "invalid_client")),
        ({"grant_type": DEVICE, "client_id": CLI}, (400, "invalid_request")),
        ({"grant_type": DEVICE, "client_id": CLI, "device_code": "x"}, (400, "invalid_grant")),
        ({"grant_type": DEVICE, "client_id": "x", "device_code": "x"}, (401, "invalid_client")),
        ({"grant_type": "refresh_token", "client_id": CLI}, (400, "invalid_request")),
        ({"grant_type": "refresh_token", "client_id": CLI, "refresh_token": "x"},
         (400, "invalid_grant")),
        ({"grant_type": "refresh_token", "client_id": CLI, "refresh_token": "ÿ" * 1000},
         (400, "invalid_grant")),
        ({"grant_type": "password", "client_id": CLI, "username": "alice", "password": "x"},
         (400, "unsupported_grant_type")),
        ({"grant_type": "client_credentials", "client_id": CLI}, (400, "unsupported_grant_type")),
        ({"grant_type": "authorization_code", "client_id": CLI, "code": "x"},
         (400, "unsupported_grant_type")),
        ({"grant_type": [DEVICE, DEVICE], "client_id": CLI}, (400, "invalid_request")),
    ],
)  # fmt: skip
def test_a_question_for_tokens_that_gets_none(fields, error):
    assert refusal(post("/oauth/token", **fields)) == error


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({}, (400, "invalid_request")),
        ({"client_id": CLI}, (400, "invalid_request")),
        ({"token": "x"}, (401, "invalid_client")),
        ({"token": "x", "client_id": "x"}, (401, "invalid_client")),
    ],
)
def test_a_revocation_that_cannot_be_read(fields, error):
    assert refusal(post("/oauth/revoke", **fields)) == error


@pytest.mark.parametrize("hint", ["access_token", "refresh_token", "nonsense"])
def test_an_unknown_token_is_revoked_already(hint):
    answer = post("/oauth/revoke", client_id=CLI, token="x", token_type_hint=hint)

    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        ("{}", "application/json", 400),
        ("x", "text/plain", 400),
        (b"client_id=\xff", FORM, 401),
        ("a=" + "b" * 9000, FORM, 413),
        ("&".join(f"{n}=b" for n in range(1100)), FORM, 400),
        ("client_id=x", f"{FORM}; charset=utf-16", 400),
    ],
)
def test_what_is_no_form_is_refused(path, body, kind, status):
    given = {400, 401} if status == 401 else {status}

    answer = Client().post(path, body, content_type=kind)

    assert answer.status_code in given
    assert refusal(answer)[1] in ("invalid_request", "invalid_client")


@pytest.mark.parametrize("path", [*ENDPOINTS, "/v1/orgs/me/domains"])
def test_a_length_of_any_length_is_too_long(alice, path):
    bearer = {"Authorization": f"Bearer {terminal.sign_in(alice)['access_token']}"}
    kind = "application/json" if path.startswith("/v1") else FORM

    refused = Client(headers=bearer).post(path, "{}", kind, CONTENT_LENGTH="1" * 5000)

    assert refused.status_code == 413


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize("method", ["get", "put", "delete", "head", "options"])
def test_only_posts_are_answered(path, method):
    answer = getattr(Client(), method)(path)

    assert (answer.status_code, answer["Allow"]) == (405, "POST")


@pytest.mark.parametrize("path", ENDPOINTS)
def test_the_address_carries_nothing(path):
    url = f"{path}?client_id={CLI}&token=x&grant_type={DEVICE}&%zz=%"

    assert Client().post(url, "", content_type=FORM).status_code == 400


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BodyTooLarge("x"), "invalid_request"),
        (Overloaded("x"), "temporarily_unavailable"),
        (InternalError(), "server_error"),
    ],
)
def test_what_the_server_refuses_itself_has_the_same_form(error, code):
    refused = answers.refusal(error, "/oauth/token")

    assert json.load(refused.body) == {"error": code, "error_description": str(error.detail)}


def test_what_is_not_there_has_the_same_form(client):
    assert client.post("/oauth/introspect").json() == {
        "error": "invalid_request",
        "error_description": "There is nothing at this URL.",
    }


def test_without_a_scope_it_may_only_read(alice):
    codes_of_it = post("/oauth/device", client_id=CLI).json()
    terminal.answer(alice, codes_of_it)

    tokens = terminal.poll(codes_of_it).json()

    assert tokens["scope"] == "orgs:read"
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    refused = Client(headers=headers).post("/v1/orgs/me/domains", "{}", "application/json")
    assert refused.json()["error"] == "insufficient_scope"


def test_polling_too_fast_is_told_to_slow_down(alice, monkeypatch):
    monkeypatch.setattr(codes, "INTERVAL", 60)
    waiting = terminal.begin()

    assert refusal(terminal.poll(waiting)) == (400, "authorization_pending")
    assert refusal(terminal.poll(waiting)) == (400, "slow_down")


def test_an_expired_code_says_so(alice, monkeypatch):
    monkeypatch.setattr(codes, "LIFETIME", 0)
    waiting = terminal.begin()

    assert refusal(terminal.poll(waiting)) == (400, "expired_token")


def test_a_denied_terminal_is_told(alice):
    waiting = terminal.begin()
    terminal.answer(alice, waiting, "deny")

    assert refusal(terminal.poll(waiting)) == (400, "access_denied")
    assert not Terminal.objects.exists()


def test_a_code_is_exchanged_once(alice):
    waiting = terminal.begin()
    terminal.answer(alice, waiting)

    assert terminal.poll(waiting).status_code == 200
    assert refusal(terminal.poll(waiting)) == (400, "invalid_grant")
    assert Terminal.objects.count() == 1


def test_what_a_poll_says_about_scopes_changes_nothing(alice):
    waiting = terminal.begin("orgs:read")
    terminal.answer(alice, waiting)

    given = post("/oauth/token", client_id=CLI, grant_type=DEVICE, scope="orgs:write",
                 device_code=waiting["device_code"])  # fmt: skip

    assert given.json()["scope"] == "orgs:read"


def test_tokens_are_stored_as_hashes_and_end(alice):
    tokens = terminal.sign_in(alice)

    kept = {each.type: each for each in Token.objects.all()}
    values = {tokens["access_token"], tokens["refresh_token"]}
    assert {each.hash for each in kept.values()}.isdisjoint(values)
    assert all(value.startswith("hub_") for value in values)
    assert (kept["at"].expires_at - kept["at"].created_at).seconds in (3599, 3600)
    assert 89 <= (kept["rt"].expires_at - timezone.now()).days <= 90
    assert tokens["expires_in"] == 3600
    assert 89 * 86_400 < tokens["refresh_expires_in"] <= 90 * 86_400
    assert "id_token" not in tokens


def test_refreshing_does_not_make_a_sign_in_longer(alice):
    tokens = terminal.sign_in(alice)
    soon = timezone.now() + timezone.timedelta(hours=2)
    Terminal.objects.update(ends_at=soon)

    new = terminal.refresh(tokens).json()

    assert {each.expires_at for each in Token.objects.filter(type="rt")} == {soon}
    assert new["refresh_expires_in"] <= 7200


def test_an_access_token_ends_with_its_terminal(alice):
    tokens = terminal.sign_in(alice)
    Terminal.objects.update(ends_at=timezone.now() + timezone.timedelta(seconds=60))

    new = terminal.refresh(tokens).json()

    assert new["expires_in"] <= 60
    kept = Token.objects.by_value(new["access_token"]).get()
    assert (kept.expires_at - kept.created_at).seconds <= 60


@pytest.mark.django_db(transaction=True)
def test_an_approval_survives_a_database_that_is_busy_for_a_moment(alice, monkeypatch):
    def busy(*args, **kwargs):
        raise OperationalError("database is locked")

    waiting = terminal.begin()
    terminal.answer(alice, waiting)
    with monkeypatch.context() as patch:
        patch.setattr(Terminal.objects, "create", busy)
        assert refusal(terminal.poll(waiting)) == (503, "temporarily_unavailable")

    assert terminal.poll(waiting).status_code == 200
    assert refusal(terminal.poll(waiting)) == (400, "invalid_grant")


def test_an_ended_sign_in_is_not_refreshed(alice):
    tokens = terminal.sign_in(alice)
    Token.objects.filter(type="rt").update(expires_at=timezone.now())

    assert refusal(terminal.refresh(tokens)) == (400, "invalid_grant")
    assert Terminal.objects.exists()  # it is shown as ended


def test_a_refresh_token_used_again_ends_the_sign_in(alice):
    stolen = terminal.sign_in(alice)
    new = terminal.refresh(stolen).json()
    other = terminal.sign_in(alice)

    again = terminal.refresh(stolen)

    assert refusal(again) == (400, "invalid_grant")
    assert "was used before" in again.json()["error_description"]
    assert terminal.me(new).status_code == terminal.me(stolen).status_code == 401
    assert refusal(terminal.refresh(new)) == (400, "invalid_grant")
    assert terminal.me(other).status_code == 200


def test_a_value_that_only_begins_like_one_is_no_way_to_sign_others_out(alice):
    tokens = terminal.sign_in(alice)
    access = {"refresh_token": tokens["access_token"]}

    assert refusal(terminal.refresh(access)) == (400, "invalid_grant")
    assert refusal(terminal.refresh({"refresh_token": "hub_"})) == (400, "invalid_grant")

    assert terminal.me(tokens).status_code == 200


def test_scopes_grow_by_no_refresh(alice):
    tokens = terminal.sign_in(alice, "orgs:read")

    assert refusal(terminal.refresh(tokens, scope="orgs:read orgs:write")) == (400, "invalid_scope")
    assert refusal(terminal.refresh(tokens, scope="openid")) == (400, "invalid_scope")
    assert terminal.refresh(tokens).json()["scope"] == "orgs:read"


def test_a_refresh_for_less_leaves_what_was_approved(alice):
    tokens = terminal.sign_in(alice)

    less = terminal.refresh(tokens, scope="orgs:read").json()

    assert less["scope"] == "orgs:read"
    assert terminal.refresh(less).json()["scope"] == "orgs:read orgs:write"


def test_a_terminal_has_at_most_two_access_tokens(alice):
    given = [terminal.sign_in(alice)]
    for _ in range(4):
        given.append(terminal.refresh(given[-1]).json())

    assert [terminal.me(each).status_code for each in given] == [401, 401, 401, 200, 200]
    assert Token.objects.count() == 3


def test_a_refresh_token_opens_nothing_itself(alice):
    tokens = terminal.sign_in(alice)

    assert terminal.me({"access_token": tokens["refresh_token"]}).status_code == 401


def test_another_clients_refresh_token_is_refused(alice):
    tokens = terminal.sign_in(alice)
    grants = f"{DEVICE}\nrefresh_token"
    OAuthClient.objects.create(id="other", name="other", type="public", grant_types=grants)

    refused = post("/oauth/token", client_id="other", grant_type="refresh_token",
                   refresh_token=tokens["refresh_token"])  # fmt: skip
    post("/oauth/revoke", client_id="other", token=tokens["refresh_token"])

    assert refusal(refused) == (400, "invalid_grant")
    assert terminal.me(tokens).status_code == 200


def test_a_sign_in_cannot_be_hidden_in_another_persons_terminal(alice):
    mallory = terminal.sign_in(build.member(build.organization("initech"), "mallory"))
    waiting = terminal.begin()
    terminal.answer(alice, waiting)

    post("/oauth/token", client_id=CLI, grant_type=DEVICE, device_code=waiting["device_code"],
         refresh_token=mallory["refresh_token"])  # fmt: skip

    assert [each.user.username for each in Terminal.objects.order_by("pk")] == ["mallory", "alice"]
    assert alice.terminals.get().tokens.count() == 2


def test_a_client_without_the_grant_begins_nothing(alice):
    OAuthClient.objects.create(id="other", name="other", type="public", scopes="orgs:read")

    assert refusal(post("/oauth/device", client_id="other")) == (400, "unauthorized_client")


@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
def test_either_token_signs_out(alice, which):
    tokens = terminal.sign_in(alice)
    old = terminal.sign_in(alice)
    terminal.refresh(old)

    assert post("/oauth/revoke", client_id=CLI, token=tokens[which]).status_code == 200

    assert terminal.me(tokens).status_code == 401
    assert refusal(terminal.refresh(tokens)) == (400, "invalid_grant")
    assert Terminal.objects.count() == 1


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/oauth/revoke", {"token": "x"}),
        ("/oauth/token", {"grant_type": "refresh_token", "refresh_token": "x"}),
    ],
)
def test_a_strangers_token_opens_no_transaction(path, fields):
    with CaptureQueriesContext(connection) as statements:
        post(path, client_id=CLI, **fields)

    assert statements.captured_queries
    assert not [each for each in statements if "SELECT" not in each["sql"]]


def test_a_personal_token_is_not_revoked_here(alice):
    value = build.token(alice)

    post("/oauth/revoke", client_id=CLI, token=value)

    assert build.api(value).get("/v1/orgs/me").status_code == 200


def test_who_is_signed_out_during_a_call_is_told_so(alice, monkeypatch):
    tokens = terminal.sign_in(alice)
    found = authentication._good_token

    def meanwhile(value: str) -> Token:
        token = found(value)
        assert token.of_terminal
        Terminal.objects.all().sign_out()
        return token

    monkeypatch.setattr(authentication, "_good_token", meanwhile)

    refused = terminal.me(tokens)

    assert (refused.status_code, refused["WWW-Authenticate"]) == (
        401,
        'Bearer error="invalid_token"',
    )


def test_who_was_deactivated_gets_nothing(alice):
    waiting = terminal.begin()
    terminal.answer(alice, waiting)
    tokens = terminal.sign_in(alice)
    alice.is_active = False
    alice.save()

    assert refusal(terminal.poll(waiting)) == (400, "access_denied")
    assert refusal(terminal.refresh(tokens)) == (400, "invalid_grant")
    assert terminal.me(tokens).status_code == 401

    alice.is_active = True
    alice.save()
    assert terminal.refresh(tokens).status_code == 200  # as with personal tokens


def test_who_deletes_the_account_is_signed_out_everywhere(alice):
    waiting = terminal.begin()
    terminal.answer(alice, waiting)
    tokens = terminal.sign_in(alice)
    terminal.browser(alice).post("/settings/account/delete/", {"name": "acme"})

    assert refusal(terminal.poll(waiting)) == (400, "access_denied")
    assert refusal(terminal.refresh(tokens)) == (400, "invalid_grant")
    assert not Token.objects.exists()


def test_an_approval_is_for_the_organization_that_the_page_named(alice):
    waiting = terminal.begin()
    terminal.answer(alice, waiting)
    alice.membership.organization = build.organization("initech")
    alice.membership.save()

    assert refusal(terminal.poll(waiting)) == (400, "access_denied")


def test_there_is_a_limit_to_terminals(alice, monkeypatch):
    monkeypatch.setattr(protocol, "MOST", 2)
    waiting = [terminal.begin() for _ in range(3)]
    for each in waiting:
        terminal.answer(alice, each)

    answers = [terminal.poll(each) for each in waiting]

    assert [each.status_code for each in answers] == [200, 200, 400]
    assert refusal(answers[2]) == (400, "access_denied")
    page = terminal.answer(alice, terminal.begin()).content.decode()
    assert "Sign one of them out" in page


def test_rates_are_kept_in_the_form_of_oauth(settings):
    settings.HUB_SIGN_IN_RATE = "1/minute"
    terminal.begin()

    refused = post("/oauth/device", client_id=CLI)

    assert refusal(refused) == (429, "temporarily_unavailable")
    assert int(refused["Retry-After"]) > 0
    assert post("/oauth/token", client_id=CLI).status_code == 400  # ten times as many


def begun_at(address: str) -> int:
    """The status of what begins a sign-in at this address."""
    client = Client(headers={"X-Forwarded-For": address})
    return client.post("/oauth/device", f"client_id={CLI}", content_type=FORM).status_code


def test_strangers_together_are_limited(settings):
    settings.HUB_SIGN_IN_RATE = "1/minute"
    settings.HUB_TRUSTED_PROXIES = 1

    answers = [begun_at(f"192.0.{number}.2") for number in range(22)]

    assert answers == [200] * 20 + [429] * 2


@pytest.mark.parametrize("network", ["198.51.100.{}", "2001:db8:7:{}::1"])
def test_a_network_begins_a_tenth_of_what_all_may(settings, network):
    settings.HUB_SIGN_IN_RATE = "3/minute"
    settings.HUB_TRUSTED_PROXIES = 1

    answers = [begun_at(network.format(number)) for number in range(1, 9)]

    assert answers == [200] * 6 + [429] * 2
    assert begun_at("203.0.113.9") == 200


WEB_PAGES = [
    ("GET", {}),
    ("OPTIONS", {"Origin": "https://evil.example"}),
    ("post", {"Origin": "https://evil.example"}),
    ("post", {"Origin": "null"}),
    ("post", {"Sec-Fetch-Site": "cross-site"}),
]


@pytest.mark.parametrize(("method", "headers"), WEB_PAGES)
def test_a_web_page_uses_up_no_sign_ins_of_those_who_look_at_it(settings, method, headers):
    settings.HUB_SIGN_IN_RATE = "1/minute"
    page = Client(headers=headers)

    for path in ENDPOINTS * 11:
        refused = page.generic(method, path, f"client_id={CLI}", content_type=FORM)
        assert refusal(refused) in ((403, "invalid_request"), (405, "invalid_request"))

    assert post("/oauth/device", client_id=CLI).status_code == 200
    assert post("/oauth/token", client_id=CLI).status_code == 400


def test_what_begins_no_sign_in_uses_up_none_of_the_others(settings):
    settings.HUB_SIGN_IN_RATE = "1/minute"
    settings.HUB_TRUSTED_PROXIES = 1
    for number in range(20):
        client = Client(headers={"X-Forwarded-For": f"192.0.2.{number}"})
        client.post("/oauth/device", "client_id=nobody", content_type=FORM)

    assert post("/oauth/device", client_id=CLI).status_code == 200


@pytest.mark.parametrize("path", ENDPOINTS)
def test_what_a_client_says_of_its_state_is_not_repeated(path):
    assert "evil" not in post(path, client_id="nobody", state="evil").content.decode()


def test_without_redis_it_says_so(alice, settings):
    url = f"redis://127.0.0.1:{free_port()}/0"
    settings.CACHES = {"default": {"BACKEND": "core.shared_cache.Shared", "LOCATION": url}}

    begun = post("/oauth/device", client_id=CLI)
    polled = post("/oauth/token", client_id=CLI, grant_type=DEVICE, device_code="x")
    page = terminal.browser(alice).get("/device/?user_code=BCDF-GHJK")

    assert refusal(begun) == refusal(polled) == (503, "temporarily_unavailable")
    assert begun["Retry-After"] == "5"
    assert (page.status_code, "temporarily unavailable" in page.content.decode()) == (503, True)


def test_without_the_database_it_says_so(alice, monkeypatch):
    def gone(*args, **kwargs):
        raise OperationalError("gone")

    monkeypatch.setattr("django.db.models.query.QuerySet._fetch_all", gone)

    refused = post("/oauth/token", client_id=CLI, grant_type="refresh_token", refresh_token="x")

    assert refusal(refused) == (503, "temporarily_unavailable")
