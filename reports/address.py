"""Who is calling, as far as the network tells."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

UNKNOWN = "unknown"


def client_address(request: HttpRequest) -> str:
    """The caller's network for rate limits: an IPv4 address, or the /64 of an IPv6 address.

    `X-Forwarded-For` is believed for the last `HUB_TRUSTED_PROXIES` hops only: whoever calls us
    directly may have written the rest.
    """
    address = request.META.get("REMOTE_ADDR", "")
    if proxies := settings.HUB_TRUSTED_PROXIES:
        hops = [hop.strip() for hop in request.headers.get("X-Forwarded-For", "").split(",")]
        address = hops[-proxies] if len(hops) >= proxies else hops[0]
    return _network(address)


def source(address: str) -> str:
    """Whose network a report comes from, as a keyed hash of the day: 16 hex digits.

    `address` is what `client_address` gives; an IPv4 address stands for its /24. Without the
    Hub's key nobody can find the network, and with the day nobody can follow it to another one.
    """
    neighbors = address
    if ":" not in address and address != UNKNOWN:
        neighbors = str(ipaddress.ip_network(f"{address}/24", strict=False))
    day = f"{timezone.now():%Y-%m-%d}"
    return salted_hmac(f"source {day}", neighbors, algorithm="sha256").hexdigest()[:16]


def _network(address: str) -> str:
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return UNKNOWN
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return str(ip if ip.version == 4 else ipaddress.ip_network((ip, 64), strict=False))
