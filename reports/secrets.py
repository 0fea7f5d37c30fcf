"""Finds secrets that a reporter pasted by mistake and removes them before anything is stored."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import NamedTuple

from reports.cleaning import clean
from reports.contract import PARTS, SECRETS, whole
from reports.plain import Places, in_one_line, places, places_in_one_line, plain

# The clients refuse a text with a key in it; the Hub takes the key out, so it has to find its end.
PEM_END = (
    r"[^-]*+(?:-(?!----(?:BEGIN|END) )[^-]*+)*+"
    r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
)
PEM_NEXT = r"(?:\\++[nrt]?+|[^A-Za-z\\]){1,60}"  # between two lines, without a word
PEM_NEXT_LINE = (  # right behind another, it may read like a path; else 200 characters may be between, as in a log
    rf"(?:{PEM_NEXT}(?=[a-z0-9+/]{{0,18}}[A-Z])[A-Za-z0-9+/]{{40,}}"
    rf"|{PARTS['key text']}{{0,200}}?(?<![A-Za-z0-9+/]){PARTS['key line']})"
)
PEM_NO_END = rf"={{0,2}}(?:{PEM_NEXT_LINE}={{0,2}})*+(?:{PEM_NEXT}[A-Za-z0-9+/]{{1,19}}={{0,2}}\Z)?"


class Family(NamedTuple):
    """Secrets of one form. If the pattern has a group, only the first one is the secret.

    It is tried if one of the `signs` is in the lower-case text. `long`: whether each is in one word of at
    least `LONG` characters, so that signs count only there. `names`: whether something that reads like the
    name of a variable counts as a secret too.
    """

    kind: str
    signs: tuple[str, ...]
    pattern: re.Pattern[str]
    long: bool
    names: bool


def _searched(entry: dict[str, str]) -> str:
    """The pattern of an entry; that of a private key reaches to its end, and has its first line as a second group."""
    pattern = whole(entry["pattern"])
    return f"({pattern}(?:{PEM_END}|{PEM_NO_END}))" if entry["kind"] == "private key" else pattern


# Every pattern takes linear time: no try reads further than a bounded length past the place where
# the next one can begin.
FAMILIES = [
    Family(
        entry["kind"],
        tuple(entry["signs"]),
        re.compile(_searched(entry)),
        entry.get("long", False),
        entry.get("names", True),
    )
    for entry in SECRETS["kinds"]
]


def _least(signed: list[tuple[str, Family]]) -> tuple[str, ...]:
    """The signs, without those that have another one in them."""
    signs = {sign for sign, _ in signed}
    return tuple(sorted(sign for sign in signs if not any(each in sign for each in signs - {sign})))


LONG = 24
LONG_SIGNED = [(sign, family) for family in FAMILIES if family.long for sign in family.signs]
SIGNED = [(sign, family) for family in FAMILIES if not family.long for sign in family.signs]
LONG_SIGNS, SIGNS = _least(LONG_SIGNED), _least(SIGNED)
# Only these change with white space: a pattern that takes some has a space in it, as itself or in a class.
SPACED = [(sign, family) for sign, family in SIGNED if " " in family.pattern.pattern]

# Documentation is full of these, and they are nobody's secret.
PLACEHOLDER = re.compile(SECRETS["placeholder"], re.IGNORECASE | re.ASCII)
SAMPLE = re.compile(SECRETS["sample"])  # in all that was found: one that everybody copies, or words
NAME = re.compile(SECRETS["name"])  # of a variable, where a secret has no shape of its own
REMOVED_IN_URL = "%5Bremoved:"  # what `notice` begins with in an address
LONGEST_PLACEHOLDER = 200  # in a long key such letters may stand by chance
APART = "\n\n"  # between texts that are looked at together: nothing goes on behind an empty line
LOOKS = 3  # at a text that loses something each time; an honest one needs one


class Secret(NamedTuple):
    """Where a secret is (`start` to `end`), and the wider text that shows it is one, such as the host of a password."""

    start: int
    end: int
    kind: str
    shape: tuple[int, int]


def remove(text: str) -> tuple[str, list[str]]:
    """`text` with each secret replaced by `[removed: <kind>]`, and the kinds found, each once.

    If a secret shows only in the cleaned text, when escapes are decoded, or in one line, the rest of the
    text is returned cleaned; otherwise it stays as it is. Well-known placeholders are kept, so that a report
    can quote the documentation. Of a password in a URL or a key in an assignment only the secret
    itself is removed. 64 KiB take half a second at most, whatever they hold.
    """
    if none_in(text):
        return text, []
    text, kinds = _without(text, found_in)
    cleaned = clean(text)
    if cleaned == text and not concealed_in(text):
        return text, list(kinds)
    shown, hidden = _without(cleaned, _found_or_concealed_in)
    return shown if hidden else text, list(kinds | hidden)


def none_in(*texts: str) -> bool:
    """Whether one look at all of them shows that `remove` would leave each as it is; most are so.

    There is nothing to clean, and no sign of a secret, also where escapes are decoded.
    """
    text = APART.join(texts)
    if clean(text) != text:
        return False
    shown = plain(text)
    lower = text.lower() if shown == text else f"{text}{APART}{shown}".lower()
    if any([sign in lower for sign in SIGNS]):  # noqa: C419  (a generator takes twice as long)
        return False
    long = _long_words(lower)
    return not any([sign in long for sign in LONG_SIGNS])  # noqa: C419


def _long_words(lower: str) -> str:
    return " ".join([word for word in lower.split() if len(word) >= LONG])


def found_in(text: str) -> list[Secret]:
    """The secrets in a text as it stands; those of different families may overlap."""
    lower = text.lower()
    long = _long_words(lower)
    signed = [family for sign, family in LONG_SIGNED if sign in long]
    return _matches(text, signed + [family for sign, family in SIGNED if sign in lower])


def _found_or_concealed_in(cleaned: str) -> list[Secret]:
    """The secrets in a cleaned text; what is seen as it stands is not read on into the next line."""
    found = found_in(cleaned)
    seen = joined(found)
    concealed = [each for each in concealed_in(cleaned) if not _overlaps(each, seen)]
    return found + concealed


def _overlaps(secret: Secret, others: list[Secret]) -> bool:
    """Whether it overlaps one of the others, which are in order and apart."""
    at = bisect_right(others, secret.start, key=lambda each: each.end)
    return at < len(others) and others[at].start < secret.end


def concealed_in(cleaned: str) -> list[Secret]:
    """The secrets in a cleaned text that are split up, escaped, or broken by white space; they may overlap."""
    shown = plain(cleaned)
    return _decoded(cleaned, shown) + _broken(cleaned, shown)


def cut(text: str, found: Iterable[Secret]) -> str:
    """`text` with each of the secrets, in any order, replaced by `[removed: <kind>]`."""
    result, end = [], 0
    for secret in joined(found):
        result += [text[end : secret.start], notice(secret.kind)]
        end = secret.end
    return "".join([*result, text[end:]])


def notice(kind: str) -> str:
    """The replacement for a secret; no secret begins or ends inside it."""
    return f"[removed: {kind}]"


def joined(found: Iterable[Secret]) -> list[Secret]:
    """The secrets in order, with overlapping ones merged into the kind that begins first."""
    result: list[Secret] = []
    for secret in sorted(found, key=lambda each: each.start):
        if result and secret.start < result[-1].end:
            result[-1] = result[-1]._replace(end=max(result[-1].end, secret.end))
        else:
            result.append(secret)
    return result


def _decoded(cleaned: str, shown: str) -> list[Secret]:
    found = found_in(shown) if shown != cleaned else []
    return _there(found, places(cleaned)) if found else []


def _broken(cleaned: str, shown: str) -> list[Secret]:
    """What reads as a secret once the text is one line, as in a title or a table; also if it is escaped."""
    lower = cleaned.lower() if cleaned == shown else f"{cleaned}\n{shown}".lower()
    signed = [family for sign, family in SPACED if sign in lower]
    if not signed:
        return []
    line = in_one_line(cleaned)
    found = _matches(line, signed) if line != cleaned else []
    if not found and shown != cleaned:
        found = _broken_and_escaped(line, signed)
    return _there(found, places_in_one_line(cleaned)) if found else []


def _broken_and_escaped(line: str, families: list[Family]) -> list[Secret]:
    """What reads as a secret in the line once its escapes are decoded, of which some are white space."""
    decoded = plain(line)
    found = _matches(in_one_line(decoded), families)
    return _there(_there(found, places_in_one_line(decoded)), places(line)) if found else []


def _matches(text: str, families: Iterable[Family]) -> list[Secret]:
    return [
        Secret(*match.span(match.lastindex or 0), family.kind, match.span())
        for family in dict.fromkeys(families)
        for match in family.pattern.finditer(text)
        if not _is_placeholder(match, family)
    ]


def _there(found: Iterable[Secret], at: Places) -> list[Secret]:
    """The secrets of a reading of a text, in the text itself."""
    return [Secret(*at.span(*each[:2]), each.kind, at.span(*each.shape)) for each in found]


def _without(text: str, look: Callable[[str], list[Secret]]) -> tuple[str, dict[str, None]]:
    """`text` without all that `look` finds, also what shows only after another was removed.

    If more keeps showing up, the rest of the text is replaced as a whole.
    """
    kinds: dict[str, None] = {}
    for _ in range(LOOKS):
        if not (found := joined(look(text))):
            return text, kinds
        kinds |= dict.fromkeys(secret.kind for secret in found)
        text = cut(text, found)
    return (notice(next(iter(kinds))), kinds) if look(text) else (text, kinds)


def _is_placeholder(match: re.Match[str], family: Family) -> bool:
    """Whether this only stands for a secret. A token made of words does; a password of words may not."""
    shape, secret = match[0], match[match.re.groups]  # of a private key, only its first line
    if SAMPLE.search(shape) or (not family.names and NAME.search(secret)):
        return True
    if secret.startswith(REMOVED_IN_URL):  # it went before
        return True
    return len(shape) <= LONGEST_PLACEHOLDER and bool(PLACEHOLDER.search(secret))
