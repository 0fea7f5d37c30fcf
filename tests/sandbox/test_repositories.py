import github
import pytest


@pytest.mark.parametrize("name", ["acme/docs", "ACME/Docs", 2001])
def test_a_repository_is_found_by_name_and_by_id(as_installation, name):
    repository = as_installation.get_repo(name)

    assert (repository.id, repository.full_name) == (2001, "acme/docs")
    assert (repository.has_issues, repository.archived, repository.private) == (True, False, False)
    assert repository.owner.login == "acme"
    assert repository.permissions.push is False


def test_what_is_turned_off_shows(host, as_installation):
    host.archive("acme/docs")
    host.set_issues("acme/docs", False)

    repository = as_installation.get_repo("acme/docs")

    assert (repository.has_issues, repository.archived) == (False, True)


def test_without_a_token_the_public_is_there_and_the_private_is_not(connect):
    stranger = connect()

    public = stranger.get_repo("acme/docs")

    assert "permissions" not in public.raw_data
    with pytest.raises(github.UnknownObjectException):
        stranger.get_repo("acme/secret")


def test_a_deleted_repository_is_gone(host, as_installation):
    host.delete_repository("acme/docs")

    with pytest.raises(github.UnknownObjectException):
        as_installation.get_repo("acme/docs")


def test_a_renamed_repository_leads_to_its_new_name(host, call, token, as_installation):
    host.rename("acme/docs", "handbook")

    raw = call("GET", "/repos/acme/docs?page=2", token)
    followed = as_installation.get_repo("acme/docs")

    assert raw.status_code == 301
    assert raw.json()["message"] == "Moved Permanently"
    assert raw.headers["Location"] == f"{host.url}/api/v3/repositories/2001?page=2"
    assert followed.full_name == "acme/handbook"


def test_pygithub_does_not_follow_the_307_of_a_renamed_repository(host, call, token, connect):
    repository = connect(token).get_repo("acme/docs")
    host.rename("acme/docs", "handbook")

    raw = call("POST", "/repos/acme/docs/issues", token, json={"title": "Lost"})
    issue = repository.create_issue("Lost")

    assert raw.status_code == 307
    assert raw.headers["Location"] == f"{host.url}/api/v3/repositories/2001/issues"
    assert issue.number is None
    assert host.issues("acme/handbook") == []


def test_a_former_name_leads_to_whoever_takes_it(host, call):
    host.rename("acme/docs", "handbook")
    host.add_repository("acme", "docs")

    assert call("GET", "/repos/acme/docs").json()["id"] == 2003
    assert call("GET", "/repositories/2001").json()["full_name"] == "acme/handbook"


def test_two_repositories_cannot_have_one_name(host):
    with pytest.raises(ValueError, match="already a repository acme/Docs"):
        host.rename("acme/secret", "Docs")

    assert host.repository("acme/secret").full_name == "acme/secret"


def test_a_transferred_repository_is_out_of_the_installations_reach(host, call, token):
    host.transfer("acme/docs", "charlie")

    by_name = call("GET", "/repos/acme/docs", token)
    opened = call("POST", "/repositories/2001/issues", token, json={"title": "No more"})

    assert by_name.status_code == 301
    assert opened.status_code == 403
    assert call("GET", "/repositories/2001").json()["full_name"] == "charlie/docs"


@pytest.mark.parametrize(
    ("repository", "login", "permission", "role"),
    [
        ("docs", "alice", "admin", "admin"),
        ("docs", "bob", "write", "maintain"),
        ("docs", "charlie", "read", "read"),
        ("secret", "bob", "read", "read"),
        ("secret", "charlie", "none", ""),
    ],
)
def test_the_permission_of_a_person_shows(
    host, as_installation, repository, login, permission, role
):
    host.grant("bob", "acme/docs", "maintain")

    found = as_installation.get_repo(f"acme/{repository}")

    assert found.get_collaborator_permission(login) == permission
    assert found.get_collaborator_role_name(login) == role


def test_nobody_has_no_permission(as_installation):
    repository = as_installation.get_repo("acme/docs")

    with pytest.raises(github.GithubException) as refused:
        repository.get_collaborator_permission("mallory")

    assert (refused.value.status, refused.value.message) == (404, "mallory is not a user")


def test_requests_are_counted(call, token):
    first = call("GET", "/repos/acme/docs", token).headers
    second = call("GET", "/repos/acme/docs", token).headers

    assert first["X-RateLimit-Limit"] == "5000"
    assert int(first["X-RateLimit-Remaining"]) - int(second["X-RateLimit-Remaining"]) == 1
    assert second["X-RateLimit-Used"] == "2"
    assert second["X-RateLimit-Reset"].isdigit()
    assert second["X-RateLimit-Resource"] == "core"


def test_asking_for_the_rate_limit_costs_nothing(as_installation):
    before = as_installation.get_rate_limit().rate.remaining
    after = as_installation.get_rate_limit().rate.remaining

    assert before == after == 5000


def test_whoever_has_asked_too_often_waits_for_the_next_hour(host, as_installation):
    host.limits.limit = 2
    for _ in range(2):
        as_installation.get_repo("acme/docs")

    with pytest.raises(github.RateLimitExceededException) as refused:
        as_installation.get_repo("acme/docs")

    assert refused.value.status == 403
    assert dict(refused.value.headers or {})["x-ratelimit-remaining"] == "0"
    assert refused.value.data["message"] == "API rate limit exceeded for installation ID 3001."


@pytest.mark.parametrize(
    "path", ["/", "/nowhere", "/repos/acme", "/repos/acme/nothing", "/repositories/99", "/apps"]
)
def test_other_addresses_are_not_found(call, path):
    answer = call("GET", path)

    assert answer.status_code == 404
    assert answer.json() == {
        "message": "Not Found",
        "documentation_url": "https://docs.github.com/rest",
        "status": "404",
    }


def test_who_leaves_an_organization_loses_what_they_could_do_there(host, as_installation):
    host.grant("bob", "acme/docs", "maintain")

    host.remove_member("acme", "alice")
    host.remove_member("acme", "bob")

    docs, secret = (as_installation.get_repo(f"acme/{name}") for name in ("docs", "secret"))
    assert [docs.get_collaborator_permission(each) for each in ("alice", "bob")] == ["read"] * 2
    assert secret.get_collaborator_permission("alice") == "none"


def test_what_was_granted_can_be_taken_back(host, as_installation):
    host.grant("bob", "acme/docs", "push")
    host.revoke("bob", "acme/docs")

    assert as_installation.get_repo("acme/docs").get_collaborator_permission("bob") == "read"


def test_a_renamed_account_keeps_its_id_and_its_rights(host, call, as_installation):
    alice = host.account("alice")
    host.grant("alice", "acme/secret", "push")

    host.rename_account("alice", "alicia")

    assert call("GET", f"/user/{alice.id}").json()["login"] == "alicia"
    assert call("GET", "/users/alice").status_code == 404
    assert as_installation.get_repo("acme/docs").get_collaborator_permission("alicia") == "admin"
    host.add_user("alice")  # the login is free for anybody
    assert as_installation.get_repo("acme/secret").get_collaborator_permission("alice") == "none"


def test_there_is_nobody_of_an_unknown_number(call):
    assert call("GET", "/user/999").status_code == 404
