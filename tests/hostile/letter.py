"""A request before and after something is wrong with it."""

from typing import NamedTuple

Headers = list[tuple[bytes, bytes]]


class Letter(NamedTuple):
    """What a well-behaved client would send, but for the parts that a row of the table replaces."""

    method: bytes
    path: bytes
    headers: Headers
    kind: bytes
    body: bytes = b""
    query: bytes = b""
    version: bytes = b"HTTP/1.1"

    @property
    def target(self) -> bytes:
        return self.path + (b"?" + self.query if self.query else b"")

    def line(self) -> bytes:
        return b" ".join([self.method, self.target, self.version]) + b"\r\n"

    def written(
        self,
        *,
        line: bytes | None = None,
        framing: bytes | None = None,
        kind: bytes | None = None,
        more: bytes = b"",
        host: bytes = b"Host: 127.0.0.1\r\n",
    ) -> bytes:
        """Its bytes. `framing` is in the place of the line that tells its length, `more` after all headers."""
        if framing is None:
            framing = b"Content-Length: %d\r\n" % len(self.body) if self._has_length() else b""
        said = self.kind if kind is None else kind
        typed = b"Content-Type: %s\r\n" % said if said and (self.body or framing) else b""
        known = b"".join(b"%s: %s\r\n" % each for each in self.headers)
        head = [self.line() if line is None else line, host, b"Connection: close\r\n", known]
        return b"".join([*head, typed, framing, more, b"\r\n", self.body])

    def _has_length(self) -> bool:
        return bool(self.body) or self.method not in (b"GET", b"HEAD", b"OPTIONS", b"DELETE")
