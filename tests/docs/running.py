"""Runs the blocks of a page, each as its readers would, and says where a page is wrong.

Every `sh`, `python` and `js` block is run; what follows the language says how:

    not-run         only shown
    fails           its exit status must not be 0
    checkout        (`sh`) runs in the root of the repository, with the environment of the operator
    dns             (`text`) here the reader publishes the records of all claims that there are
    file=a.json     saved as this file, and not run: a later block uses it
    tab=Python      adjacent blocks with tabs are one group; each is run, in order
    output          what the block before it prints: `json` (stdout, by keys and values), `http` (status,
                    the headers shown, the body) or `text` (stdout, then stderr); `…` is anything
"""

import json
import os
import select
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from hub.docs import fences, markdown
from hub.docs.fences import Example, Fence
from tests.docs import comparing

SECONDS = 60  # for one block
RUN = ("sh", "python", "js")
SESSION = """
set -euo pipefail
while IFS= read -r block; do
  source "$block" >"$block.out" 2>"$block.err" </dev/null
  echo
done
"""
MUST_FAIL = """
set +e
( set -e; source "{block}" )
(( $? == 0 )) && {{ echo "It did not fail, and it is marked as one that does." >&2; exit 99; }}
set -e
"""


class WrongExample(AssertionError):
    """A block that does not do what its page shows."""


@dataclass
class Stage:
    """Where blocks run: `folder` is empty at first; `words` are what the page's words stand for here.

    `publish` adds the DNS records that are asked for; `checkout` is the environment of the operator.
    """

    folder: Path
    environment: dict[str, str]
    words: dict[str, str] = field(default_factory=dict)
    publish: Callable[[], None] = lambda: None
    checkout: dict[str, str] = field(default_factory=dict)
    root: Path = Path()

    def told(self, text: str) -> str:
        """The text with this stage's addresses."""
        for word, value in self.words.items():
            text = text.replace(word, value)
        return text


@dataclass(frozen=True)
class Ended:
    """How a block ended."""

    status: int
    stdout: str
    stderr: str


def examples_of(text: str) -> list[Example]:
    """All blocks of a page in order, each with its output."""
    found: list[Example] = []
    for run in fences.runs(markdown.parse(text)):
        if run[0].type == "fence":
            found += fences.examples([fences.read(token) for token in run])
    return found


def is_run(path: Path) -> bool:
    """Whether a page has blocks that are run, so that it needs a Hub."""
    code = [each.code for each in examples_of(path.read_text(encoding="utf-8"))]
    return any(each.language in RUN and "not-run" not in each.words for each in code)


def run_page(path: Path, stage: Stage) -> int:
    """Run all blocks of a page; returns how many ran. Raises `WrongExample`."""
    examples = examples_of(path.read_text(encoding="utf-8"))
    ran = 0
    with Session(stage) as session:
        for example in examples:
            _check(path, example, [each for each in examples if each is not example])
            ran += _try(path, example, session)
    return ran


def _check(path: Path, example: Example, others: list[Example]) -> None:
    code = example.code
    for fence in filter(None, (code, example.output)):
        for mistake in fence.mistakes():
            raise _wrong(path, fence, mistake)
    if code.is_output:
        raise _wrong(path, code, "This output follows no block.")
    named = any(code.file in each.code.code for each in others)
    if code.file and code.language in RUN and not named:
        raise _wrong(path, code, f"No other block uses {code.file}.")


def _try(path: Path, example: Example, session: "Session") -> int:
    code = example.code
    if "not-run" in code.words:
        return 0
    if "dns" in code.words:
        session.stage.publish()
    if code.file:
        session.save(code)
    if code.language not in RUN or code.file:
        _readable(path, code)
        return 0
    ended = session.run(code)
    _judge(path, example, ended, session.stage)
    return 1


def _readable(path: Path, code: Fence) -> None:
    readers = {"json": json.loads, "toml": tomllib.loads}
    try:
        readers.get(code.language, str)(code.code)
    except ValueError as error:
        raise _wrong(path, code, f"This is not {code.language}: {error}") from None


