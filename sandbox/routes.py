"""The table of routes, and how a request gets its response."""

import re
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from . import (
    api_app,
    api_comments,
    api_issues,
    api_repositories,
    api_user,
    control,
    docs_page,
    installing,
    manifests,
    oauth,
    pages,
    sessions,
    switches,
)
from .calls import Call, Handler, decoded
from .credentials import identify
from .messages import ApiError, Request, Response, not_found

if TYPE_CHECKING:
    from .host import CodeHost

API = "/api/v3"
REPOSITORY = r"(?:repos/(?P<owner>[^/]+)/(?P<name>[^/]+)|repositories/(?P<repository_id>\d{1,9}))"
_LOOPBACK = re.compile(
    r"(?:127(?:\.\d{1,3}){3}|localhost|\[::1\])(?::\d{1,5})?", re.ASCII | re.IGNORECASE
)
_FROM_ANYWHERE = re.compile(r"(?:/organizations/[^/]+)?/settings/apps/new")
_OF_REPOSITORY = re.compile(rf"{API}/{REPOSITORY}(?P<rest>/.*)?")
INSTALLATION = r"(?P<installation_id>\d{1,9})"
APP = r"/(?:github-apps|apps)/(?P<slug>[^/]+)"
APPS = r"(?:/organizations/(?P<organization>[^/]+))?/settings/apps"
COMMENTS = rf"{API}/{REPOSITORY}/issues/(?P<number>\d{{1,9}})/comments"
COMMENT = rf"{API}/{REPOSITORY}/issues/comments/(?P<comment_id>\d{{1,9}})"
REPOSITORY_PATH = r"/(?P<owner>[^/]+)/(?P<name>[^/]+)"


class Route(NamedTuple):
    """A method and pattern, and their handler."""

    method: str
    pattern: re.Pattern[str]
    handler: Handler


def _route(method: str, pattern: str, handler: Handler) -> Route:
    return Route(method, re.compile(pattern), handler)


ROUTES = (
    _route("GET", f"{API}/app", api_app.show_app),
    _route("GET", f"{API}/app/hook/config", api_app.show_webhook),
    _route("GET", f"{API}/app/hook/deliveries", api_app.list_webhooks),
    _route("GET", f"{API}/app/installations", api_app.list_installations),
    _route("GET", f"{API}/app/installations/{INSTALLATION}", api_app.show_installation),
    _route("POST", f"{API}/app/installations/{INSTALLATION}/access_tokens", api_app.create_token),
    _route("GET", f"{API}/installation/repositories", api_app.list_repositories),
    _route("GET", f"{API}/user", api_user.show_user),
    _route("GET", f"{API}/users/(?P<login>[^/]+)", api_user.show_account),
    _route("GET", f"{API}/user/(?P<account_id>\\d{{1,9}})", api_user.show_account_by_id),
    _route("GET", f"{API}/user/emails", api_user.list_emails),
    _route("GET", f"{API}/user/installations", api_user.list_installations),
    _route(
        "GET", f"{API}/user/installations/{INSTALLATION}/repositories", api_user.list_repositories
    ),
    _route("GET", f"{API}/{REPOSITORY}", api_repositories.show_repository),
    _route(
        "GET",
        f"{API}/{REPOSITORY}/collaborators/(?P<login>[^/]+)/permission",
        api_repositories.show_permission,
    ),
    _route(
        "GET", f"{API}/{REPOSITORY}/assignees/(?P<login>[^/]+)", api_repositories.check_assignee
    ),
    _route("GET", f"{API}/{REPOSITORY}/issues", api_issues.list_issues),
    _route("POST", f"{API}/{REPOSITORY}/issues", api_issues.create_issue),
    _route("GET", f"{API}/{REPOSITORY}/issues/(?P<number>\\d{{1,9}})", api_issues.show_issue),
    _route("PATCH", f"{API}/{REPOSITORY}/issues/(?P<number>\\d{{1,9}})", api_issues.change_issue),
    _route("GET", COMMENTS, api_comments.list_comments),
    _route("POST", COMMENTS, api_comments.create_comment),
    _route("GET", COMMENT, api_comments.show_comment),
    _route("PATCH", COMMENT, api_comments.change_comment),
    _route("POST", f"{API}/app-manifests/(?P<code>[^/]+)/conversions", manifests.convert),
    _route("GET", f"{API}/rate_limit", api_repositories.show_rate_limit),
    _route("POST", "/_sandbox/faults", control.arm_fault),
    _route("DELETE", "/_sandbox/faults", control.clear_faults),
    _route("GET", "/_sandbox/state", control.show_state),
    _route("GET", "/_sandbox/style.css", pages.show_style),
    _route("GET", "/_sandbox/follow.js", docs_page.show_script),
    _route("GET", docs_page.PATH, docs_page.show_docs),
    _route("POST", "/_sandbox/reports", docs_page.send_report),
    _route("GET", "/_sandbox/faults", switches.show_switches),
    _route("POST", "/_sandbox/faults/(?P<name>\\w+)", switches.turn),
    _route("GET", "/_sandbox/as/(?P<login>[^/]+)", sessions.go_on_as),
    _route("GET", "/login", sessions.show_sign_in),
    _route("POST", "/login", sessions.sign_in),
    _route("GET", "/login/oauth/authorize", oauth.show_authorization),
    _route("POST", "/login/oauth/authorize", oauth.authorize),
    _route("POST", "/login/oauth/access_token", oauth.exchange_code),
    _route("GET", f"{APP}/installations/new", installing.show_choice),
    _route("POST", f"{APP}/installations/new", installing.install),
    _route("GET", APPS, manifests.show_apps),
    _route("POST", APPS, manifests.create),
    _route("POST", f"{APPS}/new", manifests.show_manifest),
    _route("POST", f"{APPS}/delete", manifests.delete),
    _route(
        "GET",
        rf"(?:/organizations/[^/]+)?/settings/installations/{INSTALLATION}",
        installing.show_settings,
    ),
    _route("GET", "/", pages.show_home),
    _route("GET", REPOSITORY_PATH, pages.show_repository),
    _route(
        "GET", f"{REPOSITORY_PATH}/(?:(?:blob|raw|tree)/[^/]+|wiki)/(?P<path>.+)", pages.show_file
    ),
    _route("GET", f"{REPOSITORY_PATH}/issues", pages.show_issues),
    _route("GET", f"{REPOSITORY_PATH}/issues/(?P<number>\\d{{1,9}})", pages.show_issue),
    _route("POST", f"{REPOSITORY_PATH}/issues/(?P<number>\\d{{1,9}})", pages.change_issue),
)


