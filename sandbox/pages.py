"""The pages for people: repositories, issues, and one issue as GitHub's own parser renders it."""

from datetime import datetime

import cmarkgfm

from .calls import Call
from .layout import NOTHING, STYLE, Html, html, joined, page
from .messages import ApiError, Response, not_found, redirect, timestamp
from .records import Comment, Issue, Repository, StateReason
from .sessions import viewer


def show_home(call: Call) -> Response:
    """What can be done here, and the list of repositories."""
    host = call.host
    visible = [each for each in host.repositories.values() if _visible(call, each)]
    items = [
        html(
            '<li><a href="/{name}/issues">{name}</a> <span class="soft">{count} issues</span></li>',
            name=each.full_name,
            count=len(host.issues(each)),
        )
        for each in visible
    ]
    content = html(
        "{trial}<h1>Repositories</h1>{list}", trial=_what_to_do(call), list=_plain(items)
    )
    return page("Repositories", content, call=call)


def _what_to_do(call: Call) -> Html:
    if call.host.trial is None:
        return NOTHING
    people = [
        html('<a href="/_sandbox/as/{login}">{login}</a>', login=each.login)
        for each in call.host.accounts.values()
        if each.type == "User"
    ]
    return html(
        """<section class="box"><h2>Try the Hub</h2><ul>
<li><a href="/_sandbox/docs/install">Report a mistake</a> on a page of acme's docs, and see it become an
issue.</li>
<li><a href="/_sandbox/faults">Let GitHub fail</a>, and see what the Hub says.</li>
<li>Go on to the Hub as {people}. If you are signed in there as somebody else, sign out first.</li>
</ul></section>""",
        people=Html(", ".join(people)),
    )


def show_repository(call: Call) -> Response:
    """A repository."""
    repository = _repository(call)
    facts = ["private" if repository.private else "public"]
    facts += ["archived"] if repository.archived else []
    facts += [] if repository.has_issues else ["issues are turned off"]
    facts += [] if repository.has_pages else ["publishes no site"]
    content = html(
        '<h1>{name}</h1><p class="soft">{facts}</p><p><a href="/{name}/issues">Issues</a> · '
        '<a href="/{name}/blob/HEAD/README.md">README.md</a></p>',
        name=repository.full_name,
        facts=", ".join(facts),
    )
    return page(repository.full_name, content, call=call)


def show_file(call: Call) -> Response:
    """Any file of a repository, or its wiki: the sandbox keeps no files, so all look alike."""
    repository, path = _repository(call), call.args["path"]
    content = html(
        """<p><a href="/{name}">{name}</a></p>
<h1>{path}</h1><p class="soft">The sandbox keeps no files: this page stands for the file.</p>""",
        name=repository.full_name,
        path=path,
    )
    return page(f"{path} · {repository.full_name}", content, call=call)


def show_issues(call: Call) -> Response:
    """The issues of a repository."""
    repository = _repository(call)
    items = [_item(each) for each in reversed(call.host.issues(repository))]
    content = html(
        '<h1>Issues <span>in <a href="/{name}">{name}</a></span></h1>{off}{list}',
        name=repository.full_name,
        off=NOTHING if repository.has_issues else ISSUES_OFF,
        list=_plain(items),
    )
    return page(f"Issues in {repository.full_name}", content, call=call)


ISSUES_OFF = Html('<p class="box wrong">Issues are turned off here.</p>')


def _item(issue: Issue) -> Html:
    return html(
        '<li><a href="/{name}/issues/{number}">{title}</a><br>'
        '<span class="soft"><span class="state {state}">{state}</span> #{number}, opened by {user} '
        "on {day}</span></li>",
        name=issue.repository.full_name,
        number=issue.number,
        title=issue.title,
        state=issue.state,
        user=issue.user,
        day=_in_words(issue.created_at),
    )


def show_issue(call: Call) -> Response:
    """One issue, rendered and as Markdown."""
    repository = _repository(call)
    try:
        issue = call.host.issue(repository, int(call.args["number"]))
    except LookupError:
        return _elsewhere(repository, int(call.args["number"]))
    content = html(
        """<p><a href="/{name}/issues">{name}</a></p>
<h1>{title} <span>#{number}</span></h1>
<p><span class="state {state}">{words}</span>
<span class="soft">opened by {user} on <time datetime="{at}">{day}</time></span></p>
{given}
<article class="body">{rendered}</article>
<form method="post">{button}</form>
<details><summary>As Markdown</summary><pre>{body}</pre></details>{comments}""",
        name=repository.full_name,
        title=issue.title,
        number=issue.number,
        state=issue.state,
        words=STATES.get(issue.state_reason or "", issue.state),
        user=issue.user,
        at=timestamp(issue.created_at),
        day=_in_words(issue.created_at),
        given=_given(issue),
        rendered=rendered(issue.body or ""),
        button=CLOSE if issue.state == "open" else REOPEN,
        body=issue.body or "",
        comments=joined([_comment(each) for each in issue.comments]),
    )
    return page(f"{issue.title} · #{issue.number} · {repository.full_name}", content, call=call)


