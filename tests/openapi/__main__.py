"""Writes the description of the API and its page anew."""

import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from tests.openapi.files import FILES  # noqa: E402  (the models are there only now)

for path, made in FILES.items():
    path.write_text(made(), encoding="utf-8")
    sys.stdout.write(f"{path}\n")
