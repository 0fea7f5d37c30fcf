"""GitHub's parser, as the Hub calls it."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import cmarkgfm
import psutil
from cmarkgfm.cmark import Options
from hypothesis import example, given

from integrations.issue import github_markdown
from tests.integrations.issue import hostile

TEXT = "- *One* [of](https://docs.acme.com) `many` ~~short~~ lines, with all sorts of it\n" * 100
TIMES = 300
MOST = 10  # MiB; of so many texts the library's own function leaves 90


def resident() -> float:
    """MiB of this process."""
    return float(psutil.Process().memory_info().rss / 1024**2)


def test_nothing_of_what_was_shown_is_left_in_memory():
    for _ in range(TIMES // 10):  # the memory that is used again
        github_markdown.html(TEXT)
    before = resident()

    for _ in range(TIMES):
        github_markdown.html(TEXT)

    assert resident() - before < MOST


def test_a_text_is_shown_as_by_itself_while_other_threads_show_theirs():
    """The parser forgets for all of them which signs an extension has, once one is through."""
    text = "A ~~b~~ www.example.com http://example.com c@example.com\n\n| a |\n|---|\n| 1 |\n\n" * 3
    alone = github_markdown.html(text)

    with ThreadPoolExecutor(4) as pool:
        shown = {*pool.map(github_markdown.html, [text] * 12_000)}

    assert shown == {alone}


def test_other_threads_do_not_get_in_between_two_nodes():
    """Each would take its turn of 5 ms, as often as there are nodes, while all other texts wait."""
    turns, has_begun, is_over, usual = [0], Event(), Event(), sys.getswitchinterval()

    def take_turns() -> None:
        while not is_over.is_set():
            turns[0] += 1
            has_begun.set()
            time.sleep(0)

    sys.setswitchinterval(1000)  # seconds: nobody is sent away who does not let others go first
    try:
        other = Thread(target=take_turns)
        other.start()
        has_begun.wait()
        with github_markdown._parsed("*a* b " * 2_000, options=0) as (_, root):
            before = turns[0]
            nodes = sum(1 for _ in github_markdown._events(root))
            after = turns[0]
    finally:
        is_over.set()
        sys.setswitchinterval(usual)
        other.join()

    assert nodes > 8_000
    assert after == before


@given(hostile.text)
@example("One[^1] and [^none]\n\n[^1]: A note\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [ ] ~~done~~")
def test_a_text_is_shown_as_by_the_library(text):
    text = text.encode("ascii", errors="ignore").decode()  # it cuts other characters in two
    options = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES
    extensions = github_markdown.EXTENSIONS

    shown = cmarkgfm.markdown_to_html_with_extensions(text, options=options, extensions=extensions)

    assert github_markdown.html(text) == shown


def test_a_code_block_ends_where_it_ends_also_an_empty_one():
    blocks = "```\n```\n\n```\nx\n```\n\n<pre><code>y</code></pre>\n\n<pre><code>never ends\n"

    assert github_markdown._shown(blocks) == {"": 1, "x": 1, "y": 1}


def test_code_blocks_are_found_in_one_pass_whether_they_end_or_not():
    """The attack: in each of thousands of empty blocks the end of another one was looked for."""

    class Text(str):
        read = 0

        def find(self, what: str, start: int = 0) -> int:
            found = super().find(what, start)
            Text.read += (len(self) if found < 0 else found) - start
            return found

    for one in ("<pre><code></code></pre>", "<pre><code>", "<pre><code", "</code></pre>"):
        Text.read = 0
        text = Text(one * 1000)
        [*github_markdown._code_in(text)]

        assert Text.read <= 3 * len(text)
