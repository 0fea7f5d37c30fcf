"""What machines ask: whether this process runs, whether it can do its work, and how the Hub is doing."""

import time
from collections.abc import Callable, Iterator

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from core import rates
from core.watching import current
from hub import figures
from hub.maintenance import LEASE, RUNNER
from hub.scrape import metrics_now
from hub.server import health

STARTED = time.monotonic()  # this process, or the one that it was forked from
PATIENCE = 60  # seconds for `maintain` to begin
ROUND = 15 * 60  # seconds; each job of a round of `maintain` may take half a minute


def healthz(request: HttpRequest) -> HttpResponse:
    """200 as long as the process answers."""
    return HttpResponse(health.ALIVE, content_type="text/plain")


def readyz(request: HttpRequest) -> HttpResponse:
    """200 if requests can be served, else 503 with a sentence. Below `ok` are warnings, if there are any."""
    if problem := health.problem():
        return HttpResponse(f"{problem}\n", status=503, content_type="text/plain")
    lines = ["ok", *(f"Warning: {each}" for each in _warnings())]
    return HttpResponse("".join(f"{line}\n" for line in lines), content_type="text/plain")


def _warnings() -> Iterator[str]:
    """What does not keep this process from serving."""
    if rates.redis_is_away():
        yield "Redis does not answer: rate limits are counted in each process only."
    try:
        yield from _about_maintenance()
    except DatabaseError:  # it has just been asked, and is asked again by the next probe
        return


def _about_maintenance() -> Iterator[str]:
    ages = figures.ages_of_maintenance()
    runner = ages.pop(RUNNER, None)
    if (runner is None or runner > LEASE.total_seconds()) and time.monotonic() < STARTED + PATIENCE:
        return
    if runner is None:
        yield "`maintain` has never run."
    elif runner > LEASE.total_seconds():
        yield f"`maintain` does not run; it did {round(runner)} seconds ago."
    elif ages and min(ages.values()) > ROUND:
        yield f"`maintain` runs, but has begun no job for {round(min(ages.values()))} seconds."


PROBES = {"/healthz": healthz, "/readyz": readyz, "/metrics": metrics_now}


def answer_probes(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware, placed before the `Host` is checked: probes call a process by its IP address."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if probe := PROBES.get(request.path):
            current.note(route=request.path[1:])
            return probe(request)
        return get_response(request)

    return middleware
