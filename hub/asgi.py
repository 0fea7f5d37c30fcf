"""The ASGI application that `manage.py serve` runs."""

from django.conf import settings

from hub import wsgi  # first, since it sets Django up
from hub.server.bridge import Bridge

application = Bridge(wsgi.application, threads=settings.HUB_THREADS)
