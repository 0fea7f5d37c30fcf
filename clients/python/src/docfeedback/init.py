"""`init`: the instruction blocks in the files of a repository, or of a person."""

from __future__ import annotations

import codecs
import contextlib
import os
from pathlib import Path
from typing import Iterator, NamedTuple, Optional, Sequence

from . import blocks, files, roots, settings, terminal
from .arguments import Arguments, usage_error
from .blocks import Damaged, Place
from .contract import message
from .errors import DocFeedbackError
from .result import Result
from .visible import quoted

RULES = ".cursor/rules"
CANDIDATES = ("AGENTS.md", "CLAUDE.md", RULES, ".github/copilot-instructions.md")
IN_RULES_FOLDER = ".cursor/rules/docfeedback.mdc"
RULE_HEAD = "---\ndescription: How to report problems of documentation\nalwaysApply: true\n---\n"
MOST_NOTES = 3
GLOBAL = "~/.claude/CLAUDE.md"


class Target(NamedTuple):
    """A file and a block; `document` is None without a file, `place` None without the block.

    `path` is what a person calls the file, and `real` where it is, which is decided once: links that
    come later are not followed. `others` are the lines where blocks of other tools begin.
    """

    path: str
    real: str
    name: str
    document: Optional[str]
    place: Optional[Place]
    others: Sequence[int] = ()

    @property
    def state(self) -> str:
        """`absent`, `outdated`, `current`, `edited` or `newer`."""
        if self.place is None:
            return "absent"
        return {"older": "outdated", "pasted_older": "outdated", "pasted": "current"}.get(
            self.place.state, self.place.state
        )


def run(arguments: Arguments) -> Result:
    """Write the block, check whether it is there (`--check`), or remove it (`--remove`)."""
    if "--check" in arguments.flags and "--remove" in arguments.flags:
        raise usage_error("exclusive_flags")
    given = arguments.get("--hub-url")
    hub_url = settings.base(given) if given else None
    target = _target(arguments)
    if "--check" in arguments.flags:
        return _check(target, hub_url)
    if "--remove" in arguments.flags:
        return _remove(target)
    if target.state in ("current", "edited") and hub_url:
        return _name_hub(target, hub_url)
    return _write(target, hub_url)


def _write(target: Target, hub_url: Optional[str]) -> Result:
    if target.state in ("current", "edited", "newer"):
        return _said(target, target.state)
    before = target.document
    if before is None:
        before = RULE_HEAD if target.path.endswith(".mdc") else ""
    _save(target, _put(target, before, hub_url or _hub(target)))
    if target.document is None:
        return _said(target, "created")
    return _said(target, "refreshed" if target.place else "added")


def _hub(target: Target) -> str:
    """The Hub that is set, that the block to be updated names, or that a person types."""
    named = blocks.hub_url(target.document or "", target.place) if target.place else None
    found = settings.hub_url() or (named if named and settings.is_hub_url(named) else None)
    answer = found or terminal.ask(message("ask_hub_url"))
    if not answer:
        raise settings.no_hub_url()
    return settings.base(answer)


def _name_hub(target: Target, hub_url: str) -> Result:
    """Change the line of a block of this version that names the Hub, and nothing else."""
    if target.document is None or target.place is None or not _names_other(target, hub_url):
        return _said(target, target.state)
    _save(target, blocks.name_hub(target.document, target.place, hub_url))
    said = _said(target, "hub_changed", hub_url)
    if target.state == "edited":
        return said._replace(notes=[*said.notes, *_said(target, "edited").lines])
    return said


def _names_other(target: Target, hub_url: str) -> bool:
    """Whether the block names another Hub than this, or what is no Hub."""
    named = target.place and blocks.hub_url(target.document or "", target.place)
    if named is None:  # somebody has taken that line out, or a newer version has another
        return target.state == "newer"
    if not settings.is_hub_url(named):
        return True
    return settings.one_spelling(settings.base(named)) != settings.one_spelling(hub_url)


def _put(target: Target, before: str, hub_url: str) -> str:
    try:
        return blocks.put(before, target.place, target.name, hub_url=hub_url)
    except Damaged as damage:
        raise _damaged(target.path, target.name, damage) from None


def _check(target: Target, hub_url: Optional[str]) -> Result:
    differs = hub_url and _names_other(target, hub_url)
    said = _said(target, "other_hub" if differs else target.state, hub_url or "")
    if target.state in ("current", "newer") and not differs:
        return said
    data = {"error": said.data["result"], "message": said.lines[0], **said.data}
    return said._replace(data=data, exit_code=1)


def _remove(target: Target) -> Result:
    if target.document is None or target.place is None:
        return _said(target, "not_there")
    if target.place.state == "pasted_older":
        raise _damaged(target.path, target.name, Damaged("edited_by_hand", target.place.line))
    rest = blocks.take_out(target.document, target.place)
    if rest == RULE_HEAD:  # nobody else makes such a file
        _delete(target, target.document)
    else:
        _save(target, rest)
    return _said(target, "removed")


