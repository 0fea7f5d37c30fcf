"""The address of a file in a repository, by the remote that git knows; no network is used."""

from __future__ import annotations

import contextlib
import os
import posixpath
import re
from typing import Dict, List, NamedTuple, Optional
from urllib.parse import quote

from . import address, files, git, remotes, words
from .contract import message
from .errors import DocFeedbackError, ValidationError

REMOTES = ("upstream", "origin")  # the first of them counts
MAX_LENGTH = 2048
HERE = re.compile(r"\.\.?(?:/|$)")


class Located(NamedTuple):
    """`url` is the address of the file, or None; `note` tells a person, with both in quotes; `path` is as given."""

    url: Optional[str]
    path: str
    note: Optional[str]


class _Stays(Exception):
    """Why a path has no address: `reason` is its message in `messages.json`."""

    def __init__(self, reason: str, **values: str) -> None:
        super().__init__(reason)
        self.reason = message(reason, **values)


class _Checkout(NamedTuple):
    """`prefix` leads from its root to the current folder, and ends with a slash unless it is empty."""

    git: str
    folder: str
    root: str
    prefix: str

    def ask(self, *words: str) -> Optional[str]:
        return git.ask(self.git, self.folder, *words)


def is_path(text: str) -> bool:
    """Whether this is no address but a path; unlike an address, it may have spaces."""
    if len(text) > MAX_LENGTH:
        return False
    try:
        return address.parse(_slashed(text).replace(" ", "_")) is None
    except address.Refused:
        return False


def locate(path: str, folder: Optional[str] = None, *, allow_private: bool = False) -> Located:
    """The address of a file or folder of the repository around `folder` (default: the current one).

    What is an address already comes back without a note. Raises ValidationError if the path can mean
    two files, if it has no address and is a whole path or leads out of the repository (without one,
    out of the folder), or if the code host that is set is none.
    """
    if not is_path(path):
        return Located(None, path, None)
    slashed = _slashed(path)
    prefix = ""
    try:
        checkout = _checkout(folder or ".")
        prefix = checkout.prefix
        url = _url(slashed, checkout, allow_private)
    except _Stays as stays:
        _refuse_outside(slashed, prefix, stays.reason)
        note = message("path_stays", path=words.quote(path), reason=stays.reason)
        return Located(None, path, note)
    note = message("path_located", path=words.quote(path), url=words.quote(url))
    return Located(url, path, note)


def _slashed(path: str) -> str:
    return path.replace("\\", "/") if os.sep == "\\" else path


def _refuse_outside(path: str, prefix: str, reason: str) -> None:
    """Refuse what may have a person's name, as the folders above a repository do."""
    if path.startswith("/"):
        raise ValidationError.of("whole_path", reason=reason)
    if posixpath.normpath(prefix + path).split("/")[0] == "..":
        raise ValidationError("whole_path", message("leaving_path", reason=reason))


def _url(path: str, checkout: _Checkout, allow_private: bool) -> str:
    url = _repository(checkout) + _place(checkout, path)
    try:
        address.check(url, allow_private)
    except DocFeedbackError:
        raise _Stays("path_private_host") from None
    return url


def _checkout(folder: str) -> _Checkout:
    program = git.program()
    if program is None:
        raise _Stays("path_no_git")
    answer = git.ask(program, folder, "rev-parse", "--show-toplevel", "--show-prefix") or ""
    lines = answer.split("\n")
    if len(lines) != 3:
        raise _Stays("path_no_repository")
    return _Checkout(program, folder, lines[0], lines[1])


def _repository(checkout: _Checkout) -> str:
    """The address of the repository, by its remote as configured, else as git rewrites it."""
    for name in REMOTES:
        configured = checkout.ask("config", "--null", "--get-all", f"remote.{name}.url")
        if not configured:
            continue
        rewritten = checkout.ask("ls-remote", "--get-url", name) or ""
        for url in (configured.split("\0")[0], rewritten[:-1]):
            if found := remotes.repository(url):
                return found
        raise _Stays("path_not_github", remote=name)
    raise _Stays("path_no_remote")


