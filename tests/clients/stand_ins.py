"""A Hub, doc hosts and a proxy in front of them, on loopback: they answer by a script, and record."""

import json
import socket
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HUB = "the Hub"  # what is asked directly, not through the proxy
REPORT = {
    "protocol_version": "0",
    "doc_url": "docs/install.md",
    "agent": {"name": "claude-code"},
    "report": {"kind": "other", "summary": "Step 3 fails"},
}


@dataclass(frozen=True)
class Asked:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Stage:
    """What happens in one test: the answers of each host, the last one again and again."""

    answers: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    asked: dict[str, list[Asked]] = field(default_factory=dict)
    arrived: threading.Event = field(default_factory=threading.Event)
    awaited: int = 1  # the request with which `arrived` is set
    over: threading.Event = field(default_factory=threading.Event)

    def answer(self, host: str, asked: Asked) -> dict[str, Any]:
        seen = self.asked.setdefault(host, [])
        seen.append(asked)
        if len(seen) >= self.awaited:
            self.arrived.set()
        script = self.answers.get(host) or [{"status": 599, "text": "not in the script"}]
        return script[min(len(seen), len(script)) - 1]


class StandIn(ThreadingHTTPServer):
    """Direct requests are for the Hub; CONNECT is answered for the hosts that are in the script."""

    daemon_threads = True
    request_queue_size = 128  # a connection that finds it full is tried again seconds later

    def __init__(self, tls: ssl.SSLContext):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.tls = tls
        self.stage = Stage()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class TlsStandIn(StandIn):
    """The same, spoken to over TLS."""

    def get_request(self) -> tuple[ssl.SSLSocket, Any]:
        connection, address = super().get_request()
        return self.tls.wrap_socket(connection, server_side=True), address


class _Handler(BaseHTTPRequestHandler):
    server: StandIn
    host = HUB

    def do_CONNECT(self) -> None:
        self.close_connection = True
        host = self.path.removesuffix(":443")
        if host not in self.server.stage.answers:
            self.send_error(502)
            return
        self.send_response(200)
        self.end_headers()
        self.host, outside = host, (self.rfile, self.wfile)
        with (
            suppress(OSError),
            self.server.tls.wrap_socket(self.connection, server_side=True) as tls,
            tls.makefile("rb") as self.rfile,
            tls.makefile("wb", 0) as self.wfile,
        ):
            self.handle_one_request()
        self.rfile, self.wfile = outside

    def do_GET(self) -> None:
        self.close_connection = True
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = Asked(self.command, self.path, dict(self.headers), body)
        stage = self.server.stage
        answer = stage.answer(self.host, asked)
        with suppress(OSError):  # whoever asked may have gone
            _ACTS[answer.get("do", "answer")](self, answer, stage)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *args: object) -> None:
        pass


def _answer(handler: _Handler, answer: dict[str, Any], stage: Stage) -> None:
    data = answer["text"].encode() if "text" in answer else json.dumps(answer["body"]).encode()
    handler.send_response(answer["status"])
    headers = {"Content-Type": "application/json", **answer.get("headers", {})}
    for name, value in {**headers, "Content-Length": str(len(data))}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)


def _hint(handler: _Handler, answer: dict[str, Any], stage: Stage) -> None:
    hint = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
    for interim in (b"HTTP/1.1 100 Continue\r\n\r\n", *[hint] * answer["hints"]):
        handler.wfile.write(interim)
    _answer(
        handler,
        {"status": 201, "body": {"id": "r1", "receipt_url": "https://hub.acme.com/r/r1/"}},
        stage,
    )


def _break(handler: _Handler, answer: dict[str, Any], stage: Stage) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


def _cut(handler: _Handler, answer: dict[str, Any], stage: Stage) -> None:
    handler.wfile.write(b'HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{"id": "x')


def _hang(handler: _Handler, answer: dict[str, Any], stage: Stage) -> None:
    stage.over.wait(30)


def _answer_late(handler: _Handler, answer: dict[str, Any], stage: Stage) -> None:
    if stage.over.wait(30):
        _answer(handler, answer, stage)


def _answer_together(handler: _Handler, answer: dict[str, Any], stage: Stage) -> None:
    if stage.arrived.wait(30):
        _answer(handler, answer, stage)


def _drip(handler: _Handler, head: bytes, drop: bytes, stage: Stage) -> None:
    handler.wfile.write(head)
    while not stage.over.wait(0.05):
        handler.wfile.write(drop)


def _drip_body(handler: _Handler, answer: dict[str, Any], stage: Stage) -> None:
    _drip(handler, b"HTTP/1.1 201 Created\r\nContent-Length: 10000\r\n\r\n", b" ", stage)


def _drip_headers(handler: _Handler, answer: dict[str, Any], stage: Stage) -> None:
    _drip(handler, b"HTTP/1.1 201 Created\r\nX-Slow: ", b"x", stage)


def _flood(handler: _Handler, answer: dict[str, Any], stage: Stage) -> None:
    handler.wfile.write(b"HTTP/1.1 201 Created\r\n\r\n")
    while not stage.over.is_set():
        handler.wfile.write(b" " * 65536)


_ACTS = {
    "answer": _answer,
    "hint": _hint,
    "break": _break,
    "cut": _cut,
    "hang": _hang,
    "answer late": _answer_late,
    "answer together": _answer_together,
    "drip body": _drip_body,
    "drip headers": _drip_headers,
    "flood": _flood,
}
