"""Whom a template addresses: only who was allowed is mentioned, and no other repository is referred to."""

import pytest

from integrations.issue import addressing, plain_html
from integrations.issue.addressing import Audience
from integrations.issue.rendering import (
    BODY_LIMIT,
    DEFAULT_TEMPLATE,
    PLACEHOLDERS,
    parts,
    render_issue,
)
from integrations.issue.safe_text import ZWSP
from tests.integrations.issue.hostile import TEMPLATES
from tests.integrations.issue.liveness import live

ACME = Audience(
    frozenset({"alice", "acme/writers", "initech/writers"}), "acme/docs", "git.acme.com"
)
OTHERS = "https://github.com/initech/app"

ADDRESSES = {  # a template, and what of it addresses others
    "cc @bob": ["@bob"],
    "@Alice @bob @BOB": ["@BOB"],
    "(@bob), **@carol**, /@dave": ["@bob", "@carol", "@dave"],
    "@alice-b @alice- @alice_b": ["@alice-b", "@alice_b"],
    "@acme/writers @acme/readers @initech/writers": ["@acme/readers", "@initech/writers"],
    "&#64;bob &#x0040;carol &commat;dave": ["@bob", "@carol", "@dave"],
    r"\@bob @al\-x @b&#111;b": ["@al-x", "@bob"],
    "@a&#108;ice-x": ["@alice-x"],
    "@al<!-- -->ice-x": ["@al", "@alice-x"],
    "@bo{details}b": ["@bob", "@bo"],
    "@{details}bob": ["@bob"],
    "x{details}@bob": ["@bob"],
    "&#6{details}4;bob": ["@bob"],
    "<div>&#64bob</div>": ["@bob"],
    "<div>@<b></b>bob</div>": ["@bob"],
    "<div>@<!-- a -- b -->bob</div>": ["@bob"],
    "<div>@<center></center>bob</div>": ["@bob"],
    "<code>@bob</code>": ["@bob"],
    "<table><tr><td>@bob</td></tr></table>": ["@bob"],
    "<td>@<tr><td>bob": ["@bob"],
    "<div>@< b>bob</div> @carol": ["@carol"],
    "<pre>\n@bob\n</pre>": ["@bob"],
    "x<br>@<!-- -->bob": ["@bob"],
    "<div>x<br>@<!-- -->bob</div>": ["@bob"],
    "@<!-- -->ali<br>ce": ["@ali"],
    "x<br>initech/app<!-- -->#1": ["initech/app#1"],
    "<b>x</b>initech/app<!-- -->#1": ["initech/app#1", "xinitech/app#1"],
    "initech/<!-- -->app#1<br>x": ["initech/app#1"],
    "acme/docs#1<b></b>initech/app#2": ["initech/app#2"],
    "acme@a5c3785<i></i>initech/app<b></b>#2": ["initech/app#2"],
    "a<br>cme/docs<!-- -->#1": ["cme/docs#1"],
    "a<b></b>cme/docs<!-- -->#1": ["cme/docs#1"],
    "@<!-- -->ali<b>ce</b>": ["@ali"],
    "initech/<!-- -->app#1<b>x</b>": ["initech/app#1"],
    "<div>cm<b>e/app@</b>a5c3785<b>x</b></div>": ["cme/app@a5c3785", "e/app@a5c3785"],
    "|a|\n|-|\n|@bob|": ["@bob"],
    "text[^1]\n\n[^1]: @bob": ["@bob"],
    "para\n    @bob": ["@bob"],
    "initech/app#1 initech/app@a5c3785 bob@a5c3785": [
        "initech/app#1",
        "initech/app@a5c3785",
        "bob@a5c3785",
    ],
    r"initech/app\#1": ["initech/app#1"],
    "vercel/next.js#1 a/b.vercel/next.js#2 bob/@a5c3785": [
        "vercel/next.js#1",
        "a/b.vercel/next.js#2",
        "@a5c3785",
    ],
    "https://github.com/orgs/initech/discussions/5": ["github.com/orgs/initech/discussions/5"],
    f"{OTHERS}/issues/1": ["github.com/initech/app/issues/1"],
    f"[x](<{OTHERS}/pull/2/files>)": ["github.com/initech/app/pull/2"],
    "[x][y]\n\n[y]: https://git.acme.com:443/a/b/discussions/3": [
        "git.acme.com:443/a/b/discussions/3"
    ],
    "www.github.com/a/b/commit/abc": ["www.github.com/a/b/commit/abc"],
    "[x](https:&#47;&#47;x@GitHub.com//a//b/issues/4#c)": ["x@GitHub.com//a//b/issues/4"],
    '<a href="https://github.com/a/b/issues/5">x</a>': ["github.com/a/b/issues/5"],
    "[x](/a/b/issues/6)": ["git.acme.com/a/b/issues/6"],
    '<a href="/a/b/issues/6">x</a>': ["git.acme.com/a/b/issues/6"],
    "<a href = /a/b/pull/7>x</a>": ["git.acme.com/a/b/pull/7"],
    "<center><a href='//github.com/a/b/pull/7'>x</a></center>": ["github.com/a/b/pull/7"],
}
ODD = {  # HTML that not every parser reads alike, or that GitHub does not show, and the first of it
    "@<foo></foo>bob": "<foo>",
    "<div>@<foo></foo>bob</div>": "<foo>",
    '<div>@<foo x=">">bob</div>': '<foo x=">',
    "<div>@<foo '>bob</div>": "<foo '>",
    "<div>@<!-- a -- b -->bob @<?x?>carol</div>": "<?x?>",
    "<div>@alice<foo></foo>-bob</div>": "<foo>",
    "<div>https:<foo></foo>//github.com/a/b/issues/8</div>": "<foo>",
    "<textarea>@bob</textarea>": "<textarea>",
    "<style>@bob</style>": "<style>",
    "<!--> @bob -->": "<!-->",
    "<!-- x --!> @bob -->": "<!-- x --!>",
    "<? > @bob ?>": "<? >",
    '<div title="\n\n`@bob` [@carol](https://example.com)': '<div title="',
    "<select>\n\n`@bob`": "<select>",
    "[x</a>@bob](https://example.com)": "</a>",
    '<div a"=\' ">\n\n[@bob](https://example.com "\'")': '<div a"=\' ">',
    "<div a=b'c>\n\n`@bob`": "<div a=b'c>",
    "<div>@<!--\n\n<!-- x -->bob</div>": "<!--",
    "<div>@<foo\n\nbob": "<foo",
    '<div>@<foo \' a=">">bob</div>': "<foo ' a=\">",
    "<div>@<foo<bar>bob</div>": "<foo",
    "<svg>@<![CDATA[bob]]></svg>": "<svg>",
    "<div>@<table><td>.</td>bob</table></div>": "</td>",
    "<table>@alice</td><td>.</td>-b</table>": "<table>",
    "<div>@<table><tr>\n\n<td>.<table><td>.</td></table></td>bob</table>": "</td>",
    '<div>@<b title="': '<b title="',
    "<div><a title='\n\n[x](y \"' href='https://github.com/a/b/pull/8' z\")": "<a title='",
    "<script>@bob</script>": "<script>",
    "<iframe src=x>": "<iframe src=x>",
    "<video src=x></video>": "<video src=x>",
    "<your name>": "<your name>",
    '<div a="b"c="@bob">': '<div a="b"c="@bob">',
    "<div>@<b/c>bob</div>": "<b/c>",
    "<div>@</b c>bob</div>": "</b c>",
    "<div>@<b =x>bob</div>": "<b =x>",
    "<div>@<\x0cb>bob</div>": "<\x0cb>",
    "<div>@<b\x0ba>bob</div>": "<b\x0ba>",
    "<div>@<!--->bob-->": "<!--->",
    "[<b>@bob</b>](https://example.com)": "<b>",
    "![@bob<!-- -->](/x)": "<!-- -->",
    "<div>@<table><tr>.</tr></table>bob</div>": "<tr>",
    "<table>\n\n@bob\n\n</table>": "<table>",
    "<table><tr>": "<tr>",
    "<table><thead>x</thead></table>": "<thead>",
    "<table><caption>x</caption>y</table>": "</caption>",
    "<table>{details}</table>": "<table>",
    "<div {summary}>@bob</div>": "<div {summary}>",
    "<div title={summary}'>": "<div title='>",
}
HARMLESS = [
    "",
    DEFAULT_TEMPLATE,
    "cc @alice and @ACME/writers.",
    "cc @alice<br>thanks",
    "@alice<sup>1</sup> @alice<sub>2</sub>",
    "<table><tr><td>@alice<td>@acme/writers</td></tr>\n<tr><td>\n\n@alice\n\n</td></tr></table>",
    "<div>cc @alice<BR/>and @acme/writers<hr>Thanks</div>",
    "docs@example.com, <docs@example.com>, [mail](mailto:docs@example.com)",
    "`@bob` ``@bob`` and `initech/app#1`",
    "```python\n@decorator\n```\n\n- ```\n  @decorator\n  ```\n\nText\n\n    @indented",
    "https://medium.com/@bob [npm](https://npmjs.com/package/@bob/cli) ![@bob](/@bob '@bob')",
    "[@bob](https://example.com)",
    '<img alt="@bob" src="/@bob"><!-- owner: @bob -->',
    "<!-- run it with --verbose, @bob -->\n\n<!-- ---------- -->\n\n<!--\n@bob\n\n<table>x\n-->",
    '<p align="center"><a href="https://example.com/@bob"><img src=a.png width=120 /></a></p>',
    '[<img src="https://example.com/@bob.svg" width="90">](https://example.com/@bob) 1 < 2 <- 3',
    '<picture>\n<source media="(x)" srcset="a@2x.png 2x">\n<img src="a@2x.png" alt=\'x\'>\n</picture>',
    '<details open>\n<summary><b>Log</b></summary>\n\n```\n@bob <foo> <div title="\n```\n\n</details>',
    "<kbd>Ctrl</kbd>+<kbd>C</kbd> H<sub>2</sub>O <ruby>x<rt>y</rt></ruby> `<foo>` &lt;foo> \\<foo>",
    "<table>\n <thead><tr><th>a</th></tr></thead>\n <!-- x -->\n <tr>\n  <td>\n\n- `@bob`\n\n  </td>\n </tr>\n</table>",
    "<table><caption>x</caption><tr><td><table><tr><td>x</td></tr></table> y</td></tr></table> z",
    "<pre>\nx < y\n</pre>\n\n<div>\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n</div>\n\n- [ ] x[^1]\n\n[^1]: y",
    "<details><summary>More</summary>\n\n`@bob`\n\n</details>",
    "<center><font size=2><u>x</u></font></center>\n\n`uses: initech/app@a5c3785`",
    "<figure><figcaption><small>x</small></figcaption></figure>\n\n<mark>x</mark> `@bob`",
    "@ @\u200bbob ＠bob @ｂob @{agent_name} by @{agent_name}, @, @- {{@}}",
    "#1 GH-2 a5c37851 acme/docs#3 Acme/Docs@a5c3785 acme@a5c3785 issue#4 Fixes #5",
    "docs/guide/x.md#1 /docs/page#1 ./docs/x#1 a/b/c@a5c3785",
    "https://github.com/orgs/acme/discussions/5",
    "https://github.com/acme/docs/issues/1 https://example.com/a/b/issues/1 # a/b #c",
    f"{OTHERS} {OTHERS}/issues {OTHERS}/issues/new?title={{summary}} {OTHERS}/blob/main/x.md",
]
FIELDS = dict.fromkeys(PLACEHOLDERS, "")
OF_OTHERS = [  # what a report may say, and often does
    f"{OTHERS}/issues/1",
    f"See {OTHERS.upper()}/pull/2, <{OTHERS}/pull/2> and [x]({OTHERS}/commit/a5c3785).",
    "//git.acme.com/a/b/issues/3",
    "ssh://git@github.com/a/b/issues/4 file:////github.com/a/b/issues/5",
    "@bob &#64;bob bob@a5c3785 initech/app#6 initech/app@a5c3785",
    "List<String> @Override",
    "```yaml\nuses: initech/app@a5c3785\n```",
]
LISTS = {"details": "- item\n- another"}


