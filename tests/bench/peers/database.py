"""The database of the peers that use Django, as Django and psycopg recommend it."""

import os
from typing import Any
from urllib.parse import parse_qs, urlsplit

POOL = {"min_size": 1, "max_size": 36, "timeout": 5}  # as many as the Hub has in each process


def database() -> dict[str, Any]:
    """`DATABASES`, from DATABASE_URL, with psycopg's pool; with it, CONN_MAX_AGE has to be 0."""
    url = urlsplit(os.environ["DATABASE_URL"])
    return {
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": url.path.removeprefix("/"),
            "USER": url.username,
            "HOST": parse_qs(url.query)["host"][0],
            "CONN_MAX_AGE": 0,
            "OPTIONS": {"pool": POOL},
        }
    }
