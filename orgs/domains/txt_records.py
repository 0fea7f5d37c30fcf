"""Reads TXT records and addresses from the DNS.

    NotAnswered     no answer within the time and the number of queries
    ├── AliasLoop   the name is an alias that leads back to itself
    └── ServerFailed  SERVFAIL: its servers are broken, or its signatures are

If there is no record, that is an answer, not an error.
"""

import json
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from ipaddress import ip_address, ip_network
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

import dns.exception
import dns.flags
import dns.rcode
import dns.resolver
from django.conf import settings
from dns.message import Message, make_query
from dns.name import Name
from dns.name import from_text as dns_name
from dns.rdatatype import RdataType

from orgs.domains import name_servers
from orgs.domains.name_servers import Answer, Server, find

MAX_QUERIES = 12  # for one lookup, however many names it asks about
THOROUGH = 24  # the same, where the authoritative servers are asked
MAX_SECONDS = 8.0
MAX_ALIASES = 16  # as resolvers do
QUERY_TIMEOUT = 2.0  # seconds, for one query
DIRECT_TIMEOUT = 1.0  # the same, when the resolver can still be asked
TRIES = 2  # of one question, since UDP loses some
NAME_SERVERS = 4  # of a zone, are asked at most
MAX_CUTS = 8  # zones from the top-level domain down to a name
ASKED_FIRST = 2  # of them, before the resolver is asked instead
PORT = 53
SILENT_FOR = 60.0  # seconds for which a resolver that did not answer is asked after the others
SERVER = re.compile(r"(\[(?P<v6>.+)\]|(?P<v4>[^:]+))(:(?P<port>\d+))?")  # else a bare IPv6 address
PAYLOAD = 1232  # bytes: what passes everywhere unfragmented (https://www.dnsflagday.net/2020/)

_NETWORKS = {  # those of the clients: a copy of `clients/contract/addresses.json`
    name: [ip_network(each) for each in networks]
    for name, networks in json.loads(
        Path(__file__).with_name("addresses.json").read_text(encoding="utf-8")
    ).items()
    if name.startswith(("private_ip", "public_ip"))
}
_silent_until: dict[Server, float] = {}  # of resolvers only, which the operator names


class NotAnswered(Exception):
    """There was no usable answer. The message is the reason, as a part of a sentence."""


class AliasLoop(NotAnswered):
    """The aliases at the name lead back to themselves."""


class ServerFailed(NotAnswered):
    """A server says that it cannot tell (SERVFAIL)."""


class TxtAnswer(NamedTuple):
    """`texts`: one for each TXT record, its strings joined (RFC 7208, 3.3).

    `alias_of`: where the CNAME at the name points to; empty if there is none. `by_dname`: whether that
    CNAME was made of a DNAME, which makes one for every name below its own (RFC 6672). `by_zone`: whether the
    zone's own name servers have answered, over TCP: not a resolver, which may remember what is gone, and nobody
    who sends datagrams in their name.
    """

    texts: tuple[str, ...] = ()
    alias_of: str = ""
    by_dname: bool = False
    by_zone: bool = False


def configured_servers() -> list[Server]:
    """HUB_DNS_SERVERS: `ip[:port],…`, IPv6 with a port in brackets. Raises `ValueError`."""
    return [_server(text.strip()) for text in settings.HUB_DNS_SERVERS.split(",") if text.strip()]


def asked_one_by_one(name: str) -> Iterator[tuple[Server, NotAnswered | None]]:
    """The first of the servers that are asked, and why each did not answer for `name`; None if it did."""
    lookup = Lookup(queries=2 * NAME_SERVERS)  # the second, over TCP
    for server in _resolvers()[:NAME_SERVERS]:
        try:
            lookup._ask(server, dns_name(name), RdataType.TXT, flags=dns.flags.RD)
        except NotAnswered as error:
            yield server, error
        else:
            yield server, None