def rendered(template: str, **fields: str) -> str:
    _, body = render_issue(
        template,
        FIELDS | fields,
        code_host="git.acme.com",
        repository="https://git.acme.com/acme/docs",
        mentions=ACME.mentions,
    )
    return body


@pytest.mark.parametrize(("template", "found"), ADDRESSES.items())
def test_what_addresses_others_is_found(template, found):
    assert sorted(addressing.found_in_template(template, ACME)) == sorted(found)


@pytest.mark.parametrize(("template", "piece"), ODD.items())
def test_html_that_is_not_read_alike_everywhere_is_named(template, piece):
    odd = plain_html.odd_in_template(template)

    assert odd
    assert odd.piece == piece


@pytest.mark.parametrize("template", HARMLESS)
def test_what_github_makes_nothing_of_is_not_found_and_not_broken(template):
    assert plain_html.odd_in_template(template) is None
    assert addressing.found_in_template(template, ACME) == []
    if template and "{" not in template:
        assert rendered(template) == template


@pytest.mark.parametrize("template", [*ADDRESSES, *ODD])
@pytest.mark.parametrize("fields", [{}, {"details": "word"}, LISTS], ids=["empty", "word", "list"])
def test_what_addresses_others_is_broken_in_each_issue(template, fields):
    body = rendered(template, **fields)

    assert plain_html.odd_in(body) is None
    assert addressing.found_in(body, ACME) == []


