"""JSON from outside, read by the same rules as in Node, and its values only if the type is right."""

from __future__ import annotations

import json
import sys
from typing import Any, Dict, List, Optional

MAX_DEPTH = 20


class NoDocument(Exception):
    """Why the JSON is not accepted: `code` is its message in `messages.json`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def parse(data: bytes) -> Any:
    """JSON in UTF-8 (RFC 8259), nested at most 20 times and with finite numbers. Raises NoDocument."""
    try:
        value = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse)
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
    """The value if it is a whole number from 0, else None."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return int(value) if is_number and value >= 0 and value % 1 == 0 else None


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


def _refuse(name: str) -> None:
    raise ValueError(name)
