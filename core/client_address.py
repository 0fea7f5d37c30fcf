"""The caller's network address, for rate limits and for the source of a report."""

import ipaddress
import logging
from fractions import Fraction
from functools import cache, lru_cache

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from core import keys
from core.rates import Limit

log = logging.getLogger(__name__)

UNKNOWN = "unknown"
LONGEST = 100  # characters of an address, with port and zone
REMEMBERED = 4096  # addresses
TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")  # IPv4 callers where only IPv6 is: RFC 6052
WIDER = 10  # times as much for an IPv6 /48, in which one customer may have 65,536 networks
SHARE = Fraction(1, 10)  # of a limit that all share, for one network


def client_address(request: HttpRequest) -> str:
    """The caller's network for rate limits: an IPv4 address, or the /64 of an IPv6 address.

    Only the last `HUB_TRUSTED_PROXIES` hops of `X-Forwarded-For` are trusted, because a caller can write
    the others. If the trusted hop is not an IP address, the address that connected to us counts.
    """
    return _networks(request)[-1]


def network(remote: str, forwarded: str | None) -> str:
    """The caller's network for what all share: the /24 of an IPv4 address, or the /48 of an IPv6 address.

    One customer may have so many addresses. `remote` is the address that connected to us; `forwarded` is the
    `X-Forwarded-For` header.
    """
    return _with_neighbors(_networks_of(remote, forwarded)[0])


def network_of(request: HttpRequest) -> str:
    """The caller's network for what all share, as `network`."""
    return network(request.META.get("REMOTE_ADDR", ""), request.META.get("HTTP_X_FORWARDED_FOR"))


def source(address: str) -> str:
    """The network that a report comes from, as a keyed hash that changes daily: 16 hex digits.

    `address` is a result of `client_address`. An IPv4 address counts as its /24 and an IPv6 address as
    its /48, which one customer may have. Without the Hub's key nobody can find the network, and nobody
    can follow it from one day to the next.
    """
    return _hashed(_with_neighbors(address), timezone.now().date().isoformat())


def source_of_organization(organization: str) -> str:
    """What an organization sends to itself, which comes from no network: like one of its own."""
    return _hashed(f"organization {organization}", timezone.now().date().isoformat())


@lru_cache(REMEMBERED)
def _hashed(neighbors: str, day: str) -> str:
    salt = f"source {day}"
    return salted_hmac(salt, neighbors, secret=keys.lasting(), algorithm="sha256").hexdigest()[:16]


@lru_cache(REMEMBERED)
def _with_neighbors(network: str) -> str:
    if "." in network:  # IPv4
        return f"{network.rpartition('.')[0]}.0/24"
    if network == UNKNOWN:
        return network
    return str(ipaddress.IPv6Network(network).supernet(new_prefix=48))


def limits(request: HttpRequest, rate: str, *kind: str) -> list[Limit]:
    """Limits for `rates.check_all`: `rate` for the caller, and ten times as much for an IPv6 caller's /48.

    `kind` names what is counted.
    """
    *wide, own = _networks(request)
    return [
        *(Limit(rate, (*kind, network), times=WIDER) for network in wide),
        Limit(rate, (*kind, own)),
    ]


def limits_with_neighbors(request: HttpRequest, rate: str, *kind: str) -> list[Limit]:
    """As `limits`, and ten times as much also for an IPv4 caller's /24."""
    own, network = client_address(request), network_of(request)
    return [Limit(rate, (*kind, network), times=WIDER), Limit(rate, (*kind, own))]


def with_share(
    rate: str, key: tuple[str, ...], network: str, *, times: int | Fraction = 1
) -> list[Limit]:
    """A limit, and the share that one network has in it, so that it cannot use it up for everybody else."""
    return [Limit(rate, key, times), Limit(rate, (*key, network), times * SHARE)]


def _networks(request: HttpRequest) -> list[str]:
    sent = request.META
    return _networks_of(sent.get("REMOTE_ADDR", ""), sent.get("HTTP_X_FORWARDED_FOR"))


def _networks_of(remote: str, forwarded: str | None) -> list[str]:
    """The widest first. `UNKNOWN` if nothing tells the address, as with a Unix socket."""
    named = forwarded and _networks_at(_hop(forwarded))
    return named or _networks_at(remote) or [UNKNOWN]


def _networks_at(hop: str) -> list[str]:
    return _parsed(hop) if len(hop) <= LONGEST else []


@lru_cache(REMEMBERED)
def _parsed(hop: str) -> list[str]:
    ip = _ip(hop)
    if ip is None:
        return []
    if isinstance(ip, ipaddress.IPv4Address):
        return [str(ip)]
    return [_prefix(ip, 48), _prefix(ip, 64)]


def _prefix(ip: ipaddress.IPv6Address, length: int) -> str:
    rest = 128 - length
    return f"{ipaddress.IPv6Address(int(ip) >> rest << rest)}/{length}"


def _hop(forwarded: str) -> str:
    """The address that the trusted proxies name; empty if there are no such proxies or they name none."""
    proxies = settings.HUB_TRUSTED_PROXIES
    if proxies <= 0:
        _warn_once()
        return ""
    hops = forwarded.rsplit(",", proxies)
    return hops[-proxies] if len(hops) >= proxies else hops[0]


def _ip(hop: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address in `192.0.2.1:1234`, `[2001:db8::1]:443` or `fe80::1%eth0`; None if it has none."""
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
    if ip in TRANSLATED:
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return getattr(ip, "ipv4_mapped", None) or ip


@cache
def _warn_once() -> None:
    """Once per process, because anybody can send the header."""
    log.warning(
        "A request has X-Forwarded-For, but HUB_TRUSTED_PROXIES is 0. If a proxy is in front, all "
        "callers share its address and its rate limit: set HUB_TRUSTED_PROXIES to the number of "
        "proxies."
    )
