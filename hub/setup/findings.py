"""What was found, and how the questions are asked: all at the same time, each until its own deadline."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from enum import StrEnum
from functools import partial
from typing import NamedTuple

from django.db import connections


class Level(StrEnum):
    """How bad it is. A note is for what nobody but the operator can compare."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    PROBLEM = "problem"


class Finding(NamedTuple):
    """One line: what was checked, and if it is not all right, what to do."""

    level: Level
    text: str


ok = partial(Finding, Level.OK)
note = partial(Finding, Level.NOTE)
warning = partial(Finding, Level.WARNING)
problem = partial(Finding, Level.PROBLEM)


class Question(NamedTuple):
    """Something to find out: `ask` is a generator of findings, and is given up after so many seconds."""

    about: str
    ask: Callable[[], Iterable[Finding]]
    seconds: float = 10


def ask_all(questions: Iterable[Question]) -> Iterator[tuple[Question, list[Finding]]]:
    """The findings of each question, in order; one that hangs keeps no other from being answered."""
    begun = time.monotonic()
    waiting = [(each, _begin(each)) for each in questions]
    for each, future in waiting:
        left = begun + each.seconds - time.monotonic()
        yield each, _found(each, future, left)


def _begin(question: Question) -> Future[list[Finding]]:
    future: Future[list[Finding]] = Future()

    def work() -> None:
        try:
            found = list(question.ask())
        except Exception as error:
            found = [problem(f"This could not be checked: {type(error).__name__}: {error}.")]
        connections.close_all()  # of this thread
        future.set_result(found)

    threading.Thread(target=work, daemon=True).start()
    return future


def _found(question: Question, future: Future[list[Finding]], left: float) -> list[Finding]:
    try:
        return future.result(timeout=max(0.0, left))
    except FutureTimeout:
        return [
            problem(
                f"There was no answer within {question.seconds:g} seconds. See whether it is "
                "reachable from this machine."
            )
        ]
