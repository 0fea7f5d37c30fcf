"""What happens to a connection, as `requests` tells it."""

from requests import ConnectionError as Broken
from requests import ConnectTimeout, ReadTimeout
from requests.exceptions import ChunkedEncodingError, SSLError
from urllib3.connection import HTTPSConnection
from urllib3.exceptions import (
    MaxRetryError,
    NameResolutionError,
    NewConnectionError,
    ProtocolError,
)

_to = HTTPSConnection("api.github.com")


def _gave_up(reason: Exception) -> Broken:
    return Broken(MaxRetryError(None, "/", reason))


NEVER_CONNECTED = {
    "nobody listens": _gave_up(NewConnectionError(_to, "refused")),
    "no such name": _gave_up(NameResolutionError("api.github.com", _to, OSError("unknown"))),
    "no connection in time": ConnectTimeout("no connection in 5 seconds"),
}
LOST = {
    "no answer in time": ReadTimeout("nothing was read in 5 seconds"),
    "reset": Broken(ProtocolError("Connection aborted.", ConnectionResetError(104, "reset"))),
    "closed without a byte": Broken(ProtocolError("Connection aborted.")),
    "given up after the first byte": _gave_up(ProtocolError("Connection aborted.")),
    "reset in the middle of the answer": ChunkedEncodingError("104 bytes read, 300 expected"),
    "broken TLS": SSLError("bad record"),
}
