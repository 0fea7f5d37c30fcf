"""`script/bench [intake|forwarding|scale|parts]`: timings on this machine, side by side."""

import os
import secrets
import shutil
import sys
import tempfile
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from importlib import import_module
from pathlib import Path

from tests.bench import figures
from tests.bench.load import Refused

COMMANDS = ("intake", "forwarding", "scale", "parts")
DATABASES = ("postgresql", "sqlite")
MET, MISSED, NOISY = 0, 1, 2
HELP = f"""\
Each thing is measured in several rounds, and all of them in turn in every round, so that what
disturbs the machine disturbs all alike. Shown are medians with the least and the most of the
rounds; ratios are taken round by round. `CPU ms` is the user and system time of the server's own
processes per request, which noise spoils least; `DB ms` is the same of PostgreSQL's processes.

  intake      new reports and duplicates, on a durable PostgreSQL and on SQLite, with 1, 8 and 32
              connections, beside a plain Django view, FastAPI with asyncpg, a view in Django REST
              framework, and Isso (see tests/bench/peers); they are installed in .venv-bench
  forwarding  reports that become issues while GitHub answers after 300 ms, inline and by the
              queue, and what other reports notice of it (on PostgreSQL)
  scale       intake with 10,000, 100,000 and 1,000,000 reports and a tenth as many claims
  parts       `maintain` with nothing to do, and the work on the largest hostile texts

With the defaults, intake takes a quarter of an hour, and the others some minutes each. For the hot
path alone: script/bench intake --database postgresql -c 8 --no-alone

Every answer has to be 200 or 201, and the database has to have as many rows more as there were
answers; if not, the run stops and says so.

Exits with 0 if the contract is met, 1 if it is missed (or the run stopped), and 2 where the machine
was too noisy to tell: if other processes (or the host of a virtual machine) used more than
{figures.OTHERS:.0%} of it, if the rounds of the same thing differ by more than {figures.WIDTH:.0%} of their median, or
if there were fewer than {figures.FEW} rounds. A --quick run is not judged.
"""


def main() -> int:
    """Run what the command line asks for."""
    options = arguments().parse_args()
    if options.quick:
        options.rounds, options.seconds, options.connections = 1, 0.3, [8]
        options.sizes = [1000]
    _set_up()
    status = MET
    for name in [options.name] if options.name else COMMANDS:
        status = max(status, _run(name, options))
    return status


def arguments() -> ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        "script/bench",
        description="Timings on this machine, side by side.",
        epilog=HELP,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("name", nargs="?", choices=COMMANDS, help="what to measure (default: all)")
    add(
        "--quick",
        action="store_true",
        help="one round of a moment each, to see that it works; without lists",
    )
    add("--rounds", type=int, default=5, help="how often each thing is measured (default 5)")
    add("--seconds", type=float, default=3.0, help="how long, each time (default 3)")
    add(
        *("-c", "--connections"),
        type=_numbers,
        default=[1, 8, 32],
        metavar="N,...",
        help="how many at a time (default 1,8,32; the contract is about 8)",
    )
    add(
        "--database",
        type=_databases,
        default=list(DATABASES),
        metavar="NAME,...",
        help="postgresql, sqlite, or both (default)",
    )
    add(
        "--sizes",
        type=_numbers,
        default=[10_000, 100_000, 1_000_000],
        metavar="N,...",
        help="scale: how many reports there are (default 10000,100000,1000000)",
    )
    add("--no-peers", dest="peers", action="store_false", help="only the Hub; installs nothing")
    add("--no-redis", dest="redis", action="store_false", help="the Hub in one process, no DRF")
    add("--no-alone", dest="alone", action="store_false", help="not also the Hub in one process")
    add("--out", type=Path, default=Path("var/bench"), help="folder for JSON and SVG (var/bench)")
    return parser


def _numbers(text: str) -> list[int]:
    numbers = [int(each) for each in text.split(",")]
    if min(numbers) < 1:
        raise ArgumentTypeError("give numbers from 1 on, with commas between them")
    return numbers


def _databases(text: str) -> list[str]:
    names = text.split(",")
    if set(names) - set(DATABASES):
        raise ArgumentTypeError(f"give {' or '.join(DATABASES)}, or both with a comma")
    return names


def _set_up() -> None:
    """Django with the settings of production, and nothing of the developer's environment."""
    for name in [each for each in os.environ if each.startswith("HUB_")]:
        del os.environ[name]
    os.environ.pop("REDIS_URL", None)
    os.environ |= {
        "DATABASE_URL": "sqlite:///:memory:",  # until each command says which
        "DJANGO_SETTINGS_MODULE": "hub.settings",
        "HUB_SECRET_KEY": secrets.token_urlsafe(50),
        "HUB_BASE_URL": "http://127.0.0.1",
    }
    import django

    django.setup()


def _run(name: str, options: Namespace) -> int:
    from tests.bench.rounds import Wrong
    from tests.bench.servers import LOG
    from tests.hub_process import ROOT, collect_static_files

    if options.redis and not shutil.which("redis-server"):
        print("redis-server is not installed: measuring with --no-redis.", file=sys.stderr)
        options.redis = False
    collect_static_files()
    (ROOT / "var").mkdir(exist_ok=True)
    LOG.unlink(missing_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=ROOT / "var", prefix="bench-") as folder:
            outcome = import_module(f"tests.bench.{name}").run(options, Path(folder))
    except (Refused, Wrong) as error:
        print(f"Stopped: {error}")
        return MISSED
    print(f"\n{outcome.text()}\n")
    for path in outcome.write(options.out):
        print(path, file=sys.stderr)
    if options.quick:
        print("A quick run shows that everything works; its figures mean nothing.")
        return MET
    if noise := figures.noise(outcome.samples):
        print(noise)
        return NOISY
    return MET if all(goal.is_met for goal in outcome.goals) else MISSED


if __name__ == "__main__":
    sys.exit(main())
