"""Checks of the configuration for Django's `check`."""

from typing import Any

from django.core import checks
from django.db import connections


@checks.register(checks.Tags.database)
def no_atomic_requests(
    app_configs: Any, databases: Any, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Refuse ATOMIC_REQUESTS: deliveries must start after the transaction of their report."""
    return [
        checks.Error(
            f"ATOMIC_REQUESTS is on for the database {alias!r}.",
            hint="Remove it from DATABASE_URL: the Hub opens its own transactions.",
            id="hub.E001",
        )
        for alias in connections
        if connections[alias].settings_dict.get("ATOMIC_REQUESTS")
    ]
