"""The instruction blocks: finds one in a text, adds it or removes it.

A text is bytes decoded as Latin-1, so that everything around a block stays the same byte for byte;
the blocks themselves are ASCII.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Iterator, List, NamedTuple, Optional

from . import contract

VERSION = "v0"
BOM = "\xef\xbb\xbf"  # in UTF-8, read as Latin-1
LAST_LINE = "Docs Feedback Hub:"
LINE_THAT_MATTERS = re.compile(
    rf"(?<![^\n])(?:\A{BOM})?(?:{LAST_LINE}|#{{1,6}}[ \t]| {{0,3}}(?:```|~~~)|[ \t]*<!--)[^\n]*"
)
HUB_LINE = re.compile(  # an address has no blanks; the other was written where no Hub was set
    rf"{LAST_LINE}[ \t]*(?:[!-~]*|the one in DOCFEEDBACK_HUB_URL)"
)
RELEASE = re.compile(r"v[0-9]{1,9}(?:\.[0-9]{1,9}){0,9}")
FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,}(?!~))(.*)")
HEADING = re.compile(r"(#{1,6})[ \t]+")
MARKER = re.compile(
    r"<!-- docfeedback:(begin|end) (first-party|consumer)(?: (v[0-9][0-9A-Za-z.-]*))? -->"
)


class Damaged(Exception):
    """The markers do not match; `code` is the message in `messages.json`."""

    def __init__(self, code: str, line: int) -> None:
        super().__init__(code)
        self.code = code
        self.line = line


class Place(NamedTuple):
    """Where a block is, without its last line end.

    `state`: `older` or `newer` by its marker, `current` or `edited` by its text if it is of this version;
    `pasted` or `pasted_older` without one.
    """

    start: int
    end: int
    line: int
    state: str


class _Heading(NamedTuple):
    level: int
    title: str


class _Line(NamedTuple):
    number: int
    start: int
    end: int
    text: str
    fence: int  # the number of the line that opens the code sample around it, or 0

    @property
    def marker(self) -> Optional["re.Match[str]"]:
        return MARKER.fullmatch(self.text.strip(" \t")) if "<!--" in self.text else None

    @property
    def heading(self) -> Optional[_Heading]:
        found = None if self.fence else HEADING.match(self.text)
        return _Heading(len(found[1]), self.text[found.end() :].rstrip(" \t")) if found else None


def find(document: str, name: str) -> Optional[Place]:
    """The block `name` (first-party or consumer); None if there is none. Raises Damaged."""
    return _marked(document, name) or _pasted(document, name)


def hub_url(document: str, place: Place) -> Optional[str]:
    """The Hub that a block names in its last such line, or None."""
    line = _hub_line(document, place)
    return line.text[len(LAST_LINE) :].strip(" \t") if line else None


def name_hub(document: str, place: Place, hub_url: str) -> str:
    """The text with another Hub in that line; all else stays as it is."""
    line = _hub_line(document, place)
    if line is None:
        return document
    start, end = place.start + line.start, place.start + line.end
    return f"{document[:start]}{LAST_LINE} {hub_url}{document[end:]}"


def foreign(document: str) -> List[int]:
    """The numbers of the lines where blocks of other tools begin that are about feedback, too."""
    return [
        line.number
        for line in _lines(document)
        if not line.fence and not line.marker and _is_foreign(line.text.strip(" \t").lower())
    ]


def _is_foreign(text: str) -> bool:
    """Whether this is a marker such as `<!-- docs-feedback:start -->`."""
    is_comment = text.startswith("<!--") and text.endswith("-->")
    subject = "doc" in text and "feedback" in text
    return is_comment and subject and re.search("begin|start", text) is not None


def _hub_line(document: str, place: Place) -> Optional[_Line]:
    named = None
    for line in _lines(document[place.start : place.end]):
        if line.text.startswith(LAST_LINE) and not line.fence:
            named = line
    return named


def put(document: str, place: Optional[Place], name: str, *, hub_url: str) -> str:
    """The text with the current block: in its old place, else at the end.

    Raises Damaged if the end is inside a code sample.
    """
    line_end = "\r\n" if 2 * document.count("\r\n") > document.count("\n") else "\n"
    block = line_end.join(_block(name, hub_url))
    if place is not None:
        return document[: place.start] + block + document[place.end :]
    (last,) = deque(_lines(f"{document}\n{LAST_LINE}"), maxlen=1)
    if last.fence:
        raise Damaged("code_without_end", last.fence)
    if document in ("", BOM):
        return document + block + line_end
    if document.endswith("\n"):
        return document + line_end + block + line_end
    return document + line_end + line_end + block


def take_out(document: str, place: Place) -> str:
    """The text as it was before `put` put the block at its end."""
    before, after = document[: place.start], document[place.end :]
    if not after:
        return _chop(_chop(before))
    if re.search(r"\n\r?\n\Z", before):
        before = _chop(before)
    return before + re.sub(r"\A\r?\n", "", after)


def _marked(document: str, name: str) -> Optional[Place]:
    """The block between its markers; Damaged where they are not one begin and one end."""
    begin = end = None
    for line in _lines(document):
        marker = line.marker
        if marker is None:
            continue
        if marker[2] != name:
            if begin and not end:
                raise Damaged("blocks_mixed", line.number)
        elif line.fence or re.match(r"\t| {4}", line.text):
            raise Damaged("marker_in_code", line.number)
        elif marker[1] == "begin":
            if begin:
                raise Damaged("block_twice", line.number)
            begin = line
        elif end or not begin:
            raise Damaged("end_without_begin", line.number)
        else:
            end = line
    if begin is None:
        return None
    if end is None:
        raise Damaged("begin_without_end", begin.number)
    return Place(begin.start, end.end, begin.number, _state(document, begin, end, name))


def _state(document: str, begin: _Line, end: _Line, name: str) -> str:
    version = begin.marker[3] if begin.marker else None
    if version == VERSION:
        block = _text(name)
        same = _inside(document[begin.end : end.start], block) == _inside(block, block)
        return "current" if same else "edited"
    return "newer" if _numbers(version or "") > _numbers(VERSION) else "older"


def _numbers(version: str) -> List[int]:
    """`v1.2` as [1, 2]; nothing for what is no release, such as `v0-draft`."""
    if not RELEASE.fullmatch(version):
        return []
    return [int(number) for number in version[1:].split(".")]


def _pasted(document: str, name: str) -> Optional[Place]:
    """A block without markers, known by its heading.

    It goes on to its last line, else to the next heading of its level or the next marker.
    """
    block = _text(name)
    title = next(line.heading.title for line in _lines(block) if line.heading)
    lines = _lines(document)
    for first in lines:
        heading = first.heading
        if heading and heading.title == title:
            end = _end(document, lines, heading.level)
            same = _essence(document[first.start : end], block) == _essence(block, block)
            state = "pasted" if same else "pasted_older"
            return Place(first.start, end, first.number, state)
    return None


def _end(document: str, rest: Iterator[_Line], level: int) -> int:
    """Where a pasted block ends, without blank lines; `level` is that of its heading."""
    stop = len(document)
    for line in rest:
        if line.text.startswith(LAST_LINE) and not line.fence:
            return line.end
        if line.marker or (line.heading and line.heading.level <= level):
            stop = line.start
            break
    full = len(document[:stop].rstrip(" \t\r\n"))
    after = document[full:stop]
    return full + len(after) - len(after.lstrip(" \t"))


def _essence(section: str, block: str) -> List[str]:
    """What makes two blocks the same: all but the heading's level and the Hub address.

    Of a section with more lines than `block` has, a part that is no longer the same.
    """
    lines = section.split("\n", block.count("\n") + 2)
    texts = [line.rstrip("\r\n").rstrip(" \t") for line in lines[1:]]
    return [LAST_LINE if HUB_LINE.fullmatch(text) else text for text in texts]


def _inside(section: str, block: str) -> List[str]:
    """The same for what stands between markers, heading included, without blank lines around it."""
    texts = ["\n" + text.strip(" \t\r\n").lstrip("#") for text in (section, block)]
    return _essence(*texts)


def _text(name: str) -> str:
    """What stands between the markers, for no Hub."""
    return "\n".join(_block(name, "")[1:-1])


def _block(name: str, hub_url: str) -> List[str]:
    """The lines of a block, markers included."""
    return [
        f"<!-- docfeedback:begin {name} {VERSION} -->",
        *contract.text(f"blocks/{name}.md").replace("{hub_url}", hub_url).splitlines(),
        f"<!-- docfeedback:end {name} -->",
    ]


def _lines(document: str) -> Iterator[_Line]:
    """Those that matter, one after the other, since a document may have hundreds of thousands."""
    fence, opened, number, counted = "", 0, 1, 0
    for match in LINE_THAT_MATTERS.finditer(document):
        number += document.count("\n", counted, match.start())
        counted = match.start()
        start = match.start() + (len(BOM) if match[0].startswith(BOM) else 0)
        text = document[start : match.end()].rstrip("\r")
        found = FENCE.fullmatch(text)
        begins = found is not None and not fence
        if found and begins:
            fence, opened = found[1], number
        yield _Line(number, start, start + len(text), text, opened if fence else 0)
        if found and not begins and found[1].startswith(fence) and not found[2].strip(" \t"):
            fence = ""


def _chop(text: str) -> str:
    """Without its last line end."""
    return re.sub(r"\r?\n\Z", "", text)
