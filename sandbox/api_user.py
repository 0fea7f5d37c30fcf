"""API calls of a signed-in person. https://docs.github.com/en/rest/users/users"""

from . import github_json
from .api_repositories import role_in
from .calls import Call
from .messages import Response, json_response, not_found
from .paging import page_of
from .records import Installation, Repository


def show_user(call: Call) -> Response:
    """`GET /user`"""
    login = call.require_user()
    return json_response(github_json.person(call.host, call.host.account(login)))


def show_account(call: Call) -> Response:
    """`GET /users/{username}`: a person or an organization; anybody may ask."""
    found = call.host.accounts.get(call.args["login"].lower())
    if found is None:
        raise not_found()
    return json_response(github_json.person(call.host, found))


def show_account_by_id(call: Call) -> Response:
    """`GET /user/{account_id}`: the same by id, which stays when the login changes."""
    found = call.host.account_by_id(int(call.args["account_id"]))
    if found is None:
        raise not_found()
    return json_response(github_json.person(call.host, found))


def list_emails(call: Call) -> Response:
    """`GET /user/emails`"""
    email = call.host.account(call.require_user()).email
    return json_response(
        [{"email": email, "primary": True, "verified": True, "visibility": "private"}]
    )


def list_installations(call: Call) -> Response:
    """`GET /user/installations`: those with a repository that the person has access to."""
    login = call.require_user()
    found = [each for each in call.host.installations.values() if _shared(call, each, login)]
    page, headers = page_of(found, call)
    shown = [github_json.installation(call.host, each) for each in page]
    return json_response({"total_count": len(found), "installations": shown}, headers=headers)


def list_repositories(call: Call) -> Response:
    """`GET /user/installations/{installation_id}/repositories`, with the person's permissions."""
    login = call.require_user()
    found = _shared(call, call.installation(), login)
    if not found:
        raise not_found()
    page, headers = page_of(found, call)
    user = call.host.account(login)
    shown = [
        github_json.repository(call.host, each, rights=github_json.permissions(role_in(each, user)))
        for each in page
    ]
    return json_response({"total_count": len(found), "repositories": shown}, headers=headers)


def _shared(call: Call, installation: Installation, login: str) -> list[Repository]:
    reached = call.host.repositories_of(installation)
    return [each for each in reached if each.role_of(login)]
