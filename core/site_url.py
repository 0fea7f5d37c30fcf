"""The address of a site in the settings: one spelling for each, since it is compared with what browsers send.

Nothing of Django is imported here, because the settings import this.
"""

import re
from ipaddress import IPv6Address
from urllib.parse import SplitResult, urlsplit

import idna

HOST = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
PORTS = {"http": 80, "https": 443}  # which browsers leave out


def normalized(url: str) -> str:
    """Scheme, host and port, without a slash at the end: lower case, punycode, no default port.

    Raises `ValueError` for what is no address with `http` or `https`, or has more than these.

    >>> normalized("HTTPS://Hub.Example.com:443/")
    'https://hub.example.com'
    """
    parts = urlsplit(url.strip())
    host, port = _host(parts), parts.port
    more = parts.path.strip("/"), parts.query, parts.fragment, "@" in parts.netloc
    if parts.scheme not in PORTS or port == 0 or any(more):
        raise ValueError("not only a scheme, a host and a port")
    return f"{parts.scheme}://{host}" + (
        f":{port}" if port not in (None, PORTS[parts.scheme]) else ""
    )


def _host(parts: SplitResult) -> str:
    name = parts.hostname or ""
    if "[" in parts.netloc:
        return f"[{IPv6Address(name.replace('%', ' '))}]"  # none of this machine's links
    if not name.isascii():
        name = idna.encode(name, uts46=True).decode()
    name = name.removesuffix(".")
    if not HOST.fullmatch(name):
        raise ValueError("not a host")
    return name
