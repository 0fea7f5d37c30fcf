"""`/report/`: a person without an account reports a page."""

import logging
import re
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods
from rest_framework.authentication import CSRFCheck
from rest_framework.exceptions import ErrorDetail

from core import error_answers, rates
from core.errors import ApiError
from hub.public import destination
from hub.public.report_form import FIELDS, KINDS, NAMES, ReportForm
from reports import admission, canonical, intake
from reports.admission import Sent
from reports.screening import SecretNotice

log = logging.getLogger("django.security.csrf")  # as Django says it of other forms

AUTHORITY = re.compile(r"//[^/?#]*")
LOOK_AGAIN = "Please look at your report once more, then press Send."
SEND_AGAIN = "Reload this page then: your browser still has what you wrote, and sends it again."
FROM_ELSEWHERE = (
    "Another site has filled in this form. Press Send only if all that it says is what you report."
)
EXPIRED = f"This form has expired, or your browser keeps no cookies of this Hub. {LOOK_AGAIN}"


class NotComplete(Exception):
    """The form has errors, which it knows."""


@csrf_exempt  # it looks itself, since the page that refuses would lose every word
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def report(request: HttpRequest) -> HttpResponse:
    """The form, filled in by its link; then a preview, or the receipt."""
    if request.method != "POST":
        form = ReportForm.filled_in(request.GET)
        return _page(request, form, _destination_of_link(request, form))
    try:
        admission.refuse_known(request)  # what was typed may cost more to read than to answer
    except rates.RateLimited as error:
        error.detail = ErrorDetail(f"{error.detail} {SEND_AGAIN}", error.default_code)
        return error_answers.page_error(request, error)
    form = ReportForm(request.POST)
    if reason := CSRFCheck(report).process_view(request, None, (), {}):  # type: ignore[arg-type]
        log.warning("Forbidden (%s): %s", reason, request.path)
        is_ours = request.headers.get("Origin", settings.HUB_BASE_URL) == settings.HUB_BASE_URL
        return _preview(request, form, again=EXPIRED if is_ours else FROM_ELSEWHERE, status=403)
    if request.POST.get("website"):  # by a program; or by a browser, for its person to see
        return _preview(request, form, again=LOOK_AGAIN)
    if "preview" in request.POST:
        return _preview(request, form)
    return _send(request, form)


def _send(request: HttpRequest, form: ReportForm) -> HttpResponse:
    """Take the report as `POST /v1/reports` does."""

    def read() -> Sent:
        sent = form.report()
        if sent is None:
            raise NotComplete
        return sent

    try:
        receipt = admission.take(request, read)
    except NotComplete:
        return _page(request, form, status=400)
    except ApiError as error:
        return _refused(request, form, error)
    except DatabaseError as error:
        answer = error_answers.of_the_database(error, request.path)
        if answer is None:
            raise
        return _refused(request, form, answer)
    _tell(request, receipt)
    return HttpResponseRedirect(reverse("receipt-page", args=[receipt.id]), status=303)


def _preview(
    request: HttpRequest, form: ReportForm, *, again: str = "", status: int = 200
) -> HttpResponse:
    """What would be sent, and where. Counts as a report, and stores nothing."""
    form.is_unseen = True  # until it is shown below
    try:
        admission.count_look(request)
        sent = form.report()
        if sent is None:
            return _page(request, form, status=400, again=again)
        admission.count_preview(request, sent)
        columns, notices = intake.screened(sent.body)
    except ApiError as error:
        return _refused(request, form, error)
    where = destination.of(columns["canonical_url"])
    form.is_unseen = False
    shown = {"preview": columns, "removed": _in_words(notices), "again": again}
    return _page(request, form, where, status=status, **shown)


def _refused(request: HttpRequest, form: ReportForm, error: ApiError) -> HttpResponse:
    """The form as it was typed, with the error."""
    form.is_valid()
    if details := error.extra.get("details"):
        form.explain(details)
    else:
        form.add_error("doc_url" if isinstance(error, intake.OptedOut) else None, str(error.detail))
    answer = _page(request, form, status=error.status_code)
    for name, value in error.headers.items():
        answer[name] = value
    return answer


def _destination_of_link(request: HttpRequest, form: ReportForm) -> destination.Destination | None:
    """Where a report about the page in the link would go; None if it is no page, or too many ask."""
    try:
        url = canonical.url(form.initial["doc_url"])
        admission.count_look(request)
    except (canonical.InvalidURL, rates.RateLimited):
        return None
    return destination.of(url)


def _host_in_ascii(form: ReportForm) -> str:
    """The host of the page, if it is written in other letters, which may look like it; else empty."""
    text = (form["doc_url"].value() or "").strip()
    try:
        host = canonical.as_written(text).host or ""
    except canonical.InvalidURL:
        return ""
    written = AUTHORITY.search(text.lower())  # what comes behind it may name any host
    return "" if written and host in written[0] else host


def _tell(request: HttpRequest, receipt: intake.Receipt) -> None:
    """Say on the next page what became of the report: in a signed cookie that is read once."""
    if receipt.is_duplicate:
        messages.info(request, "This was reported before. Your report was counted with it.")
    else:
        messages.success(request, "Thank you. Your report was received.")
    for removed in _in_words(receipt.notices):
        messages.warning(request, removed)


def _in_words(notices: list[SecretNotice]) -> list[str]:
    """What was removed, each once."""
    return list(
        dict.fromkeys(
            f"Removed from {NAMES[FIELDS[notice.field]]}, because it looks like a secret: {notice.kind}."
            for notice in notices
        )
    )


def _page(
    request: HttpRequest,
    form: ReportForm,
    where: destination.Destination | None = None,
    *,
    status: int = 200,
    **shown: Any,
) -> HttpResponse:
    context = {"form": form, "kinds": KINDS, "where": where, "room": "report", **shown}
    context["host"] = _host_in_ascii(form)
    return render(request, "public/report.html", context, status=status)
