"""The pages for people: repositories, issues, and one issue as GitHub's own parser renders it."""

import cmarkgfm

from .calls import Call
from .layout import STYLE, Html, html, joined, page
from .messages import ApiError, Response, not_found, timestamp
from .records import Issue, Repository
from .sessions import viewer


def show_home(call: Call) -> Response:
    """The list of repositories."""
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
    return page("Repositories", html("<h1>Repositories</h1>{list}", list=_plain(items)))


def show_repository(call: Call) -> Response:
    """A repository."""
    repository = _repository(call)
    facts = ["private" if repository.private else "public"]
    facts += ["archived"] if repository.archived else []
    facts += [] if repository.has_issues else ["issues are turned off"]
    content = html(
        '<h1>{name}</h1><p class="soft">{facts}</p><p><a href="/{name}/issues">Issues</a></p>',
        name=repository.full_name,
        facts=", ".join(facts),
    )
    return page(repository.full_name, content)


def show_issues(call: Call) -> Response:
    """The issues of a repository."""
    repository = _repository(call)
    items = [_item(each) for each in reversed(call.host.issues(repository))]
    content = html(
        '<h1>Issues <span>in <a href="/{name}">{name}</a></span></h1>{list}',
        name=repository.full_name,
        list=_plain(items),
    )
    return page(f"Issues in {repository.full_name}", content)


def _item(issue: Issue) -> Html:
    return html(
        '<li><a href="/{name}/issues/{number}">{title}</a><br>'
        '<span class="soft">#{number}, {state}, opened by {user}</span></li>',
        name=issue.repository.full_name,
        number=issue.number,
        title=issue.title,
        state=issue.state,
        user=issue.user,
    )


def show_issue(call: Call) -> Response:
    """One issue, rendered and as Markdown."""
    repository = _repository(call)
    try:
        issue = call.host.issue(repository, int(call.args["number"]))
    except LookupError:
        raise not_found() from None
    content = html(
        """<p><a href="/{name}/issues">{name}</a></p>
<h1>{title} <span>#{number}</span></h1>
<p><span class="state {state}">{state}</span>
<span class="soft">opened by {user} on <time datetime="{at}">{at}</time></span></p>
<article class="body">{rendered}</article>
<details><summary>As Markdown</summary><pre>{body}</pre></details>""",
        name=repository.full_name,
        title=issue.title,
        number=issue.number,
        state=issue.state,
        user=issue.user,
        at=timestamp(issue.created_at),
        rendered=rendered(issue.body or ""),
        body=issue.body or "",
    )
    return page(f"{issue.title} · #{issue.number} · {repository.full_name}", content)


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


def _visible(call: Call, repository: Repository) -> bool:
    if not repository.private:
        return True
    user = viewer(call)
    return user is not None and repository.role_of(user.login) is not None


def _plain(items: list[Html]) -> Html:
    if not items:
        return html("<p>Nothing here yet.</p>")
    return html('<ul class="plain">{items}</ul>', items=joined(items))
