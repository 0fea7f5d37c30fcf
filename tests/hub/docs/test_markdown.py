"""Markdown as HTML."""

import doctest
import re

import pytest

from hub.docs import code, for_agents, markdown, search

AS_HTML = [
    ("# A *b*\n\nFirst.\n\nThen.", '<h1 id="a-b">A <em>b</em></h1>'),
    ("# A\n\nFirst.\n\nThen.", '<p class="lead">First.</p> <p>Then.</p>'),
    ("## Check it", '<h2 id="check-it"> <a href="#check-it">Check it</a></h2>'),
    ("## `a/b` & c", '<h2 id="ab--c"> <a href="#ab--c"><code>a/b</code> &amp; c</a></h2>'),
    ("## A\n\n## A", '<h2 id="a-1"> <a href="#a-1">A</a></h2>'),
    ("<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>"),
    ("[x](javascript:alert)", "<p>[x](javascript:alert)</p>"),
    ("[x](y.md)", '<p><a href="to y.md">x</a></p>'),
    ("![x](y.svg)", '<p><img src="to y.svg" alt="x" /></p>'),
    ("> **Note:** Wait.", '<div class="card"> <p><strong>Note:</strong> Wait.</p> </div>'),
    ("> Said.", "<blockquote> <p>Said.</p> </blockquote>"),
    ("|a|\n|-|\n|b|", '<div class="list"><table> <thead> <tr> <th scope="col">a</th>'),
    ("```sh\n# x\n```", '<code><span class="hc"># x</span></code></pre></div></div>'),
    (
        "```text\n<b>\n```",
        '<div class="copyable" data-name="code"><pre tabindex="0"><code>&lt;b&gt;',
    ),
    ("    indented", '<pre tabindex="0"><code>indented</code></pre>'),
    ("```json file=a.json\n{}\n```", '<p class="hint"><code>a.json</code></p>'),
    ("```nonsense\nx\n```", "<code>x</code>"),
    (
        "```sh\nx\n```\n```text output\ny\n```",
        '</div><pre class="output" tabindex="0"><code>y</code>',
    ),
]


@pytest.mark.parametrize(("text", "expected"), AS_HTML)
def test_markdown_becomes_html(text, expected):
    html = markdown.html(text, link=lambda target: f"to {target}")

    assert expected in " ".join(html.split("\n"))


def test_the_cells_of_a_wide_table_name_their_columns():
    html = markdown.html("|a|`b`|c|\n|-|-|-|\n|1||3|\n|4|5|6|\n\n|d|\n|-|\n|7|", link=str)

    assert re.findall(r'data-label="(\w)">(\w?)', html) == [
        *(("a", "1"), ("b", ""), ("c", "3")),
        *(("a", "4"), ("b", "5"), ("c", "6")),
    ]
    assert html.count('<table class="record">') == 1


def test_a_table_of_long_names_is_a_wide_one():
    html = markdown.html(
        "|a|b|\n|-|-|\n|`reconcile_all`|1|\n\n|c|d|\n|-|-|\n|`short`|a long word|", link=str
    )

    assert re.findall(r'data-label="(\w)"', html) == ["a", "b"]


TABS = """```sh tab=curl
one
```

```json output
{}
```

```python tab=Python
two
```
"""


def test_blocks_with_tabs_become_one_group_that_needs_no_script():
    html = markdown.html(TABS, link=str)

    assert re.findall(r'name="(\w+)"( checked)?>(\w+)', html) == [
        ("tab0", " checked", "curl"),
        ("tab0", "", "Python"),
    ]
    one, two = html.partition('<div class="p2">')[::2]
    assert "one" in one
    assert 'class="output"' in one
    assert "two" in two


def test_two_groups_of_a_page_do_not_share_their_buttons():
    html = markdown.html(f"{TABS}\ntext\n\n{TABS}", link=str)

    assert len(set(re.findall(r' name="(\w+)"', html))) == 2


def test_more_tabs_than_panels_are_refused():
    text = "".join(f"```sh tab={n}\nx\n```\n" for n in range(5))

    with pytest.raises(ValueError, match="5 tabs"):
        markdown.html(text, link=str)


def test_a_pages_sections_have_all_its_words():
    text = "# A\n\nOne.\n\n## B `c`\n\n- two\n\n|d|\n|-|\n|e|\n\n```sh\nf\n```\n"

    title, section = markdown.sections(text)

    assert (title.level, title.title, title.text) == (1, "A", "One.")
    assert (section.level, section.title, section.anchor) == (2, "B c", "b-c")
    assert section.text.split() == ["two", "d", "e", "f"]


def test_links_can_be_changed_in_the_markdown_itself():
    text = "[a](b.md), [c](d.md)\n\n```markdown\n[e](f.md)\n```\n"

    changed = markdown.with_links(text, link=lambda target: f"/{target}")

    assert changed == text.replace("b.md", "/b.md").replace("d.md", "/d.md")


@pytest.mark.parametrize("module", [code, for_agents, markdown, search])
def test_the_docstrings_are_right(module):
    assert doctest.testmod(module).failed == 0
