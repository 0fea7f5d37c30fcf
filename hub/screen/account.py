"""`/settings/account/`: members, theme, export, and deleting the account."""

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from core.errors import ApiError
from hub.screen import export, inviting
from hub.screen.access import MemberRequest, members_only, only_post
from hub.screen.downloads import download
from orgs.domains import claiming
from orgs.models import Domain, Membership
from orgs.people import members

YEAR = 365 * 24 * 60 * 60  # seconds
SYSTEM = "system"


class MemberForm(forms.Form):
    """The form for inviting somebody."""

    login = forms.CharField(
        max_length=100,
        label="GitHub login",
        error_messages={"required": "Enter a GitHub login."},
        help_text="Such as octocat. They can accept at their next visit.",
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
    )
    role = forms.ChoiceField(
        choices=Membership.Role.choices,
        initial=Membership.Role.MEMBER,
        label="Role",
        help_text="Owners can also invite and remove members.",
    )


class ThemeForm(forms.Form):
    """The form for the colors of the pages in this browser."""

    theme = forms.ChoiceField(
        choices=[(SYSTEM, "System"), ("light", "Light"), ("dark", "Dark")],
        label="Colors",
    )


@members_only
def account(request: MemberRequest) -> HttpResponse:
    """The members of the organization; owners can invite somebody."""
    is_owner = request.membership.is_owner
    if request.method == "POST" and not is_owner:
        messages.error(request, members.NotAnOwner.default_detail)
        return redirect("account")
    form = MemberForm(request.POST or None)
    if form.is_valid():
        wanted = form.cleaned_data
        try:
            invited = inviting.invite(wanted["login"], role=wanted["role"], by=request.membership)
        except ApiError as error:
            form.add_error("login", str(error.detail))
        else:
            messages.success(
                request, f"{invited.login} was invited and can accept at the next visit."
            )
            return redirect("account")
    organization = request.membership.organization
    unanswered = organization.invitations.select_related("invited_by").order_by("login")
    context = {
        "form": form,
        "theme_form": ThemeForm(initial={"theme": request.COOKIES.get("theme", SYSTEM)}),
        "me": request.membership,
        "is_owner": is_owner,
        "is_last": members.is_last_owner(request.membership),
        "organization": organization,
        "members": organization.memberships.select_related("user").order_by("-role", "login"),
        "invitations": unanswered[: inviting.MOST],
    }
    return render(request, "hub/account.html", context)


@members_only
def change_role(request: MemberRequest, member_id: int) -> HttpResponse:
    """Make an owner a member, or a member an owner."""
    changed = _member(request, member_id)
    role = request.POST.get("role", "")
    if request.method == "POST" and role in Membership.Role.values:
        try:
            members.change_role(changed, role, by=request.membership)
        except ApiError as error:
            messages.error(request, str(error.detail))
        else:
            messages.success(request, f"{changed.login} is now {members.in_words(role)}.")
    return redirect("account")


@members_only
def withdraw(request: MemberRequest, invitation_id: int) -> HttpResponse:
    """Withdraw an invitation."""
    mine = request.membership.organization.invitations
    invitation = get_object_or_404(mine, pk=invitation_id)
    if request.method == "POST":
        try:
            inviting.withdraw(invitation, by=request.membership)
        except ApiError as error:
            messages.error(request, str(error.detail))
        else:
            messages.success(request, f"The invitation of {invitation.login} was withdrawn.")
    return redirect("account")


@members_only
def answer(request: MemberRequest, invitation_id: int) -> HttpResponse:
    """Accept or decline an invitation."""
    try:
        if "join" in request.POST:
            joined = inviting.join(request.membership, invitation_id, request.POST["join"])
            messages.success(request, f"You are now a member of {joined.name}.")
        elif "decline" in request.POST:
            declined = inviting.decline(request.membership, invitation_id)
            messages.success(request, f"You declined the invitation to {declined.name}.")
    except ApiError as error:
        messages.error(request, str(error.detail))
    return redirect("settings")


@members_only
def remove(request: MemberRequest, member_id: int) -> HttpResponse:
    """Ask for confirmation, then remove a member or leave."""
    gone = _member(request, member_id)
    is_me = gone.pk == request.membership.pk
    if request.method != "POST":
        claims = Domain.objects.of_member(gone)
        context = {
            "gone": gone,
            "is_me": is_me,
            "is_owner": request.membership.is_owner,
            "is_last": members.is_last_owner(gone),
            "claims": claims.proved_first(),
            "which": claiming.which(claims),
        }
        return render(request, "hub/remove_member.html", context)
    try:
        if asked_about := request.POST.get("claims"):
            claiming.remove_with_claims(gone, asked_about, by=request.membership)
        else:
            members.remove(gone, by=request.membership)
    except ApiError as error:
        messages.error(request, str(error.detail))
    else:
        left = request.membership.organization.name
        done = f"You have left {left}." if is_me else f"{gone.login} was removed from {left}."
        messages.success(request, done)
    return redirect("account")


def _member(request: MemberRequest, member_id: int) -> Membership:
    mine = Membership.objects.filter(organization=request.membership.organization)
    return get_object_or_404(mine, pk=member_id)


@only_post("account")
def theme(request: MemberRequest) -> HttpResponse:
    """Save the theme in a cookie of this browser."""
    form = ThemeForm(request.POST)
    answer = redirect("account")
    if form.is_valid() and form.cleaned_data["theme"] != SYSTEM:
        chosen = form.cleaned_data["theme"]
        answer.set_cookie("theme", chosen, max_age=YEAR, samesite="Lax", secure=settings.HTTPS)
    else:
        answer.delete_cookie("theme", samesite="Lax")
    return answer


@members_only
def export_all(request: MemberRequest) -> HttpResponseBase:
    """Download everything that the Hub stores for the organization."""
    text = export.as_json(request.membership.organization)
    name = f"docs-feedback-hub-{timezone.now():%Y-%m-%d}.json"
    return download(request, text, name=name, content_type="application/json")
