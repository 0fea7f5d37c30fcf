"""The form on a report's page by which a member answers all who report the same problem."""

from typing import Any, NamedTuple

from django import forms

from integrations.answers import links, saying
from integrations.models import Answer, Delivery
from integrations.models.answer import LONGEST
from integrations.ownership import public_files
from orgs.models import Membership
from reports.models import Report


class AnswerForm(forms.Form):
    """The answer, as it is typed."""

    text = forms.CharField(
        label="What to tell them",
        max_length=LONGEST,
        widget=forms.Textarea({"rows": 3}),
        error_messages={"required": "Write an answer, or remove it."},
        help_text=f"Plain text in one paragraph, at most {LONGEST} characters, such as: Use --yes until 2.4.",
    )
    link = forms.CharField(
        label="Link",
        required=False,
        max_length=saying.LONGEST_LINK,
        help_text="To a page of a domain, a site or a repository that you have claimed.",
    )

    def save(self, member: Membership, delivery: Delivery | None) -> bool:
        """Whether it was stored; if not, the form says why."""
        said = self.cleaned_data["text"], self.cleaned_data["link"]
        try:
            saying.say(member, delivery, *said, seen=self.data.get("seen"))
        except saying.InvalidAnswer as error:
            for name, fault in error.faults.items():
                self.add_error(name, fault)
        except saying.CannotAnswer as error:
            self.add_error(None, str(error.detail))
        return self.is_valid()


class Shown(NamedTuple):
    """The form, the answer that is there, and what of it nobody is shown, in a sentence.

    `seen` marks that answer; `before` is what was said before the report joined another one.
    """

    form: AnswerForm
    answer: Answer | None
    seen: str
    before: Answer | None
    not_shown: str = ""


def shown(report: Report, delivery: Delivery, form: AnswerForm | None = None) -> Shown:
    """What the page of a report says of the answer, with the form as it was typed, if it was."""
    answer = saying.found(delivery)
    stored: dict[str, Any] = {"text": answer.text, "link": answer.link} if answer else {}
    return Shown(
        form or AnswerForm(initial=stored),
        answer,
        saying.mark(delivery, answer),
        saying.of_before(delivery),
        _not_shown(report, delivery, answer),
    )


def _not_shown(report: Report, delivery: Delivery, answer: Answer | None) -> str:
    if not public_files.are_told(report.canonical_url, delivery):
        return (
            "Nobody is shown it: strangers are told nothing of the files of a private repository."
        )
    if answer is None:
        return ""
    if delivery.integration.withholds(report.canonical_url):
        return "Nobody is shown it now, since no member has push access to the repository."
    if delivery.integration.words_of_hold:
        return "Nobody is shown it now, since an operator of this Hub holds all that you receive."
    if not report.is_still_owned():
        return "Nobody is shown it now, since the page is not yours."
    if answer.link and not links.shown([answer.link], report.organization_id or ""):
        return "Its link is not shown now, since it leads to no public page of yours."
    return ""
