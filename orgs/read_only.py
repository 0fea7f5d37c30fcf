"""Read-only admin classes: operators look, and change rows only by actions."""

import time
from collections.abc import Callable, Sequence
from copy import copy
from functools import reduce
from operator import or_
from typing import Any, cast
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.admin.utils import get_fields_from_path
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import BadRequest, ValidationError
from django.core.paginator import Page, Paginator
from django.db import transaction
from django.db.models import Q, QuerySet
from django.forms.models import BaseInlineFormSet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import smart_split, unescape_string_literal

from core import batches
from core.searching import Mentions
from orgs.models import User

LOOKED_AT = 5000  # rows of a long list that are shown, filtered and searched
SHOWN_BELOW = 20
ACTION_TIMEOUT = 20  # seconds, for all the rows of one action
CONFIRMED_AT_ONCE = 300  # rows that a page asks about: a form takes 1,000 fields
FEW = 100  # rows that a search may find to be found again by their ids
LONGEST_SEARCH = 500  # characters
MOST_WORDS = 20  # of a search: a query has each of them for each column
COMPARISONS = ("exact", "isnull", "isempty")  # of the filters beside a list
ALL = f"The latest {LOOKED_AT:,} are listed and searched. Search for a whole {{}} to find an older one."


def form_of_hold(kind: str, value: str) -> str:
    """The address of the form that holds it, filled in but for the reason."""
    return f"{reverse('admin:integrations_hold_add')}?{urlencode({'kind': kind, 'value': value})}"


class Looking:
    """Nothing can be added, changed or deleted, on its own page or below another."""

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class _FirstRows(BaseInlineFormSet):
    def get_queryset(self) -> QuerySet:
        """The first rows only: a form is made for each."""
        if not hasattr(self, "_queryset"):
            self._queryset = super().get_queryset()[:SHOWN_BELOW]
        return self._queryset


class Inline(Looking):
    """The first rows that belong to another one, shown below it."""

    formset: Any = _FirstRows
    verbose_name_plural: Any

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.verbose_name_plural = f"{self.verbose_name_plural} (at most {SHOWN_BELOW} are shown)"


class _LatestRows(ChangeList):
    """The latest rows only, so that each page, filter and search costs the same however many there are.

    A search for the whole text of a column in `looked_up_by` finds older ones, too.
    """

    model_admin: "ReadOnly"

    def get_queryset(self, request: HttpRequest, *args: Any, **kwargs: Any) -> QuerySet:
        """The rows that match the filters and the search."""
        rows = self.model_admin.get_queryset(request)
        text = self.query.strip()
        same = [
            rows.filter(**{name: text})
            for name in self.model_admin.looked_up_by
            if text and may_be(get_fields_from_path(self.model, name)[-1], text)
        ]
        found = (each for each in same if each.exists())
        known = next(found, None)
        self.root_queryset = _latest(rows, self.model_admin.newest_by) if known is None else known
        return super().get_queryset(request, *args, **kwargs)


def _latest(rows: QuerySet, column: str) -> QuerySet:
    newest = rows.order_by(f"-{column}").values_list(column, flat=True)
    edge = list(newest[LOOKED_AT : LOOKED_AT + 1])
    return rows.filter(**{f"{column}__gt": edge[0]}) if edge else rows


def may_be(key: Any, text: str) -> bool:
    """Whether a row may have this text in its primary key, or another column. Else to look for it may be an error."""
    while key.is_relation:
        key = key.target_field
    try:
        key.clean(text, None)
    except ValidationError:
        return False
    return True


class _ByIds(Paginator):
    """Finds the rows of a later page by their ids, so that those before it are not read with all columns."""

    def page(self, number: int | str) -> Page:
        """The page. Raises `InvalidPage`."""
        found = super().page(number)
        if found.number > 1:
            shown, every = cast(QuerySet, found.object_list), cast(QuerySet, self.object_list)
            found.object_list = every.filter(pk__in=list(shown.values_list("pk", flat=True)))
        return found


