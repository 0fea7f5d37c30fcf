"""Deliveries and integrations, for operators: everything is read-only, and two actions retry or hold."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import BaseInlineFormSet
from django.http import HttpRequest

from integrations.delivery import trying_again
from integrations.models import (
    Alert,
    Attempt,
    Delivery,
    Installation,
    Integration,
    OneTimeState,
    Webhook,
)
from integrations.models.delivery import DeliveryQuerySet
from orgs.read_only import ALL, Looking, ReadOnly


class Operating(ReadOnly):
    """The actions *retry* and *hold*, for the deliveries of the selected rows."""

    actions = ["retry", "hold"]

    def deliveries(self, selected: QuerySet) -> DeliveryQuerySet:
        """The deliveries that belong to the selected rows."""
        raise NotImplementedError

    @admin.action(description="Retry: try everything undelivered again now")
    def retry(self, request: HttpRequest, selected: QuerySet) -> None:
        """Try all undelivered deliveries of the selected rows again now."""
        rows = self.fixed(selected)
        count = trying_again.try_all_again(self.deliveries(rows))
        left = self.deliveries(rows).undelivered().count()
        self.message_user(request, f"{count} retried; {left} not delivered yet.")
        self.note(request, rows, "Retried.")

    @admin.action(description="Hold: stop what is waiting until an operator retries it")
    def hold(self, request: HttpRequest, selected: QuerySet) -> None:
        """Stop the waiting deliveries of the selected rows until an operator retries them."""
        rows = self.fixed(selected)
        count = trying_again.stop_all(self.deliveries(rows))
        self.message_user(request, f"{count} held.", messages.WARNING)
        self.note(request, rows, "Held.")


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
class DeliveryAdmin(Operating):
    """Lists deliveries, with their attempts."""

    list_display = ["report_id", "status", "reason", "organization", "tries", "due_at", "issue_url"]
    list_filter = ["status", "held_for", ("outcome_unknown_since", admin.EmptyFieldListFilter)]
    list_select_related = ["integration__organization"]
    search_fields = ["report__id", "repository", "integration__organization__name"]
    search_help_text = ALL.format("id of a report")
    looked_up_by = ["report_id"]
    ordering = ["-pk"]
    inlines = [Attempts]

    @admin.display(description="organization")
    def organization(self, delivery: Delivery) -> str:
        """The organization that receives the report."""
        return delivery.integration.organization.name

    def deliveries(self, selected: QuerySet) -> DeliveryQuerySet:
        """The selected deliveries themselves."""
        return Delivery.objects.filter(pk__in=selected.values("pk"))


@admin.register(Integration)
class IntegrationAdmin(Operating):
    """Lists integrations, and why those that are stopped send nothing."""

    list_display = [
        "organization", "installation", "repository", "problem", "probe_at", "paused_at",
        "rights_lost_at",
    ]  # fmt: skip
    list_filter = [
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

    list_display = ["account", "github_id", "suspended_at", "limited_until", "limit_left"]
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


@admin.register(Webhook)
class WebhookAdmin(ReadOnly):
    """Lists webhooks that were received."""

    list_display = ["delivery_id", "received_at"]
    search_fields = ["delivery_id"]
    search_help_text = ALL.format("id")
    looked_up_by = ["delivery_id"]
    ordering = ["-pk"]
