"""Secrets in a report: anything that looks like one stops the report before it is sent."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Dict, Iterator, List, Match, NamedTuple, Optional, Pattern, Set, Tuple

from .contract import message, table
from .errors import PolicyRejected
from .plain import in_one_line, plain
from .report import texts
from .shape import KEY_HEADER

LONGEST_PLACEHOLDER = 200  # in a long key such letters may stand by chance


class Finding(NamedTuple):
    """Where a secret is, as a JSON Pointer or a header, and its kind; never the secret itself."""

    field: str
    kind: str


def find(body: Any, idempotency_key: Optional[str] = None) -> List[Finding]:
    """Each field and kind once, in the order of the report."""
    found = [
        Finding(pointer, kind)
        for pointer, text in [*texts(body), (KEY_HEADER, idempotency_key or "")]
        for kind in _kinds(text)
    ]
    return list(dict.fromkeys(found))


def check(body: Any, idempotency_key: Optional[str] = None) -> None:
    """Raise PolicyRejected if the report or its key seems to contain a secret."""
    findings = find(body, idempotency_key)
    if findings:
        details = [
            {"path": field, "message": message("secret_kind", kind=kind)}
            for field, kind in findings
        ]
        raise PolicyRejected("secret_found", message("secret_found"), fields={"details": details})


class _Family(NamedTuple):
    kind: str
    signs: List[str]
    pattern: Pattern[str]
    names: bool


class _Patterns(NamedTuple):
    placeholder: Pattern[str]
    sample: Pattern[str]
    name: Pattern[str]
    families: List[_Family]


def _kinds(text: str) -> Iterator[str]:
    """The kinds of secrets in a text: as it stands, hidden by separators and escapes, or in one line.

    What two families find in one place has the kind of the first.
    """
    line = in_one_line(text)
    readings = dict.fromkeys([text, plain(text), line, in_one_line(plain(line))])
    texts_to_search: List[Tuple[str, str, Set[int]]] = [
        (each, each.lower(), set()) for each in readings
    ]
    for family in _patterns().families:
        for each, lower, seen in texts_to_search:
            if any(sign in lower for sign in family.signs):
                found = _starts(family, each) - seen
                seen |= found
                if found:
                    yield family.kind


def _starts(family: _Family, text: str) -> Set[int]:
    """Where the secrets of a family begin."""
    matches = family.pattern.finditer(text)
    return {
        match.start(match.lastindex or 0) for match in matches if not _is_placeholder(match, family)
    }


@lru_cache(maxsize=None)
def _patterns() -> _Patterns:
    shared = table("secrets.json")
    return _Patterns(
        placeholder=re.compile(shared["placeholder"], re.IGNORECASE | re.ASCII),
        sample=re.compile(shared["sample"]),
        name=re.compile(shared["name"]),
        families=[
            _Family(
                each["kind"],
                each["signs"],
                re.compile(_whole(each["pattern"], shared["parts"])),
                each.get("names", True),
            )
            for each in shared["kinds"]
        ],
    )


def _whole(pattern: str, parts: Dict[str, str]) -> str:
    """The pattern with each part that several have, such as `{gap}`, written out."""
    for name, part in parts.items():
        pattern = pattern.replace(f"{{{name}}}", part)
    return pattern


def _is_placeholder(match: Match[str], family: _Family) -> bool:
    """Whether this only stands for a secret, as in documentation."""
    patterns = _patterns()
    whole, secret = match[0], match[match.lastindex or 0]
    if patterns.sample.search(whole) or (not family.names and patterns.name.search(secret)):
        return True
    return len(whole) <= LONGEST_PLACEHOLDER and bool(patterns.placeholder.search(secret))
