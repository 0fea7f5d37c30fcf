"""What a thread of the server does between two requests: it keeps its connection to the database.

Django gives it back, and looks through all databases and caches for what else there is to end. There is one
of each, and to connect anew, even to a pool, costs a tenth of a report.
"""

from typing import Any

from django.core.cache import close_caches
from django.core.handlers.base import reset_urlconf
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection, reset_queries

DJANGOS = {
    request_started: (reset_queries, close_old_connections),
    request_finished: (close_old_connections, close_caches, reset_urlconf),
}


def keep_connections() -> None:
    """From now on, for all threads of this process. Each has to give its connection back if it rests, or ends."""
    for signal, receivers in DJANGOS.items():
        for each in receivers:
            signal.disconnect(each)
    request_started.connect(_take_up)
    request_finished.connect(_keep)


def _take_up(**kwargs: Any) -> None:
    if connection.vendor == "postgresql":
        connection.take_up()  # type: ignore[attr-defined]
    else:
        connection.close_if_unusable_or_obsolete()


def _keep(**kwargs: Any) -> None:
    if connection.vendor == "postgresql":
        connection.keep()  # type: ignore[attr-defined]
    else:
        connection.close_if_unusable_or_obsolete()
