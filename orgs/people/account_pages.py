"""A person's own settings: tokens, and deleting the account.

The address of each lets only people in who have signed in (`hub.screen.access.signed_in`).
"""

from datetime import timedelta

from allauth.idp.oidc.models import Token
from django import forms
from django.contrib import auth, messages
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from orgs.models import PersonalToken, Terminal, User
from orgs.people import leaving, members, sessions
from orgs.people import tokens as personal_tokens

TOKENS_SHOWN = 100  # all valid ones, whose number is limited, and the latest others
TERMINALS_SHOWN = 100  # the latest, and so all valid ones: each ends as long after its sign-in


class PersonRequest(HttpRequest):
    """A request by a person who has signed in."""

    user: User


class TokenForm(forms.Form):
    """The form for a new token."""

    name = forms.CharField(
        max_length=100,
        label="What it is for",
        error_messages={"required": "Enter what the token is for."},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    scopes = forms.MultipleChoiceField(
        choices=[
            (scope, f"{name}: {personal_tokens.ALLOWS[scope]}")
            for scope, name in personal_tokens.NAMES.items()
        ],
        initial=[personal_tokens.READ],
        widget=forms.CheckboxSelectMultiple,
        label="Permissions",
        error_messages={"required": "Select at least one permission."},
    )
    days = forms.TypedChoiceField(
        choices=[(days, f"{days} days") for days in (7, 30, 90, 365)],
        coerce=int,
        initial=personal_tokens.LIFETIME.days,
        label="Expires after",
    )


class DeletionForm(forms.Form):
    """The name of what is to be deleted, typed to confirm."""

    name = forms.CharField(
        label="Type the name",
        error_messages={"required": "Type the name to delete it."},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


def tokens(request: PersonRequest) -> HttpResponse:
    """List the person's tokens; the form creates one, whose value is shown in this response only."""
    form = TokenForm(request.POST or None)
    value = ""
    if form.is_valid():
        lifetime = timedelta(days=form.cleaned_data["days"])
        wanted = form.cleaned_data
        try:
            _, value = personal_tokens.issue(
                request.user, wanted["name"], scopes=wanted["scopes"], lifetime=lifetime
            )
        except personal_tokens.TooManyTokens as error:
            form.add_error(None, str(error.detail))
        else:
            form = TokenForm()
    now = timezone.now()
    is_valid = ExpressionWrapper(Q(token__expires_at__gt=now), BooleanField())
    theirs = PersonalToken.objects.select_related("token").filter(token__user=request.user)
    context = {
        "form": form,
        "value": value,
        "tokens": [
            (each, _permissions(each.token.get_scopes()))
            for each in theirs.order_by(is_valid.desc(), "-token__created_at")[:TOKENS_SHOWN]
        ],
        "terminals": [
            (each, _permissions(each.scopes))
            for each in request.user.terminals.order_by("-signed_in_at")[:TERMINALS_SHOWN]
        ],
        "now": now,
    }
    return render(request, "orgs/tokens.html", context)


def _permissions(scopes: list[str]) -> str:
    """What a token may do, in the words of the form."""
    return ", ".join(name for scope, name in personal_tokens.NAMES.items() if scope in scopes)


def revoke(request: PersonRequest, token_id: int) -> HttpResponse:
    """Ask for confirmation, then revoke a token."""
    theirs = PersonalToken.objects.filter(token__user=request.user)
    personal = get_object_or_404(theirs, token__id=token_id)
    if request.method == "POST":
        Token.objects.filter(pk=personal.pk).delete()
        messages.success(request, f"Token {personal} revoked.")
        return redirect("tokens")
    return render(request, "orgs/revoke_token.html", {"token": personal})


def sign_out_terminal(request: PersonRequest, terminal_id: int) -> HttpResponse:
    """Ask for confirmation, then sign a terminal out."""
    theirs = Terminal.objects.filter(user=request.user)
    terminal = get_object_or_404(theirs, pk=terminal_id)
    if request.method == "POST":
        theirs.filter(pk=terminal_id).sign_out()
        messages.success(request, "The terminal is signed out.")
        return redirect("tokens")
    return render(request, "orgs/sign_out_terminal.html", {"terminal": terminal})


def sign_out_browsers(request: PersonRequest) -> HttpResponse:
    """Sign the person out of all browsers but this one."""
    if request.method == "POST":
        sessions.end_all(request.user)
        request.user.save(update_fields=["password"])
        auth.update_session_auth_hash(request, request.user)
        messages.success(request, "You are signed out of all other browsers.")
    return redirect("tokens")


def delete(request: PersonRequest) -> HttpResponse:
    """Ask for the name to confirm, then delete the account."""
    form = DeletionForm(request.POST or None)
    if form.is_valid():
        name = form.cleaned_data["name"]
        try:
            leaving.leave(request.user, name)
        except (leaving.NotConfirmed, members.Moved) as error:
            form.add_error("name", str(error))
        else:
            auth.logout(request)
            messages.success(request, f"{name} was deleted.")
            return redirect("account_login")
    context = {
        "form": form,
        "organization": leaving.organization_that_goes(request.user),
        "name": leaving.name_to_type(request.user),
    }
    return render(request, "orgs/delete_account.html", context)
