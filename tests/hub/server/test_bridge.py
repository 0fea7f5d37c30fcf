"""Slow, wrong and too many requests, as the server hands them to the Hub (ASGI)."""

import asyncio
import gc
import json
import random
import resource
import sys
import tempfile
import threading
import weakref
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from asgiref.testing import ApplicationCommunicator
from django.core.handlers.wsgi import WSGIRequest

from hub.server import answers, bodies, bridge, overload, spool, turns, untaken
from hub.server.bridge import WAITING, Bridge, is_to_read
from sandbox.webhooks import signature
from tests.waiting import wait_until

MESSAGES = 60  # seconds that a message may take


class Answer(NamedTuple):
    status: int
    headers: dict[bytes, bytes]
    body: bytes

    @property
    def error(self) -> str:
        return json.loads(self.body)["error"]


class Request:
    """One request to a bridge, sent and answered by messages of ASGI."""

    def __init__(
        self,
        bridge: Bridge,
        path: str = "/v1/reports",
        *,
        method: str = "POST",
        of: str = "192.0.2.1",
        **headers: str,
    ) -> None:
        named = [(n.replace("_", "-").encode(), v.encode("latin-1")) for n, v in headers.items()]
        asked = scope(path, named) | {"client": (of, "1234"), "method": method}
        self._talk = ApplicationCommunicator(bridge, asked)

    async def send(self, body: bytes, *, more: bool = True) -> None:
        await self._talk.send_input({"type": "http.request", "body": body, "more_body": more})

    async def leave(self) -> None:
        await self._talk.send_input({"type": "http.disconnect"})

    async def answer(self) -> Answer:
        start = await self._talk.receive_output(MESSAGES)
        pieces = [await self._talk.receive_output(MESSAGES)]
        while pieces[-1]["more_body"]:
            pieces.append(await self._talk.receive_output(MESSAGES))
        body = b"".join(each["body"] for each in pieces)
        return Answer(start["status"], dict(start["headers"]), body)


def scope(path: str, headers: list[tuple[bytes, bytes]], query: bytes = b"") -> dict[str, Any]:
    return {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query,
        "http_version": "1.1",
        "scheme": "http",
        "client": ("192.0.2.1", "1234"),
        "server": ("127.0.0.1", "8000"),
        "headers": headers,
    }


