"""A view in Django REST framework, as a good team would write it first.

A serializer with the Hub's fields and lengths, a throttle in Redis by address, a canonical URL by a
simple function, `get_or_create` by the key of duplicates, and a query for the owner of the page's
host. Django's usual middleware for an API. It leaves out limits by host, by owner and in total, removing secrets,
the other words of a repeat, sites below a path, and forwarding.

`python -m tests.bench.peers.team` creates its tables.
"""

import os
from functools import partial
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import django
from django.conf import settings

from tests.bench.peers import schema
from tests.bench.peers.database import database

settings.configure(
    ALLOWED_HOSTS=["*"],
    CACHES={
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": os.environ["REDIS_URL"],
        }
    },
    DATABASES=database(),
    INSTALLED_APPS=["rest_framework"],
    MIDDLEWARE=[
        "django.middleware.security.SecurityMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ],
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "DEFAULT_PERMISSION_CLASSES": [],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
        "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.AnonRateThrottle"],
        "DEFAULT_THROTTLE_RATES": {"anon": "1000000/minute"},
        "NUM_PROXIES": 1,
        "UNAUTHENTICATED_USER": None,
    },
    ROOT_URLCONF=__name__,
    SECRET_KEY="a key that guards nothing",
    USE_TZ=True,
)
django.setup()

from django.core.handlers.wsgi import WSGIHandler  # noqa: E402
from django.db import connection, models, transaction  # noqa: E402
from django.db.models import F  # noqa: E402
from django.urls import path  # noqa: E402
from django.utils import timezone  # noqa: E402
from rest_framework import serializers  # noqa: E402
from rest_framework.request import Request  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402

KINDS = ["broken", "incorrect", "outdated", "missing", "unclear", "other"]
EVIDENCE = ["error_message", "attempted_action", "expected", "observed", "code_snippet", "quote"]


class Organization(models.Model):
    """Who receives reports."""

    name = models.CharField(max_length=255)

    class Meta:
        app_label = "peer"


class Domain(models.Model):
    """A host name that an organization has proved to own."""

    organization = models.ForeignKey(Organization, models.CASCADE)
    name = models.CharField(max_length=253, unique=True)
    verified_at = models.DateTimeField(null=True)

    class Meta:
        app_label = "peer"


class Report(models.Model):
    """One report."""

    id = models.CharField(primary_key=True, max_length=32)
    organization = models.ForeignKey(Organization, models.SET_NULL, null=True)
    received_at = models.DateTimeField(db_index=True)
    last_received_at = models.DateTimeField()
    times_reported = models.PositiveIntegerField(default=1)
    dedup_key = models.CharField(max_length=80, unique=True)
    doc_url = models.TextField()
    canonical_url = models.TextField()
    kind = models.CharField(max_length=10)
    summary = models.TextField()
    details = models.TextField(blank=True)
    evidence = models.JSONField(default=list)
    suggested_fix = models.TextField(blank=True)
    agent_name = models.TextField()
    agent_version = models.TextField(blank=True)
    agent_vendor = models.TextField(blank=True)
    task_context = models.JSONField(default=dict)

    class Meta:
        app_label = "peer"


class AgentSerializer(serializers.Serializer):
    """Who reports."""

    name = serializers.CharField(max_length=120)
    version = serializers.CharField(max_length=64, required=False)
    vendor = serializers.CharField(max_length=128, required=False)


class EvidenceSerializer(serializers.Serializer):
    """One piece of evidence."""

    kind = serializers.ChoiceField(EVIDENCE)
    text = serializers.CharField(max_length=4000)


class SubstanceSerializer(serializers.Serializer):
    """What is wrong."""

    kind = serializers.ChoiceField(KINDS)
    summary = serializers.CharField(max_length=500)
    details = serializers.CharField(max_length=8000, required=False)
    evidence = EvidenceSerializer(many=True, required=False, max_length=20)
    suggested_fix = serializers.CharField(max_length=4000, required=False)


class TaskContextSerializer(serializers.Serializer):
    """What the reporter was doing."""

    task_summary = serializers.CharField(max_length=500, required=False)
    transcript_excerpt = serializers.CharField(max_length=4000, required=False)


class ReportSerializer(serializers.Serializer):
    """A report as sent."""

    protocol_version = serializers.ChoiceField(["0"])
    doc_url = serializers.URLField(max_length=2048)
    agent = AgentSerializer()
    report = SubstanceSerializer()
    task_context = TaskContextSerializer(required=False)
    idempotency_key = serializers.CharField(max_length=128, required=False)
    submitted_at = serializers.DateTimeField(required=False)
    locale = serializers.CharField(max_length=35, required=False)
    client_capabilities = serializers.ListField(
        child=serializers.CharField(max_length=64), required=False, max_length=32
    )


class ReceiptSerializer(serializers.Serializer):
    """The response."""

    id = serializers.CharField()
    is_duplicate = serializers.BooleanField()
    received_at = serializers.DateTimeField()


def canonical(url: str) -> str:
    """The same page has the same URL: no case in the host, no fragment, no slash at the end."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.lower(), parts.path.rstrip("/"), parts.query, ""))


def owner_of(url: str) -> Organization | None:
    """Whose domain the page is on, the longest first."""
    labels = (urlsplit(url).hostname or "").split(".")
    names = [".".join(labels[n:]) for n in range(len(labels) - 1)]
    verified = Domain.objects.filter(name__in=names, verified_at__isnull=False)
    claims = verified.select_related("organization")
    nearest = max(claims, key=lambda claim: len(claim.name), default=None)
    return nearest.organization if nearest else None


class Reports(APIView):
    """`POST /v1/reports`."""

    def post(self, request: Request) -> Response:
        serializer = ReportSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        report, created = self._store(serializer.validated_data)
        receipt = {
            "id": report.pk,
            "is_duplicate": not created,
            "received_at": report.received_at,
        }
        return Response(ReceiptSerializer(receipt).data, status=201)

    def _store(self, sent: dict[str, Any]) -> tuple[Report, bool]:
        said, agent, now = sent["report"], sent["agent"], timezone.now()
        url = canonical(sent["doc_url"])
        with transaction.atomic():
            report, created = Report.objects.get_or_create(
                dedup_key=schema.dedup_key(url, agent["name"], said["summary"]),
                defaults={
                    "id": uuid4().hex,
                    "organization": partial(owner_of, url),  # asked only for a new one
                    "received_at": now,
                    "last_received_at": now,
                    "doc_url": sent["doc_url"],
                    "canonical_url": url,
                    "task_context": sent.get("task_context", {}),
                    **said,
                    **{f"agent_{name}": text for name, text in agent.items()},
                },
            )
            if not created:
                report.times_reported = F("times_reported") + 1
                report.last_received_at = now
                report.save(update_fields=["times_reported", "last_received_at"])
        return report, created


urlpatterns = [path("v1/reports", Reports.as_view())]
application = WSGIHandler()

if __name__ == "__main__":
    with connection.schema_editor() as editor:
        for model in (Organization, Domain, Report):
            editor.create_model(model)
