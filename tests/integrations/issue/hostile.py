"""Text that tries to act on GitHub, and templates in which it might."""

from hypothesis import strategies as st

WORDS = r"""
@ # 1 octocat @octocat @lru_cache #0366d6 /docs gh GH- - a5c3785 deadbee fixes hub: / /close word * ** _ = === --- |
https: // : www . http://evil.example https://github.com/o/r/issues/1 a@evil.example mailto: $ $$ $x
[ ] ( ) ![ [^1] [^1]: < > <!-- --> -- <img </details> <pre> <? " ' & &#64; &commat; #64; lt; \
\href{//evil.example} ` `` ``` ```` ~ ~~~ ＠ ＃ ＜ ／ ： ［ ］ （ ㈀ ＧＨ － １ ａ ｀ ～ ² …
"""
WITH_SPACES = [
    "Closes: ",
    "resolved ",
    "duplicate of ",
    "<!-- hub:",
    "[docs]: ",
    "[x] ",
    "<b ",
    "> ",
]
WITH_SPACES += ["- ", "1. ", "10. ", "* ", "# ", " ", "    ", "\t", "<img src=x>"]
WITH_LINES = ["\n", "\n\n", "\r", "\u2028", "\n/", "|a|\n|-|\n", "```js\n", "\n```\n", "~~~\n"]
WITH_LINES += ["   ```\n", "```mermaid\n", "```\n<img src=x>\n/close\n```\n"]
UNSEEN = [*"\u200b\u200d\ufe0f\u00ad\u2060\u202e\0\ud800\U000e0041\u3164\u034f\u0301\u0338\u1680"]
UNSEEN += ["\x1b[31m", "\x1b]0;x\x07"]

fragment = st.sampled_from([*WORDS.split(), *WITH_SPACES, *WITH_LINES, *UNSEEN])
anything = st.characters(exclude_categories=())  # surrogates, too
text = st.lists(st.one_of(fragment, anything), max_size=12).map("".join)

table = st.builds(
    "{0}|{1}\n{4}|-\n{2}|{3}\n{1}".format,
    *[text.map(lambda each: " ".join(each.split()))] * 4,
    st.sampled_from(["-", "|:-:", "> -"]),
)

code_block = st.builds(
    "{0}{2}{1}{2}".format,
    text,
    text.map("\n{}\n".format),
    st.sampled_from(["```", "````", "~~~", "   ```", "\n```"]),
)

TEMPLATES = {
    "prose": "Summary: {summary}\n\n{details}\n\nPage: {doc_url} ({report_kind}, {agent_name})",
    "quote": "> {details}\n\n**{summary}** by _{agent_name}_, ~~{report_kind}~~",
    "list in a quote": "> - {details}\n>   {evidence}\n>\n> {suggested_fix}",
    "code": "```\n{details}\n```\n\n{summary} {doc_url} {agent_name}",
    "tildes": "~~~text\n{details}\n~~~\n{summary} {doc_url}",
    "code in a list": "- a\n\n  ```{report_kind}\n  {details}\n  ```\n\n{evidence}",
    "code in a quote": "> ```\n> {details}\n> ```\n\n{suggested_fix}",
    "code that is indented": "a\n\n    {details}\n\n{summary}",
    "list": "- {summary}\n- [docs]({doc_url})\n- {agent_name}\n\n  {details}",
    "numbers": "10. {details}\n11. {evidence}\n\n    - {suggested_fix}",
    "far from its item": "- {summary}\n\n    {details}\n\n* {agent_name}\n\n    {evidence}",
    "html": "<details><summary>{summary}</summary>\n\n{details}\n\n</details>\n\n{agent_name}",
    "html without blank lines": "<div>\n{details}\n{summary}\n</div>\n\n{evidence}",
    "tags": '<a href="{doc_url}">{summary}</a> <b title="{details}" lang={evidence}>x</b> {agent_name}',
    "tags over lines": "<div lang={summary}>\n{details}\n\n<b title='\n{evidence}\n'>\n\n{suggested_fix}",
    "comments": "<!-- {details} -->\n\na <!-- {summary} --> b <!--{agent_name}-->",
    "code in line": "`{summary}` by ``{agent_name}`` on `{doc_url}`\n\n`{details}`",
    "table": "| a | b |\n|---|---|\n| {summary} | {agent_name} |\n| {details} | {doc_url} |",
    "headings": "## {summary}\n{details}\n***\n{evidence}",
    "signs": "@{agent_name} #{summary} GH-{details} &{report_kind} <{evidence} \\{suggested_fix}",
    "neighbors": "{summary}{details}{evidence}{agent_name}{doc_url}{suggested_fix}",
    "halves of words": "gh{summary} x{details} h{agent_name} ab{report_kind}12 {suggested_fix}000000",
    "halves of URLs": "https:{summary} https://{details} https://docs.example.com{evidence} www.{agent_name}",
    "URLs": "https://docs.example.com/{summary} <https://docs.example.com/{details}> www{evidence}",
    "targets": "[{summary}]({details}) [a]({evidence}) [a](<{agent_name}>) ![a]({suggested_fix})",
    "definitions": "[{summary}] [b] [c]\n\n[b]:\n{details}\n\n[c]: {evidence}\n{agent_name}",
    "footnotes": "a[^{summary}] [^1]\n\n[{details}: {evidence}\n- [{agent_name}] {suggested_fix}",
    "marks": "a\n-{summary}\n={details}\n`{evidence}\n~~{suggested_fix}\n!{agent_name}\n/{report_kind}",
    "keywords": "fixes {summary} {details}\n\n{summary} a12, {agent_name}: {evidence}",
    "left open": "{summary}\n\n```\n{details}",
}
