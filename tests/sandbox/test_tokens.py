import time
from datetime import UTC, datetime, timedelta

import github
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.conftest import key_pair

FUTURE = "'Expiration time' claim ('exp') must be a numeric value representing the future time at"
ISSUED = "'Issued at' claim ('iat') must be an Integer representing the time that"
DOCS = "/repos/acme/docs"


def signed(**claims: object) -> str:
    """A JWT of the app's, as GitHub wants it but for the claims given; None leaves one out."""
    now = int(time.time())
    all_claims = {"iss": 7, "iat": now - 60, "exp": now + 300} | claims
    kept = {name: value for name, value in all_claims.items() if value is not None}
    return jwt.api_jws.encode(
        jwt.api_jwt.json.dumps(kept).encode(), key_pair()[0], algorithm="RS256"
    )


def test_the_app_says_who_it_is(as_app):
    app = as_app.get_app()

    assert (app.id, app.slug, app.permissions) == (
        7,
        "docs-feedback",
        {"issues": "write", "metadata": "read"},
    )


@pytest.mark.parametrize("issuer", [7, "7", "client"])
def test_the_issuer_is_the_app_by_id_or_by_client_id(call, issuer):
    assert call("GET", "/app", signed(iss=issuer)).status_code == 200


@pytest.mark.parametrize(
    ("claims", "status", "message"),
    [
        ({"exp": time.time() - 1}, 401, FUTURE),
        ({"exp": int(time.time()) - 1}, 401, FUTURE),
        ({"exp": None}, 401, FUTURE),
        ({"exp": int(time.time()) + 100_000}, 401, "'Expiration time' claim ('exp') is too far"),
        ({"iat": int(time.time()) + 3600}, 401, ISSUED),
        ({"iat": None}, 401, ISSUED),
        ({"iss": None}, 401, "Missing 'issuer' claim ('iss') in assertion"),
        ({"iss": 8}, 404, "Integration not found"),
    ],
)
def test_a_jwt_with_a_wrong_claim_is_refused_in_githubs_words(call, claims, status, message):
    answer = call("GET", "/app", signed(**claims))

    assert (answer.status_code, answer.json()["status"]) == (status, str(status))
    assert answer.json()["message"].startswith(message)


def test_a_jwt_may_reach_ten_minutes_ahead_and_no_further(host, call):
    edge = int(host.now().timestamp()) + 600

    within = call("GET", "/app", signed(exp=edge))
    beyond = call("GET", "/app", signed(exp=edge + 30))

    assert (within.status_code, beyond.status_code) == (200, 401)


def test_a_jwt_of_another_key_or_algorithm_is_refused(call):
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    now = int(time.time())
    claims = {"iss": "7", "iat": now - 60, "exp": now + 300}
    forged = [
        jwt.encode(claims, other, algorithm="RS256"),
        jwt.encode(claims, key_pair()[0], algorithm="RS512"),
        jwt.encode(claims, "k" * 64, algorithm="HS256"),
        jwt.encode(claims, "", algorithm="none"),
        "a.b.c",
    ]

    answers = [call("GET", "/app", each) for each in forged]

    assert [answer.status_code for answer in answers] == [401] * 5
    assert {answer.json()["message"] for answer in answers} == {
        "A JSON web token could not be decoded"
    }


@pytest.mark.parametrize("hours", [1, -1])
def test_a_clock_an_hour_off_makes_every_jwt_invalid(host, as_app, hours):
    host.clock_offset = timedelta(hours=hours)

    with pytest.raises(github.GithubException) as refused:
        as_app.get_app()

    assert refused.value.status == 401


def test_a_token_is_good_for_an_hour(host, as_app, installation, connect):
    minted = as_app.get_access_token(installation.id)
    client = connect(minted.token)

    before = client.get_repo("acme/docs").full_name
    host.clock_offset = timedelta(hours=1)

    assert before == "acme/docs"
    assert minted.expires_at - datetime.now(UTC) > timedelta(minutes=59)
    with pytest.raises(github.BadCredentialsException):
        client.get_repo("acme/docs")


def test_a_token_has_all_that_the_installation_has_unless_it_is_narrowed(call, installation):
    url = f"/app/installations/{installation.id}/access_tokens"

    whole = call("POST", url, signed())
    narrowed = call(
        "POST", url, signed(), json={"repositories": ["docs"], "permissions": {"issues": "read"}}
    )

    assert whole.status_code == narrowed.status_code == 201
    assert whole.json()["permissions"] == {"issues": "write", "metadata": "read"}
    assert "repositories" not in whole.json()
    assert narrowed.json()["permissions"] == {"issues": "read", "metadata": "read"}
    assert [each["name"] for each in narrowed.json()["repositories"]] == ["docs"]