def _said(target: Target, what: str, hub_url: str = "") -> Result:
    flags = " --global" if target.name == "consumer" else ""
    words = {"path": target.path, "block": target.name, "flags": flags, "url": hub_url}
    data = {"file": target.path, "block": target.name, "result": what}
    is_newer = (target.state, what) == ("newer", "other_hub")
    key = "newer_names_other_hub" if is_newer else f"block_{what}"
    few = target.others[:MOST_NOTES]
    notes = [message("foreign_block", path=target.path, line=line) for line in few]
    more = len(target.others) - len(few)
    if more:
        notes.append(message("more_foreign_blocks", path=target.path, number=more))
    return Result([message(key, **words)], data, notes)


def _target(arguments: Arguments) -> Target:
    """The named file, else the first with the block, else the first candidate.

    The candidates are at the root of the repository, without one in the current folder. One whose
    links lead out of there, into `.git`, or are another user's, as the root may be, is not read: somebody
    else chose where to. A file that is named may be anywhere, and that of a person where their own links lead.
    """
    name = "consumer" if "--global" in arguments.flags else "first-party"
    path = arguments.get("--file")
    if path is None and name == "consumer":
        path = _global()
    if path is not None:
        return _read(path, _resolved(path), name)
    try:
        root = roots.root()
    except files.Unusable as error:
        raise _unusable("unreadable_file", os.curdir, error) from None
    found = list(_candidates(root))
    for path in found:
        real = files.place(path, root)
        target = None if _refusal(path, real, root) else _read(path, real, name)
        if target and target.place:
            return target
    path = found[0] if found else _below(root, CANDIDATES[0])
    real = files.place(path, root)
    if refusal := _refusal(path, real, root):
        raise refusal
    return _read(path, real, name)


def _resolved(path: str) -> str:
    try:
        return files.resolved(path)
    except files.Unusable as error:
        raise _unusable("unreadable_file", path, error) from None


def _global() -> str:
    """The file of a person. Raises an error without a home folder, or if another user chose where it is."""
    home = settings.home("--file")
    path = str(home / GLOBAL.removeprefix("~/"))
    if refusal := _refusal_of_others(path, str(home)):
        raise refusal
    return path


def _refusal(path: str, real: str, root: str) -> Optional[DocFeedbackError]:
    """Why a file that was found is not used, if its links lead out or another user may choose where to."""
    if files.is_outside(real, root):
        folder = os.path.realpath(root)
        return DocFeedbackError.of("outside_folder", path=path, real=quoted(real), folder=folder)
    return _refusal_of_others(path, root)


def _refusal_of_others(path: str, root: str) -> Optional[DocFeedbackError]:
    above = Path(os.path.realpath(root)).parent  # so the root itself counts
    if link := files.of_another_user(path, str(above)):
        return DocFeedbackError.of("another_users_link", path=path, link=quoted(link))
    return None


def _candidates(root: str) -> Iterator[str]:
    for name in CANDIDATES:
        path = _below(root, name)
        is_out = files.is_outside(files.place(path, root), root)  # and is not looked at
        is_folder = is_out or os.path.isdir(path)  # noqa: PTH112 (before 3.14, the other may raise)
        if name == RULES and is_folder:
            yield _below(root, IN_RULES_FOLDER)
        elif is_out or os.path.lexists(path):
            yield path


def _below(root: str, name: str) -> str:
    return name if root == "." else f"{root}/{name}"


def _read(path: str, real: str, name: str) -> Target:
    document = _document(path, real)
    if document is None:
        return Target(path, real, name, None, None)
    try:
        place = blocks.find(document, name)
        return Target(path, real, name, document, place, blocks.foreign(document))
    except Damaged as damage:
        raise _damaged(path, name, damage) from None


def _document(path: str, real: str) -> Optional[str]:
    try:
        data = files.read(real)
    except files.Unusable as error:
        raise _unusable("unreadable_file", path, error) from None
    if data is not None and data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise DocFeedbackError.of("not_utf8", path=path)
    return None if data is None else data.decode("latin-1")


def _save(target: Target, document: str) -> None:
    before = None if target.document is None else target.document.encode("latin-1")
    with _told(target):
        files.replace(target.real, document.encode("latin-1"), before)


def _delete(target: Target, document: str) -> None:
    """Delete the file; of a symbolic link the target is emptied, and the link stays."""
    if Path(target.path).is_symlink():
        return _save(target, "")
    with _told(target):
        files.remove(target.real, document.encode("latin-1"))
    return None


@contextlib.contextmanager
def _told(target: Target) -> Iterator[None]:
    """Tell why the file was not written, such as that others wrote it while a person was asked for the Hub."""
    try:
        yield
    except files.Changed:
        raise DocFeedbackError.of("changed_meanwhile", path=target.path) from None
    except files.Unusable as error:
        raise _unusable("unwritable_file", target.path, error) from None


def _unusable(code: str, path: str, error: files.Unusable) -> DocFeedbackError:
    return DocFeedbackError.of(code, path=path, reason=message(error.reason))


def _damaged(path: str, name: str, damage: Damaged) -> DocFeedbackError:
    marker = f"<!-- docfeedback:end {name} -->"
    sentence = message(damage.code, path=path, line=damage.line, block=name, marker=marker)
    return DocFeedbackError("damaged_block", sentence)