class Echo:
    """An application of WSGI that remembers what it was asked and answers with the body."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def __call__(self, environ, start_response) -> "Pieces":
        self.asked.append(environ)
        start_response("200 OK", [("X-Name", "é")])
        return Pieces([environ["wsgi.input"].read()])


class Pieces:
    """What an application answers; `closed` is the name of the thread that closed it."""

    def __init__(self, pieces) -> None:
        self._pieces = pieces
        self.closed = ""

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._pieces)

    def close(self) -> None:
        self.closed = threading.current_thread().name


def talk(
    conversation: Callable[[Bridge], Awaitable[Any]], application=None, *, threads: int = 1
) -> Any:
    return asyncio.run(conversation(Bridge(application or Echo(), threads=threads)))


def test_a_body_arrives_in_pieces_and_is_handed_on_whole():
    async def conversation(bridge: Bridge) -> Answer:
        request = Request(bridge, content_length="6")
        await request.send(b"abc")
        await request.send(b"def")
        return await request.answer()

    answer = talk(conversation)

    assert (answer.status, answer.body) == (200, b"abcdef")
    assert answer.headers.keys() == {b"x-name", b"x-request-id"}
    assert answer.headers[b"x-name"] == "é".encode("latin-1")


@pytest.mark.parametrize("sent", [b"", b"{", b'{"a": 1}'])
def test_a_body_that_does_not_come_is_given_up_without_a_thread(sent, monkeypatch):
    monkeypatch.setattr(bodies, "BODY_TIMEOUT", 0.01)
    application = Echo()

    async def conversation(bridge: Bridge) -> Answer:
        request = Request(bridge, content_length="500")
        await request.send(sent)
        return await request.answer()

    answer = talk(conversation, application)

    assert (answer.status, answer.error) == (408, "request_timeout")
    assert answer.headers[b"connection"] == b"close"
    assert answer.headers[b"access-control-allow-origin"] == b"*"
    assert answer.headers[b"cache-control"] == b"no-store"
    assert not application.asked


def test_a_body_that_ends_before_its_length_is_refused_even_where_the_part_is_whole_json():
    application = Echo()

    async def conversation(bridge: Bridge) -> Answer:
        request = Request(bridge, content_length="500")
        await request.send(b'{"whole": "json"}')
        await request.leave()
        return await request.answer()

    answer = talk(conversation, application)

    assert (answer.status, answer.error) == (400, "validation_error")
    assert not application.asked


@pytest.mark.parametrize(
    ("path", "length"),
    [
        ("/v1/reports", 64 * 1024 + 1),
        ("/v1/webhooks/github", 3_000_000),
        ("/v1/reports", 10**4000),
    ],
)
def test_a_body_that_nothing_takes_is_not_waited_for(path, length):
    application = Echo()

    async def conversation(bridge: Bridge) -> Answer:
        return await Request(bridge, path, content_length=str(length)).answer()

    answer = talk(conversation, application)

    assert answer.body == b""
    assert application.asked[0]["CONTENT_LENGTH"] == str(length)  # so Django refuses it


def test_bodies_that_are_too_much_together_cost_the_slowest_theirs(monkeypatch):
    monkeypatch.setattr(bodies, "ALTOGETHER", 1000)

    async def conversation(bridge: Bridge) -> list[Answer]:
        slow, slower = (Request(bridge, content_length="600") for _ in range(2))
        await slower.send(b"x" * 300)
        await asyncio.sleep(0)
        await slow.send(b"x" * 500)
        await asyncio.sleep(0)
        quick = Request(bridge, content_length="400")
        await quick.send(b"y" * 400)
        answers = [await slower.answer(), await quick.answer()]
        await slow.send(b"x" * 100)
        return [*answers, await slow.answer()]

    slower, quick, slow = talk(conversation)

    assert (slower.status, slower.error) == (503, "unavailable")
    assert (quick.status, len(quick.body)) == (200, 400)
    assert (slow.status, len(slow.body)) == (200, 600)


@pytest.mark.parametrize(
    ("many", "again", "others"),
    [
        ("192.0.2.1", "192.0.2.9", "198.51.100.1"),
        ("2001:db8:1:1::1", "2001:db8:1:2::1", "2001:db8:2::1"),
    ],
)
def test_bodies_of_one_network_push_out_none_of_another_however_slow(
    monkeypatch, many, again, others
):
    monkeypatch.setattr(bodies, "ALTOGETHER", 1000)

    async def conversation(bridge: Bridge) -> list[Answer]:
        honest = Request(bridge, of=others, content_length="100")
        await honest.send(b"x" * 50)
        await asyncio.sleep(0)
        flood = [Request(bridge, of=of, content_length="900") for of in [many, again] * 20]
        for each in flood:
            await each.send(b"y" * 300)
            await asyncio.sleep(0)
        await honest.send(b"x" * 50)
        return [await honest.answer(), *[await each.answer() for each in flood[:-3]]]

    honest, *given_up = talk(conversation)

    assert (honest.status, len(honest.body)) == (200, 100)
    assert {each.status for each in given_up} == {503}


def test_a_body_that_is_whole_counts_for_who_sent_it(monkeypatch):
    monkeypatch.setattr(bodies, "ALTOGETHER", 1000)
    free = threading.Event()

    def busy(environ, start_response) -> Pieces:
        free.wait(60)
        start_response("200 OK", [])
        return Pieces([b""])

    async def conversation(bridge: Bridge) -> tuple[int, int]:
        whole = Request(bridge, content_length="700")
        await whole.send(b"x" * 700)
        honest = Request(bridge, of="198.51.100.1", content_length="300")
        await honest.send(b"x" * 200)
        more = Request(bridge, content_length="600")
        await more.send(b"y" * 150)
        refused = await more.answer()
        free.set()
        await honest.send(b"x" * 100)
        return refused.status, (await honest.answer()).status

    assert talk(conversation, busy) == (503, 200)


class Busy:
    """An application of WSGI that answers once it is `free`, and remembers the first letter of each body."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.begun: list[bytes] = []

    def __call__(self, environ, start_response) -> Pieces:
        self.begun.append(environ["wsgi.input"].read()[:1])
        self.free.wait(60)
        start_response("200 OK", [])
        return Pieces([b""])


async def sent(bridge: Bridge, of: str, body: bytes, length: int) -> Request:
    """A request of which so much has arrived, in one piece."""
    request = Request(bridge, of=of, content_length=str(length))
    await request.send(body)
    await asyncio.sleep(0)
    return request


def test_whoever_holds_most_gives_up_the_latest_body_that_waits_for_a_thread(monkeypatch):
    monkeypatch.setattr(bodies, "ALTOGETHER", 1000)
    busy = Busy()

    async def conversation(bridge: Bridge) -> list[int]:
        requests = [await sent(bridge, "192.0.2.1", each * 300, 300) for each in (b"a", b"b", b"c")]
        honest = await sent(bridge, "198.51.100.1", b"h" * 150, 200)
        assert (bridge._bodies._size, len(bridge._threads._turns)) == (750, 1)
        await honest.send(b"h" * 50)
        await asyncio.sleep(0)
        busy.free.set()
        return [(await each.answer()).status for each in [*requests, honest]]

    assert talk(conversation, busy) == [200, 200, 503, 200]
    assert busy.begun == [b"a", b"b", b"h"]


