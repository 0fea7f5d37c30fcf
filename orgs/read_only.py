"""Read-only admin classes: operators look, and change rows only by actions."""

from typing import Any, cast

from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import QuerySet
from django.http import HttpRequest

from orgs.models import User


class Looking:
    """Nothing can be added, changed or deleted, on its own page or below another."""

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnly(Looking, admin.ModelAdmin):
    """A list, and a page for each row. Actions are written to the row's history."""

    show_full_result_count = False

    def fixed(self, selected: QuerySet) -> QuerySet:
        """The selected rows by id, which stay selected when they no longer match the filters."""
        ids = list(selected.values_list("pk", flat=True))
        return selected.model._default_manager.filter(pk__in=ids)

    def note(self, request: HttpRequest, rows: QuerySet, what: str) -> None:
        """Write to the history of the rows what the operator did."""
        operator = cast(User, request.user)
        LogEntry.objects.log_actions(operator.pk, rows, CHANGE, what)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The fields that are named, else all except those that a model hides from forms, such as hashes."""
        shown = [each.name for each in self.opts.fields if each.editable or each.primary_key]
        return self.fields or [name for name in shown if name not in (self.exclude or ())]
