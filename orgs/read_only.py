"""How operators look at what only journeys may change."""

from django.contrib import admin
from django.http import HttpRequest


class Looking:
    """Nothing is typed in, and nothing goes: neither here nor in a form below another."""

    def has_add_permission(self, request: HttpRequest, *args) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj=None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj=None) -> bool:
        return False


class ReadOnly(Looking, admin.ModelAdmin):
    """A list, and a page for each row."""

    show_full_result_count = False

    def get_fields(self, request: HttpRequest, obj=None):
        """Those named, or all but what a model keeps from forms, such as hashes."""
        shown = [each.name for each in self.opts.fields if each.editable or each.primary_key]
        return self.fields or [name for name in shown if name not in (self.exclude or ())]
