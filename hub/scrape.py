"""`/metrics`: what the database says now and what all processes have counted, as Prometheus reads it."""

import time
from collections.abc import Iterator
from threading import Lock
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare

from core.at_once import AtOnce, TooManyAtOnce
from core.error_answers import not_found, page_error
from core.errors import ApiError
from core.watching import metrics
from hub import figures

KEPT = 2.0  # seconds for which an answer is given again: several scrapers cost as much as one
AT_ONCE = 4  # scrapers that may wait for it

_making = Lock()
_scrapers = AtOnce(AT_ONCE, "Too many scrapes are in progress. Try again in a second.")
_kept: tuple[float, bytes] = (0.0, b"")


class WrongToken(ApiError):
    """401: the token is not `HUB_METRICS_TOKEN`."""

    status_code = 401
    default_code = "unauthorized"
    default_detail = "Send the token of HUB_METRICS_TOKEN: `Authorization: Bearer <token>`."


def metrics_now(request: HttpRequest) -> HttpResponse:
    """All metrics; 404 if the operator has set no token, 401 for another token."""
    if not settings.HUB_METRICS_TOKEN:
        return not_found(request)
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not constant_time_compare(token, settings.HUB_METRICS_TOKEN):
        return page_error(request, WrongToken(headers={"WWW-Authenticate": "Bearer"}))
    try:
        with _scrapers.one("metrics"):
            return HttpResponse(_text(), content_type=_content_type())
    except TooManyAtOnce as error:
        return page_error(request, error)


def _text() -> bytes:
    """The text, made by one at a time."""
    global _kept
    with _making:
        until, text = _kept
        if time.monotonic() >= until:
            text = _made()
            _kept = time.monotonic() + KEPT, text
        return text


def _made() -> bytes:
    from prometheus_client import generate_latest

    metrics.begin_all()
    return generate_latest(_All())


class _All:
    """What all processes have counted, and the figures of the database."""

    def collect(self) -> Iterator[Any]:
        """Each metric with its samples."""
        from prometheus_client.core import GaugeMetricFamily

        from core.watching import process_files

        yield from process_files.added_up()
        for each in figures.now():
            family = GaugeMetricFamily(each.name, each.meaning, labels=each.labels)
            for labels, value in each.values:
                family.add_metric(labels, value)
            yield family


def _content_type() -> str:
    from prometheus_client import CONTENT_TYPE_LATEST

    return CONTENT_TYPE_LATEST
