"""`config`: shows and changes the user's configuration file, and never shows a token."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Callable, Dict, List, Optional, Sequence

from . import files, private_files, settings
from .arguments import Arguments, check_words, usage_error
from .contract import message
from .errors import DocFeedbackError, ValidationError
from .files import Unusable
from .result import Result

NAMES = ("hub_url", "code_host", "token")
FAILED = 1


def run(arguments: Arguments) -> Result:
    """Show, set or remove a setting of the file."""
    action, *words = arguments.words
    if action not in ACTIONS:
        raise usage_error("unknown_action", name=action)
    check_words("config", words, WORDS[action].split())
    if words and words[0] not in NAMES:
        raise usage_error("unknown_setting", name=words[0])
    return ACTIONS[action](words)


def remember(hub_url: str) -> Optional[str]:
    """Make a Hub the one of the file, if none is set anywhere; a note about that, or None.

    A token that is there without a Hub would be this one's from then on.
    """
    path = settings.config_path()
    try:
        if settings.hub_url() is not None or settings.config().get("token"):
            return None
        if settings.environment_token(hub_url):
            return message("hub_not_remembered", url=hub_url)
        _change("hub_url", hub_url)
    except DocFeedbackError:  # who has signed in is signed in, whatever the file is like
        return None
    return message("hub_remembered", url=hub_url, path=path)


def _get(words: List[str]) -> Result:
    if words == ["token"]:
        raise usage_error("token_not_shown")
    if words:
        return _get_one(words[0])
    path, urls = settings.config_path(), {name: _stored(name) for name in CHECKS}
    has_token = bool(settings.config().get("token"))
    shown = {name: url or message("not_set") for name, url in urls.items()}
    shown["token"] = message("set_not_shown" if has_token else "not_set")
    lines = [message("setting_line", name=name, value=value) for name, value in shown.items()]
    data = {"path": str(path), **urls, "has_token": has_token}
    return Result([message("config_line", path=path), *lines], data, _notes(NAMES))


def _get_one(name: str) -> Result:
    url, notes = _stored(name), _notes([name])
    if url is not None:
        return Result([url], {name: url}, notes)
    sentence = message("setting_not_set", name=name, path=settings.config_path())
    data = {"error": "not_set", "message": sentence}
    return Result([message("error", text=sentence)], data, notes, exit_code=FAILED)


def _stored(name: str) -> Optional[str]:
    """The address in the file. Raises ValidationError if it is none."""
    found = settings.config().get(name)
    return CHECKS[name](found) if found else None


def _set(words: List[str]) -> Result:
    name, value = words
    if name == "token":
        raise usage_error("token_not_set_here")
    url = CHECKS[name](value)
    _change(name, url)
    path = settings.config_path()
    line = message("setting_set", name=name, value=url, path=path)
    return Result([line], {"path": str(path), name: url}, _notes([name]))


def _unset(words: List[str]) -> Result:
    [name] = words
    was_set = _change(name, None)
    path = settings.config_path()
    line = message("setting_removed" if was_set else "setting_not_set", name=name, path=path)
    return Result([line], {"path": str(path), "removed": name if was_set else None}, _notes([name]))


def _notes(names: Sequence[str]) -> List[str]:
    """The environment wins over the file, which surprises whoever changes that."""
    variables = [f"DOCFEEDBACK_{name.upper()}" for name in names]
    return [message("environment_wins", name=it) for it in variables if os.environ.get(it)]


def _change(name: str, value: Optional[str]) -> bool:
    """Change a setting, or remove it; all others stay. Whether it was set."""
    path = settings.config_path()
    try:
        private_files.refuse_other_users(path, path.parent)
        with private_files.locked(path.with_suffix(".lock")):
            config = settings.config()
            was_set = name in config
            if value is None and not was_set:
                return False
            if name == "hub_url":
                _refuse_for_the_token(config, value)
            if value is not None:
                config[name] = value
            else:
                del config[name]
            _write(config)
            for draft in private_files.drafts(Path(os.path.realpath(path))):  # with a token
                private_files.remove(draft)
            return was_set
    except Unusable as error:
        reason = message(error.reason)
        raise ValidationError.of("unwritable_file", path=path, reason=reason) from None


def _refuse_for_the_token(config: Dict[str, str], hub_url: Optional[str]) -> None:
    """The file's token belongs to the file's Hub, and must not be sent to another."""
    owner = config.get("hub_url")
    if config.get("token") and hub_url is None:
        raise ValidationError.of("token_without_its_hub", path=settings.config_path())
    if config.get("token") and owner and owner.rstrip("/") != hub_url:
        raise ValidationError.of("token_of_another", path=settings.config_path())


def _write(config: Dict[str, str]) -> None:
    """Replace the file, which only its owner can read afterwards; a symbolic link stays one."""
    path = settings.config_path()
    text = json.dumps(config, ensure_ascii=False, indent=2) + "\n"
    data = text.encode(errors="backslashreplace")  # half a surrogate pair, as JSON escapes it too
    if not path.exists() and not path.is_symlink():
        return private_files.write(path, data)
    real = files.resolved(str(path))
    files.replace(real, data, files.read(real))
    try:
        path.chmod(0o600)
    except OSError as error:
        raise Unusable(files.reason_of(error)) from None
    return None


def _code_host(url: str) -> str:
    return settings.code_host_at(url).origin


CHECKS: Dict[str, Callable[[str], str]] = {"hub_url": settings.base, "code_host": _code_host}
WORDS = {"get": "[NAME]", "set": "NAME VALUE", "unset": "NAME"}
ACTIONS: Dict[str, Callable[[List[str]], Result]] = {"get": _get, "set": _set, "unset": _unset}
