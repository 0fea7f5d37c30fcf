"""An `AsyncClient` takes no thread of the program's, and not more of its own than it may."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from docfeedback import AsyncClient, Client, Request, Response, Unreachable, threads

from tests.clients.stand_ins import REPORT


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Response:
    """The answer to a new report."""
    monkeypatch.setenv("DOCFEEDBACK_HUB_URL", "https://hub.acme.com")
    return Response(201, {}, b'{"id": "01JZ0000000000000000000000", "status": "received"}')


def _client(transport: Callable[[Request], Response]) -> AsyncClient:
    return AsyncClient(timeout=3, transport=transport)


@pytest.mark.parametrize("many", [2, 16])
def test_the_threads_of_the_program_stay_free(answer: Response, many: int):
    is_free = threading.Event()

    def transport(request: Request) -> Response:
        is_free.wait(30)
        return answer

    async def run() -> list[Any]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        client = _client(transport)
        calls = [asyncio.ensure_future(client.send(REPORT)) for _ in range(many)]
        await asyncio.sleep(0)
        await asyncio.to_thread(is_free.set)
        return await asyncio.gather(*calls)

    assert len(asyncio.run(run())) == many


@pytest.mark.parametrize("many", [8, 64])
def test_calls_beyond_the_most_wait(answer: Response, monkeypatch: pytest.MonkeyPatch, many: int):
    monkeypatch.setattr(threads, "MOST_CALLS", 4)
    four, lock = threading.Barrier(4), threading.Lock()
    running = most = 0

    def transport(request: Request) -> Response:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        four.wait(30)
        with lock:
            running -= 1
        four.wait(30)
        return answer

    async def run() -> list[Any]:
        client = _client(transport)
        return await asyncio.gather(*(client.send(REPORT) for _ in range(many)))

    assert (len(asyncio.run(run())), most) == (many, 4)


def test_what_is_cancelled_before_its_turn_does_not_begin(
    answer: Response, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(threads, "MOST_CALLS", 1)
    asked, goes_on = [], threading.Event()

    def transport(request: Request) -> Response:
        asked.append(request)
        goes_on.wait(30)
        return answer

    async def run() -> None:
        client = _client(transport)
        first, second, third = (asyncio.ensure_future(client.send(REPORT)) for _ in range(3))
        await asyncio.sleep(0)
        second.cancel()
        goes_on.set()
        await asyncio.gather(first, third)
        with contextlib.suppress(asyncio.CancelledError):
            await second

    asyncio.run(run())

    assert len(asked) == 2


def test_a_loop_that_is_closed_meanwhile_is_no_error(monkeypatch: pytest.MonkeyPatch):
    began, goes_on, faults = threading.Event(), threading.Event(), []
    monkeypatch.setattr(threading, "excepthook", faults.append)
    mine: list[threading.Thread] = []

    def work() -> None:
        mine.append(threading.current_thread())
        began.set()
        goes_on.wait(30)

    async def run() -> None:
        waiting.append(asyncio.ensure_future(threads.run(work)))
        await asyncio.sleep(0)
        began.wait(30)
        waiting[0].cancel()

    waiting: list[asyncio.Future[None]] = []
    asyncio.run(run())  # and does not wait for the thread
    goes_on.set()
    mine[0].join()

    assert (waiting[0].cancelled(), faults) == (True, [])


@pytest.mark.parametrize("many", [8, 64])
def test_a_call_that_is_cancelled_keeps_its_turn_until_its_thread_has_ended(
    monkeypatch: pytest.MonkeyPatch, many: int
):
    monkeypatch.setattr(threads, "MOST_CALLS", 4)
    goes_on, before = threading.Event(), set(threading.enumerate())

    async def run() -> tuple[int, str]:
        for _ in range(many):
            call = asyncio.ensure_future(threads.run(goes_on.wait, 30))
            await asyncio.sleep(0)  # it begins, if it may
            call.cancel()
            await asyncio.wait([call])
        running = len(set(threading.enumerate()) - before)
        goes_on.set()
        return running, await threads.run(str, "its turn comes")

    assert asyncio.run(run()) == (4, "its turn comes")


@contextlib.contextmanager
def _no_more_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def fail(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as limited:
        limited.setattr(threading.Thread, "start", fail)
        yield


def test_where_threads_are_limited_nothing_is_begun(
    answer: Response, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(threads, "MOST_CALLS", 1)
    asked = []

    def transport(request: Request) -> Response:
        asked.append(request)
        return answer

    async def run() -> list[str]:
        client, codes = _client(transport), []
        for _ in range(2):
            with _no_more_threads(monkeypatch), pytest.raises(Unreachable) as raised:
                await client.send(REPORT)
            codes.append(raised.value.code)
        await client.send(REPORT)  # the turn came back
        return codes

    with _no_more_threads(monkeypatch), pytest.raises(Unreachable) as raised:
        Client(transport=transport).send(REPORT)
    assert raised.value.code == "no_thread"
    assert (asyncio.run(run()), len(asked)) == (["no_thread"] * 2, 1)


def test_a_look_up_without_a_thread_does_not_count_as_no_answer(
    answer: Response, monkeypatch: pytest.MonkeyPatch
):
    """Else a report would go on whose owner has opted out."""
    asked = []

    def transport(request: Request) -> Response:
        asked.append(request)
        return answer

    with _no_more_threads(monkeypatch), pytest.raises(Unreachable):
        Client(transport=transport).send({**REPORT, "doc_url": "https://docs.acme.com/x"})
    assert asked == []
