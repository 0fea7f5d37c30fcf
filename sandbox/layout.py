"""The frame of every page, and `html`, which escapes its values."""

from html import escape

from .messages import Response

STYLE = """\
:root { color-scheme: light dark; --line: light-dark(#d0d7de, #3d444d);
  --soft: light-dark(#57606a, #9198a1); --link: light-dark(#0550ae, #6cb6ff);
  --open: light-dark(#116329, #57ab5a); --closed: light-dark(#6639ba, #b083f0); }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 50rem; padding: 1rem; line-height: 1.5;
  font-family: system-ui, sans-serif; color: light-dark(#1f2328, #e6edf3);
  background: light-dark(#fff, #0d1117); overflow-wrap: anywhere; }
header { border-bottom: 1px solid var(--line); margin-bottom: 1.5rem; padding-bottom: .5rem; }
header, .soft { color: var(--soft); }
a { color: var(--link); }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; }
h1 span { color: var(--soft); font-weight: 400; }
.state { border: 1px solid; border-radius: 1rem; padding: .1rem .7rem; font-size: .9rem; }
.state.open { color: var(--open); }
.state.closed { color: var(--closed); }
.body { border: 1px solid var(--line); border-radius: .4rem; margin: 1rem 0; padding: 0 1rem; }
pre { overflow-x: auto; padding: .75rem; background: light-dark(#f6f8fa, #161b22); }
details pre { white-space: pre-wrap; }
table { border-collapse: collapse; }
th, td { border: 1px solid var(--line); padding: .2rem .6rem; }
blockquote { border-left: .25rem solid var(--line); margin-left: 0; padding-left: 1rem; }
ul.plain { list-style: none; padding: 0; }
ul.plain li { border-top: 1px solid var(--line); padding: .5rem 0; }
button { font: inherit; padding: .4rem 1rem; margin: .2rem 0; min-height: 2rem; }
fieldset { border: 1px solid var(--line); border-radius: .4rem; margin: 1rem 0; }
label { display: block; padding: .2rem 0; }
"""


class Html(str):
    """Text that is already markup."""

    __slots__ = ()


def html(template: str, **values: object) -> Html:
    """`str.format`, with every value escaped unless it is `Html`."""
    return Html(template.format(**{name: _safe(value) for name, value in values.items()}))


def joined(parts: list[Html]) -> Html:
    """Pieces of markup as one."""
    return Html("\n".join(parts))


def _safe(value: object) -> str:
    return value if isinstance(value, Html) else escape(str(value))


def page(title: str, content: Html, *, status: int = 200, forms_lead_to: str = "") -> Response:
    """A complete page. `forms_lead_to` is another origin that a form's response may redirect to."""
    document = html(
        """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/_sandbox/style.css">
</head>
<body>
<header><a href="/">Sandbox code host</a>: a stand-in for GitHub on this machine</header>
<main>
{content}
</main>
</body>
</html>
""",
        title=title,
        content=content,
    )
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": (
            "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; "
            f"frame-ancestors 'none'; form-action 'self' {forms_lead_to}".rstrip()
        ),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }
    return Response(status, document.encode("utf-8", "replace"), headers)
