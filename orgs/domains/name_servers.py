"""Asks a name server one question, and reads its answer: so many bytes and records, in time linear in these.

Whoever owns a domain owns its name server. dnspython's own reader compares all names whose hashes are the same, and
writes each record out again, so 4 KiB can keep it busy for 0.4 seconds, and all reports with it. Here the records
are read one by one, by those parts of it that read one name, and one record.
"""

import socket
import struct
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.wire
from dns.message import Message
from dns.name import Name
from dns.rdataclass import RdataClass
from dns.rdatatype import RdataType

from core import at_once

MAX_ANSWER = 4096  # bytes
MAX_RECORDS = 64  # a referral of a top-level domain has 13 name servers with two addresses each
MAX_DATAGRAMS = 100  # for one question: if none is its answer, it is asked over TCP
WITH_DATA = {RdataType.A, RdataType.AAAA, RdataType.CNAME, RdataType.NS, RdataType.TXT}
WITHOUT = {RdataType.DNAME, RdataType.SOA}  # it is enough to know that they are there
HEADER = struct.Struct("!HHHHHH")  # RFC 1035, 4.1.1

reading = at_once.OneByOne(patience=1)


class AskAgain(dns.exception.DNSException):
    """The answer is cut off, or lost among others' datagrams: over TCP it may come whole."""


class Server(NamedTuple):
    """The address and port of a name server."""

    address: str
    port: int


class Record(NamedTuple):
    """One resource record; `data` is what dnspython makes of it, such as one with `target`, if it is needed."""

    name: Name
    kind: RdataType
    data: Any


class Answer(NamedTuple):
    """A response: its code, whether it is authoritative, and the records of its sections that are read."""

    rcode: dns.rcode.Rcode
    is_authoritative: bool
    answer: list[Record]
    authority: list[Record]
    additional: list[Record]


def find(section: Sequence[Record], name: Name, kind: RdataType) -> list[Any]:
    """The data of the records of this name and kind."""
    return [each.data for each in section if each.kind == kind and each.name == name]


def over_udp(query: Message, server: Server, seconds: float) -> Answer:
    """The first datagram with the id of the query, whatever it says: no second one is read.

    Raises `AskAgain`, `TimeoutError`, another `OSError` or `DNSException`.
    """
    until = time.monotonic() + seconds
    family, there = _socket_address(server)
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        one.sendto(query.to_wire(), there)
        for _ in range(MAX_DATAGRAMS):
            one.settimeout(_left(until))
            datagram, sender = one.recvfrom(MAX_ANSWER)  # the rest of a longer one is lost
            if sender == there and datagram[:2] == query.id.to_bytes(2):
                return _read(datagram, query)
    raise AskAgain


def over_tcp(query: Message, server: Server, seconds: float) -> Answer:
    """The message that comes over a connection. Raises `TimeoutError`, another `OSError` or `DNSException`."""
    until = time.monotonic() + seconds
    family, there = _socket_address(server)
    with socket.socket(family, socket.SOCK_STREAM) as one:
        one.settimeout(_left(until))
        one.connect(there)
        one.sendall(query.to_wire(prepend_length=True))
        length = int.from_bytes(_exactly(one, 2, until))
        if length > MAX_ANSWER:
            raise dns.exception.TooBig
        return _read(_exactly(one, length, until), query)


def _exactly(one: socket.socket, size: int, until: float) -> bytes:
    received = b""
    while len(received) < size:
        one.settimeout(_left(until))
        piece = one.recv(size - len(received))
        if not piece:
            raise dns.exception.UnexpectedEnd
        received += piece
    return received


def _socket_address(server: Server) -> tuple[socket.AddressFamily, Any]:
    """The address in the one spelling that a datagram from there comes with, and the scope of a link-local one."""
    numeric = socket.AI_NUMERICHOST
    [(family, *_, there), *_] = socket.getaddrinfo(*server, type=socket.SOCK_DGRAM, flags=numeric)
    return family, there


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _read(wire: bytes, query: Message) -> Answer:
    """The answer to `query` in a message, which others wait for, as long as it takes, to read theirs."""
    with reading.one():
        return _parsed(wire, query)


def _parsed(wire: bytes, query: Message) -> Answer:
    if len(wire) < HEADER.size:
        raise dns.message.ShortHeader
    _, flags, questions, *sizes = HEADER.unpack_from(wire)
    if flags & dns.flags.TC:
        raise AskAgain
    if questions > 1 or sum(sizes) > MAX_RECORDS:
        raise dns.exception.TooBig
    if not query.is_response(dns.message.from_wire(wire, question_only=True)):
        raise dns.exception.FormError
    parser = dns.wire.Parser(wire, HEADER.size)
    for _ in range(questions):
        parser.get_name(decompress=True)
        parser.get_bytes(4)
    sections = [_section(parser, size) for size in sizes]
    of_edns = next(iter(find(sections[2], dns.name.root, RdataType.OPT)), 0)
    return Answer(dns.rcode.from_flags(flags, of_edns), bool(flags & dns.flags.AA), *sections)


def _section(parser: dns.wire.Parser, size: int) -> list[Record]:
    """The next records, without those of other kinds and classes."""
    return [each for each in (_record(parser) for _ in range(size)) if each]


def _record(parser: dns.wire.Parser) -> Record | None:
    name = parser.get_name(decompress=True)
    number, of_class, ttl, length = parser.get_struct("!HHIH")
    kind = RdataType.make(number)
    with parser.restrict_to(length):
        if kind == RdataType.OPT:  # it has more of the code in place of its TTL: RFC 6891, 6.1.3
            parser.get_remaining()
            return Record(name, kind, ttl)
        if of_class == RdataClass.IN and kind in WITH_DATA:
            return Record(name, kind, dns.rdata.from_wire_parser(of_class, kind, parser))
        parser.get_remaining()
    return Record(name, kind, None) if of_class == RdataClass.IN and kind in WITHOUT else None
