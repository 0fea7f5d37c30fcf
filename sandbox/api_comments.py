"""API calls about comments on issues: list, read, write, change. https://docs.github.com/en/rest/issues/comments"""

from typing import Any

from . import github_json
from .api_issues import LONGEST_BODY, find_issue, invalid, since, with_issues
from .calls import Call
from .messages import ApiError, Response, json_response, not_found
from .paging import page_of
from .records import Comment, Issue, Repository

LOCKED = "Unable to create comment because issue is locked."
MOST_COMMENTS = 2500  # on one issue
FULL = f"Commenting is disabled on issues with more than {MOST_COMMENTS} comments"


def list_comments(call: Call) -> Response:
    """`GET /repos/{owner}/{name}/issues/{number}/comments`, oldest first"""
    issue = find_issue(call, with_issues(call, level="read"))
    after = since(call.request.params.get("since"))
    chosen = [each for each in issue.comments if each.updated_at >= after]
    repository = issue.repository
    path = f"/api/v3/repositories/{repository.id}/issues/{issue.number}/comments"
    page, headers = page_of(chosen, call, path=path)
    return json_response([github_json.comment(call.host, each) for each in page], headers=headers)


def show_comment(call: Call) -> Response:
    """`GET /repos/{owner}/{name}/issues/comments/{comment_id}`"""
    comment = _comment(call, with_issues(call, level="read"))
    return json_response(github_json.comment(call.host, comment))


def create_comment(call: Call) -> Response:
    """`POST /repos/{owner}/{name}/issues/{number}/comments`"""
    repository = with_issues(call, level="write")
    _refuse_if_archived(repository)
    issue = find_issue(call, repository)
    _refuse_if_locked(issue)
    if len(issue.comments) >= MOST_COMMENTS:
        raise ApiError(403, FULL)
    author = (call.caller.user or call.host.bot).login
    body = _body(call.request.json_object())
    comment = call.host.new_comment(issue, body, user=author, by_app=True)
    shape = github_json.comment(call.host, comment)
    return json_response(shape, status=201, headers={"Location": shape["url"]})


def change_comment(call: Call) -> Response:
    """`PATCH /repos/{owner}/{name}/issues/comments/{comment_id}`"""
    repository = with_issues(call, level="write")
    _refuse_if_archived(repository)
    comment = _comment(call, repository)
    _refuse_if_locked(comment.issue)
    comment.change(_body(call.request.json_object()), call.host.now())
    return json_response(github_json.comment(call.host, comment))


def _comment(call: Call, repository: Repository) -> Comment:
    wanted = int(call.args["comment_id"])
    for issue in call.host.issues(repository):
        for comment in issue.comments:
            if comment.id == wanted:
                return comment
    raise not_found()


def _refuse_if_archived(repository: Repository) -> None:
    if repository.archived:
        raise ApiError(403, "Repository was archived so is read-only.")


def _refuse_if_locked(issue: Issue) -> None:
    if issue.locked:
        raise ApiError(403, LOCKED)


def _body(sent: dict[str, Any]) -> str:
    body = sent.get("body")
    if not isinstance(body, str):
        raise ApiError(422, 'Invalid request.\n\n"body" wasn\'t supplied.')
    if not body.strip():
        raise invalid({"field": "body", "code": "missing_field"}, resource="IssueComment")
    if len(body) > LONGEST_BODY:
        message = f"body is too long (maximum is {LONGEST_BODY} characters)"
        error = {"field": "body", "code": "custom", "message": message}
        raise invalid(error, resource="IssueComment")
    return body
