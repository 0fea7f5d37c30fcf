"""A page that shows something wrong is found out."""

from pathlib import Path

import pytest

from tests.docs.running import Stage, WrongExample, run_page, tools

pytestmark = pytest.mark.slow


@pytest.fixture
def bare(tmp_path: Path) -> Stage:
    folder = tmp_path / "folder"
    folder.mkdir()
    return Stage(
        folder,
        {"PATH": "/usr/bin:/bin", "NAME": "alice"},
        words={"https://hub.example.com": "http://127.0.0.1:8000"},
        root=Path("/"),
    )


def _run(bare: Stage, text: str) -> int:
    page = bare.folder.parent / "page.md"
    page.write_text(text)
    return run_page(page, bare)


RIGHT = {
    "variables stay": "```sh\nX=1\n```\n\n```sh\necho $X $NAME\n```\n\n```text output\n1 alice\n```",
    "addresses": "```sh\necho https://hub.example.com/v0/\n```\n```text output\nhttps://hub.example.com/v0/\n```",
    "anything": "```sh\necho took 3 s\n```\n```text output\ntook … s\n```",
    "any lines": "```sh\nseq 9\n```\n```text output\n1\n…\n9\n```",
    "no more lines": "```sh\nseq 2\n```\n```text output\n1\n2\n…\n```",
    "json": '```sh\necho \'{"a": [1, 2], "b": {"c": "x-1", "d": 0}}\'\n```\n'
    '```json output\n{"a": [1, "…"], "b": {"c": "x-…", "…": "…"}}\n```',
    "http": "```sh\nprintf 'HTTP/1.1 200 OK\\r\\nA: 1\\r\\nB: 2\\r\\n\\r\\n{\"x\": 1}'\n```\n"
    '```http output\nHTTP/1.1 200 OK\nb: 2\n\n{"x": "…"}\n```',
    "python": "```python\nprint(1 + 1)\n```\n```text output\n2\n```",
    "a failure": "```sh fails\necho no >&2; exit 2\n```\n```text output\nno\n```",
    "after a failure": "```sh fails\nfalse\n```\n\n```sh\nset -o | grep 'errexit.*on'\n```",
    "a file": '```json file=a.json\n{"a": 1}\n```\n\n```sh\ncat a.json\n```\n```json output\n{"a": 1}\n```',
    "not here": "```sh not-run\nfalse\n```",
    "tabs": "```sh tab=One\necho 1\n```\n```text output\n1\n```\n```sh tab=Two\necho 2\n```\n```text output\n2\n```",
    "the checkout": "```sh checkout\npwd\n```\n```text output\n/\n```",
}
WRONG = {
    "a failing command": ("```sh\nfalse\ntrue\n```", ":2: It ended with status 1."),
    "an unknown variable": ("text\n\n```sh\necho $Y\n```", ":4: It ended with status"),
    "a failing pipe": ("```sh\nfalse | true\n```", "status 1"),
    "an exit": ("```sh\nexit 3\n```", "status 3"),
    "a failing script": ("```python\nraise ValueError('why')\n```", "ValueError: why"),
    "no failure": ("```sh fails\ntrue\n```", "It did not fail"),
    "another line": ("```sh\necho 1\n```\n```text output\n2\n```", "- 2\n+ 1"),
    "a line more": ("```sh\nseq 2\n```\n```text output\n1\n```", "+ 2"),
    "a line less": ("```sh\nseq 1\n```\n```text output\n1\n2\n```", "- 2"),
    "another value": (
        '```sh\necho \'{"a": 1}\'\n```\n```json output\n{"a": true}\n```',
        "$.a is 1",
    ),
    "a key more": ("```sh\necho '{\"a\": 1}'\n```\n```json output\n{}\n```", "$.a is not shown"),
    "a key less": ("```sh\necho '{}'\n```\n```json output\n{\"a\": 1}\n```", "$.a is missing"),
    "no JSON": ("```sh\necho no\n```\n```json output\n{}\n```", "What was got is not JSON"),
    "another status": (
        "```sh\nprintf 'HTTP/1.1 400 Bad Request\\n\\n'\n```\n```http output\nHTTP/1.1 200 OK\n```",
        "+ HTTP/1.1 400 Bad Request",
    ),
    "no header": (
        "```sh\nprintf 'HTTP/1.1 200 OK\\n\\n'\n```\n```http output\nHTTP/1.1 200 OK\nA: 1\n```",
        "There is no header a.",
    ),
    "a wrong word": ("```sh notrun\ntrue\n```", "`notrun` means nothing"),
    "no language": ("```bash\ntrue\n```", "`bash` is not one of the languages"),
    "an output alone": ("```text output\n1\n```", "This output follows no block."),
    "invalid JSON": ("```json\n{'a': 1}\n```", "This is not json"),
    "a script that is not used": (
        "```python file=a.py\nprint(1)\n```",
        "No other block uses a.py.",
    ),
}


@pytest.mark.parametrize("page", RIGHT.values(), ids=RIGHT.keys())
def test_a_page_that_is_right_passes(bare: Stage, page: str):
    ran = _run(bare, page)

    assert ran == sum(page.count(each) for each in ("```sh", "```python")) - page.count("not-run")


@pytest.mark.parametrize(("page", "reason"), WRONG.values(), ids=WRONG.keys())
def test_a_page_that_is_wrong_is_named_with_the_place(bare: Stage, page: str, reason: str):
    with pytest.raises(WrongExample) as failure:
        _run(bare, page)

    assert reason in str(failure.value)
    assert "page.md:" in str(failure.value)


def test_a_page_asks_for_the_programs_that_it_calls(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("```sh\ncurl x | jq .\n```\n\n```js\n1\n```\n\n```sh not-run\nnode\n```\n")

    assert set(tools(page)) == {"curl", "jq", "node"}
