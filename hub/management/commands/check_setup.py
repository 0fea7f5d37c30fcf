"""`manage.py check_setup`: print what was checked, and what to do about it."""

import json
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError

from core.command import Group, HubCommand
from hub.setup.findings import Finding, Level, ask_all
from hub.setup.questions import QUESTIONS

SIGNS = {Level.OK: "✓", Level.NOTE: "·", Level.WARNING: "!", Level.PROBLEM: "✗"}
PLAIN = {Level.OK: "+", Level.NOTE: "-", Level.WARNING: "!", Level.PROBLEM: "x"}
WIDTH = max(map(len, Level))


class Command(HubCommand):
    help = (
        "Asks all that can be asked about the configuration, GitHub, the database, Redis, the DNS and "
        "this machine, and prints what it found; exits with 1 if there are problems, with 0 if there "
        "are only warnings. Runs without any setting, too."
    )
    group = Group.SET_UP
    summary = "checks the configuration, and all that the Hub needs"
    examples = {
        "check_setup": "print what was checked, and what to do about it",
        "check_setup --json": "the same for programs",
    }
    asks_the_database = False
    requires_system_checks = []  # they are among the questions

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        show = self._as_json if options["json"] else self._in_words
        counts = show(self._with_progress())
        if counts[Level.PROBLEM]:
            raise CommandError(f"{_number(counts, Level.PROBLEM)} found.{_warnings(counts)}")
        if not options["json"]:
            self.stdout.write(f"No problems found.{_warnings(counts)}")

    def _with_progress(self) -> Iterator[tuple[str, list[Finding]]]:
        """The findings, and on a terminal meanwhile what is waited for."""
        answers = ask_all(QUESTIONS)
        for question in QUESTIONS:
            self._show(f"Asking: {question.about} …")
            _, found = next(answers)
            self._show("")
            yield question.about, found

    def _show(self, text: str) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r\x1b[K{text}", str, ending="")
            self.stderr.flush()

    def _in_words(self, answers: Iterator[tuple[str, list[Finding]]]) -> Counter[Level]:
        counts: Counter[Level] = Counter()
        signs = SIGNS if _can_say(self.stdout.encoding, SIGNS) else PLAIN
        styles = {
            Level.OK: self.style.SUCCESS,
            Level.WARNING: self.style.WARNING,
            Level.PROBLEM: self.style.ERROR,
        }
        for about, found in answers:
            self.stdout.write(about)
            for level, text in found:
                counts[level] += 1
                word = f"{signs[level]} {level:{WIDTH}}"
                self.stdout.write(f"  {styles.get(level, str)(word)}  {text}")
            self.stdout.flush()
        return counts

    def _as_json(self, answers: Iterator[tuple[str, list[Finding]]]) -> Counter[Level]:
        every = [(about, *finding) for about, found in answers for finding in found]
        counts = Counter(level for _, level, _ in every)
        result = {
            "problems": counts[Level.PROBLEM],
            "warnings": counts[Level.WARNING],
            "findings": [
                dict(zip(("about", "level", "text"), each, strict=True)) for each in every
            ],
        }
        self.stdout.write(json.dumps(result, indent=2))
        return counts


def _number(counts: Counter[Level], level: Level) -> str:
    return f"{counts[level]} {level}{'s' * (counts[level] > 1)}"


def _warnings(counts: Counter[Level]) -> str:
    return f" {_number(counts, Level.WARNING)}." if counts[Level.WARNING] else ""


def _can_say(encoding: str | None, signs: dict[Level, str]) -> bool:
    try:
        "".join(signs.values()).encode(encoding or "utf-8")
    except (LookupError, UnicodeEncodeError):
        return False
    return True
