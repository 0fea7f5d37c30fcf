"""The frame of every page, and `html`, which escapes its values."""

from html import escape
from typing import TYPE_CHECKING

from .messages import Response

if TYPE_CHECKING:
    from .calls import Call

STYLE = """\
:root { color-scheme: light dark; --line: light-dark(#d8d2c4, #4a4436);
  --soft: light-dark(#5f594c, #b3aa97); --link: light-dark(#0550ae, #7db4ff);
  --paper: light-dark(#fff, #191713); --sand: light-dark(#f3ead6, #2b261b);
  --open: light-dark(#116329, #63c174); --closed: light-dark(#6639ba, #b794f4);
  --wrong: light-dark(#a1260d, #ff9c85); }
* { box-sizing: border-box; }
body { margin: 0; line-height: 1.5; font-family: system-ui, sans-serif; background: var(--paper);
  color: light-dark(#22201b, #ece7db); overflow-wrap: anywhere; }
header { background: var(--sand); border-bottom: 3px dotted var(--soft); }
header > div, main { max-width: 70rem; margin: 0 auto; padding: .75rem 1rem; }
header > div { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: baseline; }
header a { display: inline-block; min-height: 1.75rem; }
header nav { display: flex; flex-wrap: wrap; gap: 0 1.25rem; }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
.brand { font-weight: 700; color: inherit; font-size: 1.15rem; text-decoration: none; }
main { padding: 1.5rem 1rem 3rem; }
.soft { color: var(--soft); font-size: .9375rem; }
a { color: var(--link); }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; }
h1 span { color: var(--soft); font-weight: 400; }
h2 { font-size: 1.125rem; line-height: 1.3; margin: 0 0 .5rem; }
main > :is(p, article, details, form), .text { max-width: 46rem; }
.state { border: 1px solid; border-radius: 1rem; padding: .05rem .6rem; font-size: .875rem;
  font-weight: 400; white-space: nowrap; }
.state.open { color: var(--open); }
.state.closed { color: var(--closed); }
.state.wrong { color: var(--wrong); }
.box, .body, fieldset { border: 1px solid var(--line); border-radius: .5rem; margin: 0 0 1rem; }
.box { padding: 1rem; }
.box > :last-child { margin-bottom: 0; }
.box.wrong { border-color: var(--wrong); border-left-width: .4rem; }
.body { padding: 0 1rem; overflow-x: auto; }
.body > :first-child { margin-top: .75rem; }
.body > :last-child { margin-bottom: .75rem; }
.body hr { border: 0; border-top: 1px solid var(--line); }
.body :is(h1, h2) { font-size: 1.125rem; }
.window { border: 1px solid var(--line); border-radius: .5rem; overflow: hidden; margin: 0 0 1rem; }
.window > .address { background: var(--sand); margin: 0; padding: .4rem 1rem; font-size: .9375rem; }
.window > article { padding: 1rem 1.25rem 1.5rem; }
pre { white-space: pre-wrap; padding: .75rem; border-radius: .3rem; background: var(--sand); }
table { border-collapse: collapse; }
th, td { border: 1px solid var(--line); padding: .2rem .6rem; }
blockquote { border-left: .25rem solid var(--line); margin-left: 0; padding-left: 1rem; }
ul.plain { list-style: none; padding: 0; margin: 0; }
ul.plain li { border-top: 1px solid var(--line); padding: .6rem 0; }
ul.plain li:first-child { border-top: 0; }
.choices p { margin: .25rem 0 .75rem; }
ol.way { list-style: none; padding: 0; margin: 0 0 1rem; }
ol.way li { padding: .15rem 0 .15rem 1.75rem; position: relative; }
ol.way li::before { content: "\\2713"; position: absolute; left: .15rem; font-weight: 700;
  color: var(--open); }
ol.way li.next { color: var(--soft); }
ol.way li.next::before { content: "\\2026"; color: inherit; }
ol.way li.wrong::before { content: "\\0021"; left: .4rem; color: var(--wrong); }
button { font: inherit; font-weight: 600; padding: .35rem 1rem; min-height: 2.25rem; cursor: pointer;
  color: inherit; background: var(--sand); border: 1px solid var(--soft); border-radius: .4rem; }
button:hover { border-color: currentcolor; text-decoration: underline; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
label { display: block; padding: .2rem 0; }
@media (min-width: 56rem) {
  .columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 1.5rem; }
  .choices { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem 1.25rem; }
}
"""


class Html(str):
    """Text that is already markup."""

    __slots__ = ()


NOTHING = Html()


def html(template: str, **values: object) -> Html:
    """`str.format`, with every value escaped unless it is `Html`."""
    return Html(template.format(**{name: _safe(value) for name, value in values.items()}))


def joined(parts: list[Html]) -> Html:
    """Pieces of markup as one."""
    return Html("\n".join(parts))


def _safe(value: object) -> str:
    return value if isinstance(value, Html) else escape(str(value))


def page(
    title: str,
    content: Html,
    *,
    call: "Call | None" = None,
    status: int = 200,
    forms_lead_to: str = "",
    follow: Html = NOTHING,
) -> Response:
    """A complete page. `forms_lead_to` is another origin that a form's response may redirect to.

    `follow` is how the page shows by itself what changes: `FOLLOW` with script, `RELOAD` without.
    """
    document = html(
        """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/_sandbox/style.css">
{follow}</head>
<body>
<header><div><a class="brand" href="/">Sandbox</a>
<span class="soft">stands in for GitHub on this machine</span>{links}</div></header>
<main>
{content}
</main>
</body>
</html>
""",
        title=title,
        content=content,
        links=_links(call) if call else NOTHING,
        follow=follow,
    )
    script = "script-src 'self'; connect-src 'self'; " if follow else ""
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": (
            f"default-src 'none'; style-src 'self'; {script}img-src data:; base-uri 'none'; "
            f"frame-ancestors 'none'; form-action 'self' {forms_lead_to}".rstrip()
        ),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",  # or its own forms would come without an Origin
        "Cache-Control": "no-store",
    }
    return Response(status, document.encode("utf-8", "replace"), headers)


FOLLOW = Html('<script src="/_sandbox/follow.js" defer></script>\n')
RELOAD = Html('<noscript><meta http-equiv="refresh" content="1"></noscript>\n')
SCRIPT = """\
"use strict";
// Loads the page again while it is open, and shows its live part where that has changed.
const live = document.getElementById("live");
let shown = live.innerHTML; // as it came: people may have opened something in it
async function follow() {
  const answer = await fetch(location.href, { cache: "no-store" });
  const loaded = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = loaded.getElementById("live");
  if (next.innerHTML !== shown) {
    shown = next.innerHTML;
    live.replaceChildren(...next.childNodes);
  }
  again(Number(next.dataset.seconds));
}
function again(seconds) {
  setTimeout(() => follow().catch(() => again(10)), seconds * 1000);
}
again(0.4);
"""


def _links(call: "Call") -> Html:
    """The pages that only a sandbox with a trial has."""
    trial = call.host.trial
    if trial is None:
        return NOTHING
    return html(
        '<nav><a href="/_sandbox/docs/install">A page of docs</a> '
        '<a href="/_sandbox/faults">What goes wrong</a> <a href="{hub}/settings/">The Hub</a></nav>',
        hub=trial.hub_url,
    )
