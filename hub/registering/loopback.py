"""The page with the button, served by the command itself on 127.0.0.1, for one answer."""

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.crypto import constant_time_compare

from hub.registering import manifest, pages

ADDRESS = "127.0.0.1"
BACK = "/created"
FILES = {"/look.css": "text/css; charset=utf-8", "/mark.svg": "image/svg+xml"}
PATIENCE = 10  # seconds for a request to arrive, and for the last page to leave
FETCHING = 60  # seconds until the page says how it ended


class Loopback(ThreadingHTTPServer):
    """Serves one page under a secret path, and waits for GitHub's code."""

    daemon_threads = True

    def __init__(self, port: int, wish: manifest.Wish) -> None:
        self.wish = wish
        self.token, self.state = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.code = ""
        self.has_code, self.has_ended, self.has_told = (threading.Event() for _ in range(3))
        self.is_done = False
        self._lock = threading.Lock()
        super().__init__((ADDRESS, port), Handler)

    def server_bind(self) -> None:
        """Bind without asking DNS for this machine's name, as the standard library would."""
        TCPServer.server_bind(self)

    @property
    def hosts(self) -> tuple[str, str]:
        """What a browser on this machine may call it; another name may be somebody else's."""
        port = self.server_address[1]
        return f"{ADDRESS}:{port}", f"localhost:{port}"

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{self.hosts[0]}/{self.token}/"

    def accept(self, code: str) -> bool:
        """Keep the code; False if there is one."""
        with self._lock:
            if self.code:
                return False
            self.code = code
        self.has_code.set()
        return True

    def end(self, *, is_done: bool) -> None:
        """Tell the page how it ended, and wait until that has left."""
        self.is_done = is_done
        self.has_ended.set()
        if self.code:
            self.has_told.wait(PATIENCE)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log nothing: a browser that gives up is no error."""


@contextmanager
def serving(server: Loopback) -> Iterator[Loopback]:
    """Serve while the block runs."""
    serve = partial(server.serve_forever, poll_interval=0.05)
    threading.Thread(target=serve, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class Handler(BaseHTTPRequestHandler):
    """Handles one request."""

    server: Loopback
    timeout = PATIENCE
    server_version, sys_version = "hub", ""

    def do_GET(self) -> None:
        """Answer with the page, the page after GitHub, or a file of the look."""
        path = urlsplit(self.path).path
        if self.headers.get("Host") not in self.server.hosts:
            self._send(421, "This address is for a browser on this machine only.")
        elif path in FILES:
            self._send(200, (settings.BASE_DIR / f"static{path}").read_text(), FILES[path])
        elif constant_time_compare(path, f"/{self.server.token}/"):
            back = f"http://{self.server.hosts[0]}{BACK}"
            context = manifest.page(self.server.wish, redirect_url=back, state=self.server.state)
            self._page(200, context)
        elif path == BACK:
            self._answered()
        else:
            self._send(404, "There is nothing at this URL.")

    def _answered(self) -> None:
        """Hand over GitHub's code, wait for the command, and show how it ended."""
        sent = parse_qs(urlsplit(self.path).query)
        code = sent.get("code", [""])[0]
        if not constant_time_compare(sent.get("state", [""])[0], self.server.state):
            self._refuse(pages.FROM_ELSEWHERE)
        elif not pages.CODE.fullmatch(code):
            self._refuse(pages.NO_CODE)
        elif not self.server.accept(code):
            self._refuse(pages.TOO_LATE)
        else:
            self._tell()

    def _tell(self) -> None:
        try:
            self.server.has_ended.wait(FETCHING)
            if self.server.is_done:
                self._page(200, {"is_done": True})
            else:
                self._refuse("The command in your terminal says why, and what to do.")
        finally:
            self.server.has_told.set()

    def _refuse(self, why: str) -> None:
        self._page(400, {"why": why, "apps_url": manifest.apps_url(self.server.wish)})

    def _page(self, status: int, context: dict[str, Any]) -> None:
        html = "text/html; charset=utf-8"
        self._send(status, render_to_string("registering/loopback.html", context), html)

    def _send(self, status: int, text: str, kind: str = "text/plain; charset=utf-8") -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        kept = "max-age=600" if urlsplit(self.path).path in FILES else "no-store"
        self.send_header("Cache-Control", kept)
        self.send_header("Referrer-Policy", "strict-origin")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header(
            "Content-Security-Policy",
            "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; "
            f"frame-ancestors 'none'; form-action {settings.HUB_GITHUB_URL}",
        )
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Nothing: the address is a secret."""
