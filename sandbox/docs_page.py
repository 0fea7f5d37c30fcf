"""A page of acme's docs with mistakes on it, buttons that report them, and what becomes of a report.

It stands in for the page that acme has claimed at the Hub, whose address leads nowhere.
"""

import json
from typing import Any

from . import switches
from .calls import Call
from .layout import FOLLOW, NOTHING, RELOAD, SCRIPT, Html, html, joined, page
from .messages import Response, not_found, redirect
from .pages import rendered
from .records import Issue
from .trial import Sent, Trial
from .variants import VARIANTS, Variant

PATH = "/_sandbox/docs/install"
DOCS = Html("""<h2>Install the acme command line</h2>
<p>The command line deploys your project to Acme. You need Node.js 14 or later.</p>
<pre><code>npm install -g acme-cli</code></pre>
<p>Then sign in, and serve your project on your own machine:</p>
<pre><code>acme login
acme serve</code></pre>
<p>Open http://localhost:3000 to see it.</p>
<p>Next: the quickstart, at <code>/docs/quick-start</code>.</p>
<p class="soft">Version 3 of the command line is published as <code>@acme/cli</code>. Last edited two
years ago.</p>""")


def show_docs(call: Call) -> Response:
    """The page of docs, and beside it the buttons and the report that was sent last."""
    trial = _trial(call)
    number = call.request.params.get("report", "")
    sent = trial.find(number) if number else next(iter(trial.sent), None)
    if sent:
        trial.look_again(sent)
    content = html(
        """<div class="columns"><div>
<h1>A page of docs</h1>
<p class="text">It stands in for a page that acme has claimed at the Hub. The package is called
<code>@acme/cli</code> now, and that is not all that is wrong.</p>
<section class="window" aria-label="The page"><p class="address">{address}</p>
<article>{docs}</article></section>
<section class="box"><h2>Report it</h2>
<form method="post" action="/_sandbox/reports"><div class="choices">{buttons}</div></form>
<p class="soft">Each button sends a real report: <code>POST {hub}/v1/reports</code></p></section></div>
<div>{troubles}
<section class="box" id="live" aria-live="polite" aria-label="What became of it" data-seconds="{seconds}">
<h2>What became of it</h2>{live}</section>
{earlier}</div></div>""",
        address=trial.page,
        docs=DOCS,
        troubles=_troubles(call),
        hub=trial.hub_url,
        buttons=joined([_button(each) for each in VARIANTS.values()]),
        seconds=1 if sent and sent.is_open else 3,
        live=_live(call, sent) if sent else Html("<p>Nothing has been sent from here yet.</p>"),
        earlier=_earlier(trial, sent),
    )
    follow = NOTHING if not sent else Html(FOLLOW + RELOAD) if sent.is_open else FOLLOW
    return page("A page of docs", content, call=call, follow=follow)


def send_report(call: Call) -> Response:
    """Send the report that the button says."""
    variant = VARIANTS.get(call.request.fields.get("variant", ""))
    if variant is None:
        raise not_found()
    return redirect(f"{PATH}?report={_trial(call).send(variant).number}#live")


def show_script(call: Call) -> Response:
    """The script of the live part."""
    return Response(200, SCRIPT.encode(), {"Content-Type": "text/javascript; charset=utf-8"})


def _trial(call: Call) -> Trial:
    if call.host.trial is None:
        raise not_found()
    return call.host.trial


def _button(variant: Variant) -> Html:
    return html(
        '<div><button name="variant" value="{name}">{label}</button>'
        '<p class="soft">{promise}</p></div>',
        name=variant.name,
        label=variant.label,
        promise=variant.promise,
    )


def _troubles(call: Call) -> Html:
    boxes = [
        html(
            '<p class="box wrong"><b>{title} now.</b> '
            '<a href="/_sandbox/faults#{name}">{end}</a></p>',
            title=each.title,
            name=each.name,
            end=each.end,
        )
        for each in switches.on_now(call.host)
    ]
    return joined(boxes)


def _live(call: Call, sent: Sent) -> Html:
    links = ""
    if sent.answer:
        links = html(
            '<p><a href="{hub}/settings/reports/{id}/">The report in the Hub</a> '
            '<span class="soft">(as alice or bob)</span> · <a href="{receipt}">Its public receipt</a></p>',
            hub=_trial(call).hub_url,
            id=sent.answer.get("id", ""),
            receipt=sent.answer.get("receipt_url", ""),
        )
    issue = _issue(call, sent)
    return html(
        '<p>{label}: “{summary}”, by {agent}</p><ol class="way">{steps}</ol>{links}{more}',
        label=sent.variant.label,
        summary=sent.body["report"]["summary"],
        agent=sent.body["agent"]["name"],
        steps=joined(_steps(sent, issue)),
        links=links or NOTHING,
        more=joined([_removed(sent), _explained(sent, issue), _compared(sent, issue)]),
    )


