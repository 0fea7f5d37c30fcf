"""JSON from outside, read by the same rules as in Node, and its values only if the type is right."""

from __future__ import annotations

import json
import sys
from typing import Any, Dict, List, Optional, Tuple

MAX_DEPTH = 20
MAX_WHOLE = 2**53 - 1  # JavaScript rounds what is above


class NoDocument(Exception):
    """Why the JSON is not accepted: `code` is its message in `messages.json`, `key` the key it is about."""

    def __init__(self, code: str, key: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.key = key


def parse(data: bytes, *, unique: bool = False) -> Any:
    """JSON in UTF-8 (RFC 8259), nested at most 20 times and with finite numbers. Raises NoDocument.

    `unique`: no object may have a key twice, of which a parser may take either.
    """
    hook = _object if unique else None
    try:
        value = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse, object_pairs_hook=hook)
    except RecursionError:
        raise NoDocument("too_deep") from None
    except ValueError:
        raise NoDocument("not_json") from None
    _check(value, MAX_DEPTH)
    return value


def text(value: Any) -> Optional[str]:
    """The value if it is a string, else None."""
    return value if isinstance(value, str) else None


def yes_or_no(value: Any) -> Optional[bool]:
    """The value if it is true or false, else None."""
    return value if isinstance(value, bool) else None


def whole(value: Any) -> Optional[int]:
    """The value if it is a whole number from 0 that is exact, else None."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    is_whole = is_number and 0 <= value <= MAX_WHOLE and value % 1 == 0
    return int(value) if is_whole else None


def objects(value: Any, *texts: str) -> List[Dict[str, Any]]:
    """The objects in a list that have all these strings."""
    items = value if isinstance(value, list) else []
    return [
        item
        for item in items
        if isinstance(item, dict) and all(isinstance(item.get(name), str) for name in texts)
    ]


def an_object(value: Any, *texts: str) -> Optional[Dict[str, Any]]:
    """The value if it is an object that has all these strings, else None."""
    return next(iter(objects([value], *texts)), None)


def _check(value: Any, depth: int) -> None:
    if isinstance(value, (dict, list)):
        if depth == 0:
            raise NoDocument("too_deep")
        for item in value.values() if isinstance(value, dict) else value:
            _check(item, depth - 1)
    elif isinstance(value, (int, float)) and abs(value) > sys.float_info.max:
        raise NoDocument("not_json_value")


def _object(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    found: Dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise NoDocument("duplicate_key", key)
        found[key] = value
    return found


def _refuse(name: str) -> None:
    raise ValueError(name)
