"""*One problem, one issue*, on the page of the integration: what becomes of reports that are alike."""

from typing import NamedTuple

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from core import as_shown
from core.errors import ApiError
from hub.screen.access import MemberRequest, only_post
from integrations.models import Integration
from integrations.setup import configuration
from integrations.setup.choices import Choices

INTEGRATION_PAGE = "settings-integration"


class Option(NamedTuple):
    """One of a few: what is stored, what people choose, what it means, and how it looks on GitHub."""

    value: str
    name: str
    meaning: str
    example: str = ""


Likeness, Again = Integration.Likeness, Integration.Again
LIKENESS = [
    Option(
        Likeness.OFF,
        "Open an issue",
        "Nothing is compared. Each report gets its own issue.",
    ),
    Option(
        Likeness.HINT,
        "Open an issue with a hint",
        "Each report gets its own issue, which says at its end which one is maybe the same.",
        "Maybe the same as #12: same page; unknown flag in common",
    ),
    Option(
        Likeness.FOLD,
        "Join the earlier issue",
        "No new issue. A comment on that one lists what joined it. Not the same, on a report's page, undoes it.",
        "Also reported: The flag of step 3 is unknown",
    ),
]
AGAIN = [
    Option(Again.NOTHING, "Only count it", "Nothing is written on GitHub."),
    Option(
        Again.COMMENT,
        "Comment on the issue",
        "One comment, each time the issue is closed.",
        "Reported again after this was closed",
    ),
    Option(Again.REOPEN, "Reopen the issue", "With the same comment."),
    Option(
        Again.ISSUE,
        "Open a new issue",
        "It names the old one. The same report word for word gets only the comment.",
        "Reported again: #12 was closed on 3 January 2027.",
    ),
]


class OneIssueForm(forms.Form):
    """The choices, as radio buttons and one box."""

    likeness = forms.ChoiceField(choices=[each[:2] for each in LIKENESS])
    when_reported_again = forms.ChoiceField(choices=[each[:2] for each in AGAIN])
    shows_known = forms.BooleanField(required=False)


OPTIONS = {"likeness": LIKENESS, "when_reported_again": AGAIN}  # by the column that they are for


def shown(mine: Integration) -> dict[str, str]:
    """The hidden fields that say what the box has shown."""
    return as_shown.marks(Choices.of(mine)._asdict())


@only_post(INTEGRATION_PAGE)
def save(request: MemberRequest) -> HttpResponse:
    """Save the choices, without asking GitHub."""
    form = OneIssueForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was saved. Choose one of the options.")
        return redirect(INTEGRATION_PAGE)
    chosen, marks = Choices(**form.cleaned_data), as_shown.sent(request.POST)
    try:
        configuration.choose(request.membership.organization, chosen, shown=marks)
    except as_shown.ChangedMeanwhile as error:
        messages.error(request, str(error))
    except ApiError as error:
        messages.error(request, str(error.detail))
    else:
        messages.success(request, "Saved. This applies to what is sent from now on.")
    return redirect(INTEGRATION_PAGE)
