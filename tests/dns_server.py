"""A real DNS server on loopback, over UDP and TCP, whose zones and faults a test sets."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_address
from typing import NamedTuple

from dnslib import AAAA, CNAME, NS, QTYPE, RCODE, RR, SOA, TXT, A, DNSRecord


class Question(NamedTuple):
    name: str
    kind: str
    transport: str


class DNAME(CNAME):
    """An alias for all names below a name (RFC 6672); packed as a CNAME is."""


class DNSServer:
    """Answers for every zone with authority.

    `zones` are the apexes that its negative answers name, and exist; `delay` is what each answer takes, in
    seconds; `asked` is all that it was asked. Each of `before` makes a datagram of the question, which
    is sent before the answer. An alias is not followed, as by a server that does
    not know the target's zone.
    """

    def __init__(self) -> None:
        self.zones: list[str] = []
        self.delay = 0.0
        self.asked: list[Question] = []
        self.before: list[Callable[[bytes], bytes]] = []
        self._records: dict[str, list[RR]] = {}
        self._faults: dict[str, str] = {}
        self._delegated: dict[str, tuple[str, str]] = {}
        self._badly_signed: set[str] = set()
        self._held: dict[str, list[Callable[[], None]]] = {}
        self._of_all = ""  # the fault of all names that have none of their own
        self._writers: list[asyncio.StreamWriter] = []  # of all connections

    def txt(self, name: str, *texts: str | list[str]) -> None:
        """One TXT record for each of `texts`; a list is one record of several strings."""
        self._add(name, *(TXT([text] if isinstance(text, str) else text) for text in texts))

    def address(self, name: str, *addresses: str) -> None:
        """One A or AAAA record for each."""
        for each in map(ip_address, addresses):
            self._add(name, A(str(each)) if each.version == 4 else AAAA(tuple(each.packed)))

    def alias(self, name: str, *targets: str) -> None:
        """A CNAME; of several targets, each answer has the next one, as with weighted records."""
        self._add(name, *map(CNAME, targets))

    def alias_below(self, name: str, target: str) -> None:
        """A DNAME: each name below `name` is an alias of the same name below `target`."""
        self._add(name, DNAME(target))

    def name_server(self, zone: str, host: str, address: str) -> None:
        """A zone, and who is said to have authority over it."""
        self.zones.append(zone)
        self._add(zone, SOA(host, f"hostmaster.{zone}"), NS(host))
        self._add(host, A(address))

    def delegate(self, zone: str, host: str, address: str) -> None:
        """From now on it refers to another server about all names of this zone."""
        self._delegated[zone] = host, address

    def remove(self, name: str) -> None:
        self._records.pop(name, None)

    def fail(self, name: str, fault: str, *, kind: str = "") -> None:
        """From now on: "silence", "truncated" (over UDP), or a code such as "SERVFAIL"; for records of one
        `kind`, or of all.
        """
        self._faults[f"{name} {kind}".rstrip()] = fault

    def fail_all(self, fault: str) -> None:
        """From now on, for all names that do not fail in another way; until `repair_all`."""
        self._of_all = fault

    def repair_all(self) -> None:
        """That is over; what waited in silence is not answered any more."""
        self._of_all = ""
        self._held.clear()

    def sign_badly(self, name: str) -> None:
        """From now on SERVFAIL, as a resolver that checks signatures, unless it is asked not to check."""
        self._badly_signed.add(name)

    def repair(self, name: str) -> None:
        """The fault is over; what waited in silence is answered now."""
        self._faults.pop(name)
        for send in self._held.pop(name, []):
            self._loop.call_soon_threadsafe(send)

    @contextmanager
    def serving(self, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
        """Its address, as HUB_DNS_SERVERS has it; without `port`, a free one."""
        udp, tcp = _sockets(host, port)
        loop = self._loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(loop, udp, tcp), loop).result()
        try:
            yield f"{host}:{udp.getsockname()[1]}"
        finally:
            asyncio.run_coroutine_threadsafe(self._close(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def hear(self, message: bytes, transport: str, send: Callable[[bytes], None]) -> None:
        """Answer a question now, or when the silence about its name is over."""
        request = DNSRecord.parse(message)
        question = Question(
            str(request.q.qname).rstrip(".").lower(), QTYPE[request.q.qtype], transport
        )
        self.asked.append(question)

        def answer() -> None:
            send(self._response(request, question))

        if self._fault_of(question) == "silence":
            self._held.setdefault(question.name, []).append(answer)
        else:
            answer()

    def _fault_of(self, question: Question) -> str | None:
        by_name = self._faults.get(question.name, self._of_all)
        return self._faults.get(f"{question.name} {question.kind}", by_name)

    def _response(self, request: DNSRecord, question: Question) -> bytes:
        response = request.reply(aa=True)
        fault = self._fault_of(question)
        if question.name in self._badly_signed and not request.header.cd:
            fault = "SERVFAIL"
        if fault == "truncated" and question.transport == "udp":
            response.header.tc = 1
        elif fault and fault != "truncated":
            response.header.rcode = getattr(RCODE, fault)
        else:
            self._fill(response, question.name, question.kind)
        return response.pack()

    def _fill(self, response: DNSRecord, name: str, kind: str) -> None:
        for zone, (host, address) in self._delegated.items():
            if f".{name}".endswith(f".{zone}"):
                response.header.aa = 0
                response.add_auth(RR(zone, QTYPE.NS, rdata=NS(host)))
                response.add_ar(RR(host, QTYPE.A, rdata=A(address)))
                return
        there = self._records.get(name) or self._of_wildcard(name)
        if dname := self._dname_above(name):
            response.add_answer(dname)
            there = [_made_of(dname, name)]
        for record in _one_alias(there):
            if QTYPE[record.rtype] in (kind, "CNAME"):
                response.add_answer(RR(name, record.rtype, rdata=record.rdata, ttl=60))
        if not response.rr:
            response.header.rcode = RCODE.NOERROR if there or self._is(name) else RCODE.NXDOMAIN
            above = [zone for zone in self.zones if f".{name}".endswith(f".{zone}")]
            for zone in sorted(above, key=len)[-1:]:
                response.add_auth(RR(zone, QTYPE.SOA, rdata=SOA(f"ns.{zone}", f"h.{zone}")))

    def _is(self, name: str) -> bool:
        """Whether the name exists: an apex, or a name with something below it (RFC 8020)."""
        return any(f".{known}".endswith(f".{name}") for known in (*self.zones, *self._records))

    def _dname_above(self, name: str) -> RR | None:
        for owner, records in self._records.items():
            if records and records[0].rtype == QTYPE.DNAME and name.endswith(f".{owner}"):
                return records[0]
        return None

    def _of_wildcard(self, name: str) -> list[RR]:
        """What a wildcard says of a name that is not there (RFC 4592, 3.3.1: the closest encloser)."""
        encloser = name
        while encloser and not any(f".{known}".endswith(f".{encloser}") for known in self._records):
            encloser = encloser.partition(".")[2]
        return [] if encloser == name else self._records.get(f"*.{encloser}", [])

    def _add(self, name: str, *contents) -> None:
        kept = self._records.setdefault(name, [])
        kept += [RR(name, getattr(QTYPE, type(each).__name__), rdata=each) for each in contents]

    async def _listen(self, loop, udp: socket.socket, tcp: socket.socket) -> None:
        self._udp, _ = await loop.create_datagram_endpoint(lambda: _Datagrams(self), sock=udp)
        self._tcp = await asyncio.start_server(self._converse, sock=tcp)

    async def _close(self) -> None:
        self._udp.close()
        self._tcp.close()
        for each in self._writers:
            each.transport.abort()
        await asyncio.sleep(0)  # lets the transports close their sockets

    async def _converse(self, reader, writer) -> None:
        self._writers.append(writer)
        length = int.from_bytes(await reader.readexactly(2))
        message = await reader.readexactly(length)
        self.hear(message, "tcp", lambda response: _write(writer, response))


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, server: DNSServer) -> None:
        self.server = server

    def connection_made(self, transport) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, address) -> None:
        for make in self.server.before:
            self.transport.sendto(make(data), address)
        self.server.hear(data, "udp", partial(self._send, address))

    def _send(self, address, response: bytes) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(self.server.delay, self.transport.sendto, response, address)


def _made_of(dname: RR, name: str) -> RR:
    """The alias of one name below a DNAME (RFC 6672, 3.1)."""
    below = name.removesuffix(str(dname.rname).rstrip("."))
    return RR(name, QTYPE.CNAME, rdata=CNAME(f"{below}{dname.rdata}"))


def _one_alias(records: list[RR]) -> list[RR]:
    """What is answered of the records of a name: of several aliases the next one."""
    if {record.rtype for record in records} != {QTYPE.CNAME}:
        return records
    records.append(records.pop(0))
    return records[-1:]


def _write(writer: asyncio.StreamWriter, response: bytes) -> None:
    writer.write(len(response).to_bytes(2) + response)
    writer.close()


def _sockets(host: str, port: int) -> tuple[socket.socket, socket.socket]:
    """UDP and TCP on one port."""
    while True:
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        tcp = socket.socket()
        udp.bind((host, port))
        try:
            tcp.bind(udp.getsockname())
        except OSError:
            udp.close()
            tcp.close()
            if port:
                raise
        else:
            return udp, tcp
