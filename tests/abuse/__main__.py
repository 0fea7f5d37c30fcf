"""`script/abuse`: makes every attack, or those named, on one database."""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

import django

django.setup()

from django.core.management import call_command
from django.db import connection

from tests.abuse import table
from tests.abuse.table import Attack
from tests.abuse.world import Fell, World, forget_everything
from tests.conftest import new_code_host

USAGE = 2  # the status of a command that was not understood


def main(arguments: list[str]) -> int:
    """0 if the Hub stands, 1 if it fell to an attack, 2 if there is no such attack."""
    options = _options(arguments)
    try:
        attacks = table.chosen(options.names)
    except ValueError as error:
        print(error, file=sys.stderr)
        return USAGE
    if options.list:
        print(table.listed(attacks))
        return 0
    if options.markdown:
        print(table.as_markdown(attacks, table.seen()))
        return 0
    found = _make(attacks, options.json)
    fallen = [name for name, each in found.items() if not each["stands"]]
    stand = len(found) - len(fallen)
    print(f"{connection.vendor}: the Hub stands against {stand} of {len(found)}.")
    if fallen:
        print(f"The Hub fell to: {', '.join(fallen)}")
    return min(len(fallen), 1)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/abuse", description=__doc__)
    parser.add_argument("names", nargs="*", help="names of attacks, or of their subjects; or all")
    parser.add_argument("--list", action="store_true", help="say what there is, and make none")
    parser.add_argument("--markdown", action="store_true", help="as lists, with what was seen last")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was seen into FILE")
    return parser.parse_args(arguments)


def _make(attacks: list[Attack], kept: Path | None) -> dict[str, dict[str, Any]]:
    """What was seen of each, on a database that is made for them; also in a file, at once."""
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        if connection.vendor == "sqlite":
            connection.settings_dict["NAME"] = Path(folder) / "abuse.sqlite3"
        call_command("migrate", verbosity=0)
        for each in attacks:
            found[each.name] = _made(each, Path(folder))
            if kept:
                table.note(kept, connection.vendor, found)
    return found


def _made(attack: Attack, folder: Path) -> dict[str, Any]:
    forget_everything()
    host, begun = new_code_host(), time.monotonic()
    try:
        with host.serving():
            figures, stands = attack.make(World(host, folder)), True
    except Fell as fell:
        figures, stands = str(fell), False
    except Exception as error:
        figures, stands = f"the attack itself failed: {error!r}"[:500], False
    took = time.monotonic() - begun
    line = f"{'stands' if stands else 'FELL':6}  {attack.name}: {figures}  [{took:.0f} s]"
    print(line, flush=True)
    return {"stands": stands, "figures": figures}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
