"""Fetches public files from claimed hosts: the only module that opens a connection to them.

A host's owner decides what it answers, and where its name leads. So only https on port 443 is spoken,
only with public addresses, the name is looked up once and the connection made to that address. The
answer is bounded in bytes and in seconds, however slowly it comes.
"""

import http.client
import io
import socket
import ssl
import time
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple, TypeVar
from urllib.parse import urljoin, urlsplit

from orgs.domains import hosts, txt_records

T = TypeVar("T")

MAX_SECONDS = 5.0  # for one file, with its redirects
MAX_BYTES = 64 * 1024  # of a file
MAX_ANSWER = MAX_BYTES + 32 * 1024  # with its headers, and the sizes of its chunks
MAX_WIRE = 1024 * 1024  # with all that TLS adds, such as certificates
PIECE = 16 * 1024  # bytes that TLS gets at once
MAX_REDIRECTS = 3
MAX_URL = 2048
PORT = 443
ADDRESSES = 2  # of a host, are tried at most
REDIRECTS = {301, 302, 303, 307, 308}
USER_AGENT = "DocsFeedbackHub/1 (checks what a claimed site publishes)"


class NotFetched(Exception):
    """There is no answer that could be read. The message is the reason, as a part of a sentence."""


class Answer(NamedTuple):
    """What a host answered: the status of HTTP, and the text, at most `MAX_BYTES` of it."""

    status: int
    text: str


def fetch(url: str) -> Answer:
    """The answer at an https URL; redirects on the same host are followed. Raises `NotFetched`."""
    deadline = time.monotonic() + MAX_SECONDS
    host = _host(url)
    addresses = public_addresses(host, MAX_SECONDS)
    for _ in range(MAX_REDIRECTS + 1):
        response = _ask(host, addresses, url, deadline)
        if response.status not in REDIRECTS:
            return Answer(response.status, _text_of(response))
        url = _next(url, response.headers.get("Location", ""))
        if _host(url) != host:
            raise NotFetched("it leads to another host")
    raise NotFetched(f"it leads on more than {MAX_REDIRECTS} times")


def public_addresses(host: str, seconds: float) -> list[str]:
    """The public addresses of a host name. Raises `NotFetched` if it has none, or the DNS does not answer."""
    try:
        addresses = txt_records.Lookup(seconds=seconds).addresses(host)
    except txt_records.NotAnswered as error:
        raise NotFetched(f"the DNS does not answer for {host}: {error}") from None
    public = [each for each in addresses if txt_records.is_public(each)]
    if not public:
        raise NotFetched(f"{host} has no public address")
    return public[:ADDRESSES]


@cache
def trust(certificates: str | None = None) -> ssl.SSLContext:
    """Whose certificates are accepted: the system's, or those in a file.

    The host chooses how the keys are exchanged. So it is not offered Diffie-Hellman with a group of its own, which
    takes the cube of the group's length, 0.6 seconds at 10,000 bits, or to do it again and again.
    """
    context = ssl.create_default_context(cafile=certificates)
    offered = [each["name"] for each in context.get_ciphers() if each["kea"] == "kx-ecdhe"]
    context.set_ciphers(":".join(offered))  # of TLS 1.2; those of 1.3 stay, whose groups have names
    context.options |= ssl.OP_NO_RENEGOTIATION
    return context


def _next(url: str, location: str) -> str:
    """Where a redirect leads. Raises `NotFetched`."""
    try:
        return urljoin(url, location)
    except ValueError:
        raise NotFetched("it leads to an address that is not valid") from None


def _host(url: str) -> str:
    """The host of a URL that may be fetched. Raises `NotFetched`."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise NotFetched("it leads to an address that is not valid") from None
    if parts.scheme != "https" or port not in (None, 443) or parts.username is not None:
        raise NotFetched("it leads to an address that is not plain https")
    if len(url) > MAX_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise NotFetched("it leads to an address that is not valid")
    try:
        return hosts.normalize(parts.hostname or "")
    except ValueError:
        raise NotFetched("it leads to an address that is not valid") from None


def _ask(host: str, addresses: list[str], url: str, deadline: float) -> http.client.HTTPResponse:
    reason = NotFetched("no answer in time")
    for address in addresses:
        try:
            return _read(_exchange(host, address, url, deadline))
        except TimeoutError:
            reason = NotFetched("no answer in time")
        except ssl.SSLCertVerificationError as error:
            reason = NotFetched(f"its certificate is not valid ({error.verify_message})")
        except OSError:
            reason = NotFetched(f"{host} cannot be reached")
    raise reason


def _exchange(host: str, address: str, url: str, deadline: float) -> bytes:
    """All bytes of the answer to one GET, up to `MAX_ANSWER`."""
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    request = (
        f"GET {target} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {USER_AGENT}\r\n"
        "Accept: */*\r\nAccept-Encoding: identity\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection((address, PORT), timeout=_left(deadline)) as plain:
        connection = _TLSConnection(plain, host, deadline)
        connection.send(request.encode("ascii"))
        return connection.received()


class _TLSConnection:
    """TLS over a socket, until a deadline.

    OpenSSL itself reads a socket for as long as only that comes which it keeps to itself, such as session tickets.
    So here it never has the socket, only what was read from it.
    """

    def __init__(self, plain: socket.socket, host: str, deadline: float) -> None:
        self._plain, self._deadline = plain, deadline
        self._left = MAX_WIRE
        self._arrived, self._to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = trust().wrap_bio(self._arrived, self._to_send, server_hostname=host)
        self._do(self._tls.do_handshake)

    def send(self, data: bytes) -> None:
        """Send all of `data`."""
        self._do(partial(self._tls.write, data))

    def received(self) -> bytes:
        """What is sent until the other end closes, up to `MAX_ANSWER` bytes."""
        received = bytearray()
        while len(received) < MAX_ANSWER:
            try:
                piece = self._do(partial(self._tls.read, MAX_ANSWER - len(received)))
            except ssl.SSLEOFError:  # closed without a word, as many do
                break
            if not piece:
                break
            received += piece
        return bytes(received)

    def _do(self, step: Callable[[], T]) -> T:
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                self._flush()
                self._read()
            else:
                self._flush()
                return result

    def _flush(self) -> None:
        self._plain.settimeout(_left(self._deadline))
        self._plain.sendall(self._to_send.read())

    def _read(self) -> None:
        if not self._left:
            raise NotFetched(f"it sends more than {MAX_WIRE:,} bytes")
        self._plain.settimeout(_left(self._deadline))
        piece = self._plain.recv(min(PIECE, self._left))
        self._left -= len(piece)
        if piece:
            self._arrived.write(piece)
        else:
            self._arrived.write_eof()


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _Received(io.BytesIO):
    """Bytes that `http.client` reads as if they came from a socket."""

    def makefile(self, *_: object) -> io.BytesIO:
        return self


def _read(received: bytes) -> http.client.HTTPResponse:
    response = http.client.HTTPResponse(_Received(received), method="GET")  # type: ignore[arg-type]
    try:
        response.begin()
    except (http.client.HTTPException, ValueError):
        raise NotFetched("the answer is not HTTP") from None
    return response


def _text_of(response: http.client.HTTPResponse) -> str:
    try:
        body = response.read(MAX_BYTES + 1)
    except (http.client.HTTPException, ValueError):
        raise NotFetched("the answer is cut off") from None
    if len(body) > MAX_BYTES:
        raise NotFetched(f"it is longer than {MAX_BYTES:,} bytes")
    return body.decode("utf-8", "replace")