def test_where_threads_work_on_all_that_the_largest_caller_sent_the_next_one_gives_up(monkeypatch):
    monkeypatch.setattr(bodies, "ALTOGETHER", 1000)
    busy = Busy()

    async def conversation(bridge: Bridge) -> list[int]:
        requests = [
            await sent(bridge, "192.0.2.1", b"a" * 600, 600),
            await sent(bridge, "198.51.100.1", b"b" * 300, 300),
            await sent(bridge, "203.0.113.1", b"c" * 200, 200),
        ]
        busy.free.set()
        return [(await each.answer()).status for each in requests]

    assert talk(conversation, busy) == [200, 503, 200]
    assert busy.begun == [b"a", b"c"]


def test_a_body_in_one_piece_that_is_given_up_is_not_accepted(monkeypatch):
    monkeypatch.setattr(bodies, "ALTOGETHER", 1000)
    busy = Busy()

    async def conversation(bridge: Bridge) -> list[int]:
        requests = [await sent(bridge, "192.0.2.1", each * 700, 700) for each in (b"a", b"b")]
        assert bridge._bodies._size == 700
        busy.free.set()
        return [(await each.answer()).status for each in requests]

    assert talk(conversation, busy) == [200, 503]
    assert busy.begun == [b"a"]


def test_no_body_that_is_given_up_waits_for_the_garbage_collector(monkeypatch):
    monkeypatch.setattr(bodies, "ALTOGETHER", 1000)
    busy = Busy()

    class Beside:
        """Something that lives as long as the request."""

    async def takes(message: dict[str, Any]) -> None: ...

    async def conversation(bridge: Bridge) -> None:
        working = await sent(bridge, "192.0.2.1", b"a" * 300, 300)
        beside, arrived = Beside(), asyncio.Event()
        asked = scope("/v1/reports", [(b"content-length", b"600")]) | {"beside": beside}

        async def receive() -> dict[str, Any]:
            arrived.set()
            return {"type": "http.request", "body": b"b" * 600}

        waiting = asyncio.create_task(bridge(asked, receive, takes))
        lives = weakref.ref(beside)
        del asked, beside
        await arrived.wait()
        honest = await sent(bridge, "198.51.100.1", b"h" * 200, 200)
        await asyncio.wait_for(waiting, 10)
        del waiting
        assert lives() is None
        busy.free.set()
        assert [(await each.answer()).status for each in (working, honest)] == [200, 200]

    gc.disable()
    try:
        talk(conversation, busy)
    finally:
        busy.free.set()
        gc.enable()


def test_a_quick_request_is_served_while_the_time_of_the_slowest_is_just_over(monkeypatch):
    monkeypatch.setattr(bodies, "ALTOGETHER", 1000)
    limit = bodies.BODY_TIMEOUT

    async def conversation(bridge: Bridge) -> list[Answer]:
        loop = asyncio.get_running_loop()
        now = loop.time
        slow = Request(bridge, content_length="900")
        await slow.send(b"x" * 800)
        await asyncio.sleep(0)
        monkeypatch.setattr(bodies, "BODY_TIMEOUT", 1000 * bodies.BODY_TIMEOUT)
        quick = Request(bridge, content_length="400")
        await asyncio.sleep(0)
        loop.time = lambda: now() + 2 * limit  # as if nothing had run meanwhile
        await asyncio.sleep(0)
        await quick.send(b"y" * 400)  # arrives after the deadline, and before the slow one knows
        return [await slow.answer(), await quick.answer()]

    slow, quick = talk(conversation)

    assert (quick.status, len(quick.body)) == (200, 400)
    assert (slow.status, slow.error) == (503, "unavailable")


def test_what_was_held_is_free_again_however_it_ended(monkeypatch):
    monkeypatch.setattr(bodies, "ALTOGETHER", 1000)

    async def conversation(bridge: Bridge) -> list[int]:
        statuses = []
        for number in range(20):
            monkeypatch.setattr(bodies, "BODY_TIMEOUT", 0.01 if number % 3 == 2 else 10)
            request = Request(bridge, content_length="900")
            await request.send(b"x" * (900 if number % 3 == 0 else 800))
            if number % 3 == 1:
                await request.leave()
            statuses.append((await request.answer()).status)
        return statuses

    assert talk(conversation) == ([200, 400, 408] * 7)[:20]