def _judge(path: Path, example: Example, ended: Ended, stage: Stage) -> None:
    code, output = example.code, example.output
    if (ended.status != 0) != ("fails" in code.words):
        raise _wrong(path, code, f"It ended with status {ended.status}.", ended)
    if output is None:
        return
    expected = Fence(output.language, stage.told(output.code), output.line)
    if found := comparing.differences(expected, ended.stdout, ended.stderr):
        reason = "It printed something else than its page shows:\n" + "\n".join(found)
        raise _wrong(path, code, f"{reason}\n--- line {output.line} shows\n{output.code}", ended)


def _wrong(path: Path, fence: Fence, reason: str, ended: Ended | None = None) -> WrongExample:
    parts = [f"{path}:{fence.line}: {reason}", f"--- the block\n{fence.code}"]
    if ended:
        parts += [f"--- it printed\n{ended.stdout}", f"--- and to stderr\n{ended.stderr}"]
    return WrongExample("\n".join(parts))


class Session:
    """The programs of one page: one bash for all of its `sh` blocks, one process for each other."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._blocks = stage.folder.parent / "blocks"

    def __enter__(self) -> "Session":
        self._blocks.mkdir()
        self._bash = self._start(["bash", "-c", SESSION])
        return self

    def __exit__(self, *args: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._bash.pid, signal.SIGKILL)  # and what it left in the background
        self._bash.communicate()

    def save(self, fence: Fence) -> None:
        """Write a block to the file that it names."""
        path = self.stage.folder / fence.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.stage.told(fence.code), encoding="utf-8")

    def run(self, fence: Fence) -> Ended:
        """Run a block to its end."""
        block = self._blocks / f"line-{fence.line}.{_suffix(fence)}"
        block.write_text(self.stage.told(fence.code), encoding="utf-8")
        if fence.language == "sh" and "checkout" not in fence.words:
            return self._source(block, must_fail="fails" in fence.words)
        if fence.language == "sh":
            environment = {**self.stage.checkout, **self.stage.environment}
            command = ["bash", "-euo", "pipefail", str(block)]
            return self._alone(command, environment, self.stage.root)
        program = sys.executable if fence.language == "python" else "node"
        return self._alone([program, str(block)], self.stage.environment, self.stage.folder)

    def _source(self, block: Path, *, must_fail: bool) -> Ended:
        if must_fail:
            inner, block = block, block.with_suffix(".fails")
            block.write_text(MUST_FAIL.format(block=inner))
        assert self._bash.stdin
        assert self._bash.stdout
        self._bash.stdin.write(f"{block}\n".encode())
        self._bash.stdin.flush()
        ready, _, _ = select.select([self._bash.stdout], [], [], SECONDS)
        went_on = bool(ready) and bool(self._bash.stdout.readline())
        stdout, stderr = (Path(f"{block}.{name}").read_text() for name in ("out", "err"))
        if went_on:
            return Ended(1 if must_fail else 0, stdout, stderr)
        if not ready:
            return Ended(-1, stdout, f"{stderr}It took over {SECONDS} seconds.\n")
        status = self._bash.wait(SECONDS)
        return Ended(0 if must_fail else status, stdout, stderr)

    def _alone(self, command: list[str], environment: dict[str, str], folder: Path) -> Ended:
        ended = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
        )
        return Ended(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    def _start(self, command: list[str]) -> subprocess.Popen:
        return subprocess.Popen(
            command,
            cwd=self.stage.folder,
            env=self.stage.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )


def _suffix(fence: Fence) -> str:
    return {"sh": "sh", "python": "py", "js": "mjs"}[fence.language]


def tools(path: Path) -> Iterator[str]:
    """The programs that the blocks of a page call, of those that a machine may lack."""
    code = [
        each.code
        for each in examples_of(path.read_text(encoding="utf-8"))
        if "not-run" not in each.code.words
    ]
    sh = "\n".join(each.code for each in code if each.language == "sh")
    yield from (name for name in ("curl", "jq", "node") if name in sh.split())
    if any(each.language == "js" for each in code):
        yield "node"