def test_a_token_for_one_repository_does_not_reach_another(host, call, installation):
    url = f"/app/installations/{installation.id}/access_tokens"
    ids = {"repository_ids": [host.repository("acme/docs").id]}
    token = call("POST", url, signed(), json=ids).json()["token"]

    allowed = call("POST", "/repos/acme/docs/issues", token, json={"title": "Yes"})
    private = call("GET", "/repos/acme/secret", token)
    host.set_private("acme/secret", False)
    public = call("POST", "/repos/acme/secret/issues", token, json={"title": "No"})
    reached = call("GET", "/installation/repositories", token).json()

    assert allowed.status_code == 201
    assert (private.status_code, private.json()["message"]) == (404, "Not Found")
    assert public.status_code == 403
    assert public.json()["message"] == "Resource not accessible by integration"
    assert [each["name"] for each in reached["repositories"]] == ["docs"]


def test_a_token_to_read_issues_opens_none(host, connect, as_app, installation):
    token = as_app.get_access_token(installation.id, {"issues": "read"}).token
    repository = connect(token).get_repo("acme/docs")

    with pytest.raises(github.GithubException) as refused:
        repository.create_issue("Title")

    assert (refused.value.status, refused.value.message) == (
        403,
        "Resource not accessible by integration",
    )
    assert host.issues("acme/docs") == []


def test_a_token_without_issues_does_not_list_those_of_a_private_repository(host, call):
    host.add_organization("initech")
    plans = host.add_repository("initech", "plans", private=True)
    only_metadata = {"metadata": "read"}
    installed = host.add_installation("initech", repositories=[plans], permissions=only_metadata)
    url = f"/app/installations/{installed.id}/access_tokens"
    token = call("POST", url, signed()).json()["token"]

    assert call("GET", "/repos/initech/plans", token).status_code == 200
    assert call("GET", "/repos/initech/plans/issues", token).status_code == 403


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"repository_ids": [1]}, "There is at least one repository that does not exist"),
        ({"repositories": ["docs", "other"]}, "There is at least one repository"),
        ({"permissions": {"contents": "read"}}, "The permissions requested are not granted"),
        ({"permissions": {"issues": "admin"}}, "The permissions requested are not granted"),
        ({"permissions": {"issues": "everything"}}, "The permissions requested are not granted"),
        ({"permissions": ["issues"]}, "Invalid request."),
        ({"repository_ids": "2001"}, "Invalid request."),
        ([], "Invalid request."),
    ],
)
def test_a_token_for_what_the_installation_has_not_is_refused(call, installation, wanted, message):
    url = f"/app/installations/{installation.id}/access_tokens"

    answer = call("POST", url, signed(), json=wanted)

    assert answer.status_code == 422
    assert answer.json()["message"].startswith(message)


def test_an_unknown_installation_is_not_found(as_app):
    with pytest.raises(github.UnknownObjectException):
        as_app.get_access_token(99)


def test_a_suspended_installation_gets_no_token_until_it_is_back(
    host, call, as_app, installation, token
):
    host.suspend(installation)

    with pytest.raises(github.GithubException) as refused:
        as_app.get_access_token(installation.id)
    with_old_token = call("GET", DOCS, token)
    shown = as_app.get_app_installation(installation.id)
    host.unsuspend(installation)

    assert (refused.value.status, refused.value.message) == (
        403,
        "This installation has been suspended",
    )
    assert with_old_token.status_code == 403
    assert shown.suspended_at is not None
    assert as_app.get_access_token(installation.id).token
    assert call("GET", DOCS, token).status_code == 200


def test_an_uninstalled_app_has_neither_tokens_nor_an_installation(
    host, call, as_app, installation, token
):
    host.uninstall(installation)

    assert call("GET", DOCS, token).status_code == 401
    assert list(as_app.get_installations()) == []
    with pytest.raises(github.UnknownObjectException):
        as_app.get_access_token(installation.id)


def test_the_app_lists_its_installations(as_app, installation):
    (listed,) = as_app.get_installations()

    assert (listed.id, listed.account.login) == (installation.id, "acme")
    assert listed.permissions["issues"] == "write"
    assert listed.suspended_at is None


def test_repositories_join_and_leave_an_installation(host, call, installation, token):
    host.add_repository("acme", "blog", private=True)

    host.add_to_installation(installation, "acme/blog")
    host.remove_from_installation(installation, "acme/secret")
    answer = call("GET", "/installation/repositories", token).json()

    assert [each["name"] for each in answer["repositories"]] == ["docs", "blog"]
    assert answer["total_count"] == 2
    assert call("GET", "/repos/acme/secret", token).status_code == 404


@pytest.mark.parametrize(
    ("path", "credentials", "status", "message"),
    [
        ("/app", "installation", 401, "A JSON web token could not be decoded"),
        ("/app/installations", "none", 401, "A JSON web token could not be decoded"),
        ("/installation/repositories", "app", 403, "Resource not accessible by integration"),
        ("/installation/repositories", "none", 401, "Requires authentication"),
        ("/repos/acme/docs", "wrong", 401, "Bad credentials"),
        ("/repos/acme/secret", "app", 404, "Not Found"),
    ],
)
def test_each_address_wants_its_own_credentials(call, token, path, credentials, status, message):
    value = {"installation": token, "app": signed(), "none": "", "wrong": "ghs_" + "0" * 36}

    answer = call("GET", path, value[credentials])

    assert (answer.status_code, answer.json()["message"]) == (status, message)
