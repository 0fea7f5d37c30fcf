"""The JSON of GitHub's objects, with the fields that a client of issues reads."""

from typing import Any
from urllib.parse import quote

from .messages import timestamp
from .records import (
    DEFAULT_LABELS,
    ROLES,
    Account,
    Comment,
    Installation,
    Issue,
    Repository,
    Role,
)
from .state import State
from .webhooks import Sent

Json = dict[str, Any]


def account(state: State, account: Account) -> Json:
    """The JSON of an account."""
    return {
        "login": account.login,
        "id": account.id,
        "node_id": f"U_{account.id}",
        "avatar_url": f"{state.url}/avatars/u/{account.id}",
        "gravatar_id": "",
        "url": f"{state.url}/api/v3/users/{account.login}",
        "html_url": f"{state.url}/{account.login}",
        "type": account.type,
        "site_admin": False,
    }


def person(state: State, user: Account) -> Json:
    """The JSON of the signed-in user. The public `email` is null, as for most people."""
    return account(state, user) | {"name": user.name, "company": None, "blog": "", "email": None}


def app(state: State) -> Json:
    """The JSON of the app."""
    return {
        "id": state.app.id,
        "slug": state.app.slug,
        "client_id": state.app.client_id,
        "node_id": f"A_{state.app.id}",
        "owner": account(state, state.account(state.app.owner)) if state.app.owner else None,
        "name": state.app.name or state.app.slug,
        "description": "",
        "external_url": "",
        "html_url": f"{state.url}/github-apps/{state.app.slug}",
        "permissions": state.app.permissions,
        "events": list(state.app.events),
        "installations_count": len(state.installations),
    }


def installation(state: State, installation: Installation) -> Json:
    """The JSON of an installation."""
    api = f"{state.url}/api/v3"
    return {
        "id": installation.id,
        "account": account(state, installation.account),
        "repository_selection": "all" if installation.repositories is None else "selected",
        "access_tokens_url": f"{api}/app/installations/{installation.id}/access_tokens",
        "repositories_url": f"{api}/installation/repositories",
        "html_url": state.url + settings_path(installation),
        "app_id": state.app.id,
        "app_slug": state.app.slug,
        "target_id": installation.account.id,
        "target_type": installation.account.type,
        "permissions": installation.permissions,
        "events": list(state.app.events),
        "created_at": timestamp(installation.created_at),
        "updated_at": timestamp(installation.suspended_at or installation.created_at),
        "single_file_name": None,
        "suspended_at": timestamp(installation.suspended_at),
        "suspended_by": None,
    }


def webhook(number: int, sent: Sent) -> Json:
    """The JSON of a webhook that was sent, the `number`th."""
    payload = sent.event.payload
    taken = sent.status is not None and 200 <= sent.status < 300
    return {
        "id": number,
        "guid": sent.event.id,
        "delivered_at": timestamp(sent.at),
        "redelivery": False,
        "duration": 0.1,
        "status": "OK" if taken else sent.problem or f"Invalid HTTP Response: {sent.status}",
        "status_code": sent.status or 0,
        "event": sent.event.name,
        "action": payload.get("action"),
        "installation_id": payload.get("installation", {}).get("id"),
        "repository_id": payload.get("repository", {}).get("id"),
        "throttled_at": None,
    }


def settings_path(installation: Installation) -> str:
    """The path of an installation's settings page."""
    prefix = ""
    if installation.account.type == "Organization":
        prefix = f"/organizations/{installation.account.login}"
    return f"{prefix}/settings/installations/{installation.id}"


def permissions(role: Role | None) -> dict[str, bool]:
    """`{"admin": …, "maintain": …, "push": …, "triage": …, "pull": …}`: a role includes those below."""
    rank = ROLES.index(role) if role else -1
    return {name: rank >= index for index, name in reversed(list(enumerate(ROLES)))}


def repository(
    state: State, repository: Repository, *, rights: dict[str, bool] | None = None
) -> Json:
    """The JSON of a repository. `rights` are the caller's `permissions`; GitHub omits them without a token."""
    url = f"{state.url}/api/v3/repos/{repository.full_name}"
    open_issues = sum(issue.state == "open" for issue in state.issues(repository))
    shape = {
        "id": repository.id,
        "node_id": f"R_{repository.id}",
        "name": repository.name,
        "full_name": repository.full_name,
        "private": repository.private,
        "visibility": "private" if repository.private else "public",
        "owner": account(state, repository.owner),
        "html_url": f"{state.url}/{repository.full_name}",
        "description": None,
        "fork": False,
        "url": url,
        "issues_url": f"{url}/issues{{/number}}",
        "created_at": timestamp(repository.created_at),
        "updated_at": timestamp(repository.created_at),
        "pushed_at": timestamp(repository.created_at),
        "homepage": None,
        "has_issues": repository.has_issues,
        "has_pages": repository.has_pages,
        "archived": repository.archived,
        "disabled": False,
        "open_issues_count": open_issues,
        "open_issues": open_issues,
        "default_branch": "main",
    }
    return shape if rights is None else shape | {"permissions": rights}


def label(repository_url: str, name: str) -> Json:
    """The JSON of a label; GitHub makes a new one gray."""
    return {
        "name": name,
        "url": f"{repository_url}/labels/{quote(name, safe='')}",
        "color": "ededed",
        "default": name in DEFAULT_LABELS,
        "description": None,
    }


def issue_type(name: str) -> Json:
    """The JSON of an issue type."""
    return {"name": name, "description": None, "color": "gray", "is_enabled": True}


def issue(state: State, issue: Issue) -> Json:
    """The JSON of an issue."""
    repository_url = f"{state.url}/api/v3/repos/{issue.repository.full_name}"
    url = f"{repository_url}/issues/{issue.number}"
    known = (state.accounts.get(each.lower()) for each in issue.assignees)
    assignees = [account(state, each) for each in known if each]
    return {
        "url": url,
        "repository_url": repository_url,
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "html_url": f"{state.url}/{issue.repository.full_name}/issues/{issue.number}",
        "id": issue.id,
        "node_id": f"I_{issue.id}",
        "number": issue.number,
        "title": issue.title,
        "user": account(state, state.account(issue.user)),
        "labels": [label(repository_url, each) for each in issue.labels],
        "state": issue.state,
        "state_reason": issue.state_reason,
        "locked": issue.locked,
        "assignee": next(iter(assignees), None),
        "assignees": assignees,
        "type": issue_type(issue.type) if issue.type else None,
        "milestone": None,
        "comments": len(issue.comments),
        "created_at": timestamp(issue.created_at),
        "updated_at": timestamp(issue.updated_at),
        "closed_at": timestamp(issue.closed_at),
        "author_association": "NONE",
        "active_lock_reason": None,
        "body": issue.body,
        "performed_via_github_app": app(state) if issue.by_app else None,
    }


def comment(state: State, comment: Comment) -> Json:
    """The JSON of a comment on an issue."""
    about = issue(state, comment.issue)
    repository_url = about["repository_url"]
    return {
        "url": f"{repository_url}/issues/comments/{comment.id}",
        "html_url": f"{about['html_url']}#issuecomment-{comment.id}",
        "issue_url": about["url"],
        "id": comment.id,
        "node_id": f"IC_{comment.id}",
        "user": account(state, state.account(comment.user)),
        "created_at": timestamp(comment.created_at),
        "updated_at": timestamp(comment.updated_at),
        "author_association": "NONE",
        "body": comment.body,
        "performed_via_github_app": app(state) if comment.by_app else None,
    }
