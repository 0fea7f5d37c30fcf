"""The WSGI application: Django, with everything that it imports."""

import codecs
import os

import django
from django.urls import reverse

from core import rates
from hub.server.charset import Application
from orgs.domains import hosts

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")

django.setup(set_prefix=False)
application = Application()
# Before threads serve: each of several first requests would load it, all at the same time.
rates.prepare()
hosts.prepare()
reverse("settings")  # loads all views
# Of bodies, and of Django's line about what is refused: each is a file, and no further one may be opened by then.
for encoding in ("utf-8-sig", "unicode_escape"):
    codecs.lookup(encoding)
