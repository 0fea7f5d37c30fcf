"""What came in, for operators."""

from django.contrib import admin

from orgs.read_only import Looking, ReadOnly
from reports.models import Account, Report


class Accounts(Looking, admin.StackedInline):
    model = Account


@admin.register(Report)
class ReportAdmin(ReadOnly):
    list_display = [
        "id",
        "received_at",
        "kind",
        "summary",
        "organization",
        "times_reported",
        "further_accounts",
    ]
    list_filter = ["kind", ("organization", admin.EmptyFieldListFilter)]
    list_select_related = ["organization"]
    search_fields = ["id", "summary", "canonical_url", "agent_name", "organization__name"]
    ordering = ["-received_at", "-id"]
    inlines = [Accounts]


@admin.register(Account)
class AccountAdmin(ReadOnly):
    list_display = ["id", "report_id", "received_at", "kind", "times_received", "size"]
    search_fields = ["report__id", "summary"]
    ordering = ["-pk"]
