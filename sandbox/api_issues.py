"""API calls about issues: list, read, open, change. https://docs.github.com/en/rest/issues/issues"""

from datetime import UTC, datetime
from typing import Any, get_args

from . import dressing, github_json
from .calls import Call
from .messages import ApiError, Response, json_response, not_found
from .paging import page_of
from .records import Issue, IssueState, Repository, StateReason

LONGEST_TITLE, LONGEST_BODY = 256, 65536
SORTS = {"created": "created_at", "updated": "updated_at", "comments": "number"}


def list_issues(call: Call) -> Response:
    """`GET /repos/{owner}/{name}/issues`"""
    repository = with_issues(call, level="read")
    chosen = [each for each in call.host.issues(repository) if _matches(each, call)]
    params = call.request.params
    attribute = SORTS.get(params.get("sort", "created"), "created_at")
    chosen.sort(
        key=lambda issue: (getattr(issue, attribute), issue.number),
        reverse=params.get("direction", "desc") != "asc",
    )
    path = f"/api/v3/repositories/{repository.id}/issues"
    page, headers = page_of(chosen, call, path=path)
    return json_response([github_json.issue(call.host, each) for each in page], headers=headers)


def _matches(issue: Issue, call: Call) -> bool:
    params = call.request.params
    state, creator = params.get("state", "open"), params.get("creator")
    if creator and creator.lower() not in call.host.accounts:
        raise invalid({"value": creator, "field": "creator", "code": "invalid"})
    return (
        state in ("all", issue.state)
        and (not creator or issue.user.lower() == creator.lower())
        and issue.updated_at >= since(params.get("since"))
    )


def since(text: str | None) -> datetime:
    """The time in the parameter `since`; long ago without one."""
    if not text:
        return datetime.min.replace(tzinfo=UTC)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise invalid({"value": text, "field": "since", "code": "invalid"}) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def show_issue(call: Call) -> Response:
    """`GET /repos/{owner}/{name}/issues/{number}`"""
    issue = find_issue(call, with_issues(call, level="read"))
    return json_response(github_json.issue(call.host, issue))


def create_issue(call: Call) -> Response:
    """`POST /repos/{owner}/{name}/issues`"""
    repository = with_issues(call, level="write")
    if repository.archived:
        raise ApiError(403, "Repository was archived so is read-only.")
    sent = call.request.json_object()
    title, body = _title(sent), _body(sent)
    given = dressing.asked(call.host, repository, sent)
    author = (call.caller.user or call.host.bot).login
    issue = call.host.new_issue(repository, title, body=body, user=author, by_app=True)
    dressing.put_on(issue, given)
    call.host.announce_issue("opened", issue, by=author)
    shape = github_json.issue(call.host, issue)
    return json_response(shape, status=201, headers={"Location": shape["url"]})


def change_issue(call: Call) -> Response:
    """`PATCH /repos/{owner}/{name}/issues/{number}`: its title, its body, open or closed."""
    repository = with_issues(call, level="write")
    if repository.archived:
        raise ApiError(403, "Repository was archived so is read-only.")
    issue = find_issue(call, repository)
    sent = call.request.json_object()
    state, reason = sent.get("state", issue.state), sent.get("state_reason")
    if state not in ("open", "closed"):
        raise invalid({"value": state, "field": "state", "code": "invalid"})
    if reason not in (None, *get_args(StateReason)):
        raise invalid({"value": reason, "field": "state_reason", "code": "invalid"})
    if "title" in sent:
        issue.title = _title(sent)
    if "body" in sent:
        issue.body = _body(sent)
    _move(call, issue, state, reason)
    return json_response(github_json.issue(call.host, issue))


def _move(call: Call, issue: Issue, state: IssueState, reason: StateReason | None) -> None:
    if state == issue.state:
        issue.updated_at = call.host.now()
        return
    issue.move_to(state, call.host.now(), reason=reason)
    by = (call.caller.user or call.host.bot).login
    call.host.announce_issue("closed" if state == "closed" else "reopened", issue, by=by)


def find_issue(call: Call, repository: Repository) -> Issue:
    """The issue of the path; else 404, 410 if it was deleted, or 301 to where it was transferred."""
    number = int(call.args["number"])
    if not 1 <= number <= len(repository.issues):
        raise not_found()
    issue = repository.issues[number - 1]
    if issue.deleted:
        raise ApiError(410, "This issue was deleted")
    if there := issue.moved_to:
        location = github_json.issue(call.host, there)["url"]
        raise ApiError(301, "Moved Permanently", headers={"Location": location}, url=location)
    return issue


def with_issues(call: Call, *, level: str) -> Repository:
    """The repository, if the caller may use its issues at this level and they are turned on."""
    repository = call.repository()
    call.require(repository, issues=level)
    if not repository.has_issues:
        raise ApiError(410, "Issues are disabled for this repo")
    return repository


def _title(sent: dict[str, Any]) -> str:
    if "title" not in sent:
        raise ApiError(422, 'Invalid request.\n\n"title" wasn\'t supplied.')
    title = sent["title"]
    if not isinstance(title, str | int):
        raise ApiError(422, "Invalid request.\n\nFor 'properties/title', not a string.")
    if not str(title).strip():
        raise invalid({"field": "title", "code": "missing_field"})
    return _short(str(title), "title", most=LONGEST_TITLE)


def _body(sent: dict[str, Any]) -> str | None:
    body = sent.get("body")
    if body is not None and not isinstance(body, str):
        raise ApiError(422, "Invalid request.\n\nFor 'properties/body', not a string.")
    return body and _short(body, "body", most=LONGEST_BODY)


def _short(text: str, field: str, *, most: int) -> str:
    if len(text) > most:
        message = f"{field} is too long (maximum is {most} characters)"
        raise invalid({"field": field, "code": "custom", "message": message})
    return text


def invalid(error: dict[str, Any], *, resource: str = "Issue") -> ApiError:
    """GitHub's 422 for one invalid field."""
    return ApiError(422, "Validation Failed", errors=[{"resource": resource, **error}])
