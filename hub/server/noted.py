"""Counts, times and logs each request, whoever answered it."""

import logging
from http import HTTPStatus
from time import perf_counter

from django.conf import settings

from core.watching import metrics
from core.watching.current import HEADER, PLAIN, REPORTS, SETTINGS, Asked
from hub.server.asgi import Headers, Scope

log = logging.getLogger("hub.requests")

REQUEST_ID = HEADER.lower().encode()
STATIC = "/static/"
# What machines ask for often: logged at debug only, and not counted by status.
QUIET = {"healthz", "readyz", "metrics", "static"}
# Lines of each kind of requests: so many that a process may write one after the other, and once these are used up,
# so many a second of reports, and of what members, operators and GitHub change, and of all others, which anybody
# can send without end.
AT_ONCE = 1000
OF_CHANGES = 100
OF_OTHERS = 10
PAUSE = 60  # seconds in which those that have none are counted, for one line about them
OUTCOMES = {2: "ok", 3: "ok", 4: "refused", 5: "failed"}  # by the first digit of the status


class Room:
    """How many lines there may be: `AT_ONCE`, and so many more with each second."""

    def __init__(self, a_second: float) -> None:
        self._a_second = a_second
        self._left = float(AT_ONCE)
        self._since = 0.0

    def take(self, now: float) -> bool:
        """Whether there may be one more at this time, in seconds."""
        self._left = min(self._left + (now - self._since) * self._a_second, AT_ONCE)
        self._since = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Listing:
    """Which requests of this process have a line, so that nobody who sends many washes the others away.

    An error of the Hub always has one. It belongs to the thread that answers.
    """

    def __init__(self) -> None:
        self._of = {REPORTS: Room(OF_CHANGES), SETTINGS: Room(OF_CHANGES), "": Room(OF_OTHERS)}
        self._left_out = 0
        self._counts_since = 0.0

    def take(self, changed: str, status: int, now: float) -> bool:
        """Count this one at `now`, in seconds; `changed` as `Asked` has it. Returns whether it has a line."""
        if status == HTTPStatus.INTERNAL_SERVER_ERROR:
            return True
        if self._of[changed if status < HTTPStatus.BAD_REQUEST else ""].take(now):
            return True
        if not self._left_out:
            self._counts_since = now
            log.warning("There are too many requests at once: from now on, not all are listed")
        self._left_out += 1
        return False

    def tell(self, now: float) -> None:
        """Write how many have none, once they were counted for `PAUSE`."""
        if self._left_out and now - self._counts_since >= PAUSE:
            log.warning("%s requests were not listed: there were too many at once", self._left_out)
            self._left_out = 0


class Noted:
    """One request, from its headers to its answer."""

    def __init__(self, scope: Scope, listing: Listing) -> None:
        self._listing = listing
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
        self._list(route, status, seconds)
        return [*headers, (REQUEST_ID, asked.id.encode())]

    def _list(self, route: str, status: int, seconds: float) -> None:
        """Write its line, if it has one."""
        now = self._since + seconds
        self._listing.tell(now)
        level = logging.DEBUG if route in QUIET else logging.INFO
        if not log.isEnabledFor(level):
            return
        if route in QUIET or self._listing.take(self.asked.changed, status, now):
            log.log(level, "request", extra={"facts": self._facts(route, status, seconds)})

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