class ReadOnly(Looking, admin.ModelAdmin):
    """A list, and a page for each row. Actions are written to the row's history."""

    show_full_result_count = False
    list_per_page = 25
    paginator = _ByIds
    newest_by = "pk"
    looked_up_by: Sequence[str] = ()  # the columns by which rows of a long list are found
    linked_by: Sequence[str] = ()  # the columns by which pages link to some rows of the list

    def action_checkbox(self, obj: Any) -> SafeString:
        """Django's own, without a template for each row: they cost a quarter of the page."""
        return format_html(
            '<input type="checkbox" name="{}" value="{}" class="action-select" aria-label="{}">',
            ACTION_CHECKBOX_NAME,
            obj.pk,
            f"Select this object for an action - {obj}",
        )

    def get_object(self, request: HttpRequest, object_id: str, from_field: Any = None) -> Any:
        """The row of a page; None if its address cannot be that of a row."""
        if not may_be(self.opts.pk, object_id):
            return None
        return super().get_object(request, object_id, from_field)

    def response_action(
        self, request: HttpRequest, queryset: QuerySet, *args: Any, **options: Any
    ) -> Any:
        """Django's own. Raises `BadRequest` if something is selected that cannot be a row."""
        selected = request.POST.getlist(ACTION_CHECKBOX_NAME)
        if not all(may_be(self.opts.pk, each) for each in selected):
            raise BadRequest("Something is selected that is no row.")
        return super().response_action(request, queryset, *args, **options)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """What the filters beside the list ask, and links of pages. Django's own compares any column in any way."""
        named: Sequence[Any] = self.list_filter  # each a column, or one with its filter
        filtered = [each if isinstance(each, str) else each[0] for each in named]
        column, _, comparison = lookup.rpartition("__")
        if lookup in self.linked_by:
            return may_be(self.opts.get_field(lookup), value)
        return lookup in filtered or (column in filtered and comparison in COMPARISONS)

    def get_search_results(
        self, request: HttpRequest, rows: QuerySet, text: str
    ) -> tuple[QuerySet, bool]:
        """The rows of a long list that mention every word, in one of the columns that are searched.

        Few are looked for once, and then found by their ids: the page asks for their number, and for them.
        None for a text that is too long to search for, which is said.
        """
        is_long = len(text) > LONGEST_SEARCH or len(list(smart_split(text))) > MOST_WORDS
        if is_long and self.search_fields:
            words = (
                f"Search for at most {MOST_WORDS} words, of {LONGEST_SEARCH} characters together."
            )
            self.message_user(request, words, messages.ERROR)
            return rows.none(), False
        if not self.looked_up_by or not text:
            return super().get_search_results(request, rows, text)
        found = rows
        for word in smart_split(text):
            is_quoted = len(word) > 1 and word[0] in "\"'" and word[0] == word[-1]
            wanted = unescape_string_literal(word) if is_quoted else word
            found = found.filter(reduce(or_, (Q(Mentions(c, wanted)) for c in self.search_fields)))
        newest = found.order_by(f"-{self.newest_by}").values_list("pk", flat=True)
        few = list(newest[: FEW + 1])
        return (found if len(few) > FEW else rows.filter(pk__in=few)), False

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """All rows, or the latest of a long list."""
        return _LatestRows if self.looked_up_by else ChangeList

    def fixed(self, selected: QuerySet) -> QuerySet:
        """The selected rows by id, which stay selected when they no longer match the filters."""
        ids = list(selected.values_list("pk", flat=True))
        return selected.model._default_manager.filter(pk__in=ids)

    def refuse_many(self, request: HttpRequest, selected: QuerySet) -> bool:
        """Whether more rows are selected than a page can ask about; if so, it is said."""
        is_refused = selected[CONFIRMED_AT_ONCE : CONFIRMED_AT_ONCE + 1].exists()
        if is_refused:
            words = f"Select at most {CONFIRMED_AT_ONCE} {self.opts.verbose_name_plural} at a time."
            self.message_user(request, words, messages.ERROR)
        return is_refused

    def one_by_one(
        self, request: HttpRequest, rows: Sequence[Any], act: Callable[[Any], bool], what: str
    ) -> None:
        """Do it to one row after another, for up to `ACTION_TIMEOUT` seconds, and say to how many.

        Each is committed with its history, so what is done is noted where a later one fails; then there is a
        rest, in which reports are stored. `act` returns False if it did nothing, as to a row that is gone;
        `what` was done is a sentence.
        """
        until = time.monotonic() + ACTION_TIMEOUT
        work = (self.done(request, row, act, what) for row in rows)
        count = sum(batches.at_leisure(lambda: time.monotonic() < until, work))
        done = what.split()[0].rstrip(".").lower()
        left = f"{count} of {len(rows)} {done}. The others are left: select them again."
        said = f"{count} {done}." if count == len(rows) else left
        self.message_user(request, said, messages.WARNING)

    @transaction.atomic
    def done(self, request: HttpRequest, row: Any, act: Callable[[Any], bool], what: str) -> bool:
        """Do it to one row, and write that to its history; False if `act` did nothing."""
        shown = copy(row)  # deleting takes away the id
        if not act(row):
            return False
        self.note(request, [shown], what)
        return True

    def note(self, request: HttpRequest, rows: Any, what: str) -> None:
        """Write to the history of the rows what the operator did."""
        operator = cast(User, request.user)
        LogEntry.objects.log_actions(operator.pk, rows, CHANGE, what)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The fields that are named, else all except those that a model hides from forms, such as hashes."""
        shown = [each.name for each in self.opts.fields if each.editable or each.primary_key]
        return self.fields or [name for name in shown if name not in (self.exclude or ())]
