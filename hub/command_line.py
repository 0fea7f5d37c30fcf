"""`manage.py`: Django's command line with our commands first, and with a sentence where it cannot work."""

import logging
import os
import signal
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Sequence

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import ManagementUtility, get_commands, load_command_class
from django.core.management.base import BaseCommand
from django.core.management.color import color_style
from django.db import DatabaseError, InterfaceError

from core.command import Group, HubCommand
from hub.setup import database_state

OURS = ("hub", "orgs", "reports", "integrations")
HELP = ("help", "version", "--help", "-h", "--version")
UNCONFIGURED = ("check_setup", "setup_github")  # run with settings that are missing or wrong

LASTING = ("serve", "maintain", "db_worker")

MIGRATION_FAILED = (
    "\nThe migration failed: {}. Remove the cause, and run it again; --traceback says more."
)

tolerant = False  # whether settings may be missing or wrong
only_looks = False  # whether nothing may be made, not even a database
READER_GONE = 128 + signal.SIGPIPE  # as shells say it


def run(argv: Sequence[str]) -> None:
    """Run what `argv` says, as Django does; ends the process with 1 and a sentence if it cannot be run."""
    global tolerant, only_looks
    tolerant = _is_about_setup(argv)
    only_looks = tolerant and "setup_github" not in argv
    try:
        try:
            CommandLine([*argv]).execute()
        finally:
            if sys.stdout:  # none where it was closed
                sys.stdout.flush()
    except BrokenPipeError:  # such as `check_setup | head`
        _end_unread()
    except ImproperlyConfigured as error:
        _end(str(error), argv, error)
    except (DatabaseError, InterfaceError) as error:
        _end(_about(error, argv), argv, error)
    except KeyboardInterrupt:
        sys.exit(130)  # as shells say it


def refuse(sentences: Sequence[str]) -> None:
    """Raise `ImproperlyConfigured` about these settings, unless the command is one that tells about them."""
    if not sentences or tolerant:
        return
    first, *more = sentences
    others = f" {len(more)} more: `manage.py check_setup` lists them." if more else ""
    raise ImproperlyConfigured(first + others)


class CommandLine(ManagementUtility):
    """Django's, with our commands first in its list."""

    def main_help_text(self, commands_only: bool = False) -> str:
        """The list of all commands: ours with what they do, then the names of the others."""
        if commands_only or self.settings_exception:
            return super().main_help_text(commands_only)
        return "\n".join(_list_of_commands())

    def fetch_command(self, subcommand: str) -> BaseCommand:
        """The command; raises `ImproperlyConfigured` if it needs what is not there."""
        command = super().fetch_command(subcommand)
        if subcommand not in LASTING:  # which say in a sentence why the database is away
            logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
        if not _is_about_setup(self.argv):
            _refuse(subcommand, command)
        return command


def _is_about_setup(argv: Sequence[str]) -> bool:
    return (
        len(argv) < 2
        or argv[1] in (*HELP, *UNCONFIGURED)
        or not {"--help", "-h"}.isdisjoint(argv[2:])
    )


def _list_of_commands() -> Iterator[str]:
    style = color_style()
    others = defaultdict(list)
    ours: dict[Group, dict[str, str]] = {group: {} for group in Group}
    for name, app in sorted(get_commands().items()):
        command = load_command_class(app, name) if app in OURS else None
        if isinstance(command, HubCommand):
            ours[command.group][name] = command.summary
        else:
            others[app.rpartition(".")[-1]].append(name)
    width = max(len(name) for group in ours.values() for name in group)
    yield "`manage.py help <command>` shows the options of a command, and examples."
    for group, commands in ours.items():
        yield f"\n{style.NOTICE(group)}"
        yield from (f"  {name:{width}}  {summary}" for name, summary in commands.items())
    yield f"\n{style.NOTICE('Commands of Django and of others')}"
    for app, names in sorted(others.items()):
        yield from _wrapped(app, names)


def _wrapped(app: str, names: list[str]) -> Iterator[str]:
    text = ", ".join(names)
    yield from textwrap.wrap(text, initial_indent=f"  {app}: ", subsequent_indent="    ")


def _refuse(name: str, command: BaseCommand) -> None:
    """Raise `ImproperlyConfigured` if the command needs a database, or a queue, that is not there."""
    problem = ""
    if name == "db_worker" and settings.HUB_FORWARDING != "queue":
        problem = (
            "HUB_FORWARDING is inline: reports are sent in their requests, and a worker has nothing to "
            "do. Set it to queue, for the server as well, or run no worker."
        )
    elif name == "migrate":
        problem = database_state.why_unreachable()
    elif name == "db_worker":
        problem = database_state.why_not_to_send()
    elif getattr(command, "asks_the_database", False):
        problem = database_state.why_unusable()
    if not problem and name in LASTING:
        problem = database_state.why_of_another_host()
    if problem:
        raise ImproperlyConfigured(problem)


def _about(error: Exception, argv: Sequence[str]) -> str:
    """Why a command failed at the database, in a sentence; raises the error if that is not known."""
    if argv[1:2] == ["migrate"]:  # that migrations are missing is no reason
        said = database_state.reason(error)
        return database_state.why_unreachable() or MIGRATION_FAILED.format(said)
    if problem := database_state.why_unusable():
        return problem
    raise error


def _end_unread() -> None:
    """End without a word: nobody reads. Python would try again to write what is left."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    sys.exit(READER_GONE)


def _end(sentence: str, argv: Sequence[str], error: Exception) -> None:
    if "--traceback" in argv:
        raise error
    sys.exit(sentence)