class Lookup:
    """Looks up TXT records, with a budget of so many DNS queries and 8 seconds (or less) over all names.

    With `direct`, all are asked over TCP, as far as they can, and the authoritative servers of the zone first, since a
    resolver may have cached that there was no record; then the resolver. They are found from the top-level domain down,
    since it may have cached those of a former owner, too. If the operator has named servers (HUB_DNS_SERVERS), only
    those are asked.
    """

    def __init__(
        self, *, direct: bool = False, seconds: float | None = None, queries: int = MAX_QUERIES
    ) -> None:
        self._deadline = time.monotonic() + (MAX_SECONDS if seconds is None else seconds)
        self._queries_left = queries
        self._direct = direct and not settings.HUB_DNS_SERVERS
        self._over_tcp = direct
        self._without_tcp: set[Server] = set()
        self._is_certain = True  # all was said over TCP so far
        self._authority: Server | None = None  # the server that has answered
        self._zone: tuple[Name, list[Name]] | None = None  # its top, and its name servers
        self._addresses_of: dict[Name, Server | None] = {}

    def at(self, name: str) -> TxtAnswer:
        """The TXT records at `name`, a host name in punycode, with aliases followed. Raises `NotAnswered`."""
        if self._direct:
            try:
                answer = self._from_authority(dns_name(name))
            except NotAnswered:
                self._direct = False  # it would be as slow for the next name
            else:
                if not answer.alias_of:  # only the resolver knows where the alias leads
                    return answer._replace(by_zone=self._is_certain)
        return self._from_resolver(dns_name(name))

    def at_each(self, name: str) -> Iterator[tuple[str, TxtAnswer | NotAnswered]]:
        """What each name server of the zone says is at `name`, by the server's name.

        Nothing if only the operator's servers are asked. Raises `NotAnswered` if the servers are not known.
        """
        if settings.HUB_DNS_SERVERS:
            return
        for host in self._zone_above(dns_name(name))[1]:
            yield _spelled(host), self._said_by(host, dns_name(name))

    def zone(self, name: str) -> tuple[str, list[str]]:
        """The top of the zone that `name` is in, and its name servers, `NAME_SERVERS` at most.

        Raises `NotAnswered`.
        """
        top, hosts = self._zone_above(dns_name(name))
        return _spelled(top).lower(), [_spelled(host).lower() for host in hosts]

    def is_known(self, name: str) -> bool:
        """Whether the DNS has this name, or names below it. Raises `NotAnswered`."""
        return self._resolve(dns_name(name), RdataType.SOA).rcode != dns.rcode.NXDOMAIN

    def is_alias(self, name: str) -> bool:
        """Whether the name is an alias, by a CNAME or a DNAME. Raises `NotAnswered`.

        A CNAME that is asked for is not followed, so its target has no say. Resolvers may follow a DNAME.
        """
        answer = self._resolve(dns_name(name), RdataType.CNAME).answer
        return any(record.kind in (RdataType.CNAME, RdataType.DNAME) for record in answer)

    def answers_unchecked(self, name: str) -> bool:
        """Whether the resolver answers if it need not check the signatures of DNSSEC (RFC 4035, 3.2.2)."""
        try:
            self._resolve(dns_name(name), RdataType.TXT, flags=dns.flags.RD | dns.flags.CD)
        except NotAnswered:
            return False
        return True

    def addresses(self, name: str) -> list[str]:
        """The addresses of a host, IPv4 first; the resolver follows aliases.

        Raises `NotAnswered` if it has no IPv4 address, and nobody can say whether it has others.
        """
        found = self._addresses(name, RdataType.A)
        try:
            return found + self._addresses(name, RdataType.AAAA)
        except NotAnswered:
            if not found:
                raise
            return found

    def _addresses(self, name: str, kind: RdataType) -> list[str]:
        answer = self._resolve(dns_name(name), kind).answer
        return [record.data.address for record in answer if record.kind == kind]

    def _from_authority(self, name: Name) -> TxtAnswer:
        if self._authority:
            return _read(self._ask(self._authority, name, RdataType.TXT), name)[0]
        zone = Name(name.labels[-2:])
        hosts = [each.target for each in self._records(zone, RdataType.NS)]
        for _ in range(MAX_CUTS):
            server, response, below = self._first_of(hosts, name, above=zone)
            if below is None:
                self._authority = server
                return _read(response, name)[0]
            zone, hosts = below
        raise NotAnswered("too many delegations")

    def _first_of(
        self, hosts: list[Name], name: Name, *, above: Name
    ) -> tuple[Server, Answer, tuple[Name, list[Name]] | None]:
        """The first of these name servers that answers, what it says, and the zone below if it refers to one.

        A server that refers to none, such as a lame one, which refers upward, counts as silent.
        """
        for host in hosts[:ASKED_FIRST]:
            with suppress(NotAnswered):
                if server := self._address_of(host):
                    response = self._ask(server, name, RdataType.TXT, may_refer=True)
                    refers = _is_referral(response)
                    below = self._delegated(response, name, above=above) if refers else None
                    return server, response, below
        raise NotAnswered("none of its name servers answered")

    def _delegated(self, referral: Answer, name: Name, *, above: Name) -> tuple[Name, list[Name]]:
        """The zone below `above` that a referral leads to, and its name servers.

        The addresses that come with it count for names below `above` alone.
        """
        for top in (each.name for each in referral.authority if each.kind == RdataType.NS):
            if top != above and top.is_subdomain(above) and name.is_subdomain(top):
                hosts = [each.target for each in find(referral.authority, top, RdataType.NS)]
                for host in hosts[:ASKED_FIRST]:
                    glue = find(referral.additional, host, RdataType.A)
                    if glue and host.is_subdomain(above):
                        self._addresses_of[host] = _public(glue)
                return top, hosts
        raise NotAnswered("a server that does not know the zone")

    def _said_by(self, host: Name, name: Name) -> TxtAnswer | NotAnswered:
        try:
            server = self._address_of(host)
            if server is None:
                return NotAnswered("it has no public address")
            return _read(self._ask(server, name, RdataType.TXT), name)[0]
        except NotAnswered as error:
            return error

    def _address_of(self, host: Name) -> Server | None:
        """Where a name server is asked; None if it has no public address."""
        if host not in self._addresses_of:
            self._addresses_of[host] = _public(self._records(host, RdataType.A))
        return self._addresses_of[host]

    def _zone_above(self, name: Name) -> tuple[Name, list[Name]]:
        """The zone of the first name that was asked about, and its name servers; asked once."""
        if self._zone is None:
            top = self._zone_of(name)
            servers = [each.target for each in self._records(top, RdataType.NS)]
            self._zone = top, servers[:NAME_SERVERS]
        return self._zone

    def _zone_of(self, name: Name) -> Name:
        """The top of the zone, from the SOA record, which also comes with an answer of "no such name"."""
        for candidate in (name, name.parent()):
            response = self._resolve(candidate, RdataType.SOA)
            for record in (*response.answer, *response.authority):
                if record.kind == RdataType.SOA and candidate.is_subdomain(record.name):
                    return record.name
        raise NotAnswered("its zone was not found")

    def _records(self, name: Name, kind: RdataType) -> list:
        return find(self._resolve(name, kind).answer, name, kind)

    def _from_resolver(self, name: Name) -> TxtAnswer:
        """Follows aliases itself if the server does not."""
        seen, first = [name], None
        while True:
            answer, aliases = _read(self._resolve(seen[-1], RdataType.TXT), seen[-1])
            if not set(aliases).isdisjoint(seen):
                raise AliasLoop("its aliases form a loop")
            seen += aliases
            first = first or answer
            if answer.texts or not aliases:
                return first._replace(texts=answer.texts)

    def _resolve(self, name: Name, kind: RdataType, *, flags: int = dns.flags.RD) -> Answer:
        reason = NotAnswered("no resolver is configured")
        for server in islice(cycle(sorted(_resolvers(), key=_silence)), TRIES):
            try:
                return self._ask(server, name, kind, flags=flags)
            except NotAnswered as error:
                reason = error
        raise reason

    def _ask(
        self,
        server: Server,
        name: Name,
        kind: RdataType,
        *,
        flags: int = 0,
        may_refer: bool = False,
    ) -> Answer:
        """The response to one question, if it settles it, or `may_refer` to the servers of a zone below."""
        recurse = flags & dns.flags.RD
        query = make_query(name, kind, use_edns=0, payload=PAYLOAD, flags=flags)
        try:
            response = self._send(query, server, QUERY_TIMEOUT if recurse else DIRECT_TIMEOUT)
        except TimeoutError:
            if recurse:
                _silent_until[server] = time.monotonic() + SILENT_FOR
            raise NotAnswered("no answer in time") from None
        except (dns.exception.DNSException, OSError) as error:
            raise NotAnswered("the answer could not be read") from error
        if response.rcode == dns.rcode.SERVFAIL:
            raise ServerFailed("SERVFAIL")
        if response.rcode not in (dns.rcode.NOERROR, dns.rcode.NXDOMAIN):
            raise NotAnswered(dns.rcode.to_text(response.rcode))
        if may_refer and _is_referral(response):
            return response
        if _is_referral(response) or not (recurse or response.is_authoritative):
            raise NotAnswered("a server that does not know the zone")
        return response

    def _send(self, query: Message, server: Server, patience: float) -> Answer:
        """Over TCP first where a claim may become another's: over UDP, whoever guesses two numbers can answer."""
        if self._over_tcp and server not in self._without_tcp:
            try:
                return name_servers.over_tcp(query, server, self._time_for_one(patience))
            except (dns.exception.DNSException, OSError):
                self._without_tcp.add(server)
        self._is_certain = False
        try:
            return name_servers.over_udp(query, server, self._time_for_one(patience))
        except name_servers.AskAgain:
            return name_servers.over_tcp(query, server, self._time_for_one(patience))

    def _time_for_one(self, patience: float) -> float:
        """Seconds for one more query. Raises `NotAnswered` if no time is left."""
        left = self._deadline - time.monotonic()
        if left <= 0 or not self._queries_left:
            raise NotAnswered("no answer in time")
        self._queries_left -= 1
        return min(patience, left)


