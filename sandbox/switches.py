"""What can go wrong at the code host, as buttons: each lasts until it is ended."""

from typing import TYPE_CHECKING, Any, NamedTuple

from .calls import Call
from .layout import NOTHING, Html, html, joined, page
from .messages import Response, not_found, redirect
from .records import Installation, Repository

if TYPE_CHECKING:
    from .host import CodeHost

LASTS = 1_000_000  # requests


class Switch(NamedTuple):
    """Something that can go wrong: its name, what to press, what the Hub shows then, and what when it has ended."""

    name: str
    title: str
    begin: str
    end: str
    seen: str
    afterwards: str


SWITCHES = {
    each.name: each
    for each in (
        Switch(
            "issues",
            "Issues are turned off",
            "Turn issues off",
            "Turn issues on",
            "The next report is held, and the overview says that issues are turned off in acme/docs. "
            "The reports that follow are held, too, without asking again.",
            "Press Try again in the Hub, and what was held is sent. Without you, the Hub looks once an "
            "hour.",
        ),
        Switch(
            "502",
            "Every new issue is answered with 502",
            "Answer with 502",
            "Answer properly",
            "Nobody knows whether the issue of the next report exists. The report says so, and before the Hub "
            "sends anything again it looks for that issue, so that there are never two.",
            "Two minutes after its first attempt the Hub is sure that there is no issue, and opens one.",
        ),
        Switch(
            "limit",
            "The rate limit is reached",
            "Reach the limit",
            "Lift the limit",
            "The next report waits, because GitHub asks for a pause of one minute. Reports that come "
            "in meanwhile wait without a call to GitHub.",
            "When that minute is over, the Hub sends what waits, oldest first.",
        ),
        Switch(
            "dropped",
            "Labels, assignees and types are dropped",
            "Drop them",
            "Take them",
            "The next report becomes an issue all the same. If you have chosen labels for your issues, the "
            "page Integration and the overview say which of them GitHub did not take.",
            "That is gone from both pages with the next report that becomes an issue.",
        ),
        Switch(
            "suspended",
            "The app is suspended on acme",
            "Suspend the app",
            "End the suspension",
            "The Hub is told by a webhook: the overview says at once that the app was suspended, and "
            "what comes in is held.",
            "The Hub is told by a webhook, and sends what was held within a minute.",
        ),
    )
}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "502": ("502", {}),
    "limit": ("403_retry_after", {"value": 60}),
}


def show_switches(call: Call) -> Response:
    """The page with a button for each."""
    if call.host.trial is None:
        raise not_found()
    boxes = [_box(call.host, each) for each in SWITCHES.values()]
    content = html(
        """<h1>What goes wrong</h1>
<p>Let GitHub fail, send a report from <a href="/_sandbox/docs/install">the page of docs</a>, and see what
the Hub says about it: on <a href="{hub}/settings/">its overview</a>, and at the report itself. Everything
lasts until you end it.</p>{boxes}""",
        hub=call.host.trial.hub_url,
        boxes=joined(boxes),
    )
    return page("What goes wrong", content, call=call)


def turn(call: Call) -> Response:
    """Begin or end what the button says."""
    switch = SWITCHES.get(call.args["name"])
    if switch is None or call.host.trial is None:
        raise not_found()
    _turn(call.host, switch, on=call.request.fields.get("turn") == "on")
    return redirect(f"/_sandbox/faults#{switch.name}")


def on_now(host: "CodeHost") -> list[Switch]:
    """What goes wrong now."""
    return [each for each in SWITCHES.values() if host.trial and _is_on(host, each)]


def _box(host: "CodeHost", switch: Switch) -> Html:
    is_on = _is_on(host, switch)
    return html(
        """<section class="box{mark}" id="{name}"><h2>{title} {state}</h2>
<p><b>You see:</b> {seen}</p>
<p><b>To end it:</b> {end}. {afterwards}</p>
<form method="post" action="/_sandbox/faults/{name}">
<button name="turn" value="{turn}">{label}</button></form></section>""",
        mark=" wrong" if is_on else "",
        name=switch.name,
        title=switch.title,
        state=html('<span class="state wrong">now</span>') if is_on else NOTHING,
        seen=switch.seen,
        end=switch.end,
        afterwards=switch.afterwards,
        turn="off" if is_on else "on",
        label=switch.end if is_on else switch.begin,
    )


def _turn(host: "CodeHost", switch: Switch, *, on: bool) -> None:
    if on == _is_on(host, switch):
        return
    if switch.name == "issues":
        host.set_issues(_repository(host), not on)
    elif switch.name == "dropped":
        host.drops = {"labels", "assignees", "type"} if on else set()
    elif switch.name == "suspended":
        if installation := _installation(host):
            (host.suspend if on else host.unsuspend)(installation)
    elif on:
        kind, details = KINDS[switch.name]
        host.fail(kind, times=LASTS, **details)
    else:
        host.faults.clear(KINDS[switch.name][0])


def _is_on(host: "CodeHost", switch: Switch) -> bool:
    if switch.name == "issues":
        return not _repository(host).has_issues
    if switch.name == "dropped":
        return bool(host.drops)
    if switch.name == "suspended":
        installation = _installation(host)
        return bool(installation and installation.suspended_at)
    return any(each["kind"] == KINDS[switch.name][0] for each in host.faults.waiting())


def _repository(host: "CodeHost") -> Repository:
    if host.trial is None:
        raise not_found()
    return host.repository(host.trial.repository)


def _installation(host: "CodeHost") -> Installation | None:
    return host.installation_on(_repository(host).owner)
