"""Organizations, people and claims, for operators."""

import time
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html

from orgs.domains import claiming, reverification
from orgs.models import (
    Domain,
    EarlierChallenge,
    FormerAddress,
    Invitation,
    Membership,
    Notice,
    Organization,
    PersonalToken,
    Site,
    Terminal,
    TerminalToken,
    User,
)
from orgs.people import sessions, tokens
from orgs.read_only import ACTION_TIMEOUT, ALL, Inline, ReadOnly, form_of_hold

admin.site.unregister(Group)


def _hold_all(organization: Organization) -> str:
    return format_html(
        '<a href="{}">Hold all that this organization receives…</a>',
        form_of_hold("organization", organization.pk),
    )


def _has_others(organization: Organization, person: User) -> bool:
    """Whether it has another active member."""
    others = organization.memberships.exclude(user=person)
    return others.filter(user__is_active=True).exists()


def _goes_on(organization: Organization) -> str:
    return format_html(
        "No other member of {} is active. Unless it is on hold, reports to it are sent all the same. {}",
        organization.name,
        _hold_all(organization),
    )


class MemberInline(Inline, admin.TabularInline):
    """The members, shown below their organization."""

    model = Membership
    fields = ["login", "github_id", "role", "user"]


class DomainInline(Inline, admin.TabularInline):
    """The claimed domains, shown below their organization."""

    model = Domain
    fields = ["name", "verified_at", "lapsed_at", "last_checked_at"]


class SiteInline(Inline, admin.TabularInline):
    """The claimed sites and repositories, shown below their organization."""

    model = Site
    fields = ["host", "path", "repository", "verified_at", "lapsed_at"]


class ActivityForm(forms.ModelForm):
    """Whether an account is active, and whether it was when the form was opened."""

    was_active = forms.BooleanField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["was_active"] = self.instance.is_active

    def clean(self) -> dict[str, Any]:
        """Refuse a form that was opened before another operator decided."""
        given = super().clean() or {}
        is_known = "was_active" in self.data
        if is_known and given.get("was_active") != self.initial["was_active"]:
            raise forms.ValidationError(
                "Another operator has changed this account since you opened the form. Open it again."
            )
        return given


