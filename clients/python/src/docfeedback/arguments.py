"""Parses the command line by the table that both packages share: `commands.json`."""

from __future__ import annotations

from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from .contract import message, table
from .errors import ValidationError


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
    takes = {**commands[command]["flags"], **table("commands.json")["common"]}
    flags, found = _split(rest, takes)
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


def _split(words: List[str], takes: Dict[str, Optional[str]]) -> Tuple[Dict[str, str], List[str]]:
    flags: Dict[str, str] = {}
    arguments: List[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
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
            if not left or left[0].startswith("--"):
                raise usage_error("missing_value", name=name)
            value = left.pop(0)
        if takes[name] in ("FILE", "PATH") and not value:
            raise usage_error("missing_value", name=name)
        flags[name] = value
    return flags, arguments


def _unknown(code: str, name: str, *, known: Iterable[str]) -> ValidationError:
    sentence = message(code, name=name)
    nearest = min(known, key=lambda candidate: distance(name, candidate))
    if distance(name, nearest) * 3 <= len(nearest):
        sentence += message("did_you_mean", name=nearest)
    return ValidationError("usage", sentence)


def usage_error(code: str, **values: str) -> ValidationError:
    """The error for a wrong command line; `code` is its message in `messages.json`."""
    return ValidationError("usage", message(code, **values))


def distance(one: str, other: str) -> int:
    """How many letters to insert, delete or replace to turn `one` into `other` (Levenshtein)."""
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        above, row = row, [i]
        for j, goal in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (letter != goal)))
    return row[-1]
