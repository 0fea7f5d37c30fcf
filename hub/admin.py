"""The tables of libraries and of bookkeeping, for operators."""

from allauth.account.models import EmailAddress
from allauth.idp.oidc.models import Client, Token
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django_tasks_db.models import DBTaskResult

from hub.models import CodeHost, Lease
from hub.registering.offer import Offer
from orgs.read_only import ReadOnly, may_be

for unused in (EmailAddress, SocialApp, SocialToken):
    admin.site.unregister(unused)
for listed_below in (SocialAccount, Client, Token, DBTaskResult):
    admin.site.unregister(listed_below)


@admin.register(Lease)
class LeaseAdmin(ReadOnly):
    """Lists leases: which process does what."""

    list_display = ["name", "holder", "until"]


@admin.register(CodeHost)
class CodeHostAdmin(ReadOnly):
    """Shows the code host that the database is of."""

    list_display = ["url"]


@admin.register(Offer)
class OfferAdmin(ReadOnly):
    """Shows who may register the GitHub App just now, without the secrets of the address."""

    list_display = ["name", "organization", "stage", "expires_at"]
    fields = ["name", "organization", "stage", "expires_at"]


@admin.register(SocialAccount)
class SocialAccountAdmin(ReadOnly):
    """Lists the GitHub accounts of people who have signed in."""

    list_display = ["uid", "user", "provider", "last_login"]
    list_select_related = ["user"]
    search_fields = ["uid", "user__username"]


@admin.register(Client)
class ClientAdmin(ReadOnly):
    """Lists the clients of the device flow, without their secrets."""

    list_display = ["name", "id", "created_at"]
    exclude = ["secret"]


@admin.register(Token)
class TokenAdmin(ReadOnly):
    """Lists tokens, without their hashes."""

    list_display = ["id", "type", "user", "client", "created_at", "expires_at"]
    list_select_related = ["user", "client"]
    list_filter = ["type"]
    search_fields = ["user__username"]
    fields = ["type", "user", "client", "created_at", "expires_at", "scopes"]


@admin.register(DBTaskResult)
class TaskAdmin(ReadOnly):
    """Lists the tasks of the queue."""

    list_display = ["id", "task_path", "status", "enqueued_at", "started_at", "finished_at"]
    list_filter = ["status"]
    search_fields = ["id"]
    search_help_text = "By the whole id."
    looked_up_by = ["id"]
    ordering = ["-pk"]
    fields = [each.name for each in DBTaskResult._meta.fields]

    def get_search_results(
        self, request: HttpRequest, rows: QuerySet, text: str
    ) -> tuple[QuerySet, bool]:
        """The task with this id, which is no text in which another could be looked for."""
        ids = [text] if may_be(self.opts.pk, text) else []
        return (rows.filter(pk__in=ids) if text else rows), False
