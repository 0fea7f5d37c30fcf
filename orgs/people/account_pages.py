"""The settings of a person: tokens and account. Plain forms, each a POST and its answer.

Whoever gives them an address lets only people in who have signed in.
"""

from datetime import timedelta

from allauth.idp.oidc.models import Token
from django import forms
from django.contrib import auth, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from orgs.models import PersonalToken, User
from orgs.people import leaving
from orgs.people import tokens as personal_tokens

TOKENS_SHOWN = 100  # tokens, the latest; all valid ones are among them, since few may be valid


class PersonRequest(HttpRequest):
    """A request by a person who has signed in."""

    user: User


class TokenForm(forms.Form):
    """A token to be made."""

    name = forms.CharField(
        max_length=100,
        label="What it is for",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    scopes = forms.MultipleChoiceField(
        choices=[(personal_tokens.READ, "Read"), (personal_tokens.WRITE, "Change")],
        initial=[personal_tokens.READ],
        widget=forms.CheckboxSelectMultiple,
        label="What it may do",
    )
    days = forms.TypedChoiceField(
        choices=[(days, f"{days} days") for days in (7, 30, 90, 365)],
        coerce=int,
        initial=personal_tokens.LIFETIME.days,
        label="How long it is good",
    )


class DeletionForm(forms.Form):
    """The name of what is to be deleted, typed by whoever means it."""

    name = forms.CharField(
        label="Type the name", widget=forms.TextInput(attrs={"autocomplete": "off"})
    )


def tokens(request: PersonRequest) -> HttpResponse:
    """The tokens of this person; the form makes one, whose value the answer shows, this once."""
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
    theirs = PersonalToken.objects.select_related("token").filter(token__user=request.user)
    context = {
        "form": form,
        "value": value,
        "tokens": theirs.order_by("-token__created_at")[:TOKENS_SHOWN],
        "now": timezone.now(),
    }
    return render(request, "orgs/tokens.html", context)


def revoke(request: PersonRequest, token_id: int) -> HttpResponse:
    """Asks; then the token is good no more."""
    theirs = PersonalToken.objects.filter(token__user=request.user)
    personal = get_object_or_404(theirs, token__id=token_id)
    if request.method == "POST":
        Token.objects.filter(pk=personal.pk).delete()
        messages.success(request, f"The token {personal} is revoked.")
        return redirect("tokens")
    return render(request, "orgs/revoke_token.html", {"token": personal})


def delete(request: PersonRequest) -> HttpResponse:
    """Asks for the name of what goes; then it goes."""
    form = DeletionForm(request.POST or None)
    if form.is_valid():
        name = form.cleaned_data["name"]
        try:
            leaving.leave(request.user, name)
        except leaving.NotConfirmed as error:
            form.add_error("name", str(error))
        else:
            auth.logout(request)
            messages.success(request, f"{name} is deleted.")
            return redirect("account_login")
    context = {
        "form": form,
        "organization": leaving.organization_that_goes(request.user),
        "name": leaving.name_to_type(request.user),
    }
    return render(request, "orgs/delete_account.html", context)
