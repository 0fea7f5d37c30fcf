"""What came in, for operators."""

from django.contrib import admin

from orgs.read_only import ReadOnly
from reports.models import Report


@admin.register(Report)
class ReportAdmin(ReadOnly):
    list_display = ["id", "received_at", "kind", "summary", "organization", "times_reported"]
    list_filter = ["kind", ("organization", admin.EmptyFieldListFilter)]
    list_select_related = ["organization"]
    search_fields = ["id", "summary", "canonical_url", "agent_name", "organization__name"]
    ordering = ["-received_at", "-id"]
