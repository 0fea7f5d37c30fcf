"""Deliveries, integrations and holds, for operators, who retry, hold and release; nothing else is changed."""

from datetime import datetime
from typing import Any, cast

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import BaseInlineFormSet, ModelForm, Textarea
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.text import Truncator

from core import clock
from integrations import signal_admin  # noqa: F401  (lists its tables, too)
from integrations.delivery import operator_holds, trying_again, waiting
from integrations.models import (
    Alert,
    Attempt,
    Delivery,
    Hold,
    Installation,
    Integration,
    OneTimeState,
    PastTry,
    Visibility,
    Webhook,
)
from integrations.models.delivery import EARLIER, DeliveryQuerySet
from orgs.models import User
from orgs.read_only import ALL, Looking, ReadOnly, form_of_hold
from reports.cleaning import clean
from reports.shown import Shown

SHOWN = 60  # characters of a text in a list
ARRIVING = (
    "What arrives is sent: to hold that, too, select its organization in Organizations, and run "
    "Hold all that this organization receives."
)


class Operating(ReadOnly):
    """The actions *retry* and *hold*, for the deliveries of the selected rows.

    They are noted first: what fails in the middle has changed some of them.
    """

    actions = ["retry", "hold"]

    def deliveries(self, selected: QuerySet) -> DeliveryQuerySet:
        """The deliveries that belong to the selected rows."""
        raise NotImplementedError

    @admin.action(description="Retry: try everything undelivered again now")
    def retry(self, request: HttpRequest, selected: QuerySet) -> None:
        """Try all undelivered deliveries of the selected rows again now."""
        rows = self.fixed(selected)
        self.note(request, rows, "Retried.")
        count = trying_again.try_all_again(self.deliveries(rows))
        left = self.deliveries(rows).undelivered().count()
        self.message_user(request, f"{count} retried; {left} not delivered yet.")

    @admin.action(
        description="Hold: stop what is waiting, not what arrives, until an operator retries it"
    )
    def hold(self, request: HttpRequest, selected: QuerySet) -> None:
        """Stop the waiting deliveries of the selected rows until an operator retries them."""
        rows = self.fixed(selected)
        self.note(request, rows, "Held.")
        count = trying_again.stop_all(self.deliveries(rows))
        self.message_user(request, f"{count} held. {ARRIVING}", messages.WARNING)


class ShownAttempts(BaseInlineFormSet):
    """Reads the first attempt and the latest only."""

    _shown: list[Attempt] | None = None

    def get_queryset(self) -> Any:
        if self._shown is None:
            self._shown = self.instance.shown_attempts()
        return self._shown


class Attempts(Looking, admin.TabularInline):
    """The first attempt and the latest, shown below their delivery."""

    model = Attempt
    formset = ShownAttempts
    fields = ["number", "started_at", "ended_at", "outcome", "reason"]


@admin.register(Delivery)
class DeliveryAdmin(Shown, Operating):
    """Lists deliveries, with their attempts."""

    list_display = [
        "summary", "page", "agent", "status", "why", "organization", "due_at", "issue",
    ]  # fmt: skip
    list_filter = ["status", "held_for", ("outcome_unknown_since", admin.EmptyFieldListFilter)]
    list_select_related = ["integration__organization", "report", "lead"]
    search_fields = [
        "report__id", "report__summary", "report__canonical_url", "report__agent_name",
        "repository", "integration__organization__name",
    ]  # fmt: skip
    search_help_text = (
        f"{ALL.format('id of a report')} Page, agent, repository and organization count."
    )
    looked_up_by = ["report_id"]
    linked_by = ["operator_hold"]
    ordering = ["-pk"]
    inlines = [Attempts]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """All, why it waits, and what can be done about reports like it."""
        return [*super().get_fields(request, obj), "waits_for", "like_it"]

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """The list, with why each delivery waits, in a few queries for all."""
        shown = super().get_changelist_instance(request)
        waits = waiting.whys(shown.result_list)
        for each in shown.result_list:
            each.wait = waits.get(each.pk)
        return shown

    @admin.display(description="why", ordering="reason")
    def why(self, delivery: Any) -> str:
        """Why it waits, or has its status."""
        return str(delivery.wait or delivery.reason)

    @admin.display(description="waits for")
    def waits_for(self, delivery: Delivery) -> str:
        """Why it waits, and about until when."""
        return str(waiting.why(delivery) or "-")

    @admin.display(description="reports like it")
    def like_it(self, delivery: Delivery) -> str:
        """Links to the form that holds its page, its agent or its organization, or its source while its day lasts."""
        report = delivery.report
        could_be = {
            "page": report.canonical_url,
            "agent": report.agent_name,
            "organization": report.organization_id,
        }
        is_of_today = delivery.created_at.date() == timezone.now().date()
        if is_of_today and delivery.source != EARLIER:
            could_be["source"] = delivery.source
        links = [(form_of_hold(kind, value), kind) for kind, value in could_be.items() if value]
        return format_html_join(" ", '<a href="{}">Hold its {}</a>', links) or "-"

    @admin.display(description="report")
    def summary(self, delivery: Delivery) -> str:
        """What it reports."""
        return Truncator(delivery.report.title).chars(SHOWN)

    @admin.display(description="page")
    def page(self, delivery: Delivery) -> str:
        """The page that it is about."""
        return Truncator(delivery.report.canonical_url.removeprefix("https://")).chars(SHOWN)

    @admin.display(description="agent")
    def agent(self, delivery: Delivery) -> str:
        """Who sent it."""
        return clean(delivery.report.agent_name)

    @admin.display(description="organization")
    def organization(self, delivery: Delivery) -> str:
        """The organization that receives the report."""
        return delivery.integration.organization.name

    @admin.display(description="issue")
    def issue(self, delivery: Delivery) -> str:
        """A link to its issue, or to the one that it has joined."""
        there = delivery.with_issue
        if not there.issue_url:
            return "-"
        return format_html('<a href="{}">#{}</a>', delivery.issue_url_now, there.issue_number)

    def deliveries(self, selected: QuerySet) -> DeliveryQuerySet:
        """The selected deliveries themselves."""
        return Delivery.objects.filter(pk__in=selected.values("pk"))


