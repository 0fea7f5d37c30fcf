"""`CodeHost`: everything together. The package's docstring says how to use it."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from . import faults, routes
from .changes import Changes
from .credentials import identify
from .limits import RateLimits
from .manifests import Unfetched
from .messages import ApiError, Request, Response
from .oauth import Codes
from .records import App
from .server import WHOLE, Server
from .sessions import Session
from .trial import Trial

LOGGED = 1000


@dataclass(frozen=True)
class LoggedRequest:
    """One request that arrived. `status` is None if the client was sent no response.

    `authorization` is the kind: "app", "installation", "user", "none", or "invalid". `asked` is what a
    request for a token asked for (repositories, permissions). It never holds a token, or a query
    string outside the API.
    """

    method: str
    path: str
    query: str
    status: int | None
    authorization: str
    fault: str | None
    asked: dict[str, Any] | None


class CodeHost(Changes):
    """The stand-in for GitHub: its state, what people do there, and its server.

    Without an `app`, somebody creates one on its pages, from a manifest (`manifests.py`).
    `rate_limit` is the number of requests that one caller may make per hour. `clock_offset` (a
    timedelta) moves the host's clock. With a `trial`, it also shows a page of docs that can be reported.
    Hosts whose `ids_from` are far apart have no id in common.
    """

    def __init__(self, *, app: App | None, rate_limit: int = 5000, ids_from: int = 0) -> None:
        super().__init__(app=app, ids_from=ids_from)
        self.limits = RateLimits(rate_limit)
        self.faults = faults.Faults()
        self.codes = Codes()
        self.unfetched: Unfetched | None = None
        self.sessions: dict[str, Session] = {}
        self.trial: Trial | None = None
        self._requests: deque[LoggedRequest] = deque(maxlen=LOGGED)
        self._server: Server | None = None

    @property
    def requests(self) -> list[LoggedRequest]:
        """The latest requests, oldest first; at most a thousand."""
        with self.lock:
            return list(self._requests)

    @contextmanager
    def serving(self, *, port: int = 0, address: str = "127.0.0.1") -> Iterator[str]:
        """Serve while the block runs; yields the URL. Port 0 takes any free one."""
        try:
            yield self.start(port=port, address=address)
        finally:
            self.stop()

    def start(self, *, port: int = 0, address: str = "127.0.0.1") -> str:
        """Serve until `stop`; raises ValueError for any address except a loopback one."""
        if self._server:
            raise RuntimeError(f"The sandbox already serves at {self.url}.")
        self._server = Server(address, port, self)
        self.url = self._server.url
        return self.url

    def stop(self) -> None:
        """Stop at once, also requests in progress; the state is kept."""
        server, self._server = self._server, None
        if server:
            server.stop()

    def fail(
        self,
        kind: str | faults.Fault,
        *,
        method: str = "POST",
        path: str = "issues",
        times: int = 1,
        **details: Any,
    ) -> None:
        """Let the next `times` matching requests go wrong.

        `kind` is a name of `faults.KINDS`, with its details as keywords, or a `Fault`. `path` is `issues` or
        `token`, or a pattern such as `/api/v3/repos/acme/*`; `method` may be `*`.
        """
        fault = faults.make(kind, **details) if isinstance(kind, str) else kind
        with self.lock:
            self.faults.arm(fault, method=method, path=path, times=times)

    def answer(self, request: Request) -> tuple[Response | None, faults.Fault]:
        """What to send, and the fault that applies to it."""
        with self.changing(in_background=True):
            fault = self.faults.take(request)
            authorization = self._authorization(request)
            response = None
            if fault is None or fault.lets_through:
                response = routes.answer(self, request)
            if fault:
                elsewhere = routes.other_address(self, request.path)
                response = fault.response(response, now=self.now(), elsewhere=elsewhere)
            self._log(request, response, fault=fault, authorization=authorization)
        return response, fault or WHOLE

    def _authorization(self, request: Request) -> str:
        try:
            return identify(request, state=self, tokens=self.tokens).kind
        except ApiError:
            return "invalid"

    def _log(
        self,
        request: Request,
        response: Response | None,
        *,
        fault: faults.Fault | None,
        authorization: str,
    ) -> None:
        self._requests.append(
            LoggedRequest(
                method=request.method,
                path=request.path,
                query=request.query if request.path.startswith(routes.API) else "",
                status=response.status if response else None,
                authorization=authorization,
                fault=fault.kind if fault else None,
                asked=_asked(request),
            )
        )


def _asked(request: Request) -> dict[str, Any] | None:
    if not faults.TARGETS["token"].fullmatch(request.path):
        return None
    try:
        wanted = request.json_object()
    except ApiError:
        return {}
    names = ("repositories", "repository_ids", "permissions")
    return {name: wanted[name] for name in names if name in wanted}
