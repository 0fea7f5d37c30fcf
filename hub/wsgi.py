"""The WSGI application: Django, with all that it imports."""

import os

from django.core.wsgi import get_wsgi_application

from orgs import rates

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")

application = get_wsgi_application()
rates.prepare()  # before threads serve
