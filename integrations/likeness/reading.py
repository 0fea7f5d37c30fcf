"""A reporter's text as tokens, in linear time, whatever it is.

Letters are compared as they look (NFKC, casefold); what nobody sees is dropped, and a Cyrillic or Greek
letter inside a Latin word is the Latin one.
"""

import re
import unicodedata
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from integrations.likeness.families import PLATFORMS
from integrations.likeness.vocabulary import CARDINALS

LONGEST = 40  # characters of a term
_CJK = "\u2e80-\u2fdf\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"

_TOKEN = re.compile(
    r"`(?P<code>[^`\n]{1,120})`"
    rf"|(?P<cjk>[{_CJK}]+)"
    r"|(?P<thousands>(?<!\d)(?<!\d,)\d{1,3}(?:,\d{3})++)(?![\w,])"
    r"|(?P<signs>[-<>=@!|&^~*+:?#%]{2,4}+)(?=[\s\",.]|$)"
    rf"|(?P<chunk>[^\s`\"“”„「」『』«»‹›,;()\[\]{{}}<>|{_CJK}]+(?P<call>\(\))?)"
)
_PIECE = re.compile(rf"[^\s,;()\[\]{{}}|\"{_CJK}]+|[{_CJK}]+")
_EASTERN = re.compile(f"[{_CJK}]")
_NUMBER = re.compile(r"v?(\d+(?:[.,:x×/-]\d+)*)(?:\.[x*])?(%|[a-zµ]{1,3})?", re.IGNORECASE)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LETTERS = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"[a-z0-9][A-Z]")
_ELIDED = {"l", "d", "j", "n", "s", "c", "m", "t", "qu", "un", "dell", "all", "nell"}
_PLAIN = str.maketrans("’‘ʼ´‐‑‒–—−", "''''------") | dict.fromkeys(
    (*range(9), *range(11, 32), 127), " "
)
_CONFUSABLE = str.maketrans(
    "абвеіјкмнорстухѕԁһԛԝоΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορτυχАВЕІЈКМНОРСТХ",
    "abbeijkmhopctyxsdhqwoABEZHIKMNOPTYXaiknoptuxABEIJKMHOPCTX",
)


class Kind(Enum):
    """What a token is."""

    CODE = "`"
    NUMBER = "#"
    WORD = ""
    CJK = "+"


class Token(NamedTuple):
    """A piece of a text: `text` is casefolded, `parts` are the words inside it."""

    kind: Kind
    text: str
    parts: tuple[str, ...] = ()
    written: str = ""  # code as it is written


def plain(text: str) -> str:
    """`text` in the letters that it is compared by."""
    if not text.isascii():
        text = "".join(map(_normalized, re.findall(r"(?s).{1,200}", text)))[: 2 * len(text)]
        text = "".join(c for c in text if c in "\n\t" or unicodedata.category(c)[0] != "C")
    return text.translate(_PLAIN)


def _normalized(piece: str) -> str:
    """A short piece at a time: a long one with many accents would take quadratic time."""
    return unicodedata.normalize("NFKC", piece)


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a text that `plain` has made, in order."""
    for found in _TOKEN.finditer(text):
        match found.lastgroup:
            case "code":
                yield from _code(found["code"])
            case "cjk":
                yield Token(Kind.CJK, found["cjk"])
            case "thousands":
                yield Token(Kind.NUMBER, found["thousands"].replace(",", "")[:LONGEST])
            case "signs":
                yield Token(Kind.WORD, found["signs"])
            case _:
                yield from _chunk(found["chunk"], is_code=bool(found["call"]))


def _code(text: str) -> Iterator[Token]:
    pieces = _PIECE.findall(text)
    for piece in pieces:
        if _EASTERN.match(piece):
            yield Token(Kind.CJK, piece)
        else:
            yield from _chunk(piece, is_code=len(pieces) <= 4)


def _chunk(chunk: str, *, is_code: bool) -> Iterator[Token]:
    is_code = is_code or (len(chunk) > 3 and chunk[0] == chunk[-1] == "'")
    if not (text := chunk.lstrip("'*=:!?.~").rstrip("'*=:!?.~_")):
        if is_code:
            yield Token(Kind.CODE, chunk[:LONGEST], written=chunk[:LONGEST])
        return
    if number := _NUMBER.fullmatch(text):
        yield Token(Kind.NUMBER, _number(number[1]))
        return
    if "=" in text and not text.startswith("="):
        name, _, value = text.partition("=")
        yield from _chunk(name, is_code=True)
        if value := value[:LONGEST].strip("="):
            yield from _chunk(value, is_code=is_code)
        return
    yield _named(text, is_code)


def _number(text: str) -> str:
    return text[:LONGEST].replace(",", ".").removesuffix(".0")


def _named(text: str, is_code: bool) -> Token:
    folded = _latin(text[: 2 * LONGEST])
    lower = folded.casefold()[:LONGEST]
    if lower in CARDINALS and lower != "one" and not is_code:
        return Token(Kind.NUMBER, CARDINALS[lower])
    if lower in PLATFORMS and not is_code:
        return Token(Kind.WORD, lower, (lower,))
    parts = _parts(folded)
    if is_code or _looks_like_code(folded):
        return Token(Kind.CODE, lower.removesuffix("()") or lower, parts, folded[:LONGEST])
    if "'" in lower:
        before, _, after = lower.partition("'")
        bare = after if before in _ELIDED else lower.removesuffix("'s")
        return Token(Kind.WORD, lower, (bare,))
    return Token(Kind.WORD, lower, parts)


def _parts(text: str) -> tuple[str, ...]:
    """The words inside a name: of `maxItems_total` three."""
    found = (_PART if text.isascii() else _LETTERS).findall(text)
    return tuple(part.casefold() for part in found[:8] if not part.isdigit())


def _looks_like_code(text: str) -> bool:
    if text.startswith("-"):
        return text.lstrip("-")[:1].isalpha()
    bare = text.removeprefix("/")
    return (
        bool(_HUMP.search(text))
        or "_" in text
        or "::" in text
        or text.endswith("()")
        or (text[0] in "/@$" and len(text) > 2)
        or ("." in bare and not text.endswith("."))
        or bare.count("/") > 1
        or (any(c.isdigit() for c in text) and text[0].isalpha() and text[0].isascii())
    )


def _latin(text: str) -> str:
    if text.isascii() or not any("a" <= c <= "z" or "A" <= c <= "Z" for c in text):
        return text
    return text.translate(_CONFUSABLE)
