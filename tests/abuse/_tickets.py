"""A web server that ends its TLS 1.3 handshake, and then sends session tickets without end.

OpenSSL makes them one by one; here a record full of them is encrypted as fast as the processor can (RFC 8446, 4.6.1,
5.2 and 7.3).
"""

import socket
import ssl
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

TICKET = b"\x04\x00\x00\x0f" + struct.pack("!IIBBHBH", 7200, 0, 1, 0, 1, 0, 0)
MANY = TICKET * (16_000 // len(TICKET)) + b"\x16"  # which is what the record holds
HEAD = b"\x17\x03\x03" + struct.pack("!H", len(MANY) + 16)


@contextmanager
def without_end(certificate: Path, folder: Path, seconds: float) -> Iterator[int]:
    """Serves on a port of loopback, each connection for so long."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with suppress(OSError):
                for number in count():
                    plain, _ = listener.accept()
                    given = (plain, certificate, folder / f"keys-{number}", seconds)
                    threading.Thread(target=_flood, args=given, daemon=True).start()

        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        accepting.join()


def _flood(plain: socket.socket, certificate: Path, keys: Path, seconds: float) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.num_tickets = 0
    context.keylog_filename = str(keys)
    until = time.monotonic() + seconds
    with (
        suppress(OSError),
        plain,
        plain.dup() as below,
        context.wrap_socket(plain, server_side=True),
    ):
        [secret] = (
            bytes.fromhex(each.split()[2])
            for each in keys.read_text().splitlines()
            if each.startswith("SERVER_TRAFFIC_SECRET_0")
        )
        cipher, first = AESGCM(_expanded(secret, b"key", 32)), _expanded(secret, b"iv", 12)
        for number in count():
            nonce = int.from_bytes(first, "big") ^ number
            below.sendall(HEAD + cipher.encrypt(nonce.to_bytes(12, "big"), MANY, HEAD))
            if time.monotonic() > until:
                break


def _expanded(secret: bytes, label: bytes, length: int) -> bytes:
    full = b"tls13 " + label
    info = struct.pack("!HB", length, len(full)) + full + b"\0"
    return HKDFExpand(hashes.SHA384(), length, info).derive(secret)
