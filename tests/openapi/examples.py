"""Real requests and answers, which a test makes anew and compares (`test_examples.py`)."""

import json
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("examples.json")


@cache
def of(name: str) -> dict[str, Any]:
    """The examples of a call: its `request`, its `answers` by their status, its `errors` by their codes."""
    return json.loads(FILE.read_text(encoding="utf-8")).get(name, {}) if FILE.exists() else {}
