"""Words without their endings, so that *renamed* and *renaming* are one term."""

from integrations.likeness.vocabulary import SAME, STOP

_ENDINGS = sorted(
    [
        *("izations", "ization", "izing", "ized", "izes", "ize"),
        *("ications", "ication", "ated", "ates", "ating", "ations", "ation", "ate"),
        *("ions", "ion", "ings", "ing", "ements", "ement", "ments", "ment", "ness"),
        *("ison", "isons", "ities", "ity", "ives", "ive", "ables", "able", "ibly", "ably"),
        *("ies", "ied", "ed", "es", "s", "e", "ly", "ally", "al", "y", "i"),
    ],
    key=len,
    reverse=True,
)
_SHORTEST = 4  # a stem; of a plural 3
_LONGEST = 24


def stem(word: str) -> str:
    """A casefolded word without its ending; empty for one that tells nothing about a problem."""
    if word in STOP:
        return ""
    word = SAME.get(word, word)
    found = root(word) if word.isascii() else _cut(word)
    return "" if word in STOP or found in _STOP_STEMS else SAME.get(found, found)


def root(word: str) -> str:
    """A casefolded English word without its ending."""
    if word.endswith("ss"):
        return word
    for ending in _ENDINGS:
        least = 3 if ending in {"s", "es", "ed", "e", "y"} else _SHORTEST
        if word.endswith(ending) and len(word) - len(ending) >= least:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def _cut(word: str) -> str:
    """A word of another language: what begins alike is alike."""
    return word[: max(5, len(word) - 3)] if len(word) > 5 else word


_STOP_STEMS = frozenset(root(word) for word in STOP if len(word) > 4 and word.isascii())
