"""An issue's Markdown is shown as on GitHub, whatever is in it, and nothing of it acts."""

import json
import os
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.screen import rendered
from integrations.issue.rendering import BODY_LIMIT, render_issue
from tests.integrations.issue import hostile

SANITISE = os.environ.get("HUB_SANITISE_DIR", "")
ELEMENTS = {*rendered._SHOWN.values(), "mark", "span", "div"}
ATTRIBUTES = {("pre", "tabindex", "0"), ("div", "tabindex", "0"), ("span", "class", "chip")}
LOOSE = {"br", "hr", "span", "mark"}  # they are moved out of tables, and end nothing
PARTS = {  # of a table, and what may be in them
    "table": {"thead", "tbody", "tr", *LOOSE},
    "thead": {"tr", *LOOSE},
    "tbody": {"tr", *LOOSE},
    "tr": {"th", "td", *LOOSE},
}
GROWTH = 24  # at most, for eight times the text; quadratic would be 64
SECONDS = 0.02  # of CPU: below this, growth cannot be told from noise

TABLE = '<div tabindex="0"><table>\n'
RENDERED = [
    ("**bold** and `code`", "<p><strong>bold</strong> and <code>code</code></p>"),
    ("one\ntwo", "<p>one<br>\ntwo</p>"),
    ("[page](https://docs.example.com/)", "<p><u>page</u></p>"),
    ("https://docs.example.com/", "<p><u>https://docs.example.com/</u></p>"),
    ('![a "b"](https://x.example/p.png)', '<p><span class="chip">image a &quot;b&quot;</span></p>'),
    ("## Title", "<h4>Title</h4>"),
    ("3. c", '<ol start="3">\n<li>c</li>\n</ol>'),
    ("- [x] done", "<ul>\n<li>☑ done</li>\n</ul>"),
    ("```sh\na < b\n```", '<pre tabindex="0"><code>a &lt; b\n</code></pre>'),
    ("a <!-- hub:1 --> b", "<p>a  b</p>"),
    ("\u200b@all", "<p><mark>·</mark>@all</p>"),
    ("`\u200b@all`", "<p><code><mark>·</mark>@all</code></p>"),
    ("<b>left open", "<p><b>left open</b></p>"),
    ("</div></article>after", "after"),
    ("a <b onclick=alert(1)>b</b>", "<p>a <b>b</b></p>"),
    ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"),
    ("<li>stray", "stray"),
    ("|a|\n|-|", f"{TABLE}<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n</table></div>"),
    (
        "<details><summary>More</summary>\n\nx\n\n</details>",
        "<details><summary>More</summary>\n<p>x</p>\n</details>",
    ),
]
OWN = [
    "<img src=x onerror=alert(1)>",
    '<img alt=">" src=x onerror=alert(1)>',
    '<a href="javascript:alert(1)">x</a> [x](javascript:alert(1)) [x](data:text/html,x)',
    '[x](https://evil.example "a\\" onclick=alert(1)")',
    '<https://evil.example/?a="b"> <javascript:alert(1)>',
    "![x](https://evil.example/p.png) ![<b>](//evil.example)",
    "<svg onload=alert(1)><style>*{display:none}</style>",
    '<form action="//evil.example"><input name=a autofocus><button>x</button></form>',
    "<iframe src=//evil.example></iframe><object data=x><embed src=x><base href=//evil.example>",
    "<meta http-equiv=refresh content=0><link rel=stylesheet href=//evil.example>",
    "</div></article></section></main></body><h1>mine</h1>",
    "<table><table></table></table>OUT" * 3,
    "<table><tbody><tr><table><td>x</table></table>OUT",
    "<table><b>x<p>x<tr><ul><li>x<td><table><tr><td>in a cell, it may</table></table>OUT",
    "<td></td><li><summary>x<table><td>y<tr>z</table>",
    "<!-- never closed <b>",
    "<!--> --><script>x</script>",
    "<![CDATA[<b onclick=x>]]> <?php <b onclick=x> ?> <!DOCTYPE x>",
    '<b\nonclick=alert(1)\n>x <b/onclick=alert(1)>x <ol start="1" onclick=x>',
    '<ol start="1" onmouseover="x"><li>\n\n<input checked onfocus=x>',
    '```html" onclick="x\n<b>\n```',
    "| <b onclick=x> | <script> |\n|---|---|\n| </td></table> | <img src=x> |",
    "[^1]\n\n[^1]: <b onclick=x> [x](javascript:x)",
    "&lt;script&gt; &#60;img src=x&#62; \\<b onclick=x>",
    "<b" * 50,
    "> " * 200 + "deep",
    "<mark><span class=x style=color:red>x</span></mark>",
]
LARGE = {
    "quotes": ">",
    "code": "`a ",
    "emphasis": "*a ",
    "emphasis of both kinds": "*a_ ",
    "brackets": "[",
    "links": "[a](b) ",
    "images": "![a](b) ",
    "tags": "<b>",
    "halves of tags": "<b ",
    "less": "<",
    "comments": "<!-- ",
    "comments with dashes": "<!---",
    "instructions": "<?",
    "ends": "</b>",
    "list items": "- a\n",
    "marks": "\u200b@",
    "entities": "&",
    "lines": "a\n",
    "HTML": "<details>\n\n",
    "attributes": '<img alt="',
}


