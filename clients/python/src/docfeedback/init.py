"""`init`: the instruction blocks in the files of a repository, or of a person."""

from __future__ import annotations

import codecs
import os
from pathlib import Path
from typing import Iterator, NamedTuple, Optional

from . import blocks, files, settings
from .arguments import Arguments, usage_error
from .blocks import Damaged, Place
from .contract import message
from .errors import DocFeedbackError
from .result import Result

RULES = ".cursor/rules"
CANDIDATES = ("AGENTS.md", "CLAUDE.md", RULES, ".github/copilot-instructions.md")
IN_RULES_FOLDER = ".cursor/rules/docfeedback.mdc"
RULE_HEAD = "---\ndescription: How to report problems of documentation\nalwaysApply: true\n---\n"
GLOBAL = "~/.claude/CLAUDE.md"


class Target(NamedTuple):
    """A file and a block; `document` is None without a file, `place` None without the block."""

    path: str
    name: str
    document: Optional[str]
    place: Optional[Place]

    @property
    def state(self) -> str:
        """`absent`, `outdated`, `current` or `newer`."""
        if self.place is None:
            return "absent"
        return {"older": "outdated", "pasted_older": "outdated", "pasted": "current"}.get(
            self.place.state, self.place.state
        )


def run(arguments: Arguments) -> Result:
    """Write the block, check whether it is there (`--check`), or remove it (`--remove`)."""
    if "--check" in arguments.flags and "--remove" in arguments.flags:
        raise usage_error("exclusive_flags")
    target = _target(arguments)
    if "--check" in arguments.flags:
        return _check(target)
    if "--remove" in arguments.flags:
        return _remove(target)
    return _write(target, settings.hub_url(arguments.get("--hub-url")))


def _write(target: Target, hub_url: Optional[str]) -> Result:
    if target.state in ("current", "newer"):
        return _said(target, target.state)
    before = target.document
    if before is None:
        before = RULE_HEAD if target.path.endswith(".mdc") else ""
    hub_url = hub_url or _hub_of_old(target) or message("hub_not_named")
    _save(target.path, _put(target, before, hub_url))
    if target.document is None:
        return _said(target, "created")
    return _said(target, "refreshed" if target.place else "added")


def _hub_of_old(target: Target) -> Optional[str]:
    """The Hub that the block to be updated names, or None."""
    named = target.place and blocks.hub_url(target.document or "", target.place)
    return named if named and settings.is_hub_url(named) else None


def _put(target: Target, before: str, hub_url: str) -> str:
    try:
        return blocks.put(before, target.place, target.name, hub_url=hub_url)
    except Damaged as damage:
        raise _damaged(target.path, target.name, damage) from None


def _check(target: Target) -> Result:
    said = _said(target, target.state)
    if target.state in ("current", "newer"):
        return said
    data = {"error": target.state, "message": said.lines[0], **said.data}
    return said._replace(data=data, exit_code=1)


def _remove(target: Target) -> Result:
    if target.document is None or target.place is None:
        return _said(target, "not_there")
    if target.place.state == "pasted_older":
        raise _damaged(target.path, target.name, Damaged("edited_by_hand", target.place.line))
    rest = blocks.take_out(target.document, target.place)
    if rest == RULE_HEAD:  # nobody else makes such a file
        _delete(target.path)
    else:
        _save(target.path, rest)
    return _said(target, "removed")


def _said(target: Target, what: str) -> Result:
    flags = " --global" if target.name == "consumer" else ""
    sentence = message(f"block_{what}", path=target.path, block=target.name, flags=flags)
    return Result([sentence], {"file": target.path, "block": target.name, "result": what})


def _target(arguments: Arguments) -> Target:
    """The named file, else the first with the block, else the first candidate.

    A candidate whose links lead out of the current folder is not read: whoever made the repository
    chose where to. A file that is named may be anywhere.
    """
    name = "consumer" if "--global" in arguments.flags else "first-party"
    path = arguments.get("--file")
    if path is not None:
        return _read(path, name)
    if name == "consumer":
        return _read(str(Path(GLOBAL).expanduser()), name)
    found = list(_candidates())
    for path in found:
        target = None if files.outside(path) else _read(path, name)
        if target and target.place:
            return target
    path = (found or CANDIDATES)[0]
    if real := files.outside(path):
        raise DocFeedbackError.of("outside_folder", path=path, real=real)
    return _read(path, name)


def _candidates() -> Iterator[str]:
    for path in CANDIDATES:
        if path == RULES and Path(path).is_dir():
            yield IN_RULES_FOLDER
        elif os.path.lexists(path):
            yield path


def _read(path: str, name: str) -> Target:
    try:
        data = files.read(path)
    except files.Unusable as error:
        raise _unusable("unreadable_file", path, error) from None
    if data is None:
        return Target(path, name, None, None)
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise DocFeedbackError.of("not_utf8", path=path)
    document = data.decode("latin-1")
    try:
        return Target(path, name, document, blocks.find(document, name))
    except Damaged as damage:
        raise _damaged(path, name, damage) from None


def _save(path: str, document: str) -> None:
    try:
        files.replace(path, document.encode("latin-1"))
    except files.Unusable as error:
        raise _unusable("unwritable_file", path, error) from None


def _delete(path: str) -> None:
    try:
        files.remove(path)
    except files.Unusable as error:
        raise _unusable("unwritable_file", path, error) from None


def _unusable(code: str, path: str, error: files.Unusable) -> DocFeedbackError:
    return DocFeedbackError.of(code, path=path, reason=message(error.reason))


def _damaged(path: str, name: str, damage: Damaged) -> DocFeedbackError:
    marker = f"<!-- docfeedback:end {name} -->"
    sentence = message(damage.code, path=path, line=damage.line, block=name, marker=marker)
    return DocFeedbackError("damaged_block", sentence)
