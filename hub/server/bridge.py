"""An ASGI application around Django's WSGI handler, in which no thread waits for a client.

The event loop waits for the body (`bodies.py`); then Django has the whole request, in one of a
fixed number of threads; the event loop sends the response (`answers.py`), as slowly as the client
reads.
"""

from collections import Counter
from collections.abc import Callable
from functools import partial

from core import client_address, connections
from core.errors import ApiError
from hub.server import answers, door
from hub.server.answers import HttpAnswer
from hub.server.asgi import Application, Receive, Scope, Send
from hub.server.bodies import Bodies
from hub.server.noted import Noted
from hub.server.overload import Overload, Overloaded
from hub.server.threads import Threads

WAITING = 8  # requests that may wait for each thread; further ones are refused
PROBES = ("/readyz", "/metrics")
SHARE = 4  # one caller may have a quarter of the room for what waits and is answered


class Bridge:
    """Serves `application` (WSGI) in `threads` threads, and `/healthz` without one."""

    def __init__(self, application: Application, *, threads: int) -> None:
        self._application = application
        self._threads = Threads(threads, connections.give_back, connections.is_held)
        self._room = threads * (1 + WAITING)
        self._share = self._room // SHARE
        self._callers: Counter[str] = Counter()  # of the requests that wait or are answered
        self._bodies = Bodies()
        self._overload = Overload()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        noted = Noted(scope)
        try:
            answer = await self._answer(scope, receive, noted)
            self._overload.end()
        except Overloaded as error:
            self._overload.refuse(error)
            answer = answers.refusal(error, scope["path"])
        except ApiError as error:
            noted.asked.outcome = error.default_code
            answer = answers.refusal(error, scope["path"])
        headers = noted.answered(answer.status, answer.headers)
        await answers.send(answer._replace(headers=headers), send)

    async def _answer(self, scope: Scope, receive: Receive, noted: Noted) -> HttpAnswer:
        if scope["path"] == "/healthz":  # answered here, however busy the threads are
            noted.asked.route = "healthz"
            return answers.alive()
        door.check(scope)
        caller = _caller(scope)
        body = await self._bodies.whole(scope, receive, caller)
        try:
            noted.is_whole()
            return await self._in_a_thread(
                partial(answers.of, self._application, scope, body, noted.asked),
                caller,
                is_probe=scope["path"] in PROBES,
            )
        finally:
            self._bodies.let_go(body, caller)

    async def _in_a_thread(
        self, work: Callable[[], HttpAnswer], caller: str, *, is_probe: bool
    ) -> HttpAnswer:
        """What `work` returns. Raises `Overloaded` if there is no room for it."""
        if not self._room:
            raise Overloaded("All threads are busy, and the queue is full")
        known = None if caller == client_address.UNKNOWN else caller
        if known and self._callers[caller] >= self._share:
            raise Overloaded("One address has too many requests waiting")
        self._room -= 1
        self._callers[caller] += 1
        try:
            return await self._threads.run(work, known, is_probe=is_probe)
        finally:
            self._room += 1
            self._callers[caller] -= 1
            if not self._callers[caller]:
                del self._callers[caller]


def _caller(scope: Scope) -> str:
    forwarded = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
    hops = b",".join(forwarded).decode("latin-1") if forwarded else None
    return client_address.widest(scope["client"][0], hops)