@pytest.mark.parametrize("template", ODD)
def test_of_a_template_with_odd_html_that_was_saved_before_nothing_is_live(template):
    body = rendered(f"[x](https://x.example) <b>$x$</b>\n\n{template}", details="x", summary="y")

    assert not live(body)


@pytest.mark.parametrize("template", [*ADDRESSES, *ODD])
def test_to_the_checker_of_reports_no_mention_is_live_either(template):
    _, body = render_issue(template, {"details": "- x\n\n> y", "summary": "z"})

    assert live(body)["mention"] == 0


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("cc @bob and @alice", "cc @|bob and @alice"),
        ("`@bob` @bob docs@example.com", "`@bob` @|bob docs@example.com"),
        ("```\n@bob\n```\n@bob", "```\n@bob\n```\n@|bob"),
        ("&#64;bob", "&|#64;bob"),
        ("initech/app#1 #2", "initech/app#|1 #2"),
        (f"{OTHERS}/issues/1 {OTHERS}", f"{OTHERS}/issues/|1 {OTHERS}"),
        ("www.github.com/a/b/issues/1", "www.github.com/a/b/issues/|1"),
        ("# Hi\n\n@<b></b>bob [x](https://x.example)", "#| Hi"),
    ],
)
def test_only_what_addresses_others_is_broken_if_it_is_written_plainly(template, expected):
    assert rendered(template).replace(ZWSP, "|").startswith(expected)


