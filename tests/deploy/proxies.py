"""The proxies of `deploy/`, with the files that are shipped, at ports of loopback and with a certificate made here."""

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from http.client import HTTPResponse
from pathlib import Path

import pytest

from tests.hub_process import ROOT, free_port
from tests.waiting import wait_until
from tests.web_server import HOST, certificate

DEPLOY = ROOT / "deploy"
SHIPPED_PORTS = (8000, 8001)  # of the Hub's servers


class Proxy:
    """Starts the proxy before these ports of the Hub's servers, and ends it when the block is left."""

    program: str
    shipped: str  # its file, below deploy/
    where = "/usr/sbin"  # the program, if not on the path

    def __init__(self, folder: Path, servers: Sequence[int]) -> None:
        self.folder = folder
        self.servers = servers
        self.port = free_port()
        self.log = folder / "log"

    def __enter__(self) -> "Proxy":
        found = shutil.which(self.program, path=f"{os.environ['PATH']}:{self.where}")
        if not found:
            name = self.program
            pytest.skip(f"NO {name.upper()}: its file was not tested (apt install {name})")
        text = (DEPLOY / self.shipped).read_text()
        file = self.folder / Path(self.shipped).name
        file.write_text(self.adapted(text))
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [found, *self.arguments(file)],
                cwd=self.folder,
                env={"HOME": str(self.folder)},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        assert wait_until(self._listens, 30), self.log.read_text()
        return self

    def __exit__(self, *args: object) -> None:
        self.process.terminate()
        self.process.wait(30)

    def _listens(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False

    def adapted(self, text: str) -> str:
        """What is shipped, with these ports and this certificate, and all else as it is."""
        raise NotImplementedError

    def arguments(self, file: Path) -> list[str]:
        raise NotImplementedError

    @cached_property
    def certificate(self) -> Path:
        return certificate(self.folder)

    def put(self, text: str, *changes: tuple[str, str]) -> str:
        """Put other text for what is found exactly once; each change is a pattern and the new text."""
        for pattern, new in changes:
            text, times = re.subn(pattern, new, text, flags=re.MULTILINE)
            assert times == 1, f"{pattern!r} is {times} times in {self.shipped}"
        for shipped, port in zip(SHIPPED_PORTS, self.servers, strict=True):
            text = text.replace(f"127.0.0.1:{shipped}", f"127.0.0.1:{port}")
        return text

    @contextmanager
    def connection(
        self, address: str = "127.0.0.1", protocols: Sequence[str] = ()
    ) -> Iterator[ssl.SSLSocket]:
        """A connection over TLS from this address of loopback."""
        context = ssl.create_default_context(cafile=str(self.certificate))
        if protocols:
            context.set_alpn_protocols(list(protocols))
        # Wrapped first: `wrap_socket` leaves one open that was reset after it had been connected.
        with context.wrap_socket(socket.socket(), server_hostname=HOST) as secure:
            secure.settimeout(30)
            secure.bind((address, 0))
            secure.connect(("127.0.0.1", self.port))
            yield secure

    def ask(self, request: bytes, address: str = "127.0.0.1") -> tuple[int, bytes]:
        """Status and body of the answer to these very bytes; status 0 if there is none."""
        with self.connection(address) as connection:
            with suppress(OSError):  # it may answer before it has read all
                connection.sendall(request)
            answer = HTTPResponse(connection)  # type: ignore[arg-type]
            try:
                answer.begin()
                return answer.status, answer.read()
            except OSError:
                return 0, b""

    def report(
        self, fields: dict[str, object], address: str = "127.0.0.1", headers: str = ""
    ) -> tuple[int, bytes]:
        body = json.dumps(fields).encode()
        head = (
            f"POST /v1/reports HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n{headers}\r\n"
        )
        return self.ask(head.encode() + body, address)


class Caddy(Proxy):
    program = "caddy"
    shipped = "caddy/Caddyfile"
    where = str(Path(sys.executable).parent)

    def adapted(self, text: str) -> str:
        of_tests = (
            f"admin off\n\tauto_https off\n\tdefault_bind 127.0.0.1\n\thttps_port {self.port}\n"
        )
        return self.put(
            text,
            (r"\A\{\n", f"{{\n\t{of_tests}"),
            (
                r"^\{\$HUB_NAME.*\{$",
                f"https://{HOST}:{self.port} {{\n\ttls {self.certificate} {self.certificate}\n",
            ),
        )

    def arguments(self, file: Path) -> list[str]:
        return ["run", "--config", str(file), "--adapter", "caddyfile"]


class Nginx(Proxy):
    program = "nginx"
    shipped = "nginx/hub.conf"

    def adapted(self, text: str) -> str:
        text = text.replace("syslog:server=unix:/dev/log,nohostname", "stderr")
        mine = self.put(
            text.replace("hub.example.com", HOST),
            (r"^    listen 80;$", f"    listen 127.0.0.1:{free_port()};"),
            (r"^    listen \[::\]:80;$", ""),
            (r"^    listen 443 ssl", f"    listen 127.0.0.1:{self.port} ssl"),
            (r"^    listen \[::\]:443 ssl.*;$", ""),
            (r"^    ssl_certificate .*$", f"    ssl_certificate {self.certificate};"),
            (r"^    ssl_certificate_key .*$", f"    ssl_certificate_key {self.certificate};"),
        )
        kept = "".join(
            f"{each}_temp_path {self.folder}/{each};\n"
            for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        return (
            f"daemon off; master_process off; pid {self.folder}/pid; error_log stderr error;\n"
            f"events {{ worker_connections 1000; }}\nhttp {{\n{kept}{mine}}}\n"
        )

    def arguments(self, file: Path) -> list[str]:
        return ["-c", str(file), "-p", str(self.folder), "-e", "stderr"]


class HAProxy(Proxy):
    program = "haproxy"
    shipped = "haproxy/haproxy.cfg"

    def adapted(self, text: str) -> str:
        return self.put(
            text,
            (r"^    bind :::80 v4v6$", f"    bind 127.0.0.1:{free_port()}"),
            (
                r"^    bind :::443 v4v6 ssl crt \S+ ",
                f"    bind 127.0.0.1:{self.port} ssl crt {self.certificate} ",
            ),
        )

    def arguments(self, file: Path) -> list[str]:
        return ["-f", str(file), "-db"]


PROXIES = (Nginx, Caddy, HAProxy)
