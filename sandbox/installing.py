"""Installing the app: choose an account and its repositories, press *Install*, return to the app.

If the app is already installed, GitHub shows its own settings page and never calls back.
"""

from . import github_json
from .calls import Call
from .layout import Html, html, joined, page
from .messages import ApiError, Response, not_found, redirect
from .oauth import new_code, origin, with_query
from .records import Account, Installation, Repository
from .sessions import begin, person, sign_in_path, viewer


def show_choice(call: Call) -> Response:
    """The page to choose an account. `?login=alice` signs in alice without asking."""
    _check_slug(call)
    params = call.request.params
    cookie: dict[str, str] = {}
    user = viewer(call)
    if login := params.get("login"):
        user = person(call.host, login)
        cookie = begin(call.host, user)
    if user is None:
        return redirect(sign_in_path(call))
    forms = [
        _account_form(call, each, state=params.get("state")) for each in _accounts_of(call, user)
    ]
    content = html(
        "<h1>Install {app}</h1><p>Signed in as {user}. Where do you want to install it?</p>{forms}",
        app=call.host.app.slug,
        user=user.login,
        forms=joined(forms),
    )
    lead_to = origin(_back(call)) if _back(call) else ""
    response = page(f"Install {call.host.app.slug}", content, call=call, forms_lead_to=lead_to)
    return Response(response.status, response.body, response.headers | cookie)


def install(call: Call) -> Response:
    """Install the app as the form says, and return to the app."""
    _check_slug(call)
    user = viewer(call)
    if user is None:
        return redirect(sign_in_path(call))
    form = call.request.form
    account = _account(call, user, form=form)
    if existing := call.host.installation_on(account):
        return redirect(github_json.settings_path(existing))
    installation = call.host.add_installation(
        account.login, repositories=_chosen(call, account, form=form)
    )
    return redirect(
        _way_back(call, user, installation=installation, state=form.get("state", [None])[0])
    )


def show_settings(call: Call) -> Response:
    """GitHub's own settings page of an installation."""
    installation, user = call.installation(), viewer(call)
    if user is None:
        return redirect(sign_in_path(call))
    if installation.account not in _accounts_of(call, user):
        raise not_found()
    names = [html("<li>{name}</li>", name=each) for each in _names(call, installation)]
    content = html(
        "<h1>{app} <span>on {account}</span></h1><p>Installed{suspended}. It has access to:</p>"
        "<ul>{names}</ul>",
        app=call.host.app.slug,
        account=installation.account.login,
        suspended=", but suspended" if installation.suspended_at else "",
        names=joined(names),
    )
    return page(f"{call.host.app.slug} on {installation.account.login}", content, call=call)


def _check_slug(call: Call) -> None:
    if call.args["slug"] != call.host.app.slug:
        raise not_found()


def _accounts_of(call: Call, user: Account) -> list[Account]:
    """The accounts on which the person may install the app: their own, and those they own."""
    login, app = user.login.lower(), call.host.app
    everyone = call.host.accounts.values()
    mine = [each for each in everyone if each is user or each.members.get(login) == "admin"]
    return [each for each in mine if app.public or each.login == app.owner]


def _account(call: Call, user: Account, *, form: dict[str, list[str]]) -> Account:
    wanted = form.get("account", [""])[0].lower()
    for account in _accounts_of(call, user):
        if account.login.lower() == wanted:
            return account
    raise ApiError(403, "You cannot install an app on that account.")


def _chosen(call: Call, account: Account, *, form: dict[str, list[str]]) -> list[Repository] | None:
    if form.get("selection") == ["all"]:
        return None
    ids = form.get("repository", [])
    chosen = [each for each in _owned(call, account) if str(each.id) in ids]
    if not chosen:
        raise ApiError(422, "Choose at least one repository.")
    return chosen


def _owned(call: Call, account: Account) -> list[Repository]:
    return [each for each in call.host.repositories.values() if each.owner is account]


def _names(call: Call, installation: Installation) -> list[str]:
    return [each.full_name for each in call.host.repositories_of(installation)]


def _back(call: Call) -> str:
    """The URL to which the app wants people sent after an installation; it may have none."""
    app = call.host.app
    callback = next(iter(app.callback_urls), "")
    return callback if app.asks_for_code else app.setup_url or callback


def _way_back(call: Call, user: Account, *, installation: Installation, state: str | None) -> str:
    target = _back(call)
    if not target:
        return github_json.settings_path(installation)
    code = new_code(call, user, redirect_uri=target) if call.host.app.asks_for_code else None
    return with_query(
        target,
        code=code,
        installation_id=str(installation.id),
        setup_action="install",
        state=state or None,
    )


def _account_form(call: Call, account: Account, *, state: str | None) -> Html:
    existing = call.host.installation_on(account)
    if existing:
        return html(
            '<fieldset><legend>{login}</legend><p>Installed. <a href="{path}">Configure</a></p>'
            "</fieldset>",
            login=account.login,
            path=github_json.settings_path(existing),
        )
    boxes = [
        html(
            '<label><input type="checkbox" name="repository" value="{id}"> {name}</label>',
            id=each.id,
            name=each.full_name,
        )
        for each in _owned(call, account)
    ]
    return html(
        """<form method="post" action="new"><fieldset><legend>{login}</legend>
<input type="hidden" name="account" value="{login}">
<input type="hidden" name="state" value="{state}">
<label><input type="radio" name="selection" value="all" checked> All repositories</label>
<label><input type="radio" name="selection" value="selected"> Only these:</label>
{boxes}
<button>Install</button></fieldset></form>""",
        login=account.login,
        state=state or "",
        boxes=joined(boxes),
    )
