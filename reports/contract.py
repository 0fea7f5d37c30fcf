"""The secret patterns that the Hub shares with its clients: a copy of `clients/contract/secrets.json`."""

import json
from pathlib import Path
from typing import Any

SECRETS: dict[str, Any] = json.loads(
    Path(__file__).with_name("secrets.json").read_text(encoding="utf-8")
)
