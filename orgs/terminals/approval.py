"""`/device/`: where a person approves that a terminal signs in as them."""

from allauth.idp.oidc.models import Client
from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_protect

from core import rates
from core.errors import ApiError
from orgs.models import Membership, User
from orgs.people.tokens import ALLOWS, NAMES
from orgs.terminals import codes, protocol

APPROVED = "Approved. The terminal signs in within seconds, and is listed here from then on."
DENIED = "Denied. The terminal is not signed in."


class PersonRequest(HttpRequest):
    """A request by a person who has signed in; `membership` is None without an organization."""

    user: User
    membership: Membership | None


class CodeForm(forms.Form):
    """The code that a terminal shows."""

    user_code = forms.CharField(
        max_length=20,
        label="The code in your terminal",
        error_messages={"required": "Enter the code that your terminal shows."},
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}
        ),
    )


@csrf_protect
def approve(request: PersonRequest) -> HttpResponse:
    """Ask for the code, then whether to approve; the answer is a POST."""
    given = request.POST if request.method == "POST" else request.GET
    form = CodeForm(given if "user_code" in given else None)
    if not form.is_valid():
        return _ask_for_code(request, form)
    try:
        rates.check(settings.HUB_SIGN_IN_RATE, "user-codes", str(request.user.pk), what="codes")
        waiting = codes.waiting(form.cleaned_data["user_code"])
        if request.POST.get("answer") in ("approve", "deny"):
            return _answer(request, waiting, approved=request.POST["answer"] == "approve")
    except (codes.WrongCode, codes.UsedCode, TooMany) as error:
        form.add_error("user_code", str(error.detail))
        return _ask_for_code(request, form)
    return _ask_to_approve(request, form, waiting)


class TooMany(ApiError):
    """409: the person is signed in in as many terminals as one may be."""

    status_code = 409
    default_code = "too_many_terminals"
    default_detail = protocol.TOO_MANY


def _answer(request: PersonRequest, waiting: codes.Waiting, *, approved: bool) -> HttpResponse:
    if approved and not protocol.room_for(request.user):
        raise TooMany
    codes.answer(waiting, user_id=request.user.pk, approved=approved)
    messages.success(request, APPROVED if approved else DENIED)
    return redirect("tokens")


def _ask_for_code(request: PersonRequest, form: CodeForm) -> HttpResponse:
    return render(request, "orgs/device.html", {"form": form})


def _ask_to_approve(request: PersonRequest, form: CodeForm, waiting: codes.Waiting) -> HttpResponse:
    context = {
        "code": form.cleaned_data["user_code"],
        "client": Client.objects.filter(pk=waiting.client_id).first(),
        "allowed": [(NAMES[each], ALLOWS[each]) for each in waiting.scopes if each in NAMES],
        "organization": request.membership and request.membership.organization,
        "days": protocol.LIFETIME.days,
    }
    return render(request, "orgs/approve_device.html", context)
