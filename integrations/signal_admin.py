"""Answers, comments, terms and verdicts, for operators, who only look."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.text import Truncator

from integrations.models import Answer, Comment, Terms, Verdict
from integrations.models.verdict import VerdictQuerySet
from orgs.read_only import ALL, ReadOnly
from reports.shown import Shown

SHOWN = 60  # characters of a text in a list


@admin.register(Comment)
class CommentAdmin(ReadOnly):
    """Lists what the Hub says and does below issues that it has opened."""

    list_display = [
        "organization", "purpose", "report", "status", "reason", "due_at", "tries", "comment",
    ]  # fmt: skip
    list_filter = ["status", "purpose"]
    list_select_related = ["integration__organization", "lead"]
    search_fields = ["lead__report__id", "integration__organization__name"]
    search_help_text = f"{ALL.format('id of the report whose issue it is')} Organization counts."
    looked_up_by = ["lead__report_id"]
    ordering = ["-pk"]

    @admin.display(description="organization")
    def organization(self, comment: Comment) -> str:
        """The organization whose repository it is in."""
        return comment.integration.organization.name

    @admin.display(description="report")
    def report(self, comment: Comment) -> str:
        """The id of the report whose issue it is on."""
        return comment.lead.report_id

    @admin.display(description="comment")
    def comment(self, comment: Comment) -> str:
        """A link to it."""
        if not comment.comment_url:
            return "-"
        return format_html('<a href="{}">Show</a>', comment.comment_url)


@admin.register(Answer)
class AnswerAdmin(ReadOnly):
    """Lists what organizations tell those who report a problem."""

    list_display = ["report", "said", "link", "made_by", "changed_at"]
    list_select_related = ["delivery"]
    search_fields = ["delivery__report__id", "text", "made_by"]
    search_help_text = f"{ALL.format('id of a report')} Text and login count."
    looked_up_by = ["delivery__report_id"]
    ordering = ["-pk"]

    @admin.display(description="report")
    def report(self, answer: Answer) -> str:
        """The id of the report that it answers."""
        return answer.delivery.report_id

    @admin.display(description="text")
    def said(self, answer: Answer) -> str:
        """The beginning of it."""
        return Truncator(answer.text).chars(SHOWN)


@admin.register(Verdict)
class VerdictAdmin(Shown):
    """Lists what members have said about two reports."""

    list_display = [
        "organization", "is_same", "with_all", "made_by", "made_at", "told", "report_id", "other_id",
    ]  # fmt: skip
    list_filter = ["is_same", "with_all"]
    list_select_related = ["integration__organization"]
    search_fields = ["report__id", "other__id", "made_by", "integration__organization__name"]
    search_help_text = ALL.format("id of a report")
    looked_up_by = ["report_id", "other_id"]
    ordering = ["-pk"]
    fields = [
        "id", "integration", "report", "other", "is_same", "made_by", "made_at", "rule", "told", "with_all",
    ]  # fmt: skip
    readonly_fields = ["told"]

    def get_queryset(self, request: HttpRequest) -> VerdictQuerySet:
        """Without the words of a report that was erased."""
        rows: Any = super().get_queryset(request)
        return rows.noting_words()

    @admin.display(description="organization")
    def organization(self, verdict: Verdict) -> str:
        """The organization whose member said it."""
        return verdict.integration.organization.name

    @admin.display(description="words")
    def told(self, verdict: Verdict) -> str:
        """What the two have in common, while neither was erased."""
        return verdict.words_told


@admin.register(Terms)
class TermsAdmin(Shown):
    """Lists what reports are compared by."""

    list_display = ["report", "rule", "may_lead", "page"]
    list_filter = ["may_lead", "rule"]
    list_select_related = ["delivery"]
    search_fields = ["delivery__report__id"]
    search_help_text = ALL.format("id of a report")
    looked_up_by = ["delivery__report_id"]
    ordering = ["-pk"]

    @admin.display(description="report")
    def report(self, terms: Terms) -> str:
        """The id of the report."""
        return terms.delivery.report_id
