"""Where reports go, for operators: what is there is history, and two actions change its course."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from integrations.delivery import trying_again
from integrations.models import (
    Attempt,
    Delivery,
    Installation,
    Integration,
    OneTimeState,
    Webhook,
)
from integrations.models.delivery import DeliveryQuerySet
from orgs.read_only import Looking, ReadOnly


class Operating(ReadOnly):
    """With the actions *retry* and *hold*, for the deliveries of what was selected."""

    actions = ["retry", "hold"]

    def deliveries(self, selected: QuerySet) -> DeliveryQuerySet:
        raise NotImplementedError

    @admin.action(description="Retry: try again now what waits, is held or has failed")
    def retry(self, request: HttpRequest, selected: QuerySet) -> None:
        rows = self.fixed(selected)
        count = trying_again.try_all_again(self.deliveries(rows))
        left = self.deliveries(rows).undelivered().count()
        self.message_user(request, f"{count} tried again; {left} have not arrived.")
        self.note(request, rows, "Retried.")

    @admin.action(description="Hold: stop what waits, until somebody retries it here")
    def hold(self, request: HttpRequest, selected: QuerySet) -> None:
        rows = self.fixed(selected)
        count = trying_again.stop_all(self.deliveries(rows))
        self.message_user(request, f"{count} held.", messages.WARNING)
        self.note(request, rows, "Held.")


class Attempts(Looking, admin.TabularInline):
    model = Attempt
    fields = ["number", "started_at", "ended_at", "outcome", "reason"]


@admin.register(Delivery)
class DeliveryAdmin(Operating):
    list_display = ["report_id", "status", "reason", "organization", "tries", "due_at", "issue_url"]
    list_filter = ["status", "held_for", ("outcome_unknown_since", admin.EmptyFieldListFilter)]
    list_select_related = ["integration__organization"]
    search_fields = ["report__id", "repository", "integration__organization__name"]
    ordering = ["-pk"]
    inlines = [Attempts]

    @admin.display(description="organization")
    def organization(self, delivery: Delivery) -> str:
        return delivery.integration.organization.name

    def deliveries(self, selected: QuerySet) -> DeliveryQuerySet:
        return Delivery.objects.filter(pk__in=selected.values("pk"))


@admin.register(Integration)
class IntegrationAdmin(Operating):
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
        return Delivery.objects.filter(integration__in=selected.values("pk"))


@admin.register(Installation)
class InstallationAdmin(Operating):
    list_display = ["account", "github_id", "suspended_at", "limited_until", "limit_left"]
    list_filter = [("suspended_at", admin.EmptyFieldListFilter)]
    search_fields = ["account", "github_id"]

    def deliveries(self, selected: QuerySet) -> DeliveryQuerySet:
        return Delivery.objects.filter(integration__installation__in=selected.values("pk"))


@admin.register(Attempt)
class AttemptAdmin(ReadOnly):
    list_display = ["report", "number", "started_at", "ended_at", "outcome", "reason"]
    list_filter = ["outcome"]
    list_select_related = ["delivery"]
    search_fields = ["delivery__report__id"]
    ordering = ["-pk"]

    @admin.display(description="report")
    def report(self, attempt: Attempt) -> str:
        return attempt.delivery.report_id


@admin.register(OneTimeState)
class OneTimeStateAdmin(ReadOnly):
    list_display = ["id", "organization", "member", "expires_at", "used_at"]
    list_select_related = ["organization", "member"]


@admin.register(Webhook)
class WebhookAdmin(ReadOnly):
    list_display = ["delivery_id", "received_at"]
    search_fields = ["delivery_id"]
    ordering = ["-pk"]
