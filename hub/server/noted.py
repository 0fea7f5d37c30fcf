"""Counts, times and logs each request, whoever answered it."""

import logging
from time import perf_counter

from django.conf import settings

from core.watching import metrics
from core.watching.current import HEADER, PLAIN, Asked
from hub.server.asgi import Headers, Scope

log = logging.getLogger("hub.requests")

REQUEST_ID = HEADER.lower().encode()
STATIC = "/static/"
# What machines ask for often: logged at debug only, and not counted by status.
QUIET = {"healthz", "readyz", "metrics", "static"}
OUTCOMES = {2: "ok", 3: "ok", 4: "refused", 5: "failed"}  # by the first digit of the status


class Noted:
    """One request, from its headers to its answer."""

    def __init__(self, scope: Scope) -> None:
        self.asked = Asked(_given_id(scope) if settings.HUB_TRUSTED_PROXIES else "")
        self._scope = scope
        self._since = perf_counter()

    def is_whole(self) -> None:
        """The body has arrived: what its sender took for that does not count."""
        self._since = perf_counter()

    def answered(self, status: int, headers: Headers) -> Headers:
        """Note the answer; returns its headers with the id of the request."""
        seconds, asked = perf_counter() - self._since, self.asked
        route = asked.route or self._route()
        metrics.requests.took(seconds, route)
        if route not in QUIET:
            metrics.answers.up(str(status))
        level = logging.DEBUG if route in QUIET else logging.INFO
        if log.isEnabledFor(level):
            log.log(level, "request", extra={"facts": self._facts(route, status, seconds)})
        return [*headers, (REQUEST_ID, asked.id.encode())]

    def _route(self) -> str:
        """What to call a request that came to no route."""
        return "static" if self._scope["path"].startswith(STATIC) else "none"

    def _facts(self, route: str, status: int, seconds: float) -> dict[str, object]:
        asked = self.asked
        facts: dict[str, object] = {"request": asked.id, "method": self._method(), "route": route}
        if asked.organization:
            facts["organization"] = asked.organization
        if asked.report:
            facts["report"] = asked.report
        facts["status"] = status
        facts["outcome"] = asked.outcome or OUTCOMES.get(status // 100, "")
        facts["ms"] = round(seconds * 1000, 1)
        return facts

    def _method(self) -> str:
        """Its method; anybody may invent one."""
        method = self._scope["method"]
        return method if method in METHODS else "other"


METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


def _given_id(scope: Scope) -> str:
    """The id that a trusted proxy has given the request, if it is one."""
    given = [value for name, value in scope["headers"] if name == REQUEST_ID]
    text = given[0].decode("latin-1") if len(given) == 1 else ""
    return text if PLAIN.fullmatch(text) else ""