def test_nothing_is_held_after_any_sequence_of_arrivals_delays_and_disconnects(monkeypatch):
    monkeypatch.setattr(bodies, "ALTOGETHER", 5000)
    monkeypatch.setattr(bodies, "BODY_TIMEOUT", 0.01)
    monkeypatch.setattr(answers, "SEND_TIMEOUT", 0.01)
    monkeypatch.setattr(spool, "IN_MEMORY", 500)
    monkeypatch.setattr(spool, "ON_DISK", 2000)
    monkeypatch.setattr(spool, "SHARE", 2)
    dice = random.Random(11)

    async def one(bridge: Bridge) -> None:
        pieces = [b"x" * dice.randrange(400) for _ in range(dice.randrange(1, 4))]
        length = sum(map(len, pieces)) + dice.choice([0, 0, 1])
        await asyncio.sleep(dice.random() / 10)
        request = Client(pieces, dice)
        asked = scope("/v1/reports", [(b"content-length", b"%d" % length)])
        asked["client"] = (f"192.0.{dice.randrange(4)}.2", "1234")
        await bridge(asked, request.receive, request.send)

    async def conversation(bridge: Bridge) -> tuple[object, ...]:
        await asyncio.gather(*(one(bridge) for _ in range(300)))
        held = bridge._bodies
        kept = held._size, len(held._held), len([*held._arriving, *held._waiting])
        return *kept, len(bridge._threads._turns), spool.on_disk()

    assert talk(conversation, threads=2) == (0, 0, 0, 0, 0)


class Client:
    """Sends its pieces and takes its answer, each at once, late or never; some go away midway."""

    def __init__(self, pieces: list[bytes], dice: random.Random) -> None:
        self._pieces, self._dice = pieces, dice

    async def receive(self) -> dict[str, Any]:
        await self._wait()
        if not self._pieces or self._dice.random() < 0.05:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": self._pieces.pop(), "more_body": True}

    async def send(self, message: dict[str, Any]) -> None:
        await self._wait()
        if self._dice.random() < 0.1:
            raise ConnectionError("The client has gone.")

    async def _wait(self) -> None:
        await asyncio.sleep(self._dice.choice([0, 0, 0, 0.002, 0.1]))


def test_requests_beyond_those_that_may_wait_are_told_to_come_again():
    free = threading.Event()

    def busy(environ, start_response) -> Pieces:
        free.wait(60)
        start_response("200 OK", [])
        return Pieces([b""])

    async def conversation(bridge: Bridge) -> tuple[Answer, Answer, list[Answer]]:
        waiting = [Request(bridge, of=f"192.0.{n}.2") for n in range(1 + 2 * WAITING)]
        for each in waiting:
            await each.send(b"", more=False)
        await asyncio.sleep(0)
        early = await Request(bridge).answer(), await Request(bridge, "/healthz").answer()
        free.set()
        return *early, [await each.answer() for each in waiting]

    refused, alive, waited = talk(conversation, busy, threads=2)

    assert (refused.status, refused.error) == (503, "unavailable")
    assert refused.headers[b"retry-after"] == b"5"
    assert (alive.status, alive.body) == (200, b"ok\n")
    assert {each.status for each in waited} == {200}


@pytest.mark.parametrize(
    ("proxies", "headers", "others"),
    [
        (0, {}, "192.0.3.2"),
        (0, {}, "2001:db8:1::1"),
        (1, {"x_forwarded_for": "6.6.6.6, 198.51.100.1"}, "192.0.2.1"),
    ],
)
def test_one_network_leaves_room_for_others(settings, proxies, headers, others):
    settings.HUB_TRUSTED_PROXIES = proxies
    free = threading.Event()

    def busy(environ, start_response) -> Pieces:
        free.wait(60)
        start_response("200 OK", [])
        return Pieces([b""])

    async def conversation(bridge: Bridge) -> tuple[Answer, Answer, list[Answer]]:
        many = [Request(bridge, **headers) for _ in range(1 + 2 * WAITING)]
        other = Request(bridge, of=others)
        for each in [*many, other]:
            await each.send(b"", more=False)
        await asyncio.sleep(0)
        refused = await many[-1].answer()
        free.set()
        return refused, await other.answer(), [await each.answer() for each in many[:-1]]

    refused, answered, others = talk(conversation, busy, threads=2)

    assert (refused.status, answered.status) == (503, 200)
    assert {each.status for each in others} == {200}


def test_who_reads_leaves_threads_to_who_reports():
    free = threading.Event()

    def costly(environ, start_response) -> Pieces:
        is_late = environ["REQUEST_METHOD"] == "GET" and not free.wait(10)
        start_response("500 Late" if is_late else "200 OK", [])
        return Pieces([b""])

    async def asked(bridge: Bridge, path: str, number: int, **how: str) -> Request:
        request = Request(bridge, path, of=f"192.0.{number}.2", **how)
        await request.send(b"", more=False)
        return request

    async def conversation(bridge: Bridge) -> tuple[Answer, list[Answer]]:
        readers = [await asked(bridge, "/v0/search/", n, method="GET") for n in range(9)]
        others = [await asked(bridge, "/v1/reports", n) for n in range(9)]
        answers = [await each.answer() for each in others]
        free.set()
        return answers, [await each.answer() for each in readers]

    reports, pages = talk(conversation, costly, threads=2)

    assert {each.status for each in [*reports, *pages]} == {200}


