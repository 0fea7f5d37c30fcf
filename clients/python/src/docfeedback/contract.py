"""The files under `contract/`, which this package shares with the Node package."""

from __future__ import annotations

import json
import pkgutil
from functools import lru_cache
from typing import Any


def text(path: str) -> str:
    """The shared file at `path`, for example `help/report.txt`."""
    data = pkgutil.get_data("docfeedback", f"contract/{path}")
    assert data is not None  # noqa: S101 (only loaders that cannot read data answer None)
    return data.decode()


@lru_cache(maxsize=None)
def table(path: str) -> Any:
    """The shared JSON file at `path`, parsed once."""
    return json.loads(text(path))


def message(code: str, **values: object) -> str:
    """The message with this `code` in `messages.json`, with `values` filled in."""
    sentence: str = table("messages.json")[code]
    return sentence.format(**values)