def is_public(address: str) -> bool:
    """Whether a server at this address may be asked: a zone can name any address for its hosts.

    As in the clients: IPv6 only as it is given to networks today (RFC 4291, 2.4), without what leads into IPv4.
    """
    ip = ip_address(address)
    if ip.version == 4:
        return not any(ip in each for each in _NETWORKS["private_ipv4"])
    given = any(ip in each for each in _NETWORKS["public_ipv6"])
    return given and not any(ip in each for each in _NETWORKS["private_ipv6"])


def _read(response: Answer, name: Name) -> tuple[TxtAnswer, list[Name]]:
    """What a response says about `name`, and the aliases that it follows from there."""
    aliases: list[Name] = []
    by_dname = _is_below_dname(response, name)
    while alias := find(response.answer, name, RdataType.CNAME):
        name = alias[0].target
        if name in aliases:
            raise AliasLoop("its aliases form a loop")
        if len(aliases) == MAX_ALIASES:
            raise NotAnswered("too many aliases")
        aliases.append(name)
    found = find(response.answer, name, RdataType.TXT)
    texts = tuple(b"".join(each.strings).decode("utf-8", "replace") for each in found)
    return TxtAnswer(texts, _spelled(aliases[0]) if aliases else "", by_dname), aliases


def _is_below_dname(response: Answer, name: Name) -> bool:
    dnames = [record.name for record in response.answer if record.kind == RdataType.DNAME]
    return any(name != each and name.is_subdomain(each) for each in dnames)


