"""The ASGI application that `manage.py serve` runs."""

from contextlib import suppress

from django.conf import settings

from hub import logs, wsgi  # before all that needs Django, which `wsgi` sets up
from hub.server import listening
from hub.server.asgi import Receive, Scope, Send
from hub.server.bridge import Bridge

bridge = Bridge(wsgi.application, threads=settings.HUB_THREADS)


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request; the first one also does what has to be done in each process, after it was forked."""
    listening.bound_once()
    with suppress(RuntimeError):  # the system starts no thread now; the next request tries again
        logs.write_behind()
    await bridge(scope, receive, send)