@admin.register(User)
class UserAdmin(ReadOnly):
    """Lists people; operators can deactivate an account and activate it again."""

    form = ActivityForm
    list_display = [
        "username", "membership__github_id", "is_active", "is_staff", "date_joined", "last_login",
    ]  # fmt: skip
    list_select_related = ["membership"]
    list_filter = ["is_active", "is_staff"]
    search_fields = ["username", "membership__login", "=membership__github_id"]
    fields = [
        "username", "on_github", "is_active", "organization", "is_staff", "is_superuser", "date_joined",
        "last_login",
    ]  # fmt: skip
    readonly_fields = [
        "username", "on_github", "organization", "is_staff", "is_superuser", "date_joined", "last_login",
    ]  # fmt: skip

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """With what the form keeps, where there is one."""
        shown = super().get_fields(request, obj)
        return [*shown, "was_active"] if self.has_change_permission(request, obj) else shown

    @admin.display(description="account of GitHub")
    def on_github(self, person: User) -> str:
        """The number, which never changes, and the login that it had at the last sign-in."""
        known = Membership.objects.filter(user=person).first()
        return f"{known.github_id}, {known.login} at the last sign-in" if known else "-"

    @admin.display(description="organization")
    def organization(self, person: User) -> str:
        """Theirs, and whether it would go on, or goes on, without an active member."""
        mine = Organization.objects.filter(memberships__user=person).first()
        if mine is None:
            return "-"
        page = reverse("admin:orgs_organization_change", args=[mine.pk])
        link = format_html('<a href="{}">{}</a>', page, mine.name)
        return link if _has_others(mine, person) else format_html("{}. {}", link, _goes_on(mine))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Operators cannot deactivate themselves."""
        return obj != request.user and admin.ModelAdmin.has_change_permission(self, request, obj)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """End what the person is signed in with, also when they are let in again: somebody else may have a copy.

        Nothing else is saved, so what a command has just changed stays.
        """
        if "is_active" in form.changed_data:
            tokens.revoke_all(obj)
            sessions.end_all(obj)
            obj.save(update_fields=["is_active", "password"])
            mine = Organization.objects.filter(memberships__user=obj).first()
            if mine and not obj.is_active and not _has_others(mine, obj):
                self.message_user(request, _goes_on(mine), messages.WARNING)


@admin.register(Organization)
class OrganizationAdmin(ReadOnly):
    """Lists organizations, with their members and claims."""

    list_display = ["name", "id", "created_at", "left_at"]
    search_fields = ["name", "id", "memberships__login"]
    inlines = [MemberInline, DomainInline, SiteInline]
    actions = ["hold_all"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """All, and what can be done about the organization."""
        return [*super().get_fields(request, obj), "hold"]

    @admin.display(description="hold")
    def hold(self, organization: Organization) -> str:
        """A link to the form that holds all that it receives."""
        return _hold_all(organization)

    @admin.action(description="Hold all that this organization receives… (asks for the reason)")
    def hold_all(self, request: HttpRequest, selected: QuerySet) -> HttpResponse | None:
        """Lead to the form that holds all that the selected organization receives: each has its own reason."""
        pks = list(selected.values_list("pk", flat=True)[:2])
        if len(pks) == 1:
            return redirect(form_of_hold("organization", pks[0]))
        self.message_user(request, "Select one organization at a time.", messages.ERROR)
        return None


@admin.register(Membership)
class MembershipAdmin(ReadOnly):
    """Lists members."""

    list_display = ["login", "role", "organization", "github_id"]
    list_filter = ["role"]
    list_select_related = ["organization"]
    search_fields = ["login", "github_id", "organization__name"]


@admin.register(Invitation)
class InvitationAdmin(ReadOnly):
    """Lists open invitations."""

    list_display = ["login", "role", "organization", "invited_by", "created_at"]
    list_select_related = ["organization", "invited_by"]
    search_fields = ["login", "github_id", "organization__name"]


@admin.register(PersonalToken)
class PersonalTokenAdmin(ReadOnly):
    """Lists personal access tokens, without their values."""

    list_display = ["name", "ending", "token_user", "last_used_at"]
    list_select_related = ["token__user"]
    search_fields = ["name", "token__user__username"]
    fields = ["name", "ending", "token_user", "last_used_at"]
    readonly_fields = ["token_user"]

    @admin.display(description="user")
    def token_user(self, personal: PersonalToken) -> User | None:
        """The person whose token it is."""
        return personal.token.user


@admin.register(Terminal)
class TerminalAdmin(ReadOnly):
    """Lists the terminals in which people are signed in."""

    list_display = ["user", "client", "signed_in_at", "last_used_at", "ends_at"]
    list_select_related = ["user"]
    search_fields = ["user__username"]
    fields = ["user", "client", "scopes", "signed_in_at", "last_used_at", "ends_at"]


@admin.register(TerminalToken)
class TerminalTokenAdmin(ReadOnly):
    """Lists which tokens belong to which terminal."""

    list_display = ["token", "terminal"]
    list_select_related = ["token", "terminal"]


@admin.register(Domain)
class DomainAdmin(ReadOnly):
    """Lists claimed domains; operators can check their DNS records, and delete claims."""

    list_display = [
        "name", "organization", "claimed_by", "verified_at", "lapsed_at", "last_checked_at",
    ]  # fmt: skip
    list_filter = [("verified_at", admin.EmptyFieldListFilter), "registrable"]
    list_select_related = ["organization"]
    search_fields = ["name", "organization__name"]
    search_help_text = ALL.format("name of a domain or an organization")
    looked_up_by = ["name", "organization__name"]
    actions = ["reverify", "delete_claims"]

    @admin.action(description="Re-verify: check the DNS record now")
    def reverify(self, request: HttpRequest, selected: QuerySet) -> None:
        """Check the DNS records of the selected claims now, for up to `ACTION_TIMEOUT` seconds."""
        until = time.monotonic() + ACTION_TIMEOUT
        rows = self.fixed(selected)
        self.note(request, rows, "Re-verified.")  # first: what fails in the middle has checked some
        found = reverification.run(
            Domain.objects.filter(pk__in=rows),
            fresh=timedelta(0),
            go_on=lambda: time.monotonic() < until,
        )
        counts = ", ".join(f"{count} {what}" for what, count in sorted(found.items()))
        self.message_user(request, f"{found.total()} checked: {counts or 'none'}.")

    @admin.action(description="Delete the claim (asks first)")
    def delete_claims(self, request: HttpRequest, selected: QuerySet) -> HttpResponse | None:
        """Ask for confirmation, then delete the selected claims and tell their organizations."""
        if self.refuse_many(request, selected):
            return None
        rows = list(selected.select_related("organization"))
        if "confirmed" not in request.POST:
            asked = {"rows": rows, "action": "delete_claims", "title": "Delete"}
            context = self.admin_site.each_context(request) | asked
            return render(request, "admin/delete_claims.html", context)
        self.one_by_one(request, rows, claiming.remove_for_operator, "Deleted the claim.")
        return None


@admin.register(EarlierChallenge)
class EarlierChallengeAdmin(ReadOnly):
    """Lists values that were once asked for in DNS records."""

    list_display = ["name", "organization"]
    list_select_related = ["organization"]
    search_fields = ["name", "organization__name"]
    fields = ["name", "organization"]


@admin.register(Notice)
class NoticeAdmin(ReadOnly):
    """Lists the notices to organizations."""

    list_display = ["organization", "at", "kind", "text"]
    list_filter = ["kind"]
    list_select_related = ["organization"]
    search_fields = ["organization__name", "text"]
    search_help_text = ALL.format("name of an organization")
    looked_up_by = ["organization__name"]
    ordering = ["-pk"]


@admin.register(Site)
class SiteAdmin(ReadOnly):
    """Lists claimed sites and repositories."""

    list_display = ["url", "repository", "organization", "verified_at", "lapsed_at"]
    list_filter = [("lapsed_at", admin.EmptyFieldListFilter)]
    list_select_related = ["organization"]
    search_fields = ["host", "path", "repository", "organization__name"]


@admin.register(FormerAddress)
class FormerAddressAdmin(ReadOnly):
    """Lists the addresses that repositories had before they were renamed."""

    list_display = ["host", "path", "organization", "repository_id", "left_at"]
    list_select_related = ["organization"]
    search_fields = ["path", "organization__name"]
