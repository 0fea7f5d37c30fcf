"""The form of a report: its fields, and the report that they make."""

import json
import re
from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from core.json_body import Malformed
from reports import shape
from reports.admission import Sent
from reports.cleaning import clean

NOBODY = "a reader"  # reports, if no name is given
HOST_FIRST = re.compile(r"(?:[\w-]{1,63}\.)+[A-Za-z]{2,63}(?::\d{1,5})?(?:[/?#].*)?", re.ASCII)
KINDS = [
    ("broken", "Broken", "A link, image or example does not work"),
    ("incorrect", "Incorrect", "It says something that is not so"),
    ("outdated", "Outdated", "It was right once"),
    ("missing", "Missing", "Something is not explained"),
    ("unclear", "Unclear", "It can be read in two ways"),
    ("other", "Other", "None of these"),
]
FIELDS = {  # of the form, by where they are in the report
    "/doc_url": "doc_url",
    "/report/kind": "kind",
    "/report/summary": "summary",
    "/report/details": "details",
    "/report/suggested_fix": "suggested_fix",
    "/agent/name": "agent",
}
WORDS = ("summary", "details", "suggested_fix", "agent")  # of a person
NAMES = {  # as people call them
    "doc_url": "the address of the page",
    "summary": "the line that says what is wrong",
    "details": "the details",
    "suggested_fix": "the suggested fix",
    "agent": "your name",
}


class Words(forms.CharField):
    """A text with the line ends of a program: browsers send others."""

    def __init__(self, longest: int, **options: Any) -> None:
        super().__init__(max_length=longest, **options)
        self.widget.attrs.pop("maxlength", None)  # a browser would cut a text that is pasted
        self.error_messages["max_length"] = (
            f"Shorten this to {longest} characters: it has %(show_value)d."
        )

    def to_python(self, value: Any) -> str:
        """The text with line feeds, so that its length is what the person sees."""
        return super().to_python(_line_feeds(value) if isinstance(value, str) else value) or ""


def _line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


class ReportForm(forms.Form):
    """What a person says is wrong with a page; `website` is a trap for programs that fill in all they find."""

    doc_url = Words(
        2048,
        label="Address of the page",
        help_text="Where it goes",  # the page says it
        widget=forms.TextInput(attrs={"inputmode": "url", "spellcheck": "false"}),
        error_messages={"required": "Say which page it is about."},
    )
    kind = forms.ChoiceField(
        label="What is wrong?",
        choices=[(value, name) for value, name, _ in KINDS],
        error_messages={
            "required": "Choose what is wrong with it.",
            "invalid_choice": "Choose one of these.",
        },
    )
    summary = Words(
        500, label="In one line", error_messages={"required": "Say in one line what is wrong."}
    )
    details = Words(
        8000,
        label="Details",
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="What you did, what the page says, what happened.",
    )
    suggested_fix = Words(
        4000, label="Suggested fix", required=False, widget=forms.Textarea(attrs={"rows": 4})
    )
    agent = Words(
        120,
        label="Your name",
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "nickname"}),
    )
    website = forms.CharField(required=False)
    cut: Sequence[str] = ()  # what the link brought too much of, as people call it
    has_words_of_a_link = False
    is_unseen = False  # a field shows a part of its text only: a preview comes before sending

    @classmethod
    def filled_in(cls, query: QueryDict) -> "ReportForm":
        """An unsent form with what a link brings: each text cut to its length, without invisible characters.

        An address that is too long is left out: cut, it would be that of another page.
        """
        longest = {
            name: field.max_length or 0
            for name, field in cls.base_fields.items()
            if isinstance(field, Words)
        }
        brought = {name: _line_feeds(query.get(name, "")) for name in longest}
        form = cls(initial={"kind": query.get("kind", "")})
        form.cut = [NAMES[name] for name, text in brought.items() if len(text) > longest[name]]
        if len(brought["doc_url"]) > longest["doc_url"]:
            brought["doc_url"] = ""
        for name, text in brought.items():
            form.initial[name] = clean(text[: longest[name]])
        form.is_unseen = form.has_words_of_a_link = any(form.initial[name] for name in WORDS)
        return form

    def clean_doc_url(self) -> str:
        """The address; one that a browser would complete is refused, since it would be a path here."""
        text = self.cleaned_data["doc_url"]
        if HOST_FIRST.fullmatch(text):
            raise forms.ValidationError(f"Write the whole address. Did you mean https://{text}?")
        return text

    def report(self) -> Sent | None:
        """The report; None if the fields have errors, which are then known."""
        if not self.is_valid():
            return None
        data = json.dumps(self._body(), ensure_ascii=False).encode()
        try:
            return Sent(shape.parse(data), len(data))
        except Malformed as error:
            self.explain(error.faults)
            return None

    def explain(self, faults: list[dict[str, str]]) -> None:
        """Add each fault of the report to its field."""
        for fault in faults:
            self.add_error(FIELDS.get(fault["path"]), fault["message"])

    def _body(self) -> dict[str, Any]:
        typed = self.cleaned_data
        report = {name: typed[name] for name in ("kind", "summary", "details", "suggested_fix")}
        return {
            "protocol_version": "0",
            "doc_url": typed["doc_url"],
            "agent": {"name": typed["agent"] or NOBODY},
            "report": {name: text for name, text in report.items() if text},
        }
