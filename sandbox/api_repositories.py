"""API calls about repositories and permissions. https://docs.github.com/en/rest/repos/repos"""

from . import github_json
from .api_app import rights
from .calls import Call
from .dressing import is_assignable
from .messages import ApiError, Response, json_response, not_found
from .records import Account, Repository, Role

LEGACY = {"maintain": "write", "push": "write", "triage": "read", "pull": "read"}
ROLE_NAMES = {"push": "write", "pull": "read"}


def show_repository(call: Call) -> Response:
    """`GET /repos/{owner}/{name}`"""
    repository = call.repository()
    return json_response(
        github_json.repository(call.host, repository, rights=_rights(call, repository))
    )


def _rights(call: Call, repository: Repository) -> dict[str, bool] | None:
    if call.caller.user:
        return github_json.permissions(role_in(repository, call.caller.user))
    return rights(call.caller.permissions) if call.caller.installation else None


def role_in(repository: Repository, user: Account) -> Role | None:
    """The person's role; anybody may read what is public."""
    return repository.role_of(user.login) or (None if repository.private else "pull")


def show_permission(call: Call) -> Response:
    """`GET /repos/{owner}/{name}/collaborators/{login}/permission`"""
    repository = call.repository()
    if call.caller.kind == "none":
        raise ApiError(401, "Requires authentication")
    user = call.host.accounts.get(call.args["login"].lower())
    if user is None or user.type != "User":
        raise ApiError(404, f"{call.args['login']} is not a user")
    role = role_in(repository, user)
    answer = {
        "permission": LEGACY.get(role, role) if role else "none",
        "role_name": ROLE_NAMES.get(role, role) if role else "",
        "user": github_json.account(call.host, user)
        | {"permissions": github_json.permissions(role)},
    }
    return json_response(answer)


def check_assignee(call: Call) -> Response:
    """`GET /repos/{owner}/{name}/assignees/{login}`: 204 if issues can be assigned to that account, else 404."""
    if not is_assignable(call.host, call.repository(), call.args["login"]):
        raise not_found()
    return Response(204)


def show_rate_limit(call: Call) -> Response:
    """`GET /rate_limit`, which does not count against the limit."""
    core = call.host.limits.budget(call.caller, now=call.host.now()).as_json
    return json_response({"resources": {"core": core}, "rate": core})
