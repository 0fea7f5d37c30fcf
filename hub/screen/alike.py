"""What a report is like, as its page shows it: what it has joined, what has joined it, which issue may be named."""

from typing import Any

from django import forms

from core import counting
from integrations.delivery import telling_apart
from integrations.folding import joining, verdicts
from integrations.folding.named_issues import LONGEST
from integrations.models import Delivery, Integration

SHOWN = 30  # of those that have joined it, the newest


class NamingForm(forms.Form):
    """The form in which a member names the issue that is about the same problem."""

    issue_url = forms.CharField(
        max_length=LONGEST,
        label="Address of the issue",
        widget=forms.TextInput(
            attrs={"inputmode": "url", "spellcheck": "false", "autocomplete": "off"}
        ),
    )


def of(delivery: Delivery | None, form: NamingForm | None = None) -> dict[str, Any]:
    """What the page of a delivery shows; `form` is the one that was refused, as it was sent."""
    if delivery is None:
        return {}
    other = verdicts.other_of(delivery)
    is_hint = other is not None and other.pk == delivery.maybe_lead_id
    return {
        "other": other,
        "other_url": _url(other, delivery),
        "is_hint": is_hint and not verdicts.named_as_same(delivery),
        "is_readable": other is not None and other.report.withheld_for is None,
        "joins": delivery.integration.likeness == Integration.Likeness.FOLD,
        "form": form or _form(delivery),
        **_joined(delivery),
    }


def _url(other: Delivery | None, delivery: Delivery) -> str:
    """The URL of the other's issue, which is of the same integration."""
    return delivery.integration.url_now(other.issue_url, other.repository_id) if other else ""


def _form(delivery: Delivery) -> NamingForm | None:
    """An empty one; None if nothing can be named now."""
    return None if telling_apart.obstacle(delivery) else NamingForm()


def _joined(lead: Delivery) -> dict[str, Any]:
    """The newest that have joined it, and how many others have."""
    rows = joining.joined(lead).filter(report__withheld_for=None).select_related("report")
    shown = list(rows[:SHOWN])
    number = counting.up_to_most(joining.joined(lead)) if shown else 0
    return {
        "joined": shown,
        "joined_in_all": counting.in_short(number),
        "joined_not_shown": counting.in_short(number - len(shown)) if number > len(shown) else "",
    }
