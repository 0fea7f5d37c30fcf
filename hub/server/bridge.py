"""An ASGI application around Django's WSGI handler, in which no thread waits for a client.

The event loop waits for the body (`bodies.py`); then Django has the whole request, in one of a
fixed number of threads; the event loop sends the response (`answers.py`), as slowly as the client
reads.
"""

import re
from functools import partial

from core import client_address, connections
from core.errors import ApiError
from hub.server import answers, bodies, door
from hub.server.answers import HttpAnswer
from hub.server.asgi import Application, Receive, Scope, Send
from hub.server.bodies import Bodies
from hub.server.noted import Listing, Noted
from hub.server.overload import Overload, Overloaded
from hub.server.threads import Threads
from hub.server.untaken import Untaken
from integrations.github_sync import signature

WAITING = 8  # requests that may wait for each thread
PROBES = ("/readyz", "/metrics")
# What keeps only the processor busy: the docs, files for agents, and pages for everybody without a database.
TO_READ = re.compile(r"/(v0[/.].*|(connect|privacy|report)/|llms.*|openapi\.json|sitemap\.xml)?")
SIGNED = "signed webhooks"  # takes turns as a network does that costs little
SIGNATURE = signature.HEADER.lower().encode()
QUICKLY_READ = 64 * 1024  # bytes of a webhook: more would keep the event loop for too long
SHARE = 16  # one of so many threads is for these: with more, they are no faster, and reports wait longer


class Bridge:
    """Serves `application` (WSGI) in `threads` threads, and `/healthz` without one."""

    def __init__(self, application: Application, *, threads: int) -> None:
        self._application = application
        readers = max(1, threads // SHARE)
        self._for_readers = _threads(readers, WAITING * threads)
        self._threads = _threads(max(1, threads - readers), WAITING * threads)
        self._bodies = Bodies()
        self._untaken = Untaken()
        self._overload = Overload()
        self._listing = Listing()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        noted, caller = Noted(scope, self._listing), _caller(scope)
        try:
            answer = await self._answer(scope, receive, noted, caller)
            self._overload.end()
        except Overloaded as error:
            error.__traceback__ = None  # its frames hold the body, and the result, which holds them
            self._overload.refuse(error)
            answer = answers.refusal(error, scope["path"])
        except ApiError as error:
            noted.asked.outcome = error.default_code
            answer = answers.refusal(error, scope["path"])
        headers = noted.answered(answer.status, answer.headers)
        await answers.send(answer._replace(headers=headers), send, caller, self._untaken)

    async def _answer(
        self, scope: Scope, receive: Receive, noted: Noted, caller: str
    ) -> HttpAnswer:
        if scope["path"] == "/healthz":  # answered here, however busy the threads are
            noted.asked.route = "healthz"
            return answers.alive()
        door.check(scope)
        body = await self._bodies.whole(scope, receive, caller)
        noted.is_whole()
        work = partial(answers.of, self._application, scope, body, noted.asked)
        if _is_signed(scope, body):
            caller = SIGNED
        known = None if caller == client_address.UNKNOWN else caller
        threads = self._for_readers if is_to_read(scope) else self._threads
        is_probe = scope["path"] in PROBES
        result = threads.run(work, known, is_probe=is_probe, has_costs=caller != SIGNED)
        with self._bodies.held(body, caller, threads, result):
            return await result


def _threads(most: int, waiting: int) -> Threads:
    return Threads(most, waiting, connections.give_back, connections.is_held)


def is_to_read(scope: Scope) -> bool:
    """Whether the answer needs nothing but the processor; of who is signed in, it asks the database.

    A form that is filled in asks whose its page is.
    """
    is_filled_in = scope["path"] == bodies.REPORT_FORM and scope["query_string"]
    is_asked = scope["method"] in ("GET", "HEAD") and not is_filled_in
    return is_asked and bool(TO_READ.fullmatch(scope["path"]))


def _is_signed(scope: Scope, body: bytes) -> bool:
    """Whether it is a webhook that GitHub has signed: it waits for none that strangers have GitHub send."""
    if scope["path"] != bodies.WEBHOOK or len(body) > QUICKLY_READ:
        return False
    given = [value for name, value in scope["headers"] if name == SIGNATURE]
    return len(given) == 1 and signature.is_signed(body, given[0].decode("latin-1"))


def _caller(scope: Scope) -> str:
    forwarded = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
    hops = b",".join(forwarded).decode("latin-1") if forwarded else None
    return client_address.network(scope["client"][0], hops)
