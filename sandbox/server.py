"""The sandbox on a loopback port: reads requests, sends responses, and spoils them if told to."""

import os
import socket
import struct
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import AddressValueError, IPv4Address
from socketserver import TCPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .faults import Fault, Wire
from .messages import Request

if TYPE_CHECKING:
    from .host import CodeHost

LARGEST_BODY = 1024 * 1024
WHOLE = Fault()


class Server(ThreadingHTTPServer):
    """The HTTP server."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: str, port: int, host: "CodeHost") -> None:
        self.code_host = host
        self.stopping = threading.Event()
        self._connections: set[socket.socket] = set()
        super().__init__((loopback(address), port), Handler)
        self._thread = threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """The URL of the server."""
        address, port = self.server_address[:2]
        return f"http://{address!s}:{port}"

    def stop(self) -> None:
        """End everything at once: waiting handlers wake up, open connections are cut."""
        self.stopping.set()
        self.shutdown()
        self.server_close()
        self._thread.join()
        for connection in list(self._connections):
            cut(connection)

    def server_bind(self) -> None:
        """Bind without asking DNS for this machine's name, as the standard library would."""
        TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection, so that `stop` can cut it."""
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection."""
        self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log nothing when a client gives up."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def loopback(address: str) -> str:
    """The address, if it is a loopback one; else raises ValueError."""
    try:
        if IPv4Address("127.0.0.1" if address == "localhost" else address).is_loopback:
            return address
    except AddressValueError:
        pass
    raise ValueError(f"The sandbox serves this machine alone, on 127.0.0.1, never on {address!r}.")


def cut(connection: socket.socket) -> None:
    """Close a connection at once."""
    with suppress(OSError):  # The client was faster.
        connection.shutdown(socket.SHUT_RDWR)


class Handler(BaseHTTPRequestHandler):
    """Handles the requests of one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def answer(self) -> None:
        """Read a request, and send its response as its fault says."""
        request = self._read()
        if request is None:
            return
        host, stopping = self.server.code_host, self.server.stopping
        response, fault = host.answer(request)
        if stopping.wait(fault.delay) or response is None or fault.wire is Wire.NOTHING:
            self.close_connection = True
            return
        head, body = response.encoded(host.now())
        if fault.wire is Wire.WHOLE:
            self.wfile.write(head + body)
        elif fault.wire is Wire.DRIP:
            self._drip(head + body, fault.pace)
        else:
            self._break_off(head + body[: len(body) // 2], reset=fault.wire is Wire.HALF_THEN_RESET)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815

    def _read(self) -> Request | None:
        """The request; None after sending an error if its body cannot be read."""
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not length.isdecimal():
            self.send_error(411)
            return None
        if len(length) > len(str(LARGEST_BODY)) or int(length) > LARGEST_BODY:
            self.send_error(413)
            return None
        target = urlsplit(self.path)
        body = self.rfile.read(int(length))
        return Request(self.command, target.path, target.query, self.headers, body)

    def _drip(self, data: bytes, pace: float) -> None:
        for byte in data:
            self.wfile.write(bytes([byte]))
            if self.server.stopping.wait(pace):
                break

    def _break_off(self, data: bytes, *, reset: bool) -> None:
        self.wfile.write(data)
        self.close_connection = True
        if reset:
            at_once = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
            os.close(self.connection.detach())

    def log_message(self, *args: Any) -> None:
        """`CodeHost.requests` is the log."""
