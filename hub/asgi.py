"""The ASGI application that `manage.py serve` runs."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")

from hub.server.bridge import Bridge  # needs the settings

application = Bridge(get_wsgi_application(), threads=settings.HUB_THREADS)
