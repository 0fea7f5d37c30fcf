"""The web server of a claimed host, on loopback and over TLS, with a certificate made at run time."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

HOST = "docs.acme.com"


class WebServer:
    """Answers a path with bytes, or does with the connection what a function does; notes each request."""

    def __init__(self) -> None:
        self.answers: dict[str, bytes | Callable[[ssl.SSLSocket], None]] = {}
        self.requests: list[bytes] = []
        self.port = 0
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.released = threading.Event()  # ends what holds a connection

    def says(self, path: str, body: str, *, status: str = "200 OK", headers: str = "") -> None:
        text = f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(body.encode())}\r\n\r\n{body}"
        self.answers[path] = text.encode()

    @contextmanager
    def serving(self, folder: Path) -> Iterator[None]:
        self.context.load_cert_chain(certificate(folder))
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        accepting = threading.Thread(target=self._accept, args=(listener,), daemon=True)
        accepting.start()
        yield
        self.released.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        accepting.join()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                plain, _ = listener.accept()
                threading.Thread(target=self._serve, args=(plain,), daemon=True).start()

    def _serve(self, plain: socket.socket) -> None:
        with suppress(OSError), plain, self.context.wrap_socket(plain, server_side=True) as one:
            request = b""
            while b"\r\n\r\n" not in request:
                request += one.recv(4096)
            self.requests.append(request)
            path = request.split(b" ")[1].decode()
            answer = self.answers.get(path, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            if callable(answer):
                answer(one)
            else:
                one.sendall(answer)


@cache
def certificate(folder: Path) -> Path:
    """A certificate for `HOST` with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path = folder / "certificate.pem"
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path
