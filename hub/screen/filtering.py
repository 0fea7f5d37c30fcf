"""The filters of the list of reports, as the page shows them: its form, the tabs, and what can be removed."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django import forms
from django.db.models import QuerySet
from django.forms.utils import flatatt
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from core import counting
from hub.screen.delivery_states import IN_WORDS
from integrations.api import report_filters, report_list
from integrations.models import Integration
from orgs.models import Organization
from reports.models import Report

CLAIMS = 100  # to choose from; the address of the list takes any
TABS = ["", "pending", "held", "failed", "sent", "folded", "discarded", report_filters.NONE]
COUNTED = ["pending", "held", "failed", "sent", "folded", "discarded"]
ALWAYS_SHOWN = {"q", "kind", "status", "cursor"}  # the other filters open on request


class Select(forms.Select):
    """Makes its options without a template for each: of a hundred claims they cost a sixth of the page."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """The element; `value` is what was asked for."""
        marks = {True: mark_safe(" selected"), False: ""}
        options = (
            (each, marks[str(each) == str(value or "")], label) for each, label in self.choices
        )
        return format_html(
            "<select{}>{}</select>",
            flatatt(self.build_attrs(self.attrs, {"name": name, **(attrs or {})})),
            format_html_join("\n", '<option value="{}"{}>{}</option>', options),
        )


class FilterForm(forms.Form):
    """The filters; `report_list.faults` says what is wrong with them, here as in the API."""

    q = forms.CharField(
        label="Search",
        widget=forms.TextInput(
            attrs={"type": "search", "placeholder": "Search text, page or agent"}
        ),
    )
    kind = forms.CharField(
        label="Kind", widget=Select(choices=[("", "Any kind"), *Report.Kind.choices])
    )
    page = forms.CharField(
        label="Page",
        help_text="Its address, or its path.",
        widget=forms.TextInput(attrs={"placeholder": "/install"}),
    )
    agent = forms.CharField(
        label="Agent", widget=forms.TextInput(attrs={"list": "agents", "autocomplete": "off"})
    )
    claim = forms.CharField(label="Claim", widget=Select)
    since = forms.CharField(label="From", widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.CharField(label="To", widget=forms.DateInput(attrs={"type": "date"}))

    def __init__(self, asked: Mapping[str, str], organization: Organization) -> None:
        super().__init__(asked, use_required_attribute=False)
        for field in self.fields.values():
            field.required = False
        self.fields["claim"].widget.choices = _claims(organization, asked.get("claim", ""))
        for name, text in report_list.faults(asked):
            self.add_error(name if name in self.fields else None, self._in_words(name, text))

    @property
    def more(self) -> list[forms.BoundField]:
        """The fields of the filters that open on request."""
        return [field for field in self if field.name not in ALWAYS_SHOWN]

    def _in_words(self, name: str, text: str) -> str:
        """A fault as a sentence that names the field."""
        if name == "cursor":
            return "The link to older reports is incomplete."
        label = self.fields[name].label if name in self.fields else name.capitalize()
        return f"{label} {text[0].lower()}{text[1:]}"


class Tab(NamedTuple):
    """A state to choose, with how many reports are in it, if that is known."""

    name: str
    number: str
    address: str
    is_current: bool


class Chosen(NamedTuple):
    """A filter that is set, and the list without it."""

    label: str
    value: str
    address: str


def asked_in(request: HttpRequest) -> dict[str, str]:
    """The filters in the address."""
    return report_list.asked_in({name: each.strip() for name, each in request.GET.dict().items()})


def query(asked: Mapping[str, str], **changes: str) -> str:
    """The query of the list's address with these filters, from its first page on; empty without any."""
    merged = {**asked, "cursor": "", **changes}
    parts = urlencode({name: each for name, each in merged.items() if each})
    return f"?{parts}" if parts else ""


def address(asked: Mapping[str, str], **changes: str) -> str:
    """The address of the list with these filters."""
    return reverse("settings-reports") + query(asked, **changes)


def counts(organization: Organization, integration: Integration | None) -> dict[str, int]:
    """How many reports there are by the status, and in all; as `counting.up_to_most`."""
    every: dict[str, QuerySet[Any]] = {"all": Report.objects.newest_first(organization)}
    if integration:
        every |= {each: integration.deliveries.in_state(each) for each in COUNTED}
    return counting.each_up_to_most(**every)


def tabs(asked: Mapping[str, str], known: Mapping[str, int]) -> list[Tab]:
    """The states, and any other one that is asked for; with the counts that are known."""
    now = asked.get("status", "")
    shown = TABS if now in TABS or now not in IN_WORDS else [*TABS, now]
    return [
        Tab(
            IN_WORDS.get(each, "All"),
            counting.in_short(known[each or "all"]) if (each or "all") in known else "",
            address(asked, status=each),
            each == now,
        )
        for each in shown
    ]


def chosen(form: FilterForm, asked: Mapping[str, str]) -> list[Chosen]:
    """The filters that are set and not shown beside the search."""
    return [
        Chosen(str(field.label), asked[name], address(asked, **{name: ""}))
        for name, field in form.fields.items()
        if name in asked and name not in ALWAYS_SHOWN
    ]


def _claims(organization: Organization, asked: str) -> list[tuple[str, str]]:
    domains = organization.domains.order_by("name").values_list("name", flat=True)[:CLAIMS]
    sites = [each.url for each in organization.sites.order_by("host", "path")[:CLAIMS]]
    names: Iterable[str] = dict.fromkeys([*domains, *sites, *filter(None, [asked])])
    return [("", "Any claim"), *((each, each) for each in names)]
