"""Once more before a report is sent: no secret in what its text becomes.

The patterns may be newer than the report, and texts that are harmless alone may meet in a template.
The template itself is the maintainer's: what stands in it is neither removed nor noted.
"""

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple

from integrations.issue_text import LONG, parts
from reports import secrets
from reports.cleaning import clean
from reports.screening import POINTERS, Notice
from reports.secrets import Secret

REPORTED = {"doc_url": "/doc_url"} | POINTERS
REACH = 2_000  # characters of a text, from each of its ends, that can meet another
APART = " … "  # for the rest of it, which was looked at by itself


class Piece(NamedTuple):
    """A part of the filled template. Of a reported text it has the name, and begins at `offset`."""

    text: str
    name: str = ""
    offset: int = 0


def without_secrets_at_seams(
    template: str, fields: Mapping[str, str], notices: list[Notice]
) -> dict[str, str]:
    """`fields`, without the secrets that come about where reported texts meet in the template.

    What was removed is added to `notices`; texts that it was removed from are cleaned.
    """
    fields = dict(fields)
    while cuts := _cuts(template, fields):
        for name, found in cuts.items():
            fields[name] = secrets.cut(_shown(name, fields), found)
            notices.extend(Notice(REPORTED[name], secret.kind) for secret in found)
    return fields


def _cuts(template: str, fields: Mapping[str, str]) -> dict[str, list[Secret]]:
    """Where to cut each text, by its name."""
    pieces = list(_pieces(template, fields))
    filled = "".join(piece.text for piece in pieces)
    return _shared(secrets.found_in(filled), pieces) or _shared(secrets.hidden_in(filled), pieces)


def _shared(found: list[Secret], pieces: list[Piece]) -> dict[str, list[Secret]]:
    """The parts of those secrets that lie in more than one text."""
    ends = list(accumulate(len(piece.text) for piece in pieces))
    cuts: dict[str, list[Secret]] = {}
    for secret in found:
        touched = [
            (piece, end - len(piece.text))
            for piece, end in zip(pieces, ends, strict=True)
            if piece.name and end - len(piece.text) < secret.end and secret.start < end
        ]
        if len({piece.name for piece, _ in touched}) > 1:
            for piece, start in touched:
                cuts.setdefault(piece.name, []).append(_within(piece, start, secret))
    return cuts


def _pieces(template: str, fields: Mapping[str, str]) -> Iterator[Piece]:
    for number, part in enumerate(parts(template)):
        if number % 2 == 0 or part not in REPORTED:
            yield Piece(fields.get(part, part) if number % 2 else part)
            continue
        text = _shown(part, fields)
        if len(text) <= 2 * REACH:
            yield Piece(text, part)
            continue
        yield Piece(text[:REACH], part)
        yield Piece(APART)
        yield Piece(text[-REACH:], part, len(text) - REACH)


def _shown(name: str, fields: Mapping[str, str]) -> str:
    text = clean(fields.get(name, ""))
    return text.strip() if name in LONG else " ".join(text.split())


def _within(piece: Piece, start: int, secret: Secret) -> Secret:
    """The part of a secret that lies in a piece, which begins at `start` of the filled template."""
    first, last = max(secret.start - start, 0), min(secret.end - start, len(piece.text))
    return Secret(piece.offset + first, piece.offset + last, secret.kind)
