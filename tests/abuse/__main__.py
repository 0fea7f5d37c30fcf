"""`script/abuse [NAME ...]`: makes every attack, or those named, on one database."""

import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

import django

django.setup()

from django.core.management import call_command
from django.db import connection

from tests import abuse
from tests.abuse.world import ATTACKS, Attack, Fell, World, forget_everything
from tests.conftest import new_code_host


def main(names: list[str]) -> int:
    """How many attacks did what they came for."""
    for module in iter_modules(abuse.__path__):
        if not module.name.startswith("_"):
            import_module(f"tests.abuse.{module.name}")
    chosen = [each for each in ATTACKS if not names or each.name in names]
    if unknown := set(names) - {each.name for each in ATTACKS}:
        sys.exit(f"No such attack: {', '.join(sorted(unknown))}. There are {_all_names()}.")
    with tempfile.TemporaryDirectory() as folder:
        if connection.vendor == "sqlite":
            connection.settings_dict["NAME"] = Path(folder) / "abuse.sqlite3"
        call_command("migrate", verbosity=0)
        fallen = [each.name for each in chosen if not _stands(each)]
    print(
        f"{connection.vendor}: the Hub stands against {len(chosen) - len(fallen)} of {len(chosen)}."
    )
    if fallen:
        print(f"The Hub fell to: {', '.join(fallen)}")
    return len(fallen)


def _stands(attack: Attack) -> bool:
    forget_everything()
    host = new_code_host()
    try:
        with host.serving():
            figures, stands = attack.make(World(host)), True
    except Fell as fell:
        figures, stands = str(fell), False
    print(f"{'stands' if stands else 'FELL':6}  {attack.name}: {figures}", flush=True)
    return stands


def _all_names() -> str:
    return ", ".join(each.name for each in ATTACKS)


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
