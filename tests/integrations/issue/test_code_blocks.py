"""Code blocks in a report that stay code in the issue."""

import pytest
from hypothesis import given, settings

from integrations.issue.code_blocks import end_code, keep_code
from integrations.issue.rendering import render_issue
from integrations.issue.safe_text import ZWSP, clean
from tests.integrations.issue import hostile
from tests.integrations.issue.liveness import Page

FUZZ = settings(max_examples=300)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n```js\nx < 1 && y[0]\n```\nb", "a\n```js\nx < 1 && y[0]\n```\nb"),
        ("~~~ python title\nx\n~~~~", "```python\nx\n```"),
        ("`````\n```\nx\n`````", "````\n``|`\nx\n````"),
        ("```\n```", "```\n\n```"),
        ("  ```c++\n    x\n y\n  ```", "```c++\n  x\ny\n```"),
        ("```\nx\n    ```\n```", "````\nx\n    ``|`\n````"),
        ("```sh\n\n \t\n```", "```sh\n\n\n```"),
        ("[a](b)\n```\nx\n```\n```\n[a](b)", "[|a]|(b)\n```\nx\n```\n``|`\n[|a]|(b)"),
        ("> ```\n> x\n> ```", "> ``|`\n> x\n> ``|`"),
        ("``` a`b\nx\n```", "``|` a`b\nx\n``|`"),
        ("```\n```\n```js\n\n```\nx", "```\n\n```\n``|`js\n\n``|`\nx"),
        ("```\n```\n\n> \\\n~~~\n~~~", "```\n\n```\n\n> \\|\n~~|~\n~~|~"),
        ("```\n```\nx\n```\n```", "```\n\n```\nx\n```\n\n```"),
    ],
)
def test_closed_blocks_are_fenced_anew_and_all_else_is_prose(text, expected):
    written, _ = keep_code(text)

    assert written.replace(ZWSP, "|") == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("@octocat ;@docs a@b.c @ x", "@|octocat ;@|docs a@b.c @ x"),
        ("@lru_cache\n@my_app.task(1)", "@lru_cache\n@my_app.task(1)"),
        ("@property @app.route @a-b_c", "@|property @|app.route @|a-b_c"),
        ("@docs/guide npm:@a_b/c @²_a", "@|docs/guide npm:@a_b/c @|²_a"),
        ("# a #!/bin/sh #12 #fff", "# a #!/bin/sh #|12 #fff"),
        ("color: #0366d6 #1b_ #123456 #12-a #12²", "color: #0366d6 #1b_ #|123456 #|12-a #|12²"),
        ("fixes #1a closes: o/r#1a fix #fff", "fixes| #1a closes|: o/r#1a fix #fff"),
        ("GH-1 high-1 gh-x", "GH|-1 high-1 gh-x"),
        ("fixes https://x closes it", "fixes| https://x closes it"),
        ("/close\n  /close\n> /close\n//x /close", "/|close\n  /|close\n> /|close\n//x /close"),
        ("/opt/hub\ncd /opt/hub\n$ /opt/hub", "/|opt/hub\ncd /opt/hub\n$ /opt/hub"),
        ("x ```` ~~~", "x ``|`` ~~|~"),
        ("<!-- a --> <!-- hub:1 -->", "<!-- a --> <|!-- hub:1 -->"),
        ("#² @ª /º gh-²", "#|² @|ª /º gh|-²"),
        (
            "<b> &amp; [a](b) ![c](d) www.x a5c3785 C:\\x",
            "<b> &amp; [a](b) ![c](d) www.x a5c3785 C:\\x",
        ),
    ],
)
def test_inside_code_only_what_acts_on_raw_text_is_broken(code, expected):
    _, shown = keep_code(f"```\n{code}\n```")

    assert [block.replace(ZWSP, "|") for block in shown] == [expected]


@pytest.mark.parametrize(
    ("info", "kept"),
    [
        ("js", "js"),
        ("C#", "C#"),
        ("c++", "c++"),
        ("python title=x", "python"),
        ("{.js}", ""),
        ("Jsonc", "Jsonc"),
        ("ignore.the-rest", ""),
        ("a" * 21, ""),
        ("mermaid", ""),
        ("GeoJSON", ""),
        ("topojson", ""),
        ("stl", ""),
        ("math", ""),
        ("suggestion", ""),
        ("suggestion:-0+0", ""),
        ("x#1", ""),
        ("gh-1", ""),
        ("@a", ""),
    ],
)
def test_the_language_is_kept_where_github_only_colors_it(info, kept):
    written, _ = keep_code(f"``` {info}\nx\n```")

    assert written == f"```{kept}\nx\n```"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n```js\nx…", "a\n```js\nx…\n```"),
        ("~~~~\nx…", "~~~~\nx…\n~~~~"),
        ("```\nx\n```\ny…", "```\nx\n```\ny…"),
        ("…", "…"),
    ],
)
def test_a_block_that_was_cut_is_ended(text, expected):
    assert end_code(text) == expected


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{details}", "```\n<b>\n```"),
        ("a\n\n> {details}\n\nb", "a\n\n> ```\n> <b>\n> ```\n\nb"),
        ("10. {details}", "10. ```\n    <b>\n    ```"),
        ("- a\n\n  {details}  \n", "- a\n\n  ```\n  <b>\n  ```  "),
        ("<details>\n\n{details}\n\n</details>", "<details>\n\n```\n<b>\n```\n\n</details>"),
    ],
)
def test_code_stays_code_where_it_stands_alone_on_its_line(template, expected):
    _, body = render_issue(template, {"details": "```\n<b>\n```"})

    assert body == expected


@pytest.mark.parametrize(
    "template",
    [
        "Details: {details}",
        "{details} {agent_name}",
        "- [ ] {details}",
        "~~~\n{details}\n~~~",
        "    {details}",
        "<div>\n{details}\n</div>",
        '<div title="{agent_name}">\n{details}',
        "<pre>\n\n{details}\n\n</pre>",
        "<!--\n\n{details}\n\n-->",
        "[a]:\n{details}",
        "*   {summary}\n    {details}",  # a list item, were the summary another
    ],
)
def test_code_is_prose_where_it_could_be_anything_else(template):
    fields = {"summary": "* *", "details": "a\n```\n<b>\n```"}

    _, body = render_issue(template, fields)

    assert "<b>" not in body


def test_a_place_that_takes_no_code_leaves_it_to_the_others():
    code = "```\n<b>\n```"

    _, body = render_issue("~~~\n{details}\n~~~\n\n{evidence}", {"details": code, "evidence": code})

    assert body.replace(ZWSP, "|") == f"~~~\n``|`\n<|b>\n``|`\n~~~\n\n{code}"


def test_code_that_is_shortened_is_still_code():
    _, body = render_issue(
        "{details}\n\n{summary}", {"summary": "end", "details": "```\n" + "<b>\n" * 30_000}
    )

    assert len(body) > 40_000
    assert Page(body).elements == {"pre": 1, "code": 1, "p": 1}


@pytest.mark.slow
@given(hostile.code_block)
@FUZZ
def test_taking_the_zero_width_spaces_out_gives_the_code_back(text):
    code = clean(text)

    _, shown = keep_code(f"{'`' * 30}\n{code}\n{'`' * 30}")

    lines = [line if line.strip() else "" for line in code.split("\n")]
    assert [block.replace(ZWSP, "") for block in shown] == ["\n".join(lines)]
