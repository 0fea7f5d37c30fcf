"""The WSGI application: Django, with everything that it imports."""

import os

import django

from core import rates
from hub.server.charset import Application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")

django.setup(set_prefix=False)
application = Application()
rates.prepare()  # before threads serve
