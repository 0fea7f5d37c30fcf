"""An ASGI application around Django's WSGI handler: no thread ever waits for a client.

The event loop waits for the body (`bodies.py`); then Django has the whole request, in one of a
fixed number of threads; the event loop sends what it answered (`answers.py`), as slowly as the
client takes it.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from hub.server import answers, door
from hub.server.answers import Answer
from hub.server.asgi import Application, Receive, Scope, Send
from hub.server.bodies import Bodies
from hub.server.overload import Busy, Overload
from orgs.errors import ApiError

WAITING = 8  # requests for each thread that may wait for it; those beyond are told to come again


class Bridge:
    """Serves `application` (WSGI) in `threads` threads, and `/healthz` without one."""

    def __init__(self, application: Application, *, threads: int) -> None:
        self._application = application
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="request")
        self._room = threads * (1 + WAITING)
        self._bodies = Bodies()
        self._overload = Overload()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            answer = await self._answer(scope, receive)
            self._overload.end()
        except Busy as error:
            self._overload.refuse(error)
            answer = answers.refusal(error, scope["path"])
        except ApiError as error:
            answer = answers.refusal(error, scope["path"])
        await answers.send(answer, send)

    async def _answer(self, scope: Scope, receive: Receive) -> Answer:
        if scope["path"] == "/healthz":  # said here, however busy the threads are
            return answers.alive()
        door.check(scope)
        async with self._bodies.whole(scope, receive) as body:
            if not self._room:
                raise Busy("All threads are busy, and as many requests wait as may")
            self._room -= 1
            try:
                return await asyncio.get_running_loop().run_in_executor(
                    self._threads, answers.of, self._application, scope, body
                )
            finally:
                self._room += 1
