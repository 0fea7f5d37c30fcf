"""A plain Django view: reads the JSON and does one `INSERT … ON CONFLICT`. The floor for Django.

It leaves out all that the Hub is for: it checks no lengths and no types, has no rate limits, no
canonical URL, no owner of the page, removes no secrets, keeps no other words of a repeat, has no
middleware and serves nothing else.
"""

import json

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.urls import path

from tests.bench.peers import schema
from tests.bench.peers.database import database

settings.configure(
    ALLOWED_HOSTS=["*"],
    DATABASES=database(),
    MIDDLEWARE=[],
    ROOT_URLCONF=__name__,
    SECRET_KEY="a key that guards nothing",
    USE_TZ=True,
)
INSERT = schema.insert(*["%s"] * len(schema.COLUMNS))


def receive(request: HttpRequest) -> JsonResponse:
    """Store a report, or count it once more."""
    with connection.cursor() as cursor:
        cursor.execute(INSERT, schema.values(json.loads(request.body)))
        return JsonResponse(schema.answer(cursor.fetchone()), status=201)


urlpatterns = [path("v1/reports", receive)]


import django  # noqa: E402

django.setup()
application = WSGIHandler()
