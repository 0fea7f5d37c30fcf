"""The reports, for operators."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from orgs.read_only import ALL, Inline
from reports import erasing
from reports.models import Account, Report
from reports.shown import Shown, ShownRows


class AccountInline(Inline, admin.StackedInline):
    """The further accounts, shown below their report."""

    model = Account
    formset = ShownRows


@admin.register(Report)
class ReportAdmin(Shown):
    """Lists reports; operators can erase their text."""

    list_display = [
        "id",
        "received_at",
        "kind",
        "title",
        "organization",
        "times_reported",
        "further_accounts",
    ]
    list_filter = [
        "kind",
        ("organization", admin.EmptyFieldListFilter),
        ("withheld_for", admin.EmptyFieldListFilter),
    ]
    list_select_related = ["organization"]
    search_fields = ["id", "summary", "canonical_url", "agent_name", "organization__name"]
    search_help_text = ALL.format("id")
    newest_by = "received_at"
    looked_up_by = ["id"]
    ordering = ["-received_at", "-id"]
    inlines = [AccountInline]
    actions = ["erase"]

    @admin.action(description="Erase the text (asks first)")
    def erase(self, request: HttpRequest, selected: QuerySet) -> HttpResponse | None:
        """Ask for confirmation, then erase the text of the selected reports."""
        if self.refuse_many(request, selected):
            return None
        rows = list(self.fixed(selected))
        if "confirmed" not in request.POST:
            asked = {"rows": rows, "action": "erase", "title": "Erase"}
            context = self.admin_site.each_context(request) | asked
            return render(request, "admin/erase_reports.html", context)
        self.one_by_one(request, rows, _erased, "Erased.")
        return None


def _erased(report: Report) -> bool:
    """Erase the text of a report that is there; always True, since none is left of one that was erased before."""
    erasing.erase(report)
    return True


@admin.register(Account)
class AccountAdmin(Shown):
    """Lists further accounts."""

    list_display = ["id", "report_id", "received_at", "kind", "times_received", "size"]
    search_fields = ["report__id", "summary"]
    search_help_text = ALL.format("id of a report")
    looked_up_by = ["report_id"]
    ordering = ["-pk"]
