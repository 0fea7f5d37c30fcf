"""A request as a WSGI environ (PEP 3333)."""

import re
import sys
from functools import lru_cache
from io import BytesIO
from typing import Any
from urllib.parse import unquote_to_bytes

from hub.server.asgi import Scope

ALWAYS = {
    "SCRIPT_NAME": "",
    "wsgi.errors": sys.stderr,
    "wsgi.multiprocess": True,
    "wsgi.multithread": True,
    "wsgi.run_once": False,
    "wsgi.version": (1, 0),
}
WITHOUT_PREFIX = {"CONTENT_LENGTH", "CONTENT_TYPE"}
COOKIE = re.compile(
    r"[ \t]*[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*="
)  # a name is a token: RFC 6265, 4.1.1


def of(scope: Scope, body: bytes) -> dict[str, Any]:
    """The environ of the request; its text is bytes decoded as Latin-1, as the PEP requires."""
    server, port = scope["server"]
    return {
        **ALWAYS,
        **_headers(scope),
        "REQUEST_METHOD": scope["method"],
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "REMOTE_ADDR": scope["client"][0],
        "SERVER_NAME": server,
        "SERVER_PORT": port,
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "wsgi.input": BytesIO(body),
        "wsgi.url_scheme": scope["scheme"],
    }


def _headers(scope: Scope) -> dict[str, str]:
    """Headers, repeated ones joined. `X_Name` is left out, because it would look like `X-Name`."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        if b"_" in raw_name:
            continue
        name, value = _name(raw_name), raw_value.decode("latin-1")
        if name in headers:
            value = f"{headers[name]}{'; ' if name == 'HTTP_COOKIE' else ','}{value}"
        headers[name] = value
    if "HTTP_COOKIE" in headers:
        headers["HTTP_COOKIE"] = _with_proper_names(headers["HTTP_COOKIE"])
    return headers


def _with_proper_names(cookies: str) -> str:
    """The cookies without those whose name is no token.

    Django strips every kind of space from a name. Browsers do not, so another host of the domain can set
    a `__Host-session` with one before it, which would count as ours.
    """
    return ";".join(each for each in cookies.split(";") if COOKIE.match(each))


@lru_cache(128)
def _name(raw_name: bytes) -> str:
    name = raw_name.decode("latin-1").upper().replace("-", "_")
    return name if name in WITHOUT_PREFIX else f"HTTP_{name}"
