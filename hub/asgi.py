"""The ASGI application that `manage.py serve` runs."""

from django.conf import settings

from hub import wsgi  # first, because it sets up Django
from hub.server import listening
from hub.server.asgi import Receive, Scope, Send
from hub.server.bridge import Bridge

bridge = Bridge(wsgi.application, threads=settings.HUB_THREADS)


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request; the first one also sets a time limit on the listening socket."""
    listening.bound_what_is_not_taken()  # once: before the first request there was no socket
    await bridge(scope, receive, send)