TO_READ = [
    "/",
    "/v0/",
    "/v0/search/",
    "/v0/reference/mcp/",
    "/v0.1/index.md",
    "/report/",
    "/connect/",
]
TO_READ += ["/privacy/", "/llms.txt", "/llms-full.txt", "/openapi.json", "/sitemap.xml"]
ASKS_OTHERS = [
    "/v1/pages",
    "/r/x/",
    "/badge/x.svg",
    "/readyz",
    "/settings/",
    "/login/github/callback/",
]


@pytest.mark.parametrize("path", TO_READ)
def test_what_is_to_read_asks_no_database(client, db, django_assert_num_queries, path):
    with django_assert_num_queries(0):
        client.get(path)

    assert is_to_read(scope(path, []) | {"method": "GET"})
    assert not is_to_read(scope(path, []))


@pytest.mark.parametrize("path", ASKS_OTHERS)
def test_what_asks_others_does_not_take_the_threads_of_who_reads(path):
    assert not is_to_read(scope(path, []) | {"method": "GET"})


def test_a_form_that_is_filled_in_asks_whose_its_page_is():
    asked = scope("/report/", [], b"doc_url=https://docs.acme.com/x") | {"method": "GET"}

    assert not is_to_read(asked)


def test_one_network_leaves_threads_to_others():
    free = threading.Event()

    def costly(environ, start_response) -> Pieces:
        has_to_wait = environ["REMOTE_ADDR"].startswith("192.0.2.")
        is_late = has_to_wait and not free.wait(10)
        start_response("500 Late" if is_late else "200 OK", [])
        return Pieces([b""])

    async def asked(bridge: Bridge, of: str) -> Request:
        request = Request(bridge, of=of)
        await request.send(b"", more=False)
        return request

    async def conversation(bridge: Bridge) -> tuple[Answer, list[Answer]]:
        await (await asked(bridge, "198.51.100.1")).answer()
        many = [await asked(bridge, f"192.0.2.{n}") for n in range(12)]
        other = await (await asked(bridge, "198.51.100.1")).answer()
        free.set()
        return other, [await each.answer() for each in many]

    other, waited = talk(conversation, costly, threads=8)

    assert {other.status, *(each.status for each in waited)} == {200}


def test_what_strangers_have_github_send_keeps_no_signed_webhook_waiting(settings):
    settings.HUB_GITHUB_WEBHOOK_SECRET = "of the app"
    free = threading.Event()
    body, long = b"{}", bytes(bridge.QUICKLY_READ + 1)

    def costly(environ, start_response) -> Pieces:
        is_true = environ["HTTP_X_HUB_SIGNATURE_256"] == signature(body, "of the app")
        is_late = not is_true and not free.wait(10)
        start_response("500 Late" if is_late else "200 OK", [])
        return Pieces([b""])

    async def asked(bridge: Bridge, body: bytes, signed: str) -> Request:
        headers = {"content_length": str(len(body)), "x_hub_signature_256": signed}
        request = Request(bridge, bodies.WEBHOOK, **headers)
        await request.send(body, more=False)
        return request

    async def conversation(bridge: Bridge) -> tuple[Answer, list[Answer]]:
        not_quickly_read = await asked(bridge, long, signature(long, "of the app"))
        forged = [await asked(bridge, body, f"sha256=é{n}") for n in range(12)]
        true = await (await asked(bridge, body, signature(body, "of the app"))).answer()
        free.set()
        return true, [await each.answer() for each in [not_quickly_read, *forged]]

    true, waited = talk(conversation, costly, threads=8)

    assert {true.status, *(each.status for each in waited)} == {200}


def test_signed_webhooks_have_a_quarter_however_much_they_and_others_cost(settings, monkeypatch):
    settings.HUB_GITHUB_WEBHOOK_SECRET = "of the app"
    monkeypatch.setattr(turns, "LITTLE", 0)
    free, together = threading.Event(), threading.Barrier(7)
    body = b"{}"

    def costly(environ, start_response) -> Pieces:
        if environ["PATH_INFO"] == bodies.WEBHOOK:
            together.wait(10)
        is_late = environ["PATH_INFO"] != bodies.WEBHOOK and not free.wait(10)
        start_response("500 Late" if is_late else "200 OK", [])
        return Pieces([b""])

    async def asked(bridge: Bridge, path: str, of: str, body: bytes, **headers: str) -> Request:
        request = Request(bridge, path, of=of, content_length=str(len(body)), **headers)
        await request.send(body, more=False)
        return request

    async def conversation(bridge: Bridge) -> list[Answer]:
        others = [await asked(bridge, "/v1/reports", f"192.0.{n}.1", b"") for n in range(6)]
        signed = {"x_hub_signature_256": signature(body, "of the app")}
        true = [await asked(bridge, bodies.WEBHOOK, "192.0.9.1", body, **signed) for _ in range(7)]
        answers = [await each.answer() for each in true]
        free.set()
        return answers + [await each.answer() for each in others]

    assert {each.status for each in talk(conversation, costly, threads=32)} == {200}


