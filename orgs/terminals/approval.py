"""`/device/`: where a person approves that a terminal signs in as them."""

from allauth.idp.oidc.models import Client
from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from core import client_address, rates
from core.error_answers import page_error
from core.errors import ApiError
from orgs.models import Membership, User
from orgs.people import counted, opened
from orgs.people.tokens import ALLOWS, NAMES
from orgs.terminals import codes, protocol

APPROVED = "Approved. You can close this page and go back to your terminal."
DENIED = "Denied. The terminal is not signed in."
OTHER_ORGANIZATION = (
    "You belong to another organization than this page said. Continue, and look at the new one."
)
NO_ORGANIZATION = "You do not belong to an organization. Sign out and in again to get one."
CHECK = "Check the code"  # above the field, which has the whole sentence
LONGEST = 40  # characters of a code, with what people type between them


class PersonRequest(HttpRequest):
    """A request by a person who has signed in; `membership` is None without an organization."""

    user: User
    membership: Membership | None


class CannotApprove(ApiError):
    """409: the person cannot sign in in one more terminal."""

    status_code = 409
    default_code = "cannot_approve"


class CodeForm(forms.Form):
    """The code that a terminal shows."""

    user_code = forms.CharField(
        max_length=LONGEST,
        label="The code in your terminal",
        error_messages={"required": "Enter the code that your terminal shows."},
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}
        ),
    )


def approve(request: PersonRequest) -> HttpResponse:
    """Ask for the code, then whether to approve; the answer is a POST.

    The code of a link that another site has brought along is not looked up: the page asks for it.
    """
    if _is_brought(request):
        context = {"form": CodeForm(), "brought_to": settings.HUB_BASE_URL}
        return render(request, "orgs/device.html", context)
    given = request.POST if request.method == "POST" else request.GET
    form = CodeForm(given if "user_code" in given else None)
    if not form.is_valid():
        return render(request, "orgs/device.html", {"form": form})
    try:
        rates.check_all(*_limits(request), what="codes")
        waiting = codes.waiting(form.cleaned_data["user_code"])
        match request.POST.get("answer"):
            case "approve":
                return _approved(request, waiting)
            case "deny":
                return _denied(request, waiting)
    except (codes.WrongCode, codes.UsedCode) as error:
        form.add_error("user_code", str(error.detail))
        return render(request, "orgs/device.html", {"form": form, "short": CHECK})
    except CannotApprove as error:
        form.add_error(None, str(error.detail))
        return render(request, "orgs/device.html", {"form": form})
    except (codes.CodesAway, rates.RateLimited) as error:
        return page_error(request, error)
    return _ask(request, waiting)


def _is_brought(request: PersonRequest) -> bool:
    return request.method == "GET" and "user_code" in request.GET and not opened.by_person(request)


def _limits(request: PersonRequest) -> list[rates.Limit]:
    """Of an address and of the person."""
    rate, what = settings.HUB_SIGN_IN_RATE, "user-codes"
    if request.membership:
        person = counted.of_person(request.membership, rate, what)
    else:
        person = rates.Limit(rate, (what, str(request.user.pk)))
    return [*client_address.limits(request, rate, what), person]


def _approved(request: PersonRequest, waiting: codes.Waiting) -> HttpResponse:
    if request.membership is None:
        raise CannotApprove(NO_ORGANIZATION)
    if not protocol.room_for(request.user):
        raise CannotApprove(protocol.TOO_MANY)
    organization = request.membership.organization_id
    if request.POST.get("organization") != organization:  # joined or left in another tab
        raise CannotApprove(OTHER_ORGANIZATION)
    codes.approve(waiting, protocol.approval_of(request.user, organization))
    return render(request, "orgs/device_answered.html", {"said": APPROVED, "title": "Approved"})


def _denied(request: PersonRequest, waiting: codes.Waiting) -> HttpResponse:
    codes.deny(waiting)
    return render(request, "orgs/device_answered.html", {"said": DENIED, "title": "Denied"})


def _ask(request: PersonRequest, waiting: codes.Waiting) -> HttpResponse:
    context = {
        "code": waiting.user_code,
        "hub": settings.HUB_BASE_URL,
        "began_at": waiting.began_at,
        "client": Client.objects.filter(pk=waiting.client_id).first(),
        "allowed": [(NAMES[each], ALLOWS[each]) for each in waiting.scopes if each in NAMES],
        "organization": request.membership and request.membership.organization,
        "days": protocol.LIFETIME.days,
    }
    return render(request, "orgs/approve_device.html", context)
