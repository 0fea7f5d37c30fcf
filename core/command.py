"""What our commands of `manage.py` share: help with their own options only, and with examples."""

from argparse import Action
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandParser, DjangoHelpFormatter

DJANGOS = sorted(DjangoHelpFormatter.show_last)


class Group(StrEnum):
    """What a command is for; `manage.py help` shows the groups in this order."""

    SET_UP = "Set up"
    RUN = "Run"
    KEEP = "Look after"
    TRY = "Try out"
    DEVELOP = "Work on the Hub"


class HubCommand(BaseCommand):
    """A command of the Hub.

    `summary` is its line in `manage.py help` and in the reference. `examples` maps what is typed after
    `manage.py` to what it does. A command that `asks_the_database` is not begun while that is away.
    """

    group: ClassVar[Group]
    summary: ClassVar[str]
    examples: ClassVar[Mapping[str, str]]
    asks_the_database: ClassVar[bool] = True

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """The parser, whose help shows our options and examples, and names Django's options at the end."""
        shown = {"formatter_class": HelpFormatter, "epilog": _ending(self.examples)}
        return super().create_parser(prog_name, subcommand, **shown, **kwargs)


class HelpFormatter(DjangoHelpFormatter):
    """Shows no option that all commands have, and the lines of the examples as they are."""

    def add_usage(
        self, usage: str | None, actions: Iterable[Action], *args: Any, **kwargs: Any
    ) -> None:
        """The usage of our options."""
        super().add_usage(usage, _ours(actions), *args, **kwargs)

    def add_arguments(self, actions: Iterable[Action]) -> None:
        """The lines about our options."""
        super().add_arguments(_ours(actions))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


def _ours(actions: Iterable[Action]) -> list[Action]:
    return [each for each in actions if {"--help", *DJANGOS}.isdisjoint(each.option_strings)]


def _ending(examples: Mapping[str, str]) -> str:
    width = max(len(typed) for typed in examples)
    lines = [f"  manage.py {typed:{width}}  {does}" for typed, does in examples.items()]
    return "\n".join(["examples:", *lines, "", "Django's options, of every command:", _wrapped()])


def _wrapped() -> str:
    half = len(DJANGOS) // 2
    return f"  {' '.join(DJANGOS[:half])}\n  {' '.join(DJANGOS[half:])}"