def _is_referral(response: Answer) -> bool:
    kinds = {record.kind for record in response.authority}
    return not response.answer and RdataType.NS in kinds and RdataType.SOA not in kinds


def _public(addresses: Iterable[Any]) -> Server | None:
    """The first of a name server's address records that is public."""
    public = [each.address for each in addresses if is_public(each.address)]
    return Server(public[0], PORT) if public else None


def _spelled(name: Name) -> str:
    return name.to_text(omit_final_dot=True)


def _resolvers() -> list[Server]:
    if settings.HUB_DNS_SERVERS:
        return configured_servers()
    try:
        system = dns.resolver.Resolver()  # which reads the file anew: it may name others by now
    except dns.resolver.NoResolverConfiguration:
        return []
    return [Server(str(address), system.port) for address in system.nameservers]


def _silence(resolver: Server) -> float:
    """The later it did not answer, the more; 0 for one that is asked in its place."""
    until = _silent_until.get(resolver, 0.0)
    return until if time.monotonic() < until else 0.0


def _server(text: str) -> Server:
    parts = SERVER.fullmatch(text)
    address, port = (parts["v6"] or parts["v4"], parts["port"]) if parts else (text, None)
    number = int(port or PORT)
    if not 0 < number < 65_536:
        raise ValueError(f"{number} is not a port")
    return Server(str(ip_address(address)), number)