def _until(end: datetime | None) -> str:
    return f"until {end:%Y-%m-%d %H:%M} UTC" if end else "until released"


class HoldForm(ModelForm):
    """What to hold, and why."""

    class Meta:
        model = Hold
        fields = ("kind", "value", "reason")
        widgets = {"value": Textarea({"rows": 2})}
        help_texts = {
            "kind": "A page, an agent and an organization are held until released, a source until its day ends, "
            "at 00:00 UTC."
        }

    def clean(self) -> dict[str, Any]:
        """Refuse what is no page, source or organization, and what is on hold already."""
        given = super().clean() or {}
        if "kind" in given and "value" in given:
            try:
                given["value"] = operator_holds.checked(given["kind"], given["value"])
            except operator_holds.CannotHold as error:
                self.add_error("value", str(error))
        return given


@admin.register(Hold)
class HoldAdmin(Shown):
    """Lists what operators hold; they add holds and release them."""

    form = HoldForm
    list_display = ["kind", "held", "state", "reason", "made_by", "made_at", "deliveries"]
    list_filter = [("released_at", admin.EmptyFieldListFilter), "kind"]
    list_select_related = ["made_by"]
    search_fields = ["value", "reason"]
    ordering = ["-pk"]
    actions = ["release"]

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        """Operators hold; whoever sees this page may."""
        return admin.ModelAdmin.has_add_permission(self, request)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """What is asked for, or all."""
        return super().get_fields(request, obj) if obj else HoldForm.Meta.fields

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """What a link fills in: what is held, but not why, so that it takes more than a press to hold it."""
        return {name: request.GET[name] for name in ("kind", "value") if name in request.GET}

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        """With the time that decides whether a hold is over."""
        return super().get_queryset(request).annotate(now=clock.now())

    @admin.display(description="value", ordering="value")
    def held(self, hold: Hold) -> str:
        """What it holds."""
        return clean(hold.value)

    @admin.display(description="state")
    def state(self, hold: Any) -> str:
        """Whether it is in force."""
        end = hold.released_at or hold.ends_at
        return "Over" if end and end <= hold.now else f"U{_until(end)[1:]}"

    @admin.display(description="deliveries")
    def deliveries(self, hold: Hold) -> str:
        """A link to what it holds."""
        url = reverse("admin:integrations_delivery_changelist")
        return format_html('<a href="{}?operator_hold={}">Show</a>', url, hold.pk)

    def save_model(self, request: HttpRequest, obj: Hold, *args: Any) -> None:
        """Hold it."""
        operator_holds.make(obj, by=cast(User, request.user))

    def response_add(self, request: HttpRequest, obj: Hold, *args: Any) -> HttpResponse:
        """Say what is on hold, by its name, which the history does not keep."""
        shown = Truncator(clean(obj.value)).chars(SHOWN)
        self.message_user(request, f"The {obj.kind} “{shown}” is on hold {_until(obj.ends_at)}.")
        again = "_addanother" in request.POST
        return redirect(f"admin:integrations_hold_{'add' if again else 'changelist'}")

    def add_view(self, request: HttpRequest, *args: Any) -> HttpResponse:
        """The form; if another operator has just held the same, that is said."""
        try:
            return super().add_view(request, *args)
        except operator_holds.CannotHold as error:
            self.message_user(request, str(error), messages.ERROR)
            return redirect("admin:integrations_hold_changelist")

    @admin.action(description="Release: send what is held, in turn")
    def release(self, request: HttpRequest, selected: QuerySet) -> None:
        """End the selected holds."""
        release, rows = operator_holds.release, self.fixed(selected)
        released = sum(self.done(request, hold, release, "Released.") for hold in rows)
        self.message_user(request, f"{released} released. What they held is sent in turn.")


