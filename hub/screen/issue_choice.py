"""The part of the integration's form about labels, assignees and the type of new issues."""

from collections.abc import Iterator, Sequence
from typing import Any

from django import forms

from integrations.models import Integration
from integrations.models.dressing import EVERY_KIND, Dressing, chosen
from integrations.setup import labels
from integrations.setup.labels import Choice

LONGEST = 2000  # characters of a list: more than the longest valid one has
OF_KIND = labels.NAMES
EVERY = OF_KIND[EVERY_KIND]


class Names(forms.CharField):
    """Names with commas between them."""

    def __init__(self, label: str, *, help_text: str = "") -> None:
        super().__init__(
            required=False,
            max_length=LONGEST,
            label=label,
            help_text=help_text,
            widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        )


class ChoiceFields(forms.Form):
    """Fields for a `Choice`. What is absent from what was sent stays as it is."""

    labels_every = Names(
        "Labels of every issue",
        help_text="Separated by commas. GitHub creates those that the repository does not have.",
    )
    labels_broken = Names("Broken")
    labels_incorrect = Names("Incorrect")
    labels_outdated = Names("Outdated")
    labels_missing = Names("Missing")
    labels_unclear = Names("Unclear")
    labels_other = Names("Other")
    assignees = Names(
        "Assignees",
        help_text="Logins of people on GitHub who have access to the repository, separated by commas. "
        "GitHub tells them of each issue.",
    )
    issue_type = forms.CharField(
        required=False,
        max_length=LONGEST,
        label="Type",
        help_text="Such as Bug: one of the issue types that your organization has on GitHub.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def clean(self) -> dict[str, Any] | None:
        """The fields, each with what is wrong in it."""
        cleaned = super().clean()
        for fault in labels.faults(self.choice()):
            field, *rest = fault.where
            self.add_error(
                OF_KIND[str(rest[0])] if field == "labels" else str(field), fault.message
            )
        return cleaned

    def choice(self) -> Choice:
        """What was chosen; None for what was not sent."""
        sent = self.cleaned_data
        by_kind = {kind: _names(sent.get(name)) for kind, name in OF_KIND.items()}
        return Choice(
            by_kind if any(name in self.data for name in OF_KIND.values()) else None,
            _names(sent.get("assignees")) if "assignees" in self.data else None,
            sent.get("issue_type", "") if "issue_type" in self.data else None,
        )

    def dressing_of(self, kind: str) -> Dressing:
        """What the issue of such a report would get, as far as the fields say now."""
        by_kind = {each: _names(self[name].value()) for each, name in OF_KIND.items()}
        typed = str(self["issue_type"].value() or "").strip()
        return chosen(kind, by_kind, _names(self["assignees"].value()), typed)

    @property
    def choice_names(self) -> list[str]:
        """The names of these fields."""
        return list(ChoiceFields.base_fields)

    @property
    def labels_by_kind(self) -> list[forms.BoundField]:
        """The fields of the labels of one kind each."""
        return [self[name] for name in OF_KIND.values() if name != EVERY]

    @property
    def has_labels_by_kind(self) -> bool:
        """Whether any of them says something."""
        return any(each.value() or each.errors for each in self.labels_by_kind)

    @property
    def has_choice(self) -> bool:
        """Whether anything is chosen, or wrong."""
        return any(self[name].value() or self[name].errors for name in self.choice_names)

    @property
    def sent_choice(self) -> Iterator[forms.BoundField]:
        """The fields that were sent, for a page that asks whether they are to be saved."""
        return (self[name] for name in self.choice_names if name in self.data)


def stored(mine: Integration) -> dict[str, str]:
    """What the fields begin with."""
    by_kind = mine.labels or {}
    return {
        **{name: _listed(by_kind.get(kind, ())) for kind, name in OF_KIND.items()},
        "assignees": _listed(mine.assignees or ()),
        "issue_type": mine.issue_type,
    }


def _names(text: str | None) -> list[str]:
    """The names in a list with commas, without empty ones."""
    return [each.strip() for each in str(text or "")[:LONGEST].split(",") if each.strip()]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