def _comment(comment: Comment) -> Html:
    return html(
        """<section class="box" id="issuecomment-{id}">
<p class="soft">{user} commented on <time datetime="{at}">{day}</time>{edited}</p>
<article class="body">{rendered}</article></section>""",
        id=comment.id,
        user=comment.user,
        at=timestamp(comment.created_at),
        day=_in_words(comment.created_at),
        edited=", edited" if comment.updated_at > comment.created_at else "",
        rendered=rendered(comment.body),
    )


STATES = {"not_planned": "closed as not planned", "duplicate": "closed as duplicate"}
TO_OTHERS = """<p><button name="reason" value="deleted">Delete issue</button>
<label>Transfer to <input name="to" placeholder="owner/name"></label>
<button name="reason" value="transferred">Transfer issue</button></p>"""


def _given(issue: Issue) -> Html:
    """Its labels, assignees and type."""
    lists = {"Labels": issue.labels, "Assignees": issue.assignees}
    facts = [f"{name}: {', '.join(each)}" for name, each in lists.items() if each]
    facts += [f"Type: {issue.type}"] if issue.type else []
    return html('<p class="soft">{facts}</p>', facts=" · ".join(facts)) if facts else NOTHING


CLOSE = Html(
    '<p><button name="state" value="closed">Close issue</button> '
    '<button name="reason" value="not_planned">Close as not planned</button> '
    '<button name="reason" value="duplicate">Close as duplicate</button> '
    '<span class="soft">GitHub tells the Hub, which shows it on the page of the report, and to the '
    f"reporter if the repository is public.</span></p>{TO_OTHERS}"
)
REOPEN = Html(f'<p><button name="state" value="open">Reopen issue</button></p>{TO_OTHERS}')


def _elsewhere(repository: Repository, number: int) -> Response:
    """Where a transferred issue is now; else there is nothing."""
    numbered = [each for each in repository.issues if each.number == number]
    if numbered and (there := numbered[0].moved_to):
        return redirect(f"/{there.repository.full_name}/issues/{there.number}")
    raise not_found()


def change_issue(call: Call) -> Response:
    """Close, reopen, transfer or delete an issue, as who uses this browser, or else as an owner."""
    repository, user = _repository(call), viewer(call)
    by = user.login if user else _an_owner(repository)
    try:
        _change(call, repository, int(call.args["number"]), by=by)
    except (LookupError, ValueError):
        raise not_found() from None
    is_gone = call.request.fields.get("reason") == "deleted"
    return redirect(f"/{repository.full_name}/issues" if is_gone else call.request.path)


def _change(call: Call, repository: Repository, number: int, *, by: str) -> None:
    host, fields = call.host, call.request.fields
    match fields.get("reason") or fields.get("state"):
        case "deleted":
            host.delete_issue(repository, number, by=by)
        case "transferred":
            host.transfer_issue(repository, number, fields.get("to", ""), by=by)
        case "closed" | "completed" | "not_planned" | "duplicate" as reason:
            given: StateReason = "completed" if reason == "closed" else reason
            host.close_issue(repository, number, by=by, reason=given)
        case _:
            host.reopen_issue(repository, number, by=by)


def _an_owner(repository: Repository) -> str:
    members = repository.owner.members.items()
    return next((login for login, role in members if role == "admin"), repository.owner.login)


def rendered(markdown: str) -> Html:
    """Markdown as GitHub's parser renders it, in its safe mode: no raw HTML, no script links."""
    clean = markdown.encode("utf-8", "replace").decode()
    return Html(cmarkgfm.github_flavored_markdown_to_html(clean))


def show_style(call: Call) -> Response:
    """The style sheet."""
    return Response(200, STYLE.encode(), {"Content-Type": "text/css; charset=utf-8"})


def error(problem: ApiError) -> Response:
    """The page of an error."""
    content = html("<h1>{status}</h1><p>{message}</p>", status=problem.status, message=problem)
    return page(f"{problem.status} {problem.message}", content, status=problem.status)


def _repository(call: Call) -> Repository:
    found = call.host.find_repository(f"{call.args['owner']}/{call.args['name']}")
    if found is None or not _visible(call, found):
        raise not_found()
    return found


def _in_words(at: datetime) -> str:
    return f"{at.day} {at:%B %Y, %H:%M} UTC"


def _visible(call: Call, repository: Repository) -> bool:
    if not repository.private:
        return True
    user = viewer(call)
    return user is not None and repository.role_of(user.login) is not None


def _plain(items: list[Html]) -> Html:
    if not items:
        return html("<p>Nothing here yet.</p>")
    return html('<ul class="plain">{items}</ul>', items=joined(items))