class Elements(HTMLParser):
    """Checks that a page has no element or attribute but ours, and each closed in its place.

    In a table there is nothing but its parts: browsers move the rest out of it, and end it before another
    one, so that what follows closes the box around the issue.
    """

    def __init__(self):
        super().__init__()
        self.open, self.faults = [], []

    def handle_starttag(self, tag, attrs):
        if self.open and tag not in PARTS.get(self.open[-1], {tag}):
            self.faults.append(f"{tag} in {self.open[-1]}")
        wrong = [(tag, *each) for each in attrs if (tag, *each) not in ATTRIBUTES]
        self.faults += [each for each in wrong if not (tag == "ol" and each[1] == "start")]
        self.faults += [tag] if tag not in ELEMENTS else []
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"/{tag}")

    def handle_comment(self, data):
        self.faults.append(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


def faults(markdown):
    page = Elements()
    for shown in (rendered.html(markdown), rendered.source(markdown), rendered.text(markdown)):
        page.feed(shown)
        page.close()
    return page.faults + page.open


@pytest.mark.parametrize(("markdown", "html"), RENDERED)
def test_an_issue_is_rendered(markdown, html):
    assert rendered.html(markdown).strip() == html


@pytest.mark.parametrize("markdown", OWN)
def test_nothing_acts(markdown):
    assert not faults(markdown)


@pytest.mark.skipif(not SANITISE, reason="HUB_SANITISE_DIR is not set")
def test_nothing_of_a_collection_of_attacks_acts_even_where_it_was_not_made_harmless():
    lines = Path(SANITISE, "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    inputs = [json.loads(line)["input"] for line in lines]
    attacks = [each if isinstance(each, str) else "\n\n".join(each.values()) for each in inputs]
    attacks = [each.encode("utf-8", "replace").decode() for each in attacks]

    assert len(attacks) > 100
    assert not {each: found for each in attacks if (found := faults(each))}


@pytest.mark.slow
@given(st.lists(st.one_of(st.sampled_from(OWN), hostile.text), max_size=5).map("".join))
@settings(max_examples=300)
def test_no_mixture_of_attacks_acts(markdown):
    assert not faults(markdown.encode("utf-8", "replace").decode())


@pytest.mark.parametrize("template", hostile.TEMPLATES.values(), ids=hostile.TEMPLATES)
def test_each_change_of_a_reported_text_is_marked(template):
    fields = {
        "summary": "@all",
        "details": "<b> fixes #1",
        "agent_name": "@x",
        "evidence": "[x](y)",
    }
    title, body = render_issue(template, fields)

    assert rendered.text(title).count("<mark>") == rendered.changes(title) == 1
    assert rendered.source(body).count("<mark>") == rendered.changes(body)
    assert not faults(body)


@pytest.mark.parametrize("piece", LARGE.values(), ids=LARGE)
def test_a_long_text_takes_time_in_proportion(piece):
    short, long = ((piece * length)[:length] for length in (BODY_LIMIT // 8, BODY_LIMIT))

    grows = [took(long) > max(SECONDS, GROWTH * took(short)) for _ in range(3)]

    assert not all(grows)
    assert len(rendered.html(long)) < 20 * BODY_LIMIT


def took(markdown):
    """Seconds of CPU."""
    begun = time.thread_time()
    rendered.html(markdown)
    return time.thread_time() - begun


def test_what_would_be_a_huge_page_is_shown_as_markdown():
    assert rendered.html(">" * BODY_LIMIT).startswith("<pre")
    assert "&gt;" in rendered.html(">" * BODY_LIMIT)
