"""The table of attacks: who makes each, what they want, what they try, and what was seen last."""

import json
import re
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, NamedTuple

HERE = Path(__file__).parent
SEEN = HERE / "seen.json"  # what the last whole runs saw

STRANGER = "a stranger"
READER = "a reader"
MEMBER = "a member"
OTHER = "another organization"
FORMER = "a former member"
SITE = "another site in a member's browser"
NAME_SERVER = "a name server"
WEB_SERVER = "the web server of a claimed host"
HUB = "a hostile Hub"
NOBODY = "nobody: it happens"

Make = Callable[[Any], str]


class Attack(NamedTuple):
    """`make` returns what it saw, in figures, if the Hub stands, and raises `Fell` if not."""

    subject: str
    name: str
    who: str
    wants: str
    tries: str
    make: Make


ATTACKS: list[Attack] = []


def attack(who: str, wants: str) -> Callable[[Make], Make]:
    """Add an attack to those that `script/abuse` makes; its docstring says what it tries."""

    def add(make: Make) -> Make:
        subject = make.__module__.rpartition(".")[2]
        tries = " ".join((make.__doc__ or "").split())
        ATTACKS.append(Attack(subject, make.__name__, who, wants, tries, make))
        return make

    return add


def every_attack() -> list[Attack]:
    """All that there are, by subject; a module of this folder that makes some is found by itself."""
    for module in sorted(each.name for each in iter_modules([str(HERE)])):
        if not module.startswith(("_", "test_")):
            import_module(f"tests.abuse.{module}")
    return sorted(ATTACKS, key=lambda each: each.subject)


def chosen(names: Iterable[str]) -> list[Attack]:
    """The attacks of these names or subjects, or all. Raises `ValueError` with those that there are."""
    known, wanted = every_attack(), set(names)
    if unknown := wanted - {each.name for each in known} - {each.subject for each in known}:
        subjects = sorted({each.subject for each in known})
        raise ValueError(
            f"There is no attack {', '.join(sorted(unknown))}. There are "
            f"{', '.join(each.name for each in known)}; and by subject {', '.join(subjects)}."
        )
    return [each for each in known if not wanted or wanted & {each.name, each.subject}]


def listed(attacks: Iterable[Attack]) -> str:
    """What is tried, as lines for a terminal."""
    lines, subject = [], ""
    for each in attacks:
        if each.subject != subject:
            subject = each.subject
            lines.append(f"{subject.replace('_', ' ')}")
        lines.append(f"  {each.name}\n      {each.who}, to {each.wants}. {each.tries}")
    return "\n".join(lines)


def seen(path: Path = SEEN) -> dict[str, dict[str, Any]]:
    """What was seen, by database and name of the attack: `stands`, and `figures`."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def note(path: Path, database: str, found: dict[str, dict[str, Any]]) -> None:
    """Write what was seen on one database into a file; what it has of others, and of other attacks, stays."""
    every = seen(path)
    every[database] = dict(sorted({**every.get(database, {}), **found}.items()))
    path.write_text(json.dumps(every, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def as_markdown(attacks: Iterable[Attack], found: dict[str, dict[str, Any]]) -> str:
    """The lists for the docs; what was seen is of PostgreSQL, if there is something of it."""
    lines, subject = [], ""
    last = {**found.get("sqlite", {}), **found.get("postgresql", {})}
    for each in attacks:
        if each.subject != subject:
            subject = each.subject
            lines += ["", f"### {subject.replace('_', ' ').capitalize()}", ""]
        line = f"- **{each.name.replace('_', ' ')}**: {each.who}, to {each.wants}. {each.tries}"
        if figures := last.get(each.name, {}).get("figures"):
            line += f" *Seen:* {figures}"
        lines.append(_plain(line))
    return "\n".join(lines[1:])


def _plain(text: str) -> str:
    """Without what Markdown would take for its own: HTML, code, links and mentions of emphasis."""
    return re.sub(r"([\\`<>\[\]|_])", r"\\\1", " ".join(text.split()))
