"""Looks for secrets once more before a report is sent, in the filled template.

The patterns may be newer than the report, and harmless texts may form a secret together in a
template. The template itself is the maintainer's: nothing in it is removed or noted, and neither is
a secret that begins and ends in it.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from integrations.issue.rendering import parts, shown
from reports import secrets
from reports.screening import POINTERS, SecretNotice
from reports.secrets import Secret

REPORTED = {"doc_url": "/doc_url"} | POINTERS
REACH = 1_000  # characters of a text that can meet another, and that may stand between the two
EDGE = 250  # a secret that ends this close to the end of the search may continue beyond it
LOOKS = 3  # searches before texts that are still part of a secret are replaced


class _Piece(NamedTuple):
    """A part of the filled template, `[start:end]`; a reported text has its name."""

    name: str
    start: int
    end: int


def without_secrets_at_seams(
    template: str, fields: Mapping[str, str], notices: list[SecretNotice]
) -> dict[str, str]:
    """`fields` without secrets that only form where two texts stand next to each other in the template.

    What was removed is added to `notices`, once; texts from which it was removed are cleaned.
    """
    divided = parts(template)
    texts = {name: shown(name, fields.get(name, "")) for name in REPORTED if name in divided[1::2]}
    changed: dict[str, str] = {}
    noted: dict[SecretNotice, None] = {}
    for number in range(LOOKS + len(texts)):  # replaced texts are in no more secrets
        cuts = _cuts(*_filled(divided, dict(fields) | texts))
        for name, found in cuts.items():
            whole = secrets.notice(found[0].kind) if number >= LOOKS else ""
            texts[name] = changed[name] = whole or secrets.cut(texts[name], found)
            noted |= dict.fromkeys(SecretNotice(REPORTED[name], secret.kind) for secret in found)
        if not cuts:
            break
    notices.extend(noted)
    return dict(fields) | changed


def _filled(divided: list[str], fields: Mapping[str, str]) -> tuple[str, list[_Piece]]:
    """The filled template, and where the non-empty reported texts are in it."""
    filled = [fields.get(part, part) if number % 2 else part for number, part in enumerate(divided)]
    ends = accumulate(map(len, filled))
    pieces = [
        _Piece(name, end - len(text), end)
        for number, (name, text, end) in enumerate(zip(divided, filled, ends, strict=True))
        if number % 2 and name in REPORTED and text
    ]
    return "".join(filled), pieces


def _cuts(filled: str, pieces: list[_Piece]) -> dict[str, list[Secret]]:
    """Where to cut each text, by its name."""
    for look in (cache(secrets.found_in), cache(secrets.concealed_in)):  # once for equal windows
        cuts: dict[str, list[Secret]] = {}
        for start, end in _windows(pieces):
            for secret in look(filled[start:end]):
                for piece, part in _shared(_moved(secret, start), pieces, end):
                    cuts.setdefault(piece.name, []).append(part)
        if cuts:
            return {name: secrets.joined(found) for name, found in cuts.items()}
    return {}


def _windows(pieces: list[_Piece]) -> Iterator[tuple[int, int]]:
    """The ranges to search: around each place where two texts are close; overlapping ones are merged."""
    start = end = 0
    for left, right in pairwise(pieces):
        if right.start - left.end > REACH:
            continue
        if left.end - REACH > end:
            yield start, end
            start = left.end - REACH
        end = right.start + REACH
    yield start, end


def _shared(secret: Secret, pieces: list[_Piece], searched: int) -> Iterator[tuple[_Piece, Secret]]:
    """The parts of a secret that two texts form together; none if both its ends are in the template."""
    held = _touched(pieces, secret.start, secret.end)
    if not held or len(_touched(pieces, *secret.shape)) < 2:
        return
    if secret.start < held[0].start and held[-1].end < secret.end:
        return
    last = held[-1].end if secret.end > searched - EDGE else secret.end
    for piece in held:
        part = secret._replace(start=max(secret.start, piece.start), end=min(last, piece.end))
        yield piece, _moved(part, -piece.start)


def _touched(pieces: list[_Piece], start: int, end: int) -> list[_Piece]:
    first = bisect_right(pieces, start, key=lambda piece: piece.end)
    return pieces[first : bisect_right(pieces, end - 1, key=lambda piece: piece.start)]


def _moved(secret: Secret, by: int) -> Secret:
    begins, ends = secret.shape
    return Secret(secret.start + by, secret.end + by, secret.kind, (begins + by, ends + by))
