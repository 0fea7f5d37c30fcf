import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.bench import intake, load
from tests.bench.load import Job
from tests.bench.peers import schema


class Handler(BaseHTTPRequestHandler):
    """Keeps what it is sent, and answers as the path says."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append((self.path, self.headers["X-Forwarded-For"], body))
        self.send_response(500 if self.path == "/broken" else 201)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        """Nothing."""


class Server(ThreadingHTTPServer):
    """Says nothing about clients that hang up."""

    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as server:
        server.received = []
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        yield server
        server.shutdown()


def job(server: Server, path: str = "/at/%(page)d", **more) -> Job:
    return Job(server.server_port, path, '{"n": "%(n)d"}', **{"connections": 3, "first": 7, **more})


def test_every_request_is_sent_once_and_answered(server):
    sent = load.run(job(server, most=20))

    assert len(sent.latencies) == 20
    assert {json.loads(body)["n"] for _, _, body in server.received} == {
        str(n) for n in range(7, 27)
    }


def test_no_sender_repeats_itself_soon(server):
    load.run(job(server, most=20))

    assert len({sender for _, sender, _ in server.received}) == 20


def test_an_answer_that_refuses_ends_the_run(server):
    with pytest.raises(load.Refused, match="500"):
        load.run(job(server, "/broken", most=20))


@pytest.mark.parametrize("what", [intake.NEW, intake.OWNED, intake.REPEATED])
def test_a_new_report_is_always_another_one(what):
    keys = set()
    for n in range(1, 1001):
        head, _, body = load.request(Job(1, "/", intake.body(what), 1, 1), n).partition(b"\r\n\r\n")
        sent = json.loads(body)
        assert f"Content-Length: {len(body)}".encode() in head
        summary, agent = sent["report"]["summary"], sent["agent"]["name"]
        keys.add(schema.dedup_key(sent["doc_url"], agent, summary))

    assert len(keys) == (load.PAGES if what == intake.REPEATED else 1000)
