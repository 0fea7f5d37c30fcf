"""No regular expression takes more than linear time, whoever wrote the text that it reads."""

import itertools
import re
import time

import pytest

from reports.secrets import FAMILIES
from tests import pumping

SHORT = (8, 12, 16, 20, 24, 28, 32, 40, 60, 100, 200, 400)  # exponential growth shows early
MEDIUM, LONG = 1_500, 12_000  # characters, as above
SUSPECT, SLOW = 0.0005, 0.020  # seconds of CPU: where to look closer; a fault of a short text
MOST_ITEMS = 100  # of a class of characters of which `re` makes no table
GROWTH = 24  # at most, for eight times the text; quadratic would be 64

OLD = {
    "template of list items": r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+[ \t>]*)*",
    "address before": r"(?://|www\.)[^\s/?#]*\Z",
    "URL before": r"(?://|www\.)\S*\Z|\](?:\(|:\s*)<?\S*\Z",
    "nested": r"(a+)+b",
    "spaces before an end": r"\s+$",
    "heading": r"(#{1,6})[ \t]+(.*?)[ \t]*",
    "spaces in the middle": r"x *[^;\n]*;",
    "code blocks": r"(?s)<pre><code[^>]*>(.*?)\n</code></pre>",
}

WORDS_OF_PEOPLE = {  # in any script: what else is read there is neither an address nor a rule
    "clients/python/src/docfeedback/verbose.py: SECRET_IN_TEXT",
    "integrations/likeness/reading.py: _NUMBER",
    "integrations/likeness/terms.py: _ASIDE",
}


def seconds(attempt: pumping.Attempt, text: str) -> float:
    """Of CPU."""
    begun = time.thread_time()
    attempt(text)
    return time.thread_time() - begun


def is_slow(attempt: pumping.Attempt, pump: pumping.Pump) -> bool:
    """Whether the time for a repetition grows faster than its length, each time of three."""
    for length in (*SHORT, MEDIUM):
        if seconds(attempt, pump.of(length)) > (SUSPECT if length == MEDIUM else SLOW):
            return all(_grows(attempt, pump, length) for _ in range(3))
    return False


def _grows(attempt: pumping.Attempt, pump: pumping.Pump, length: int) -> bool:
    if (taken := seconds(attempt, pump.of(length))) > SLOW or length < MEDIUM:
        return taken > SLOW
    long = seconds(attempt, pump.of(LONG))
    return long > SLOW and long > GROWTH * taken


def slow_text(found: pumping.Found) -> str | None:
    """The beginning of a text that takes the pattern too long."""
    tried = itertools.product(found.attempts(), pumping.pumps(found.pattern))
    return next((pump.of(32) for attempt, pump in tried if is_slow(attempt, pump)), None)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", OLD.values(), ids=OLD)
def test_what_takes_too_long_is_found(pattern):
    assert slow_text(pumping.Found("here", re.compile(pattern), pumping.BOTH))


@pytest.mark.slow
def test_no_text_makes_a_pattern_take_more_than_linear_time():
    found = pumping.patterns()

    slow = {each.where: text for each in found if (text := slow_text(each))}

    assert not slow
    assert len(found) > 150


def test_the_patterns_of_the_node_package_are_among_them():
    found = [each for each in pumping.patterns() if each.where.startswith("clients/node")]

    assert {"blocks.js", "oauth.js", "web.js"} <= {each.where.split(": ")[0][17:] for each in found}
    assert len(found) > 45


@pytest.mark.slow
def test_no_pattern_is_made_where_the_test_cannot_find_it():
    made = {
        str(path): pumping.unnamed((pumping.ROOT / path).read_text(encoding="utf-8"))
        for path in pumping.MODULES
    }

    assert not {path: calls for path, calls in made.items() if calls}


def test_no_class_compares_a_character_with_hundreds_of_others():
    """Linear, and slow all the same: the marks of all planes, as one class, took 200 ns for each character."""
    items = {
        each.where: len(of_one)
        for each in pumping.patterns()
        for of_one in pumping.classes(each.pattern)
        if len(of_one) > MOST_ITEMS
    }

    assert not items


def test_no_pattern_takes_a_letter_for_an_ascii_one_by_ignoring_case():
    found = {each.where for each in pumping.patterns() if _folds(each.pattern.flags)}

    python = {each for each in found if not each.startswith("clients/node")}  # JavaScript does not

    assert python == WORDS_OF_PEOPLE


MANY = 32
NAMES = (
    "--token",
    "--password",
    "-u x:",
    "api_key=",
    "token=",
    "secret=",
    "password=",
    "sessionid=",
)
FAILS = "zqyw" * 900 + "("  # a long value that is none at its end


def quickest_of_three(pattern: re.Pattern[str], text: str) -> float:
    """Seconds of CPU for each character."""
    return min(seconds(lambda each: list(pattern.finditer(each)), text) for _ in range(3)) / len(
        text
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("start", ["-" * MANY, "-u" * MANY, "--" * MANY, "token" * MANY])
@pytest.mark.parametrize("random", ["Z7zz7zz7zz", "zZ7zZ7zZ7z", "a1B2c3" * MANY])
def test_a_long_value_is_not_read_again_for_each_of_many_starts(name, start, random):
    """Nor for each way in which it looks random: both are linear, and were 700 times slower."""
    space = "" if name.endswith(("=", ":")) else " "
    plain, hostile = (
        f"{before}{name}{space}{value}" for before, value in (("", FAILS), (start, random + FAILS))
    )

    for family in FAMILIES:
        before = quickest_of_three(family.pattern, plain)
        assert quickest_of_three(family.pattern, hostile) < GROWTH * before + SUSPECT / 100, family


def _folds(flags: int) -> bool:
    """Whether the pattern ignores case as Unicode has it, by which a long s is an s."""
    return bool(flags & re.IGNORECASE) and not flags & re.ASCII
