"""`script/chaos`: load and faults drawn at random, then the verdict."""

import json
import logging
import os
import secrets
import signal
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from tempfile import mkdtemp

HELP = """\
Clients report, repeat and look up; members claim, pause, discard and answer; people close issues and
rename repositories, while faults are drawn at random: GitHub's, DNS, the database, Redis, processes
killed, clocks moved. Then everything heals, some hours pass, and the oracle is asked: is an accepted
report lost, is an issue there twice, does anything wait for ever, was there any answer or error that no
fault explains? (docs/v0/explanation/never-lost-never-twice.md)

A run is drawn from its seed. How its threads take turns is not, so a run that fails may have to be
repeated more than once. Ctrl-C ends a run early, with a verdict on what was so far.

Exits with 0 if nothing was lost, doubled, stuck or unexplained and memory is flat, and with 1 if not.
"""


def main() -> int:
    """Run what the command line asks for."""
    options = arguments().parse_args()
    options.database = {"postgres": "postgresql"}.get(options.db, options.db)
    _set_up()
    from tests.chaos import faults, run, schedule

    seconds = options.minutes * 60
    kinds = faults.load()
    planned = schedule.plan(
        kinds.values(), seed=options.seed, seconds=seconds, database=options.database
    )
    if options.plan:
        print(schedule.table(planned))
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder = Path(mkdtemp(prefix=f"chaos-{options.db}-{options.seed}-", dir=_kept()))
    print(
        f"{options.db}, seed {options.seed}, {options.minutes:g} minutes, in {folder}", flush=True
    )
    try:
        verdict = run.run(folder, options, kinds, planned)
    except KeyboardInterrupt:  # before there is load, or a second time
        print("Interrupted: there is no verdict.")
        return 1
    print(f"\n{verdict.text()}\n")
    if options.json:
        options.json.write_text(json.dumps(verdict.as_json(), indent=1) + "\n", encoding="utf-8")
    if verdict.is_good:
        return 0
    print(f"The log, the journal and the rows are in {folder}\nAgain: {verdict.command}")
    return 1


def arguments() -> ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        "script/chaos",
        description="Load and faults drawn at random, then the question what was lost or doubled.",
        epilog=HELP,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--minutes", type=float, default=5.0, help="how long there are load and faults (default 5)")
    add(
        "--seed",
        type=int,
        default=secrets.randbelow(10**6),
        help="what is drawn (default: a new one)",
    )
    add(
        "--db",
        choices=["sqlite", "postgresql", "postgres"],
        default="sqlite",
        help="(default sqlite)",
    )
    add("--clients", type=int, default=20, help="that report at a time (default 20)")
    add(
        "--pause",
        type=float,
        default=1.0,
        help="seconds between two requests of a client (default 1)",
    )
    add("--queue", action="store_true", help="forward by the queue, with a worker; on postgres")
    add("--plan", action="store_true", help="only print which faults would come when")
    add("--json", type=Path, metavar="FILE", help="write the verdict there, too")
    return parser


def _kept() -> Path:
    """Where the folders of the runs are."""
    folder = Path(__file__).resolve().parents[2] / "var" / "chaos"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _set_up() -> None:
    """Django with the settings of production, and nothing of the developer's environment."""
    for name in [each for each in os.environ if each.startswith("HUB_")]:
        del os.environ[name]
    os.environ.pop("REDIS_URL", None)
    os.environ |= {
        "DATABASE_URL": "sqlite:///:memory:",  # until the run says which
        "DJANGO_SETTINGS_MODULE": "hub.settings",
        "HUB_SECRET_KEY": secrets.token_urlsafe(50),
        "HUB_BASE_URL": "http://127.0.0.1",
    }
    import django

    django.setup()
    logging.disable(logging.WARNING)  # of this process


if __name__ == "__main__":
    sys.exit(main())
