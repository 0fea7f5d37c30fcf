"""What Django's `check` refuses in the configuration."""

from django.core import checks
from django.db import connections


@checks.register(checks.Tags.database)
def no_atomic_requests(app_configs, databases, **kwargs) -> list[checks.CheckMessage]:
    """A delivery is sent after the commit of its report: inside a transaction it never would be."""
    return [
        checks.Error(
            f"ATOMIC_REQUESTS is on for the database {alias!r}.",
            hint="Take it out of DATABASE_URL: the Hub opens its transactions itself.",
            id="hub.E001",
        )
        for alias in connections
        if connections[alias].settings_dict.get("ATOMIC_REQUESTS")
    ]
