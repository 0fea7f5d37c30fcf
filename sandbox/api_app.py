"""API calls of the app itself: its installations, and tokens for them.

https://docs.github.com/en/rest/apps/apps, https://docs.github.com/en/rest/apps/webhooks and
https://docs.github.com/en/rest/apps/installations
"""

from datetime import timedelta
from typing import Any

from . import github_json
from .calls import FORBIDDEN, Call
from .credentials import Caller
from .messages import ApiError, Response, json_response, timestamp
from .paging import page_of
from .records import Installation, Repository, has_all

LIFETIME = timedelta(hours=1)


def show_app(call: Call) -> Response:
    """`GET /app`"""
    call.require_app()
    return json_response(github_json.app(call.host))


def show_webhook(call: Call) -> Response:
    """`GET /app/hook/config`"""
    call.require_app()
    app = call.host.app
    return json_response(
        {
            "content_type": app.webhook_content_type,
            "insecure_ssl": "0" if app.webhook_checks_certificate else "1",
            "secret": "********",
            "url": app.webhook_url,
        }
    )


def list_webhooks(call: Call) -> Response:
    """`GET /app/hook/deliveries`, newest first"""
    call.require_app()
    sent = list(enumerate(call.host.webhooks_sent, start=1))
    page, headers = page_of(sent[::-1], call)
    return json_response([github_json.webhook(*each) for each in page], headers=headers)


def list_installations(call: Call) -> Response:
    """`GET /app/installations`"""
    call.require_app()
    page, headers = page_of(list(call.host.installations.values()), call)
    return json_response(
        [github_json.installation(call.host, each) for each in page], headers=headers
    )


def show_installation(call: Call) -> Response:
    """`GET /app/installations/{installation_id}`"""
    call.require_app()
    return json_response(github_json.installation(call.host, call.installation()))


def create_token(call: Call) -> Response:
    """`POST /app/installations/{installation_id}/access_tokens`"""
    call.require_app()
    installation = call.installation()
    if installation.suspended_at:
        raise ApiError(403, "This installation has been suspended")
    wanted = call.request.json_object()
    permissions = _permissions(wanted.get("permissions") or installation.permissions, installation)
    repositories = _repositories(wanted, call.host.repositories_of(installation))
    expires_at = call.host.now() + LIFETIME
    caller = Caller(
        "installation",
        installation=installation,
        repository_ids=frozenset(each.id for each in repositories) if repositories else None,
        permissions=permissions,
    )
    answer: dict[str, Any] = {
        "token": call.host.tokens.mint("ghs_", caller, until=expires_at),
        "expires_at": timestamp(expires_at),
        "permissions": permissions,
        "repository_selection": _selection(installation, repositories),
    }
    if repositories:
        answer["repositories"] = [
            github_json.repository(call.host, each, rights=rights(permissions))
            for each in repositories
        ]
    return json_response(answer, status=201)


def _permissions(wanted: Any, installation: Installation) -> dict[str, str]:
    if not isinstance(wanted, dict):
        raise ApiError(422, "Invalid request.\n\nFor 'properties/permissions', not an object.")
    if not has_all(installation.permissions, {name: str(each) for name, each in wanted.items()}):
        raise ApiError(422, "The permissions requested are not granted to this installation.")
    return {"metadata": "read", **wanted}


def _repositories(wanted: dict[str, Any], reachable: list[Repository]) -> list[Repository] | None:
    """The repositories that the token is limited to, by id or by name; None for all of them."""
    ids, names = wanted.get("repository_ids") or [], wanted.get("repositories") or []
    if not (isinstance(ids, list) and isinstance(names, list)):
        raise ApiError(422, "Invalid request.\n\nRepositories come as a list.")
    if not ids and not names:
        return None
    by_id = {str(each.id): each for each in reachable}
    by_name = {each.name.lower(): each for each in reachable}
    chosen = [by_id.get(str(each)) for each in ids]
    chosen += [by_name.get(str(each).lower()) for each in names]
    if None in chosen:
        raise ApiError(
            422,
            "There is at least one repository that does not exist or is not accessible to the "
            "parent installation.",
        )
    return [each for each in reachable if each in chosen]


def _selection(installation: Installation, repositories: list[Repository] | None) -> str:
    return "all" if installation.repositories is None and repositories is None else "selected"


def rights(permissions: dict[str, str]) -> dict[str, bool]:
    """An installation's `permissions` on a repository: only `contents` decides them."""
    return {
        "admin": False,
        "maintain": False,
        "push": has_all(permissions, {"contents": "write"}),
        "triage": False,
        "pull": has_all(permissions, {"contents": "read"}),
    }


def list_repositories(call: Call) -> Response:
    """`GET /installation/repositories`: what the token can access."""
    caller, host = call.caller, call.host
    if caller.kind == "none":
        raise ApiError(401, "Requires authentication")
    if caller.installation is None:
        raise ApiError(403, FORBIDDEN)
    reached = [each for each in host.repositories.values() if caller.reaches(host, each)]
    page, headers = page_of(reached, call)
    answer = {
        "total_count": len(reached),
        "repository_selection": _selection(
            caller.installation, None if caller.repository_ids is None else reached
        ),
        "repositories": [
            github_json.repository(host, each, rights=rights(caller.permissions)) for each in page
        ],
    }
    return json_response(answer, headers=headers)
