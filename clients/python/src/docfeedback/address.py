"""The address check: only public https pages, however they are written, and paths in a repository.

It has its own parser, and refuses what standard parsers would repair: two parsers that disagree
about a URL are how private hosts get reached. The Node package uses the same steps;
`contract/addresses.json` holds the lists.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from functools import lru_cache
from typing import Dict, List, NamedTuple, Optional, Pattern, Union

from .contract import message, table
from .errors import DocFeedbackError, PrivateAddress, ValidationError
from .visible import INVISIBLE

MAX_NAME = 253  # RFC 1035, without the trailing dot
MAX_WRITTEN = 4 * (MAX_NAME + 1)  # NFKC makes one character of four at most

Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]

FORBIDDEN = re.compile(rf"[{INVISIBLE} \\]")
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
AUTHORITY = re.compile(r"//([^/?#]+)([^#]*)(?:#.*)?", re.DOTALL)
IN_BRACKETS = re.compile(r"\[[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*\]")
HOST_AND_PORT = re.compile(rf"({IN_BRACKETS.pattern}|[^\[\]:]+)(?::([0-9]{{1,5}}))?")
LABEL = re.compile(r"[a-z0-9_\x80-\U0010ffff-]{1,63}")
LOOPBACK = re.compile(
    r"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/].*)?", re.ASCII | re.IGNORECASE
)
NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
OLD_NUMBER = re.compile(r"0x[0-9a-f]+|0[0-7]*|[1-9][0-9]*")
DOTTED_QUAD = re.compile(r"(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})")
HOST_WITHOUT_SCHEME = re.compile(
    r"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,63}(?::[0-9]+)?(?=[/?#])"
    r"|(?:www\.[a-z0-9.-]+|[a-z0-9.-]+\.(?:com|org|net|io|dev|app))(?![^/?#])",
    re.ASCII | re.IGNORECASE,
)


class Page(NamedTuple):
    """A place on the web.

    `host` is in lower case without a trailing dot; `port` is None for the default port; `rest` is the
    path and query.
    """

    scheme: str
    host: str
    port: Optional[int]
    rest: str

    @property
    def origin(self) -> str:
        """For example `https://docs.example.com:8443`."""
        return f"{self.scheme}://{self.host}" + ("" if self.port is None else f":{self.port}")

    def ascii_url(self) -> Optional[str]:
        """The whole URL as HTTP sends it; None if it cannot be written so."""
        host = ascii_host(self.host)
        url = self._replace(host=host or "").origin + self.rest
        return url if host and url.isascii() else None


class Refused(Exception):
    """Why an address is refused: `code` is its message in `messages.json`."""

    def __init__(self, code: str, host: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.host = host


def check(doc_url: str, allow_private: bool = False) -> Optional[Page]:
    """The page's place on the web; None for a path in a repository.

    Raises ValidationError for what is not an address, PrivateAddress for one that is refused.
    """
    try:
        page = parse(doc_url)
        if page is not None and not allow_private:
            judge(page)
        return page
    except Refused as refused:
        raise _error(refused, doc_url) from None


def parse(doc_url: str) -> Optional[Page]:
    """The parts of the address; None for a path in a repository. Raises Refused."""
    if not doc_url or FORBIDDEN.search(doc_url) or doc_url.startswith("//"):
        raise Refused("malformed")
    if HOST_WITHOUT_SCHEME.match(doc_url):
        raise Refused("no_scheme")
    scheme = SCHEME.fullmatch(doc_url)
    if scheme is None:
        _judge_path(doc_url)
        return None
    if scheme[1].lower() not in ("https", "http"):
        raise Refused("scheme")
    authority = AUTHORITY.fullmatch(scheme[2])
    if authority is None:
        raise Refused("malformed")
    if "@" in authority[1]:
        raise Refused("credentials")
    host_and_port = HOST_AND_PORT.fullmatch(authority[1])
    if host_and_port is None or int(host_and_port[2] or 0) > 65535:
        raise Refused("malformed")
    port = int(host_and_port[2]) if host_and_port[2] else None
    return Page(scheme[1].lower(), _host(host_and_port[1]), port, authority[2])


def judge(page: Page) -> None:
    """Raise Refused unless the page is https on a public host, as far as its name tells."""
    labels = page.host.split(".")
    if page.scheme != "https":
        raise Refused("not_https")
    if page.host.startswith("[") or NUMBER.fullmatch(labels[-1]):
        if not is_public_ip(page.host.strip("[]")):
            raise Refused("private_ip", page.host)
    elif len(labels) == 1 and labels[0] not in table("addresses.json")["private_suffixes"]:
        raise Refused("single_label", page.host)
    elif labels[-1] in table("addresses.json")["private_suffixes"]:
        raise Refused("private_name", page.host)


def host_note(page: Optional[Page]) -> str:
    """A sentence with the host as DNS knows it, where that is not in ASCII: others may look like it. Else empty."""
    host = None if page is None or page.host.isascii() else ascii_host(page.host)
    return message("host_note", host=host) if host else ""


def is_loopback(url: str) -> bool:
    """Whether the URL is on this machine, so that nothing is sent over a network."""
    return bool(LOOPBACK.fullmatch(url))


def is_public_ip(text: str) -> bool:
    """Whether `text` is an IP address, in its plain form, that anybody can reach."""
    try:
        ip = ipaddress.ip_address(text)
    except ValueError:
        return False
    networks = _networks()
    if ip.version == 4:
        return bool(DOTTED_QUAD.fullmatch(text)) and not _within(ip, networks["private_ipv4"])
    if "." in text or "%" in text:
        return False
    return _within(ip, networks["public_ipv6"]) and not _within(ip, networks["private_ipv6"])


def ascii_host(text: str) -> Optional[str]:
    """A host as DNS knows it; None if it is not valid. UTS 46, non-transitional, so that ß stays itself."""
    try:
        labels = [
            label if label.isascii() else "xn--" + label.encode("punycode").decode()
            for label in _host(text).split(".")
        ]
    except Refused:
        return None
    return ".".join(labels) if max(map(len, labels)) <= 63 else None


def _judge_path(doc_url: str) -> None:
    """Refuse a path whose first part is a host and port, this machine or a private host."""
    first = re.split("[/?#]", doc_url)[0]
    if ":" in first:
        raise Refused("scheme")
    host = _spelling(first)
    if host == "localhost" or DOTTED_QUAD.fullmatch(host):
        raise Refused("private_ip", host)
    name, _, suffix = host.rpartition(".")
    if name and suffix in table("addresses.json")["private_suffixes"]:
        raise Refused("no_scheme")
    number = _old_ip(host)
    if number is not None and _within(ipaddress.IPv4Address(number), _networks()["private_ipv4"]):
        raise Refused("no_scheme")


def _old_ip(text: str) -> Optional[int]:
    """The IPv4 address that C's `inet_aton` reads (`127.1`, `0x7f.1`), or None.

    None too below 1.0.0.0, where the names of folders are, such as `2024`.
    """
    parts = text.split(".")
    if len(text) > 64 or not all(OLD_NUMBER.fullmatch(part) for part in parts):
        return None
    *octets, last = (int(part, _base(part)) for part in parts)
    if len(octets) > 3 or max(octets, default=0) > 255 or last >= 256 ** (4 - len(octets)):
        return None
    number = last + sum(octet << 24 - 8 * place for place, octet in enumerate(octets))
    return number if number >= 1 << 24 else None


def _base(number: str) -> int:
    if number.startswith("0x"):
        return 16
    return 8 if number.startswith("0") else 10


def _host(text: str) -> str:
    """The host in one spelling, or Refused."""
    if len(text) <= MAX_NAME and IN_BRACKETS.fullmatch(text):
        return text.lower()
    host = _spelling(text)
    if len(host) > MAX_NAME or FORBIDDEN.search(host) or _unclear().search(text):
        raise Refused("malformed")
    if not all(LABEL.fullmatch(label) for label in host.split(".")):
        raise Refused("malformed")
    return host


def _spelling(text: str) -> str:
    """NFKC, each letter in lower case, ASCII dots, no trailing dot. Raises Refused for what is too long.

    The length comes first: NFKC of heaped marks takes time that grows with its square. NFC comes last: a small
    letter may be one with its mark where the capital is not.
    """
    if len(text) > MAX_WRITTEN:
        raise Refused("malformed")
    letters = (letter.lower() for letter in unicodedata.normalize("NFKC", text))
    host = unicodedata.normalize("NFC", "".join(letters)).replace("\u3002", ".")
    return host[:-1] if host.endswith(".") else host


def _within(
    ip: Union[ipaddress.IPv4Address, ipaddress.IPv6Address], networks: List[Network]
) -> bool:
    return any(ip in network for network in networks)


@lru_cache(maxsize=None)
def _networks() -> Dict[str, List[Network]]:
    return {
        name: [ipaddress.ip_network(network) for network in networks]
        for name, networks in table("addresses.json").items()
        if name.startswith(("private_ip", "public_ip"))
    }


@lru_cache(maxsize=None)
def _unclear() -> Pattern[str]:
    """A letter of which NFKC and lower case make another one than UTS 46 does: another host."""
    ranges = [each.split("-") for each in table("addresses.json")["unclear_letters"]]
    return re.compile(f"[{''.join(f'{_letter(each[0])}-{_letter(each[-1])}' for each in ranges)}]")


def _letter(number: str) -> str:
    return chr(int(number, 16))


def _error(refused: Refused, doc_url: str) -> DocFeedbackError:
    sentence = message(refused.code, host=refused.host, url=doc_url)
    fields = {"reason": refused.code}
    if refused.code in ("malformed", "no_scheme"):
        return ValidationError("invalid_doc_url", sentence, fields=fields)
    return PrivateAddress("private_address", sentence, fields=fields)
