"""Rows with words of strangers, as operators see them: with nothing hidden."""

from copy import copy
from typing import Any

from django.db import models
from django.http import HttpRequest

from orgs.read_only import Inline, ReadOnly
from reports.cleaning import clean


class Shown(ReadOnly):
    """Like `ReadOnly`, for rows with words of strangers: nothing is hidden on their pages."""

    def get_object(self, request: HttpRequest, object_id: str, from_field: Any = None) -> Any:
        """The row of a page, to be shown only; None if its address cannot be that of a row."""
        found = super().get_object(request, object_id, from_field)
        return found and visible(found)


class ShownRows(Inline.formset):
    """The first rows, to be shown only: nothing is hidden in them."""

    _shown: list[models.Model] | None = None

    def get_queryset(self) -> Any:
        """The rows, read once: a form is made for each."""
        if self._shown is None:
            self._shown = [visible(each) for each in super().get_queryset()]
        return self._shown


def visible(row: models.Model) -> models.Model:
    """A copy of the row, not to be saved: nothing is hidden in its texts."""
    shown = copy(row)
    for field in row._meta.concrete_fields:
        if not (field.primary_key or field.is_relation):
            setattr(shown, field.attname, _cleaned(getattr(row, field.attname)))
    return shown


def _cleaned(value: Any) -> Any:
    match value:
        case str():
            return clean(value)
        case list():
            return [_cleaned(each) for each in value]
        case dict():
            return {_cleaned(name): _cleaned(each) for name, each in value.items()}
    return value
