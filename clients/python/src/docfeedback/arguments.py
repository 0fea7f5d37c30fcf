"""Parses the command line by the table that both packages share: `commands.json`."""

from __future__ import annotations

from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from .contract import message, table
from .errors import ValidationError
from .spelling import meant


class Arguments(NamedTuple):
    """The command, its `flags` by name, and its other `words`; a flag without a value has an empty string."""

    command: str
    flags: Dict[str, str]
    words: Tuple[str, ...] = ()

    @property
    def argument(self) -> str:
        """The first of the words; empty if there is none."""
        return self.words[0] if self.words else ""

    def get(self, flag: str) -> Optional[str]:
        """The value of a flag; None if it was not given."""
        return self.flags.get(flag)


def parse(words: List[str]) -> Arguments:
    """The command and its flags. Raises ValidationError, saying what to type instead."""
    if not words:
        raise usage_error("no_command")
    commands = table("commands.json")["commands"]
    command, rest = words[0], words[1:]
    if command.partition("=")[0] in table("commands.json")["common"]:
        raise usage_error("flag_first", name=command)
    if command.startswith("-"):
        raise _unknown("unknown_flag", command, known=["--help", "--version"])
    check_command(command)
    flags, found = _split(rest, _takes(command))
    check_words(command, found, (commands[command]["argument"] or "").split())
    return Arguments(command, flags, tuple(found))


def check_command(name: str) -> None:
    """Raise ValidationError unless there is such a command."""
    commands = table("commands.json")["commands"]
    if name not in commands:
        raise _unknown("unknown_command", name, known=commands)


def check_words(command: str, words: Sequence[str], wanted: Sequence[str]) -> None:
    """Raise ValidationError unless the words are as many as wanted; those in brackets may be missing."""
    required = [name for name in wanted if not name.startswith("[")]
    if len(words) < len(required):
        raise usage_error("missing_argument", name=required[len(words)], command=command)
    if len(words) > len(wanted):
        raise usage_error("unexpected_argument", name=words[-1])


def asks(words: List[str], *flags: str) -> bool:
    """Whether one of these flags is given, and not as the value of another one or behind `--`."""
    return any(word in flags for word in _without_values(words))


def _takes(command: str) -> Dict[str, Optional[str]]:
    """The flags of a command, and what each takes; of an unknown one those that all have."""
    shared = table("commands.json")
    known = shared["commands"].get(command, {"flags": {}})
    return {**known["flags"], **shared["common"]}


def _without_values(words: List[str]) -> Iterator[str]:
    takes = _takes(words[0]) if words else {}
    left = list(words)
    while left and left[0] != "--":
        word = left.pop(0)
        yield word
        if takes.get(word) is not None and left and not _is_flag(left[0], takes):
            left.pop(0)


def _is_flag(word: str, takes: Dict[str, Optional[str]]) -> bool:
    """Whether a word where a value is due is a flag: the value was forgotten."""
    return word.partition("=")[0] in takes and " " not in word


def _split(words: List[str], takes: Dict[str, Optional[str]]) -> Tuple[Dict[str, str], List[str]]:
    flags: Dict[str, str] = {}
    arguments: List[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            return flags, arguments + left
        if not word.startswith("-") or word == "-":
            arguments.append(word)
            continue
        name, equals, value = word.partition("=")
        if name not in takes:
            raise _unknown("unknown_flag", name, known=takes)
        if name in flags:
            raise usage_error("repeated_flag", name=name)
        if takes[name] is None and equals:
            raise usage_error("unwanted_value", name=name)
        if takes[name] is not None and not equals:
            value = _next(left, name, takes)
        if takes[name] in ("FILE", "PATH") and not value:
            raise usage_error("missing_value", name=name)
        flags[name] = value
    return flags, arguments


def _next(left: List[str], name: str, takes: Dict[str, Optional[str]]) -> str:
    """The next word is the value, whatever it looks like, unless it is a flag of this command."""
    if not left:
        raise usage_error("missing_value", name=name)
    if _is_flag(left[0], takes):
        raise usage_error("flag_for_value", name=name, flag=left[0].partition("=")[0])
    return left.pop(0)


def _unknown(code: str, name: str, *, known: Iterable[str]) -> ValidationError:
    return ValidationError("usage", message(code, name=name) + meant(name, known))


def usage_error(code: str, **values: str) -> ValidationError:
    """The error for a wrong command line; `code` is its message in `messages.json`."""
    return ValidationError("usage", message(code, **values))
