"""Sends the table to every door of one Hub or of two with the same rows, and compares what they answer."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import requests

from tests.hostile.doors import Door, Who
from tests.hostile.rows import SILENT, Row, rows
from tests.hostile.tenants import Rows, Tenant
from tests.hostile.wire import CLOSED, End, Hangs, Verdict, ask, ask_at_once
from tests.hub_process import HubProcess

LIMITED = 429
PRIME = 7  # steps through doors and rows


class Attempt(NamedTuple):
    """One request of the table: which row, where, and as whom."""

    row: Row
    door: Door
    who: Who

    def __str__(self) -> str:
        return f"{self.row.name} at {self.door} as {self.who.value}"


def attempts(doors: Iterable[Door]) -> Iterator[Attempt]:
    """Every row at each of these doors that it fits: with bodies and the like as everybody who may come there.

    Heads are read before anybody is known, so of them each caller sends a part.
    """
    for door in doors:
        callers = door.callers()
        for number, row in enumerate(each for each in rows() if each.fits(door)):
            whose = [callers[number % len(callers)]] if row.is_about_the_head else callers
            yield from (Attempt(row, door, who) for who in whose)


def some_attempts(doors: list[Door], doors_of_a_row: int) -> Iterator[Attempt]:
    """Each row at so many of the doors that it fits, and each door with a row; mostly as who is let in."""
    for number, row in enumerate(rows()):
        fitting = [each for each in doors if row.fits(each)]
        for turn in range(doors_of_a_row):
            place = number * PRIME + turn * len(fitting) // doors_of_a_row
            yield _one(row, fitting[place % len(fitting)], number + turn)
    for number, door in enumerate(doors):
        fits = [each for each in rows() if each.fits(door)]
        yield _one(fits[number * PRIME % len(fits)], door, number)


def _one(row: Row, door: Door, number: int) -> Attempt:
    callers = door.callers()
    return Attempt(row, door, callers[-1] if number % 4 else callers[0])


def problem_with(verdicts: list[Verdict]) -> str:
    """What is wrong with these verdicts on one request; empty if nothing is."""
    said = " / ".join(map(str, verdicts))
    if any(each.status >= 500 for each in verdicts):
        return said
    differ = len(set(verdicts) - {CLOSED}) > 1 and not is_limited(verdicts)
    return f"the databases differ: {said}" if differ else ""


def is_limited(verdicts: list[Verdict]) -> bool:
    """Whether one was asked too often. Of two Hubs, one may have a minute that begins later."""
    return any(each.status == LIMITED for each in verdicts)


class Sweep:
    """What was asked, what was answered, and what is wrong with it."""

    def __init__(self, hubs: list[HubProcess], tenants: list[Tenant], kept: Rows) -> None:
        self.asked: Counter[str] = Counter()  # by the kind of the row
        self.answered: Counter[str] = Counter()
        self.limited = 0  # not compared
        self.wrong: list[str] = []
        self.hubs = hubs
        self.tenants = tenants
        self._turn = cycle(tenants)
        self._kept = kept
        self._changes = 0  # since everything was there

    def tenant(self) -> Tenant:
        """Another one each time; whose turn comes again has again what it had."""
        if self._changes >= len(self.tenants):
            self._kept.restore()
            self._changes = 0
        return next(self._turn)

    def make(self, attempt: Attempt) -> None:
        """One request of the table."""
        letter = attempt.row.letter(attempt.door, attempt.who, self.tenant())
        kind = attempt.row.name.partition(":")[0]
        if problem := self.problem(kind, letter, attempt.row.end):
            self.wrong.append(f"{attempt}: {problem}")

    def wait_at(self, doors: Iterable[Door]) -> None:
        """Promise each of these doors a body, at the same time, that does not come."""
        attempts = [Attempt(SILENT, door, who) for door in doors for who in door.callers()]
        letters = [SILENT.letter(each.door, each.who, self.tenant()) for each in attempts]
        self.asked["slow"] += len(letters)
        try:
            answers = ask_at_once([each.port for each in self.hubs], letters)
        except Hangs:
            self.wrong.append(f"one of {len(letters)} bodies that do not come: no answer")
            return
        for each, verdicts in zip(attempts, answers, strict=True):
            self.answered[str(verdicts[0])] += 1
            if problem := problem_with(verdicts):
                self.wrong.append(f"{each}: {problem}")

    def problem(self, kind: str, letter: bytes, end: End = End.WAIT) -> str:
        """What is wrong with the answers to a request of this kind; empty if nothing is."""
        self.asked[kind] += 1
        try:
            verdicts = ask([each.port for each in self.hubs], letter, end)
        except Hangs:
            return "no answer"
        self.answered[str(verdicts[0]) if verdicts else "not read"] += 1
        self._changes += any(200 <= each.status < 400 for each in verdicts)
        self.limited += is_limited(verdicts)
        return problem_with(verdicts)

    def begin(self) -> "Sweep":
        """The same, with all rows as they were at first."""
        self._kept.restore()
        self._changes = 0
        return self

    def found(self) -> list[str]:
        """All that is wrong, with Hubs that are not healthy any more, and with what they have logged as errors."""
        for hub in self.hubs:
            status = requests.get(f"{hub.url}/readyz", timeout=30).status_code
            self.wrong += [] if status == 200 else [f"/readyz: {status}"]
            self.wrong += [f"logged: {each}" for each in errors_in(hub.log)] if hub.log else []
        return self.wrong


def errors_in(log: Path) -> list[str]:
    """The lines of a log that are errors, and what no logger has written about one."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return [each for each in lines if _is_an_error(each)]


def _is_an_error(line: str) -> bool:
    if line.startswith("{"):
        return json.loads(line)["level"] in ("error", "critical")
    return line.startswith("Traceback") or "panicked at" in line  # of Python, or of granian
