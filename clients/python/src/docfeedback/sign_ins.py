"""The sign-ins that `login` keeps, one file for each Hub, and their refreshing.

The Node package uses the same files under the same locks.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Iterator, Optional

from . import document, oauth, private_files, settings
from .contract import message
from .document import text, whole
from .errors import AuthError, ValidationError
from .files import Unusable
from .oauth import Tokens

LAST_SECOND = 253402300799  # of the year 9999
REFRESH_SECONDS = 10.0  # for all requests under a lock; less than LOCK_SECONDS


def stored(hub_url: str, *, even_exposed: bool = False) -> Optional[Tokens]:
    """The sign-in at this Hub, or None. Raises AuthError if others can read or change the file.

    ValidationError if another user can say where it is.
    """
    path = path_of(hub_url)
    try:
        with _named("unreadable_file", path):
            data = private_files.read(path, even_exposed=even_exposed)
            if data is not None:
                _refuse_other_users(path)
    except private_files.Exposed:
        raise AuthError.of("exposed_sign_in", path=path) from None
    return None if data is None else _parsed(data, hub_url)


def replace(hub_url: str, tokens: Tokens) -> Optional[Tokens]:
    """Keep the sign-in at this Hub; returns the one before, or None."""
    with _changing(hub_url):
        before = stored(hub_url, even_exposed=True)
        _keep(hub_url, tokens)
    return before


def take(hub_url: str) -> Optional[Tokens]:
    """The sign-in at this Hub, or None; it is kept no longer. Raises ValidationError if that is not known."""
    path = path_of(hub_url)
    with _named("unreadable_file", path):
        if not private_files.is_there(path) and not private_files.drafts(path):
            return None
    with _changing(hub_url):
        before = stored(hub_url, even_exposed=True)
        _forget(hub_url)
    return before


def check_place(hub_url: str) -> None:
    """Raise ValidationError if no sign-in can be kept here, or what is in its place cannot be replaced."""
    with _changing(hub_url):
        stored(hub_url, even_exposed=True)


def refreshed(hub_url: str, old: Tokens, seconds: float) -> Tokens:
    """A sign-in that is newer than `old`: that of another command, or a new one from the Hub.

    Raises AuthError if the sign-in has ended; then it is forgotten.
    """
    with _changing(hub_url):
        now = stored(hub_url)
        if now is not None and now.access_token != old.access_token:
            return now
        new = None if now is None else _refresh(hub_url, now, min(seconds, REFRESH_SECONDS) / 2)
        if new is not None:
            _keep(hub_url, new)
            return new
        _forget(hub_url)
    raise AuthError.of("sign_in_ended", url=hub_url)  # as for whoever is not signed in


def _refresh(hub_url: str, now: Tokens, seconds: float) -> Optional[Tokens]:
    """New tokens from the Hub, with `seconds` for each of two requests; None if it gives none."""
    if now.refresh_token is None:
        return None
    endpoints = oauth.discover(hub_url, seconds)
    _keep(hub_url, now)  # tells a full disk while the token, which works once, is not used up
    try:
        return oauth.refresh(endpoints, now.refresh_token, hub_url, seconds)
    except oauth.Refused as refused:
        if refused.code == "invalid_grant":
            return None
        raise refused.error(hub_url) from None


def path_of(hub_url: str) -> Path:
    """The file for this Hub, however its address is spelled."""
    name = hashlib.sha256(settings.one_spelling(hub_url).encode()).hexdigest()[:32]
    return settings.sign_ins_folder() / f"{name}.json"


@contextlib.contextmanager
def _changing(hub_url: str) -> Iterator[None]:
    """Let no other command change the sign-in at this Hub meanwhile: refresh tokens work once."""
    path = path_of(hub_url)
    with _named("unwritable_file", path):
        _refuse_other_users(path)
        with private_files.locked(path.with_suffix(".lock")):
            yield


@contextlib.contextmanager
def _named(code: str, path: Path) -> Iterator[None]:
    """Say which file cannot be used."""
    try:
        yield
    except Unusable as error:
        raise ValidationError.of(code, path=path, reason=message(error.reason)) from None


def _refuse_other_users(path: Path) -> None:
    private_files.refuse_other_users(path, settings.config_path().parent)


def _keep(hub_url: str, tokens: Tokens) -> None:
    data = json.dumps({"hub_url": hub_url, **tokens._asdict()}, indent=2) + "\n"
    private_files.write(path_of(hub_url), data.encode())


def _forget(hub_url: str) -> None:
    """Delete the sign-in, where a link leads, too, and what is left of it where writing it was cut short.

    What a link leads to, and is no sign-in at this Hub, stays.
    """
    kept = path_of(hub_url)
    is_one = stored(hub_url, even_exposed=True) is not None
    ends = [Path(os.path.realpath(kept))] if is_one else []
    for path in (*private_files.drafts(kept), *ends, kept):
        private_files.remove(path)


def _is_one(one: str, other: str) -> bool:
    return settings.one_spelling(one) == settings.one_spelling(other)


def _parsed(data: bytes, hub_url: str) -> Optional[Tokens]:
    """The sign-in in the file; None if it is damaged, or is that at another Hub."""
    try:
        found = document.an_object(document.parse(data), "access_token", "hub_url")
    except document.NoDocument:
        return None
    if found is None or not _is_one(found["hub_url"], hub_url):
        return None
    if not settings.TOKEN.fullmatch(found["access_token"]):
        return None
    refresh_token, ends_at = text(found.get("refresh_token")), whole(found.get("ends_at"))
    return Tokens(
        found["access_token"],
        whole(found.get("expires_at")) or 0,
        refresh_token if settings.TOKEN.fullmatch(refresh_token or "") else None,
        None if ends_at is None else min(ends_at, LAST_SECOND),
        text(found.get("scope")),
    )