def answer(host: "CodeHost", request: Request) -> Response:
    """The response of the code host if nothing goes wrong on the way."""
    if not _is_own_name(host, request.headers.get("Host", "")):
        sentence = f"The sandbox does not answer by this name. Open it at {host.url}."
        return ApiError(400, sentence).response()
    if request.path.startswith(f"{API}/"):
        return _answer_api(host, request)
    try:
        _refuse_other_sites(host, request)
        return _handle(Call(host, request))
    except ApiError as error:
        if request.path.startswith("/_sandbox/") and not _is_for_a_person(request):
            return error.response()
        return pages.error(error)


def _is_own_name(host: "CodeHost", name: str) -> bool:
    """Whether a request names this machine, or where the code host says that it is.

    Else a page of another site could read it, by letting its own name lead to this machine.
    """
    return bool(_LOOPBACK.fullmatch(name)) or name == urlsplit(host.url).netloc


def _refuse_other_sites(host: "CodeHost", request: Request) -> None:
    """Refuse what a page of another site sends: browsers say so. Programs have no `Origin`.

    A manifest may come from anywhere, because the page that asks about it is shown first.
    """
    if _FROM_ANYWHERE.fullmatch(request.path):
        return
    own = (None, host.url, host.url.replace("127.0.0.1", "localhost"))
    if request.method != "GET" and request.headers.get("Origin") not in own:
        raise ApiError(403, "This form came from another site. Open the sandbox's own page.")


def _is_for_a_person(request: Request) -> bool:
    return "text/html" in request.headers.get("Accept", "")


def _answer_api(host: "CodeHost", request: Request) -> Response:
    headers = {
        "X-GitHub-Media-Type": "github.v3; format=json",
        "X-GitHub-Request-Id": secrets.token_hex(8),
    }
    try:
        if not request.headers.get("User-Agent"):
            raise ApiError(403, "Missing or invalid User Agent string.")
        caller = identify(request, state=host, tokens=host.tokens)
        cost = 0 if request.path == f"{API}/rate_limit" else 1
        headers |= host.limits.spend(caller, cost, now=host.now()).headers
        response = _handle(Call(host, request, caller=caller))
    except ApiError as error:
        response = error.response()
    return Response(response.status, response.body, headers | response.headers)


def _handle(call: Call) -> Response:
    for route in ROUTES:
        match = route.pattern.fullmatch(call.request.path)
        if match and route.method == call.request.method:
            args = decoded(match.groupdict())
            return route.handler(replace(call, args=args))
    raise not_found()


def other_address(host: "CodeHost", path: str) -> str:
    """A repository's path by name for one by id, and the other way round; other paths stay."""
    match = _OF_REPOSITORY.fullmatch(path)
    if not match:
        return host.url + path
    args = decoded(match.groupdict(default=""))
    if args["repository_id"]:
        found = host.repositories.get(int(args["repository_id"]))
        where = f"repos/{found.full_name}" if found else "repositories/0"
    else:
        found = host.find_repository(f"{args['owner']}/{args['name']}")
        where = f"repositories/{found.id if found else 0}"
    return f"{host.url}{API}/{where}{args['rest']}"