def test_an_overload_is_one_line_when_it_begins_and_one_when_it_is_over(monkeypatch, caplog):
    monkeypatch.setattr(bodies, "ALTOGETHER", 1000)

    async def refused(bridge: Bridge) -> int:
        request = Request(bridge, content_length="2000")
        await request.send(b"x" * 1500)
        return (await request.answer()).status

    async def conversation(bridge: Bridge) -> list[int]:
        statuses = [await refused(bridge) for _ in range(50)]
        statuses.append((await Request(bridge).answer()).status)
        monkeypatch.setattr(overload, "QUIET", 0)
        return [*statuses, (await Request(bridge, "/healthz").answer()).status]

    assert talk(conversation) == [*[503] * 50, 200, 200]
    said = [record.message for record in caplog.records if record.name != "hub.requests"]
    assert said == [
        "Requests are refused: The bodies being received are too large together",
        "Requests are accepted again; 50 were refused",
    ]


ACME, INITECH = {"x_downloads": "acme"}, {"x_downloads": "initech"}


@pytest.mark.parametrize(
    ("slowly", "again", "beside"),
    [
        (("192.0.2.1", {}), ("192.0.2.1", {}), ("198.51.100.2", {})),
        (("2001:db8:1:1::1", {}), ("2001:db8:1:2::1", {}), ("2001:db8:2::1", {})),
        (("192.0.2.1", ACME), ("192.0.2.2", ACME), ("192.0.2.1", INITECH)),
    ],
)
def test_long_answers_that_are_read_slowly_leave_room_on_disk_for_others(
    monkeypatch, caplog, slowly, again, beside
):
    """One organization, or one address, that downloads again and again and takes nothing of it."""
    monkeypatch.setattr(spool, "ON_DISK", 8 * spool.IN_MEMORY)

    def application(environ, start_response) -> Pieces:
        if "HTTP_X_DOWNLOADS" in environ:
            environ["hub.whose"] = environ["HTTP_X_DOWNLOADS"]
        start_response("200 OK", [])
        return Pieces(b"x" * 1000 for _ in range(2 * spool.IN_MEMORY // 1000))

    async def conversation(bridge: Bridge) -> list[int]:
        taken = asyncio.Event()

        async def takes_nothing_yet(message: dict[str, Any]) -> None:
            await taken.wait()

        async def status(of: str, headers: dict[str, str]) -> int:
            return (await Request(bridge, of=of, **headers).answer()).status

        named = [(b"x-downloads", each.encode()) for each in slowly[1].values()]
        asked = scope("/v1/reports", named) | {"client": (slowly[0], "1234")}
        slow = asyncio.create_task(bridge(asked, None, takes_nothing_yet))
        while not spool.on_disk():
            await asyncio.sleep(0)
        statuses = [await status(*again), await status(*beside)]
        taken.set()
        await slow
        return [*statuses, await status(*again), spool.on_disk()]

    assert talk(conversation, application) == [503, 200, 200, 0]
    assert "disk space" in caplog.text
    assert not spool._held_for


@pytest.mark.parametrize(("pieces", "status"), [(3, 200), (5, 503)])
def test_a_single_long_answer_may_take_half_of_the_room_on_disk(monkeypatch, pieces, status):
    monkeypatch.setattr(spool, "ON_DISK", 8 * spool.IN_MEMORY)

    def application(environ, start_response) -> Pieces:
        start_response("200 OK", [])
        return Pieces(b"x" * 1000 for _ in range(pieces * spool.IN_MEMORY // 1000))

    async def conversation(bridge: Bridge) -> int:
        return (await Request(bridge).answer()).status

    assert talk(conversation, application) == status
    assert spool.on_disk() == 0


def test_answers_that_nobody_takes_do_not_fill_the_disk(monkeypatch, caplog):
    monkeypatch.setattr(spool, "ON_DISK", 3 * spool.IN_MEMORY)
    monkeypatch.setattr(spool, "SHARE", 1)
    monkeypatch.setattr(spool, "SHARE_OF_ONE", 1)
    closed = []

    def application(environ, start_response) -> Pieces:
        start_response("200 OK", [])
        closed.append(Pieces(b"x" * 1000 for _ in range(2 * spool.IN_MEMORY // 1000)))
        return closed[-1]

    async def conversation(bridge: Bridge) -> list[int]:
        taken = asyncio.Event()

        async def takes_nothing_yet(message: dict[str, Any]) -> None:
            await taken.wait()

        waiting = bridge(scope("/v1/reports", []), None, takes_nothing_yet)
        slow = asyncio.create_task(waiting)
        while not spool.on_disk():
            await asyncio.sleep(0)
        statuses = [(await Request(bridge).answer()).status]
        taken.set()
        await slow
        return [*statuses, (await Request(bridge).answer()).status, spool.on_disk()]

    assert talk(conversation, application) == [503, 200, 0]
    assert all(each.closed for each in closed)
    assert "disk space" in caplog.text


@pytest.mark.parametrize("buffered", [4096, 1024 * 1024])
def test_a_full_disk_refuses_long_answers_and_says_so_once(monkeypatch, caplog, buffered):
    """It is found out with the first piece, or only with the last."""

    def application(environ, start_response) -> Pieces:
        start_response("200 OK", [])
        return Pieces(b"x" * 1000 for _ in range(2 * spool.IN_MEMORY // 1000))

    async def conversation(bridge: Bridge) -> list[int]:
        with monkeypatch.context() as full:
            on_full = partial(Path("/dev/full").open, "w+b")
            full.setattr(tempfile, "TemporaryFile", lambda **named: on_full(buffering=buffered))
            statuses = [(await Request(bridge).answer()).status for _ in range(3)]
        return [*statuses, (await Request(bridge).answer()).status, spool.on_disk()]

    assert talk(conversation, application) == [503, 503, 503, 200, 0]
    said = [record.message for record in caplog.records if record.name != "hub.requests"]
    assert said == [
        "Requests are refused: No file can be written for long responses: No space left on device"
    ]
    assert not spool._held_for


def test_an_answer_is_closed_in_the_thread_that_made_it_where_its_database_connection_is():
    pieces = Pieces([b"a", b"b"])
    made_in = []

    def application(environ, start_response) -> Pieces:
        made_in.append(threading.current_thread().name)
        start_response("200 OK", [])
        return pieces

    answer = talk(lambda bridge: Request(bridge).answer(), application)

    assert answer.body == b"ab"
    assert made_in == [pieces.closed]
    assert pieces.closed != threading.current_thread().name


def fails_at_once(environ, start_response) -> Pieces:
    raise ZeroDivisionError


def fails_midway(environ, start_response) -> Pieces:
    start_response("200 OK", [])
    return Pieces(b"x" * (1 // left) for left in (1, 0))


def ends_the_process(environ, start_response) -> Pieces:
    raise SystemExit


def ends_an_iteration(environ, start_response) -> Pieces:
    raise StopIteration


@pytest.mark.parametrize(
    "application", [fails_at_once, fails_midway, ends_the_process, ends_an_iteration]
)
def test_a_crash_is_an_error_whole_and_in_the_log_and_the_next_request_is_served(
    application, caplog
):
    async def conversation(bridge: Bridge) -> tuple[Answer, Answer]:
        return await Request(bridge).answer(), await Request(bridge, "/healthz").answer()

    crashed, alive = talk(conversation, application)

    assert (crashed.status, crashed.error, alive.status) == (500, "internal_error", 200)
    assert "Internal error at /v1/reports" in caplog.text


def test_a_long_answer_is_sent_in_pieces_with_its_length():
    size = 3 * spool.IN_MEMORY + 1

    def application(environ, start_response) -> Pieces:
        start_response("200 OK", [])
        return Pieces(b"x" * spool.IN_MEMORY + b"y" for _ in range(3))

    answer = talk(lambda bridge: Request(bridge).answer(), application)

    assert len(answer.body) == size + 2
    assert answer.headers[b"content-length"] == str(size + 2).encode()


def test_an_answer_that_is_not_taken_holds_no_thread_and_is_given_up(monkeypatch):
    monkeypatch.setattr(answers, "SEND_TIMEOUT", 0.01)
    sent = []

    async def takes_nothing(message):
        sent.append(message)
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    def application(environ, start_response) -> Pieces:
        start_response("200 OK", [])
        return Pieces([b"x" * 10 * spool.IN_MEMORY])

    async def conversation(bridge: Bridge) -> Answer:
        await bridge(scope("/v1/reports", []), None, takes_nothing)
        monkeypatch.setattr(answers, "SEND_TIMEOUT", 10)
        return await Request(bridge).answer()

    assert talk(conversation, application, threads=1).status == 200
    assert len(sent) == 2


def test_nothing_of_a_refused_answer_waits_for_the_garbage_collector(monkeypatch):
    monkeypatch.setattr(spool, "ON_DISK", 1000)
    made: list[weakref.ref] = []

    def application(environ, start_response) -> Pieces:
        start_response("200 OK", [])
        pieces = Pieces([b"x" * 2 * spool.IN_MEMORY])
        made.append(weakref.ref(pieces))
        return pieces

    async def conversation(bridge: Bridge) -> int:
        status = (await Request(bridge).answer()).status
        assert await asyncio.to_thread(wait_until, lambda: made[0]() is None)
        return status

    gc.disable()
    try:
        assert talk(conversation, application) == 503
    finally:
        gc.enable()


def few_at_once(monkeypatch) -> None:
    monkeypatch.setattr(untaken, "AT_ONCE", 4)


def few_files(monkeypatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (16, 16))


@pytest.mark.parametrize("few", [few_at_once, few_files])
def test_whoever_leaves_most_answers_untaken_gives_up_the_oldest(monkeypatch, few):
    few(monkeypatch)
    ends = []

    def application(environ, start_response) -> Pieces:
        start_response("200 OK", [])
        return Pieces([b"x" * 3 * answers.PIECE])

    class Slow:
        """A client that takes nothing until it is let."""

        def __init__(self, bridge: Bridge, of: str) -> None:
            self.begun, self.may_end = asyncio.Event(), asyncio.Event()
            asked = scope("/v1/reports", []) | {"client": (of, "1234")}
            self.answer = asyncio.create_task(bridge(asked, None, self._take))

        async def _take(self, message: dict[str, Any]) -> None:
            if message["type"] == "http.response.body":
                self.begun.set()
                await self.may_end.wait()
                if not message["more_body"]:
                    ends.append(self)

    async def conversation(bridge: Bridge) -> list[Slow]:
        clients = []
        for of in ("198.51.100.1", "192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.3"):
            clients.append(Slow(bridge, of))
            await asyncio.wait_for(clients[-1].begun.wait(), 10)
        await asyncio.wait_for(clients[1].answer, 10)  # given up
        for each in clients:
            each.may_end.set()
        await asyncio.gather(*(each.answer for each in clients))
        assert not list(bridge._untaken._sending)
        assert bridge._untaken._number == 0
        return clients

    clients = talk(conversation, application, threads=8)

    assert set(ends) == {*clients} - {clients[1]}


def environ(headers: list[tuple[bytes, bytes]], path: bytes = b"/", query: bytes = b"") -> dict:
    """What an application is asked."""
    application = Echo()
    asked = {**scope("/", headers, query), "raw_path": path}

    async def conversation(bridge: Bridge) -> None:
        talk = ApplicationCommunicator(bridge, asked)
        await talk.receive_output(MESSAGES)
        await talk.wait(MESSAGES)

    talk(conversation, application)
    return application.asked[0]


def test_odd_bytes_reach_the_application_as_wsgi_has_them():
    asked = environ([(b"x-odd", b"\xff\xe9")], b"/%ff%2f%c3%a9//\xfe", b"a=%zz&b=\xff")

    assert asked["HTTP_X_ODD"] == "ÿé"
    assert asked["PATH_INFO"] == "/ÿ/Ã©//þ"
    assert asked["QUERY_STRING"] == "a=%zz&b=ÿ"


def test_a_header_with_an_underscore_cannot_pass_for_another():
    asked = environ([(b"x_forwarded_for", b"198.51.100.1"), (b"x-forwarded-for", b"192.0.2.7")])

    assert asked["HTTP_X_FORWARDED_FOR"] == "192.0.2.7"


def test_headers_that_come_twice_are_joined():
    twice = [(b"cookie", b"a=1"), (b"cookie", b"b=2"), (b"host", b"one"), (b"host", b"two")]

    asked = environ(twice)

    assert asked["HTTP_COOKIE"] == "a=1; b=2"
    assert asked["HTTP_HOST"] == "one,two"  # which is nobody's name


@pytest.mark.parametrize("name", ["{}__Host-session", "__Host-session{}", "{0}__Host-session{0}"])
def test_a_cookie_of_another_host_cannot_pass_for_one_of_this_host(name):
    """A browser lets the other host set it, since the space belongs to the name."""
    spaces = [
        each for each in map(chr, range(sys.maxunicode)) if each.isspace() and each not in " \t"
    ]
    assert len(spaces) > 20

    for space in spaces:
        cookies = f"a=1; __Host-session=mine;{name.format(space)}=theirs; b=2".encode()
        asked = WSGIRequest(environ([(b"cookie", cookies)]))
        assert asked.COOKIES == {"a": "1", "__Host-session": "mine", "b": "2"}, repr(space)


def test_a_request_does_not_carry_the_environment_of_the_process(monkeypatch):
    monkeypatch.setenv("HUB_SECRET_KEY", "a secret")

    assert "a secret" not in environ([]).values()
