"""The DNS servers, the list of public suffixes, and the claims that it would refuse today."""

from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_address
from itertools import islice
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.utils import timezone

from hub.setup.findings import Finding, ok, problem, warning
from orgs.domains import hosts
from orgs.domains.claiming import refused_today
from orgs.domains.txt_records import asked_one_by_one, configured_servers

OLD = timedelta(days=365)
MOST = 20  # claims that are named
EVERYWHERE = "github.com"  # every server knows it


def dns() -> Iterator[Finding]:
    """Whether the servers that are asked about claims answer."""
    try:
        configured_servers()
    except ValueError:  # Django's checks say it
        return
    asked = list(asked_one_by_one(_name()))
    if not asked:
        yield problem("This machine has no DNS server: set HUB_DNS_SERVERS, or /etc/resolv.conf.")
    for server, why in asked:
        where = f"The DNS server {server.address} port {server.port}"
        if why is None:
            yield ok(f"{where} answers.")
        else:
            yield problem(
                f"{where} does not answer ({why}), so domains cannot be verified: set HUB_DNS_SERVERS, "
                "or /etc/resolv.conf, to one that does."
            )


def suffixes() -> Iterator[Finding]:
    """How old the list is that says where owners begin, and which claims it would refuse."""
    made = hosts.list_date()
    if made is None or timezone.now().date() - made > OLD:
        yield warning(
            f"The list of public suffixes is of {made or 'an unknown day'}: upgrade the Hub, or the package "
            "publicsuffixlist, so that nobody claims what many own."
        )
    else:
        yield ok(f"The list of public suffixes is of {made}.")
    try:
        for domain, why in islice(refused_today(), MOST):
            yield problem(
                f"{domain.organization} has {domain} verified, which could not be claimed today: {why} "
                "The claim stays; ask the organization, or delete it in /admin/, in the list of domains."
            )
    except (DatabaseError, InterfaceError):
        return  # which is said where the database is asked about


def _name() -> str:
    """The Hub's own name, if it is one that the DNS may know."""
    host = urlsplit(settings.HUB_BASE_URL).hostname or ""
    try:
        ip_address(host)
    except ValueError:
        return host if "." in host else EVERYWHERE
    return EVERYWHERE
