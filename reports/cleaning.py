"""Text as readers see it: without invisible characters, in one spelling."""

import re
import unicodedata
from collections.abc import Iterable

MAX_MARKS = 8  # combining marks on one character: more than any script needs

_LINE_END = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_UNSEEN = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # ANSI: colors and cursor
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\x9d\n]*(?:\x07|\x1b\\|\x9c)"  # ANSI: window titles and links
    r"|\x1b[ -/]*[0-~]"  # ANSI: all others
    r"|[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b"
    r"\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff"
    r"\ufdd0-\ufdef\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]"
)
_JOINERS = "\u200c\u200d\ufe0f"
_JOINED = re.compile(  # seen in emoji, Persian and Indic scripts, but hidden next to ASCII
    rf"(?=[{_JOINERS}])(?:(?<=[^\x00-\x7f{_JOINERS}])"
    rf"(\ufe0f?(?:[\u200c\u200d](?=[^\x00-\x7f{_JOINERS}]))?))?[{_JOINERS}]*"
)
# Their NFKC is ASCII, but reads worse; what makes text safe knows those that it would arm.
_KEPT = "…¹²³™ªº，！？：；（）"
BLANKS = "\u1680\u2800\U00013441\U00013442\U00016fe4\U0001d159"  # that are no space to NFKC
_ANY = range(0x80, 0x20000)  # above are ideographs only
_LOOK_ALIKES = {
    **{code: one for code in _ANY if (one := unicodedata.normalize("NFC", chr(code))) != chr(code)},
    **dict.fromkeys(map(ord, BLANKS), " "),
    **{
        code: plain
        for code in _ANY
        if chr(code) not in _KEPT and (plain := unicodedata.normalize("NFKC", chr(code))).isascii()
    },
}
_MARKS = frozenset(  # also those few that are none themselves, but become some: vowels of Tibetan, voiced kana
    each for each in map(chr, _ANY) if unicodedata.combining(unicodedata.normalize("NFKD", each)[0])
)
_WITHOUT_MARKS = dict.fromkeys(map(ord, _MARKS))


def _class(characters: Iterable[str]) -> str:
    """A class of a pattern with these characters, as ranges: `re` makes none of those beyond U+FFFF by itself."""
    runs: list[list[int]] = []
    for code in sorted(map(ord, characters)):
        if runs and code == runs[-1][-1] + 1:
            runs[-1].append(code)
        else:
            runs.append([code])
    return f"[{''.join(f'{chr(each[0])}-{chr(each[-1])}' for each in runs)}]"


# Apart: `re` makes no table of a class with both, and compares each character with hundreds of items.
_LOW = {each for each in _MARKS if each <= "\uffff"}
_MARK = rf"(?:{_class(_LOW)}|(?=[\U00010000-\U0010ffff]){_class(_MARKS - _LOW)})"
_HEAP = re.compile(  # `normalize` would be quadratic; ASCII is passed over at its first character
    rf"([^\x00-\u02ff](?<={_MARK}){_MARK}{{{MAX_MARKS - 1}}}){_MARK}+"
)


def clean(text: str) -> str:
    """`text` without invisible characters, in one spelling.

    Line ends become LF, blanks spaces. Dropped: ANSI sequences, control characters, bidirectional marks,
    invisible and tag characters, lone surrogates, marks heaped on one character. Characters that NFKC makes
    ASCII become ASCII; the rest is NFC. Idempotent; it removes whatever `neutralize` has inserted.
    """
    if text.isascii() and _shows_all(text):
        return text
    text = _UNSEEN.sub("", _LINE_END.sub("\n", text))
    if text.isascii():
        return text
    text = text.translate(_LOOK_ALIKES)
    if any(joiner in text for joiner in _JOINERS):
        text = _JOINED.sub(r"\1", text)
    if _MARKS.isdisjoint(text):
        return unicodedata.normalize("NFC", text)
    few = unicodedata.normalize("NFC", _HEAP.sub(r"\1", text))
    return _HEAP.sub(
        r"\1", few
    )  # a mark that comes first may have taken the place of one in a letter


def without_marks(text: str) -> str:
    """`text` without combining marks, and what becomes some. Its normal form takes linear time."""
    return text.translate(_WITHOUT_MARKS)


def _shows_all(text: str) -> bool:
    """Whether an ASCII text has no control characters, apart from line ends and tabs."""
    return text.replace("\n", "").replace("\t", "").isprintable()
