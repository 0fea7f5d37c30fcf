"""Secrets in a report: what looks like one stops the report before it is sent."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Iterator, List, Match, NamedTuple, Optional, Pattern, Tuple

from .contract import message, table
from .errors import PolicyRejected
from .plain import plain
from .report import texts

KEY_HEADER = "header:Idempotency-Key"
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
    """Raise PolicyRejected where the report or its key seems to hold a secret."""
    findings = find(body, idempotency_key)
    if findings:
        details = [
            {"path": field, "message": message("secret_kind", kind=kind)}
            for field, kind in findings
        ]
        raise PolicyRejected("secret_found", message("secret_found"), fields={"details": details})


class _Patterns(NamedTuple):
    placeholder: Pattern[str]
    words: Pattern[str]
    kinds: List[Tuple[str, List[str], Pattern[str]]]


def _kinds(text: str) -> Iterator[str]:
    """What is in a text as it stands, or hidden in it by what divides or escapes."""
    texts_to_search = [(each, each.lower()) for each in dict.fromkeys([text, plain(text)])]
    for kind, signs, pattern in _patterns().kinds:
        for each, lower in texts_to_search:
            if any(sign in lower for sign in signs) and _has_secret(pattern, each):
                yield kind


def _has_secret(pattern: Pattern[str], text: str) -> bool:
    return any(not _is_placeholder(match) for match in pattern.finditer(text))


@lru_cache(maxsize=None)
def _patterns() -> _Patterns:
    shared = table("secrets.json")
    return _Patterns(
        placeholder=re.compile(shared["placeholder"], re.IGNORECASE | re.ASCII),
        words=re.compile(shared["words"]),
        kinds=[
            (entry["kind"], entry["signs"], re.compile(entry["pattern"]))
            for entry in shared["kinds"]
        ],
    )


def _is_placeholder(match: Match[str]) -> bool:
    """Whether what was found only stands for a secret, as documentation is full of."""
    secret = match[match.lastindex or 0]
    if len(match[0]) > LONGEST_PLACEHOLDER:
        return False
    return bool(_patterns().placeholder.search(secret) or _patterns().words.search(match[0]))