def _steps(sent: Sent, issue: Issue | None) -> list[Html]:
    """Received, matched, issue opened: what has happened, and what comes next."""
    if sent.problem:
        return [html('<li class="wrong"><b>Not received.</b> {why}</li>', why=sent.problem)]
    if not sent.answer:
        return [html('<li class="next">Sending …</li>')]
    steps = [_received(sent)]
    if not sent.is_matched:
        words = "Waiting for somebody to receive it. If that lasts, the Hub says why."
        return [*steps, html('<li class="next">{words}</li>', words=words)]
    steps.append(html("<li><b>Matched:</b> acme has claimed this page</li>"))
    if not sent.has_issue:
        words = "No issue yet. If that lasts, the report in the Hub says why."
        return [*steps, html('<li class="next">{words}</li>', words=words)]
    return [*steps, _opened(sent, issue)]


def _received(sent: Sent) -> Html:
    at = str(sent.answer.get("received_at", ""))[:19].replace("T", " ")
    if not sent.answer.get("is_duplicate"):
        return html("<li><b>Received</b> at {at} UTC</li>", at=at)
    times = sent.receipt.get("times_reported", "")
    return html(
        "<li><b>Received, and counted:</b> the Hub has this report since {at} UTC. It was sent "
        "{times} times, and has one issue.</li>",
        at=at,
        times=times or "several",
    )


def _opened(sent: Sent, issue: Issue | None) -> Html:
    return html(
        '<li><b><a href="{url}">Issue {number}</a></b>, <span class="state {state}">{state}</span></li>',
        url=sent.receipt["issue_url"],
        number=f"#{issue.number}" if issue else "in the repository",
        state=sent.receipt.get("issue_state") or "open",
    )


def _issue(call: Call, sent: Sent) -> Issue | None:
    """The issue that the Hub says the report has become."""
    trial = _trial(call)
    prefix = f"{call.host.url}/{trial.repository}/issues/"
    number = str(sent.receipt.get("issue_url") or "").removeprefix(prefix)
    try:
        return call.host.issue(trial.repository, int(number))
    except (LookupError, ValueError):
        return None


def _removed(sent: Sent) -> Html:
    """The secrets that the Hub has removed, as its answer says."""
    notices = [each for each in sent.answer.get("notices", []) if isinstance(each, dict)]
    if not notices:
        return NOTHING
    items = [
        html(
            "<li>{kind}, in <code>{field}</code></li>",
            kind=each.get("kind", ""),
            field=each.get("field", ""),
        )
        for each in notices
    ]
    return html(
        "<h3>Removed before anything was stored</h3><ul>{items}</ul>"
        '<p class="soft">The answer says so in <code>notices</code>; in the text it says what stood there.</p>',
        items=joined(items),
    )


def _explained(sent: Sent, issue: Issue | None) -> Html:
    return (
        html("<p>{words}</p>", words=sent.variant.look) if issue and sent.variant.look else NOTHING
    )


def _compared(sent: Sent, issue: Issue | None) -> Html:
    """What was sent, beside what stands in the issue."""
    if issue is None:
        return html(
            "<details><summary>What was sent</summary><pre>{body}</pre></details>",
            body=_as_json(sent.body),
        )
    return html(
        """<h3>In the issue</h3><div class="body"><p><b>{title}</b></p>{rendered}</div>
<details{opened}><summary>What was sent</summary><pre>{body}</pre></details>
<details><summary>The issue as Markdown</summary><pre>{markdown}</pre></details>""",
        title=issue.title,
        rendered=rendered(issue.body or ""),
        opened=NOTHING if sent.variant.name in ("ordinary", "repeated") else Html(" open"),
        body=_as_text(sent.body["report"]),
        markdown=issue.body or "",
    )


def _as_json(body: dict[str, Any]) -> str:
    return json.dumps(body, indent=2, ensure_ascii=False)


def _as_text(report: dict[str, Any]) -> str:
    """What the reporter wrote, field by field, with its own line breaks."""
    fields = ("summary", "details", "suggested_fix")
    return "\n\n".join(f"{name}:\n{report[name]}" for name in fields if report.get(name))


def _earlier(trial: Trial, shown: Sent | None) -> Html:
    others = [each for each in trial.sent if each is not shown]
    if not others:
        return NOTHING
    items = [
        html(
            '<li><a href="{path}?report={number}#live">{summary}</a></li>',
            path=PATH,
            number=each.number,
            summary=each.body["report"]["summary"],
        )
        for each in others[:5]
    ]
    return html("<h2>Sent before</h2><ul>{items}</ul>", items=joined(items))