def _place(checkout: _Checkout, path: str) -> str:
    """What follows the address of the repository. A fragment is kept, unless it belongs to the name."""
    file, mark, fragment = path.partition("#")
    whole, part = _names(checkout, path), _names(checkout, file) if file else []
    kinds = _committed(checkout, [*whole, *part])
    found, anchor = [name for name in whole if name in kinds], ""
    if not found and mark:
        found = [name for name in part if name in kinds]
        anchor = f"#{quote(fragment, safe='')}" if fragment else ""
    if not found:
        is_outside = os.path.isabs(path) and not whole + part  # noqa: PTH117
        raise _Stays("path_outside" if is_outside else "path_not_committed")
    if len(found) > 1:
        raise _ambiguous(checkout, path, found)
    return (f"/{kinds[found[0]]}/HEAD/{quote(found[0])}" if found[0] else "") + anchor


def _ambiguous(checkout: _Checkout, path: str, found: List[str]) -> DocFeedbackError:
    up = "../" * checkout.prefix.count("/") + path
    return ValidationError.of("ambiguous_path", path=path, here=found[0], root=found[1], up=up)


def _names(checkout: _Checkout, path: str) -> List[str]:
    """What the path can mean, from the root on: in the current folder, and from the root."""
    if os.path.isabs(path):  # noqa: PTH117
        candidates = _from_root(checkout, path)
    else:
        candidates = [checkout.prefix + path] + ([] if HERE.match(path) else [path])
    names = dict.fromkeys(posixpath.normpath(candidate) for candidate in candidates)
    return ["" if name == "." else name for name in names if name.split("/")[0] != ".."]


def _from_root(checkout: _Checkout, path: str) -> List[str]:
    """What a whole path means from the root on, if it begins with that; nothing outside is looked at.

    Where an automounter runs, looking at `/net/<host>/x` would already tell the host.
    """
    for root in _roots(checkout):
        with contextlib.suppress(ValueError):  # on another drive
            name = os.path.relpath(path, root).replace(os.sep, "/")
            if name.split("/")[0] != "..":
                found = _through_links(root, name)
                return [] if found is None else [found]
    return []


def _roots(checkout: _Checkout) -> List[str]:
    """The root as git writes it, and as the current folder does, if links lead there."""
    real = os.path.realpath(checkout.root)
    here = os.environ.get("PWD", "") if checkout.folder == "." else checkout.folder
    end = os.sep + checkout.prefix.rstrip("/").replace("/", os.sep)
    written = here[: -len(end)] if here.endswith(end) else here
    is_root = os.path.isabs(written) and os.path.realpath(written) == real  # noqa: PTH117
    return [checkout.root, real, *([written] if is_root else [])]


def _through_links(root: str, name: str) -> Optional[str]:
    """The name from the root on, through links in its folders; None if one leads out or has a whole path."""
    found: List[str] = []
    left, links = name.split("/")[::-1], 0
    while left:
        part = left.pop()
        if part == ".." and not found:
            return None
        if part == "..":
            found.pop()
        elif part not in ("", "."):
            target = files.link_target(posixpath.join(root, *found, part)) if left else None
            links += target is not None
            if target is None:
                found.append(part)
            elif os.path.isabs(target) or links > files.MOST_LINKS:  # noqa: PTH117
                return None
            else:
                left += target.replace(os.sep, "/").split("/")[::-1]
    return "/".join(found)


def _committed(checkout: _Checkout, names: List[str]) -> Dict[str, str]:
    """Those names that the current commit has, as `blob` or `tree`; the root has the name ""."""
    kinds = {"": "tree"} if "" in names else {}
    asked = [name for name in names if name]
    if not asked:
        return kinds
    listed = checkout.ask("ls-tree", "-tz", "--full-tree", "HEAD", "--", *asked) or ""
    for entry in listed.split("\0"):
        head, _, name = entry.partition("\t")
        if name in asked and (kind := head.split(" ")[1]) in ("blob", "tree"):
            kinds[name] = kind
    return kinds
