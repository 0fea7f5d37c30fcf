"""Who is calling, as far as the network tells."""

import ipaddress
import logging
from functools import cache

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from core.rates import Limit

log = logging.getLogger(__name__)

UNKNOWN = "unknown"
WIDER = 10  # times as much for an IPv6 /48, in which one customer may have 65,536 networks


def client_address(request: HttpRequest) -> str:
    """The caller's network for rate limits: an IPv4 address, or the /64 of an IPv6 address.

    `X-Forwarded-For` is believed for the last `HUB_TRUSTED_PROXIES` hops only: whoever calls us
    directly may have written the rest. Where its hop is no address, this is who connected to us.
    """
    return _networks(request)[-1]


def widest(remote: str, forwarded: str | None) -> str:
    """The caller's network for what all share: an IPv4 address, or the /48 of an IPv6 address.

    `remote` is who connected to us, `forwarded` what `X-Forwarded-For` says.
    """
    return _networks_of(remote, forwarded)[0]


def source(address: str) -> str:
    """Whose network a report comes from, as a keyed hash of the day: 16 hex digits.

    `address` is what `client_address` gives. An IPv4 address stands for its /24, an IPv6 address for
    its /48, which one customer may have. Without the Hub's key nobody can find the network, and with
    the day nobody can follow it to another one.
    """
    neighbors = address
    if address != UNKNOWN:
        network = ipaddress.ip_network(address)
        neighbors = str(network.supernet(new_prefix=24 if network.version == 4 else 48))
    day = timezone.now().date().isoformat()
    return salted_hmac(f"source {day}", neighbors, algorithm="sha256").hexdigest()[:16]


def limits(request: HttpRequest, rate: str, *kind: str) -> list[Limit]:
    """`rate` for the caller, and more of it for the /48 around an IPv6 caller, the widest first.

    For `rates.check_all`; `kind` says what is counted.
    """
    *wide, own = _networks(request)
    return [
        *(Limit(rate, (*kind, network), times=WIDER) for network in wide),
        Limit(rate, (*kind, own)),
    ]


def _networks(request: HttpRequest) -> list[str]:
    return _networks_of(request.META.get("REMOTE_ADDR", ""), request.headers.get("X-Forwarded-For"))


def _networks_of(remote: str, forwarded: str | None) -> list[str]:
    """The widest first. UNKNOWN where nothing says who calls, as over a Unix socket."""
    ip = _ip(_hop(forwarded)) or _ip(remote)
    if ip is None:
        return [UNKNOWN]
    if isinstance(ip, ipaddress.IPv4Address):
        return [str(ip)]
    return [_prefix(ip, 48), _prefix(ip, 64)]


def _prefix(ip: ipaddress.IPv6Address, length: int) -> str:
    rest = 128 - length
    return f"{ipaddress.IPv6Address(int(ip) >> rest << rest)}/{length}"


def _hop(forwarded: str | None) -> str:
    """What the trusted proxies say; empty where there are none, or they say nothing."""
    if forwarded is None:
        return ""
    proxies = settings.HUB_TRUSTED_PROXIES
    if proxies <= 0:
        _warn_once()
        return ""
    hops = forwarded.rsplit(",", proxies)
    return hops[-proxies] if len(hops) >= proxies else hops[0]


def _ip(hop: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address in `192.0.2.1:1234`, `[2001:db8::1]:443`, `fe80::1%eth0`; None where there is none."""
    text = hop.strip(' \t"')
    if not text:
        return None
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        ip = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(ip, "ipv4_mapped", None) or ip


@cache
def _warn_once() -> None:
    """Once in the life of a process: anybody can send the header."""
    log.warning(
        "A request came with X-Forwarded-For, and HUB_TRUSTED_PROXIES is 0. If there is a proxy in "
        "front, all callers share its address and its limit: set HUB_TRUSTED_PROXIES to the number "
        "of proxies."
    )
