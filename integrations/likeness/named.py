"""What a text says that it is about: a step, a tab, a section, one of two sibling words."""

import re
from collections.abc import Iterator

from integrations.likeness.families import PLATFORMS, SIBLINGS
from integrations.likeness.stems import root
from integrations.likeness.vocabulary import CARDINALS, ORDINALS

_LABELS = {
    word: label
    for label, words in {
        "step": "step steps schritt étape paso passo stap шаг",
        "section": "section sections chapter abschnitt kapitel sección seção sectie раздел §",
        "figure": "figure fig diagram image abbildung",
        "table": "table tabelle tableau tabla tabela",
        "listing": "listing",
        "example": "example examples sample snippet beispiel exemple ejemplo exemplo voorbeeld пример",
        "line": "line lines zeile ligne línea linha",
        "option": "option",
        "part": "part",
        "question": "question",
        "row": "row",
        "command": "command",
    }.items()
    for word in words.split()
}
_ANY_LABEL = "|".join(sorted(_LABELS, key=len, reverse=True))
_AFTER = re.compile(
    rf"\b({_ANY_LABEL})\s{{0,2}}(?:no\.?\s?|#)?(\d{{1,4}}(?:[.-]\d{{1,4}})*)"
    r"(?:\s?(?:and|-|to|,|&)\s?(\d{1,3})\b)?"
)
_WORDED = re.compile(rf"\b({_ANY_LABEL})\s({'|'.join(CARDINALS)})\b")
_BEFORE = re.compile(
    rf"\b({'|'.join(ORDINALS)}|\d{{1,3}}(?:st|nd|rd|th|\.))\s(?:\w{{1,20}}\s)?({_ANY_LABEL})\b"
)
_EAST = re.compile(
    r"(?:第\s?([\d一二三四五六七八九十]{1,3})\s?(步|章|节|節|行|个|個)"
    r"|(手順|ステップ|步骤|步驟|示例|例|図|图|表|단계)\s?(\d{1,3})|(\d{1,3})\s?(단계|行目))"
)
_EAST_LABELS = {
    "步": "step", "手順": "step", "ステップ": "step", "步骤": "step", "步驟": "step", "단계": "step",
    "章": "section", "节": "section", "節": "section", "行": "line", "行目": "line", "図": "figure",
    "图": "figure", "表": "table", "示例": "example", "例": "example", "个": "example", "個": "example",
}  # fmt: skip
_EAST_DIGITS = {digit: str(n) for n, digit in enumerate("一二三四五六七八九十", start=1)}
_TAB = re.compile(
    r"\b([\w.+#]{1,20})[ -](?:tab|version|variant|samples?|examples?|snippet|quickstart|instructions|section)\b"
)
_WORD = re.compile(r"[\w.+#]+")
_SIBLINGS = {root(word): found for word, found in SIBLINGS.items() if word.isascii()}
_EASTERN = {word: found for word, found in SIBLINGS.items() if not word.isascii()}


def places(text: str) -> Iterator[str]:
    """`step=3` and such, of a casefolded text."""
    for label, number, also in _AFTER.findall(text):
        yield f"{_LABELS[label]}={number}"
        if also:
            yield f"{_LABELS[label]}={also}"
    for label, word in _WORDED.findall(text):
        yield f"{_LABELS[label]}={CARDINALS[word]}"
    for word, label in _BEFORE.findall(text):
        yield f"{_LABELS[label]}={ORDINALS.get(word) or word.rstrip('stndrh.')}"
    for a, b, c, d, e, f in _EAST.findall(text):
        number = a or d or e
        yield f"{_EAST_LABELS[b or c or f]}={_EAST_DIGITS.get(number, number)}"


def platforms(text: str) -> Iterator[str]:
    """`platform/3=linux` and such."""
    for word in _WORD.findall(text):
        if found := PLATFORMS.get(word.rstrip(".")):
            yield f"platform/{found[0]}={found[1]}"


def tabs(text: str) -> Iterator[str]:
    """The platforms of a text that stand before *tab*, *example* or such."""
    for word in _TAB.findall(text):
        if found := PLATFORMS.get(word):
            yield f"platform/{found[0]}={found[1]}"


def siblings(text: str) -> Iterator[str]:
    """`sibling/0=min` and such."""
    for word in _WORD.findall(text):
        for part in word.replace("_", ".").split("."):
            if found := _SIBLINGS.get(root(part)):
                yield f"sibling/{found[0]}={found[1]}"
    for word, found in _EASTERN.items() if not text.isascii() else ():
        if word in text:
            yield f"sibling/{found[0]}={found[1]}"


def in_summary(text: str) -> Iterator[str]:
    """What a casefolded summary is about."""
    yield from places(text)
    yield from platforms(text)
    yield from siblings(text)


def elsewhere(text: str) -> Iterator[str]:
    """What the rest is about, and with "?" before it what is mentioned there."""
    yield from places(text)
    yield from tabs(text)
    yield from (f"?{name}" for name in platforms(text))
    yield from (f"?{name}" for name in siblings(text))
