"""What a report is compared by. Made once, when it is first looked at, and stored as JSON."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from integrations.likeness import named
from integrations.likeness.reading import LONGEST, Kind, Token, plain, tokens
from integrations.likeness.stems import stem
from integrations.likeness.vocabulary import STOP

RULE = 1  # terms of another rule are made anew

MOST_TERMS = 150
MOST_WORDS = 40  # of the summary, in order
MOST_ERRORS = 4
MOST_OF_AN_ERROR = 16
MOST_NAMES = 40
_READ = {"summary": 500, "details": 8000, "evidence": 8000, "fix": 2000}  # characters


_SIGNS = re.compile("[\u30a0-\u30ff]{1,40}|[^\u3040-\u30ff]")


class Terms(NamedTuple):
    """The terms of a report; each at most 40 characters, without white space.

    The first character says what one is: "`" code, "#" a number, "+" two characters of a script without
    spaces, anything else the stem of a word.
    """

    summary: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    line: tuple[str, ...] = ()
    errors: tuple[frozenset[str], ...] = ()
    named: frozenset[str] = frozenset()  # by the summary
    aside: frozenset[str] = frozenset()  # by the rest

    @property
    def all(self) -> frozenset[str]:
        """What is in the summary or elsewhere."""
        return self.summary | self.others

    def as_json(self) -> dict[str, Any]:
        """For a JSON column; few long strings are read faster than many short ones."""
        return {
            "rule": RULE,
            "summary": " ".join(sorted(self.summary)),
            "others": " ".join(sorted(self.others)),
            "line": " ".join(self.line),
            "errors": [" ".join(sorted(error)) for error in self.errors],
            "named": " ".join(sorted(self.named)),
            "aside": " ".join(sorted(self.aside)),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Terms":
        """The same terms again. Raises `ValueError` for those of another rule."""
        if stored.get("rule") != RULE:
            raise ValueError("Terms of another rule: make them anew.")
        return cls(
            frozenset(stored["summary"].split()),
            frozenset(stored["others"].split()),
            tuple(stored["line"].split()),
            tuple(frozenset(error.split()) for error in stored["errors"]),
            frozenset(stored["named"].split()),
            frozenset(stored["aside"].split()),
        )


def terms_of(
    summary: str,
    details: str = "",
    evidence: Iterable[Mapping[str, str]] = (),
    suggested_fix: str = "",
    page_url: str = "",
) -> Terms:
    """The terms of a report, without the words of its page's address."""
    own = _words_of_address(page_url)
    evidence = list(islice(evidence, 20))
    head = plain(summary[: _READ["summary"]])
    quoted = plain("\n".join(each["text"] for each in evidence)[: _READ["evidence"]])
    rest = "\n".join(
        [plain(details[: _READ["details"]]), quoted, plain(suggested_fix[: _READ["fix"]])]
    )
    in_head = list(tokens(head))
    first = list(dict.fromkeys(_terms(in_head, own)))[:MOST_TERMS]
    others = dict.fromkeys(_terms(tokens(rest), own))
    code_first = sorted(others.keys() - set(first), key=lambda term: term[0] != "`")
    messages = [plain(e["text"][:2000]) for e in evidence if e["kind"] == "error_message"]
    return Terms(
        frozenset(first),
        frozenset(code_first[: MOST_TERMS - len(first)]),
        tuple(islice(_line(in_head), MOST_WORDS)),
        tuple(filter(None, (_error(each) for each in messages[:MOST_ERRORS]))),
        frozenset(islice(_named(head), MOST_NAMES)),
        frozenset(islice(_aside(rest), MOST_NAMES)),
    )


def _terms(found: Iterable[Token], own: frozenset[str]) -> Iterator[str]:
    for token in found:
        match token.kind:
            case Kind.NUMBER:
                yield "#" + token.text
            case Kind.CJK:
                yield from _pairs(token.text)
            case Kind.CODE:
                if token.text not in own:
                    yield "`" + token.text
                yield from _stems(token.parts, own)
            case _:
                yield from _stems(token.parts, own)


def _stems(parts: Iterable[str], own: frozenset[str]) -> Iterator[str]:
    for part in parts:
        if len(part) > 1 and part not in own and (found := stem(part)) and found not in own:
            yield found[:LONGEST]


def _pairs(text: str) -> Iterator[str]:
    """Katakana words, and other characters two by two, unless both are Hiragana."""
    word = ""
    for at, character in enumerate(text):
        if "\u30a0" <= character <= "\u30ff":
            word += character
            continue
        if len(word) > 1 and word not in STOP:
            yield word[:LONGEST]
        word = ""
        pair = text[at : at + 2]
        if len(pair) == 2 and not "\u30a0" <= pair[1] <= "\u30ff" and pair not in STOP:
            if not all("\u3040" <= each <= "\u309f" for each in pair):
                yield "+" + pair
    if len(word) > 1 and word not in STOP:
        yield word[:LONGEST]


def _words_of_address(url: str) -> frozenset[str]:
    try:
        parts = urlsplit(url[:2048])
    except ValueError:
        return frozenset()
    words = {
        part
        for token in tokens(
            plain(
                f"{parts.netloc} {parts.path}".replace("/", " ").replace(".", " ").replace("-", " ")
            )
        )
        for part in (token.text, *token.parts)
    }
    return frozenset(words | {stem(word) for word in words} - {""})


def _line(found: Iterable[Token]) -> Iterator[str]:
    for token in found:
        if token.kind is Kind.CJK:
            yield from _signs(token.text)
        elif token.kind is Kind.WORD and token.parts:
            yield from (stem(part) or "~" + part for part in token.parts)
        else:
            yield token.kind.value + token.text


def _signs(text: str) -> Iterator[str]:
    """Katakana words and each other character, without Hiragana."""
    for found in _SIGNS.findall(text):
        yield found


def _error(text: str) -> frozenset[str]:
    found = (token for token in tokens(text) if token.kind is not Kind.NUMBER)
    words = (term for token in found for term in _line([token]))
    return frozenset(islice((word for word in words if not word.startswith("~")), MOST_OF_AN_ERROR))


def _named(head: str) -> Iterator[str]:
    text = head.casefold()
    yield from named.places(text)
    yield from named.platforms(text)
    yield from named.siblings(text)


def _aside(rest: str) -> Iterator[str]:
    text = rest.casefold()
    yield from named.places(text)
    yield from named.tabs(text)
    yield from (f"?{name}" for name in named.platforms(text))
    yield from (f"?{name}" for name in named.siblings(text))
