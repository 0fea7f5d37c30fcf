"""What a report is compared by. Made once, when it is first looked at, and stored as JSON."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise
from typing import Any
from urllib.parse import urlsplit

from integrations.likeness import named
from integrations.likeness.reading import LONGEST, Kind, Token, plain, tokens
from integrations.likeness.stems import stem
from integrations.likeness.vocabulary import BY_THE_WAY, STOP, THINGS

RULE = 1  # terms of another rule are made anew

MOST_TERMS = 150
MOST_TOKENS = 3000  # that are looked at
MOST_WORDS = 40  # of the summary, in order
MOST_ERRORS = 4
MOST_OF_AN_ERROR = 16
MOST_NAMES = 40
_READ = {
    "summary": 500,
    "details": 8000,
    "evidence": 8000,
    "fix": 2000,
    "error": 2000,
}  # characters

_SENTENCE = re.compile(r"(?<=[.!?\n])\s|(?<=[。！？])")
_ASIDE = re.compile("|".join(BY_THE_WAY), re.IGNORECASE)
_KANA = re.compile(r"[\u30a0-\u30ff]{2,40}")
_SIGNS = re.compile(r"[\u30a0-\u30ff]{1,40}|[^\u3040-\u30ff]")
_JOINTS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Terms:
    """The terms of a report; each at most 40 characters, without white space.

    The first character says what one is: "`" code ("``" without a telling word in it), "#" a number,
    "+" two characters of a script without spaces, anything else the stem of a word.
    """

    summary: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    line: tuple[str, ...] = ()  # the summary's words in order; "~" before those that tell nothing
    errors: tuple[frozenset[str], ...] = ()
    named: frozenset[str] = frozenset()  # such as "step=3", by the summary
    aside: frozenset[str] = frozenset()  # by the rest; "?" before what is only mentioned there
    forms: str = ""  # such as "expir|expired …", to show stems as words
    all: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Join what is often asked for together."""
        object.__setattr__(self, "all", self.summary | self.others)

    @cached_property
    def signs(self) -> frozenset[str]:
        """What its terms are: their first characters, of which letters and figures are one. Asked for each pair."""
        return frozenset(term[0] if term[0] in "`#+" else "" for term in self.all)

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
            "forms": self.forms,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Terms":
        """The same terms again. Raises `ValueError` for those of another rule."""
        if stored.get("rule") != RULE:
            raise ValueError("Terms of another rule. Make them anew.")
        return cls(
            frozenset(stored["summary"].split()),
            frozenset(stored["others"].split()),
            tuple(stored["line"].split()),
            tuple(frozenset(error.split()) for error in stored["errors"]),
            frozenset(stored["named"].split()),
            frozenset(stored["aside"].split()),
            stored["forms"],
        )


def terms_of(
    summary: str,
    details: str = "",
    evidence: Iterable[Mapping[str, str]] = (),
    suggested_fix: str = "",
    page_url: str = "",
) -> Terms:
    """The terms of a report, without the words of its page's address."""
    pieces = list(islice(evidence, 20))
    head = plain(summary[: _READ["summary"]])
    rest = _rest(details, pieces, suggested_fix)
    own = _words_of_address(page_url)
    told = list(tokens(head))
    first, others = _terms(told, own), _terms(islice(tokens(rest), MOST_TOKENS), own)
    in_summary = frozenset(islice(first, MOST_TERMS))
    elsewhere = _most_telling(others.keys() - in_summary, MOST_TERMS - len(in_summary))
    return Terms(
        in_summary,
        elsewhere,
        tuple(islice(_line(told), MOST_WORDS)),
        tuple(_errors(pieces)),
        frozenset(islice(named.in_summary(head.casefold()), MOST_NAMES)),
        frozenset(islice(named.elsewhere(rest.casefold()), MOST_NAMES)),
        _forms(in_summary | elsewhere, others | first),
    )


def _rest(details: str, pieces: list[Mapping[str, str]], fix: str) -> str:
    quoted = "\n".join(piece["text"] for piece in pieces)
    texts = [
        _to_the_point(details[: _READ["details"]]),
        quoted[: _READ["evidence"]],
        fix[: _READ["fix"]],
    ]
    return "\n".join(map(plain, texts))


def _to_the_point(text: str) -> str:
    """A text without the sentences that say themselves that they are about something else."""
    sentences = _SENTENCE.split(text)
    return " ".join(each for each in sentences if not _ASIDE.search(each))


def _most_telling(terms: Iterable[str], most: int) -> frozenset[str]:
    """So many of the terms: code first, then what is long."""
    return frozenset(sorted(terms, key=lambda term: (term[0] != "`", -len(term), term))[:most])


def _forms(kept: Iterable[str], forms: Mapping[str, str]) -> str:
    differ = (term for term in sorted(kept) if forms[term] != term.lstrip("`#+"))
    return " ".join(f"{term}|{forms[term]}" for term in differ)


def _terms(found: Iterable[Token], own: frozenset[str]) -> dict[str, str]:
    """The terms of some tokens, each with the word that it stands for."""
    terms: dict[str, str] = {}
    for token in found:
        if token.kind is Kind.NUMBER:
            terms.setdefault("#" + token.text, token.text)
        elif token.kind is Kind.CJK:
            terms |= {pair: pair.lstrip("+") for pair in _pairs(token.text)}
        else:
            words = {part: stem(part) for part in token.parts if len(part) > 1 and part not in own}
            telling = {word: part for part, word in words.items() if word and word not in own}
            if token.kind is Kind.CODE and token.text not in own:
                terms.setdefault(("`" if telling else "``") + token.text, token.written)
            for word, part in telling.items():
                terms.setdefault(word[:LONGEST], part[:LONGEST])
    return terms


def _pairs(text: str) -> Iterator[str]:
    """Katakana words, and other characters two by two, without Hiragana, which is grammar."""
    yield from (word for word in _KANA.findall(text) if word not in STOP)
    for first, second in pairwise(text):
        if _is_sign(first) and _is_sign(second) and first + second not in STOP:
            yield f"+{first}{second}"


def _is_sign(character: str) -> bool:
    return not "\u3040" <= character <= "\u30ff"


def _words_of_address(url: str) -> frozenset[str]:
    try:
        parts = urlsplit(url[:2048])
    except ValueError:
        return frozenset()
    words = set(_JOINTS.split(plain(f"{parts.netloc} {parts.path}").casefold()))
    return frozenset(words | set(map(stem, words))) - {""}


def _line(found: Iterable[Token]) -> Iterator[str]:
    for token in found:
        if token.kind is Kind.CJK:
            yield from _SIGNS.findall(token.text)
        elif token.kind is Kind.WORD and token.parts:
            yield from (
                stem(part) or (part if part in THINGS else "~" + part) for part in token.parts
            )
        else:
            yield token.kind.value + token.text


def _errors(pieces: list[Mapping[str, str]]) -> Iterator[frozenset[str]]:
    """The words of each error message, without its numbers."""
    messages = [piece["text"] for piece in pieces if piece["kind"] == "error_message"]
    for message in messages[:MOST_ERRORS]:
        found = tokens(plain(message[: _READ["error"]]))
        words = _line(token for token in found if token.kind is not Kind.NUMBER)
        if kept := frozenset(islice((word for word in words if word[0] != "~"), MOST_OF_AN_ERROR)):
            yield kept
