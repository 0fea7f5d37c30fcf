"""The secret patterns that the Hub shares with its clients: a copy of `clients/contract/secrets.json`."""

import json
from pathlib import Path
from typing import Any

SECRETS: dict[str, Any] = json.loads(
    Path(__file__).with_name("secrets.json").read_text(encoding="utf-8")
)
PARTS: dict[str, str] = SECRETS["parts"]


def whole(pattern: str) -> str:
    """The pattern with each part that several have, such as `{gap}`, written out."""
    for name, part in PARTS.items():
        pattern = pattern.replace(f"{{{name}}}", part)
    return pattern