@admin.register(Integration)
class IntegrationAdmin(Operating):
    """Lists integrations, and why those that are stopped send nothing."""

    list_display = [
        "organization", "installation", "repository", "problem", "probe_at", "paused_at",
        "rights_lost_at", "likeness",
    ]  # fmt: skip
    list_filter = [
        "likeness",
        ("problem", admin.EmptyFieldListFilter),
        ("paused_at", admin.EmptyFieldListFilter),
        ("rights_lost_at", admin.EmptyFieldListFilter),
    ]
    list_select_related = ["organization", "installation"]
    search_fields = ["organization__name", "repo_owner", "repo_name"]

    def deliveries(self, selected: QuerySet) -> DeliveryQuerySet:
        """All deliveries of the selected integrations."""
        return Delivery.objects.filter(integration__in=selected.values("pk"))


@admin.register(Installation)
class InstallationAdmin(Operating):
    """Lists installations of the GitHub App, with their rate limits."""

    list_display = [
        "account", "github_id", "suspended_at", "limited_until", "left_alone_until", "limit_left",
    ]  # fmt: skip
    list_filter = [("suspended_at", admin.EmptyFieldListFilter)]
    search_fields = ["account", "github_id"]

    def deliveries(self, selected: QuerySet) -> DeliveryQuerySet:
        """All deliveries through the selected installations."""
        return Delivery.objects.filter(integration__installation__in=selected.values("pk"))


@admin.register(Attempt)
class AttemptAdmin(ReadOnly):
    """Lists attempts."""

    list_display = ["report", "number", "started_at", "ended_at", "outcome", "reason"]
    list_filter = ["outcome"]
    list_select_related = ["delivery"]
    search_fields = ["delivery__report__id"]
    search_help_text = ALL.format("id of a report")
    looked_up_by = ["delivery__report_id"]
    ordering = ["-pk"]

    @admin.display(description="report")
    def report(self, attempt: Attempt) -> str:
        """The id of the report."""
        return attempt.delivery.report_id


@admin.register(Alert)
class AlertAdmin(ReadOnly):
    """Lists the issues that tell organizations bad news."""

    list_display = [
        "organization", "cause", "subject", "since", "status", "reason", "tries", "issue_url",
    ]  # fmt: skip
    list_filter = ["status", "cause"]
    list_select_related = ["integration__organization"]
    search_fields = ["integration__organization__name", "subject"]
    ordering = ["-pk"]

    @admin.display(description="organization")
    def organization(self, alert: Alert) -> str:
        """The organization that is told."""
        return alert.integration.organization.name


@admin.register(OneTimeState)
class OneTimeStateAdmin(ReadOnly):
    """Lists the one-time states of installations."""

    list_display = ["id", "organization", "member", "expires_at", "used_at"]
    list_select_related = ["organization", "member"]


@admin.register(PastTry)
class PastTryAdmin(ReadOnly):
    """Lists tries that count against the pace of an installation which their integration has left."""

    list_display = ["installation", "last_tried_at"]
    list_select_related = ["installation"]
    search_fields = ["installation__account"]


@admin.register(Visibility)
class VisibilityAdmin(ReadOnly):
    """Lists repositories that have become private or public, while their issues follow."""

    list_display = ["repository_id", "is_private", "installation_id"]
    search_fields = ["repository_id"]


@admin.register(Webhook)
class WebhookAdmin(ReadOnly):
    """Lists webhooks that were received."""

    list_display = ["delivery_id", "installation_id", "repository_id", "received_at"]
    search_fields = ["delivery_id"]
    search_help_text = ALL.format("id")
    looked_up_by = ["delivery_id"]
    ordering = ["-pk"]