@pytest.mark.parametrize("details", ["- x", "1. x", "> x", "x\n\n- x"])
def test_no_report_makes_a_mention_of_the_templates_code(details):
    """A list item takes the fence below it in, and what follows it is no code any more."""
    template = "{details}\n   ```\n@bob\n   ```\n\n{suggested_fix}\n\n    @carol"

    body = rendered(template, details=details, suggested_fix=details)

    assert live(body)["mention"] == 0


@pytest.mark.parametrize(
    "template",
    [
        "<!-- {details} -->\n\n<!--\n{doc_url}\n-->",
        "<details><summary>{details}</summary>\n\n{details}\n\n</details>",
        "<table>\n <tr>\n  <td>\n\n{details}\n\n  </td>\n </tr>\n</table>",
        "<a href=\"{doc_url}\" title='{details}' lang={details}>{details}</a>",
    ],
)
@pytest.mark.parametrize(
    "details", ["", "- x\n- y", "> x", "1 < 2 <- <b>", "a -- b --> c --!>", "'\""]
)
def test_no_report_makes_the_html_of_a_template_odd(template, details):
    body = rendered(template, details=details, doc_url="https://example.com/a--b'c?d=%3E")

    assert body.startswith(template.partition("{")[0])
    assert plain_html.odd_in(body) is None


def test_a_reports_list_that_takes_odd_html_out_of_code_makes_the_template_inert():
    template = "{details}\n   ```\n<div title='\n   ```\n\n<b>x</b>"

    assert rendered(template, details="x").endswith("<b>x</b>")
    assert not live(rendered(template, details="- x"))


def test_of_a_hostile_template_nothing_is_live_any_more():
    template = "# x\n\n@<foo></foo>bob [x](https://x.example) &#64;{details}carol <b>$x$</b>"

    assert not live(rendered(template))


@pytest.mark.parametrize("said", OF_OTHERS)
@pytest.mark.parametrize("name", ["summary", "details", "evidence", "doc_url", "agent_name"])
def test_whatever_a_report_says_the_template_stays_as_it_is(name, said):
    head, foot = "cc @alice\n\n# Report\n\n", "<div>\n<b>End</b>, see #1\n</div>"
    placed = "{details}\n\n{evidence}\n\n<div>\n{summary} {agent_name}\n</div>\n\n[page]({doc_url})"

    body = rendered(f"{head}{placed}\n\n{foot}", **{"details": OF_OTHERS[-1], name: said})

    assert body.startswith(head)
    assert body.endswith(foot)


def test_a_template_that_addresses_nobody_else_is_not_taken_apart(monkeypatch):
    """Each issue would cost half as much again."""
    monkeypatch.delattr(addressing, "broken")

    assert rendered("cc @alice <b>x</b>\n\n{details}") == "cc @alice <b>x</b>"


def test_text_that_grows_in_normal_form_stays_within_the_limit():
    template = "@<foo></foo>bob" + "\ufdfa" * 19_000

    assert len(rendered(template)) <= BODY_LIMIT


def test_what_is_made_inert_has_the_same_placeholders():
    template = "@<foo></foo>bob {summary} {su\u00admmary} {{details}} {details}"

    assert parts(addressing.made_inert(template))[1::2] == ["summary", "details"]


def test_a_renamed_owner_keeps_no_teams_of_the_one_before():
    renamed = ACME._replace(repository="initech/docs")

    assert addressing.found_in("@acme/writers @initech/writers", renamed) == ["@acme/writers"]


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_templates_that_only_surround_reports_are_left_as_they_are(template):
    assert [each for each in addressing.found_in_template(template, ACME) if "@" in each] == []
