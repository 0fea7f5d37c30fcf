"""What a name server may send, and what reading it costs."""

import itertools
import struct
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import dns.exception
import dns.message
import pytest
from dns.name import from_text as dns_name
from dns.rdatatype import RdataType

from core import at_once
from orgs.domains import name_servers
from orgs.domains.name_servers import AskAgain, find
from orgs.domains.txt_records import Lookup

NAME = dns_name("docs.acme.com")
QUERY = dns.message.make_query(NAME, "TXT", id=1)
QUESTION = QUERY.to_wire()[12:]
LONG = b"\x01a" * 100 + b"\0"  # a name of 100 labels
ALL = struct.pack("!H", 0xC000 | 12)  # a name: that of the question


def header(sizes: tuple[int, int, int], flags: int = 0x8400, questions: int = 1) -> bytes:
    return struct.pack("!HHHHHH", QUERY.id, flags, questions, *sizes)


def record(name: bytes, kind: int, data: bytes, of_class: int = 1) -> bytes:
    return name + struct.pack("!HHIH", kind, of_class, 60, len(data)) + data


def text(said: bytes) -> bytes:
    return bytes([len(said)]) + said


def message(*records: bytes, more: int = 0) -> bytes:
    return header((len(records) + more, 0, 0)) + QUESTION + b"".join(records)


def read(wire: bytes) -> name_servers.Answer:
    return name_servers._read(wire, QUERY)


def test_records_of_the_kinds_that_are_needed_are_read():
    answer = read(
        message(
            record(ALL, RdataType.TXT, text(b"one") + text(b"two")),
            record(ALL, RdataType.TXT, text(b"chaos"), of_class=3),
            record(ALL, RdataType.MX, b"\xff"),  # which is no MX record
            record(ALL, 65_280, b"private"),
            record(ALL, RdataType.TXT, text(b"three")),
        )
    )

    found = find(answer.answer, NAME, RdataType.TXT)
    assert [each.strings for each in found] == [(b"one", b"two"), (b"three",)]
    assert len(answer.answer) == 2
    assert answer.is_authoritative


@pytest.mark.parametrize(
    "wire",
    [
        b"",
        message()[:11],
        message()[:20],
        message(more=1),
        message(record(ALL, RdataType.TXT, text(b"one")))[:-1],
        message(record(ALL, RdataType.TXT, b"\x05one")),
        message(record(ALL, RdataType.CNAME, b"\x03abc")),
        message(record(struct.pack("!H", 0xC0FF), RdataType.TXT, b"")),
        header((0, 0, 0), flags=0) + QUESTION,  # a question
        header((0, 0, 0), questions=2) + QUESTION * 2,
        header((name_servers.MAX_RECORDS + 1, 0, 0)) + QUESTION,
        header((0, 40, 40)) + QUESTION,
        header((0, 0, 0)) + dns.message.make_query("other.dev", "TXT").to_wire()[12:],
    ],
)
def test_what_is_no_answer_is_told(wire):
    with pytest.raises(dns.exception.DNSException) as error:
        read(wire)

    assert not isinstance(error.value, AskAgain)


def test_a_code_of_edns_is_read():
    """It begins in the header, where BADVERS looks like an answer without records."""
    edns = record(b"\0", RdataType.OPT, b"", of_class=1232)
    bad_version = edns[:5] + b"\x01" + edns[6:]

    codes = [read(header((0, 0, 1)) + QUESTION + each).rcode.name for each in (edns, bad_version)]

    assert codes == ["NOERROR", "BADVERS"]


def test_what_is_cut_off_is_asked_for_again():
    with pytest.raises(AskAgain):
        read(header((1, 0, 0), flags=0x8600) + QUESTION)


def alike(number: int) -> bytes:
    """Records of names that have the same hash in dnspython, and a hundred labels in common."""
    spelled = itertools.product((b"aj", b"ba"), repeat=6)
    names = [bytes([12]) + b"".join(each) for each in itertools.islice(spelled, number)]
    first = record(names[0] + LONG, RdataType.A, bytes(4))
    rest = struct.pack("!H", 0xC000 | (12 + len(QUESTION) + len(names[0])))
    return message(first, *(record(each + rest, RdataType.A, bytes(4)) for each in names[1:]))


def long_in_data(kind: int, data: Callable[[bytes], bytes]) -> Callable[[int], bytes]:
    """Records whose data name a host of a hundred labels."""
    first = record(LONG, RdataType.A, bytes(4))
    long = struct.pack("!H", 0xC000 | (12 + len(QUESTION)))
    return lambda number: message(first, *[record(ALL, kind, data(long))] * (number - 1))


def calls(work: Callable[[], object]) -> int:
    """How many functions are called and left meanwhile."""
    events = itertools.count()
    sys.setprofile(lambda *_: next(events))
    try:
        work()
    finally:
        sys.setprofile(None)
    return next(events)


@pytest.mark.parametrize(
    "costly",
    [
        alike,
        long_in_data(RdataType.NS, lambda name: name),
        long_in_data(RdataType.SOA, lambda name: name + name + bytes(20)),
        long_in_data(RdataType.SRV, lambda name: bytes(6) + name),
    ],
    ids=["alike", "NS", "SOA", "SRV"],
)
def test_reading_takes_time_that_is_linear_in_the_records(costly):
    """The attack: 4 KiB that keep the interpreter busy for 0.2 to 0.4 seconds, which all who report wait for."""
    read(costly(4))  # loads what it needs

    few, many = (calls(lambda n=n: read(costly(n))) for n in (16, 64))

    assert many < 6 * few
    assert many < 250_000  # 5 ms, on a machine of 2026


def test_following_a_referral_takes_time_that_is_linear_in_its_records():
    """As many addresses as name servers, all of one name of a hundred labels."""
    name = dns_name("a." * 100 + "acme.com")
    query = dns.message.make_query(name, "TXT")
    query.id = QUERY.id

    def referral(number: int) -> name_servers.Answer:
        records = [record(ALL, RdataType.NS, ALL), record(ALL, RdataType.A, bytes(4))]
        wire = header((0, number, number)) + query.to_wire()[12:]
        return name_servers._read(wire + b"".join(each * number for each in records), query)

    def cost(answer: name_servers.Answer) -> int:
        return calls(lambda: Lookup()._delegated(answer, name, above=dns_name("com")))

    assert cost(referral(32)) < 6 * cost(referral(8))


def test_reading_waits_for_no_long_answer_to_a_member(monkeypatch):
    monkeypatch.setattr(at_once, "long_answers", at_once.OneByOne(patience=600))

    with ThreadPoolExecutor(1) as threads, at_once.long_answers.one():
        answer = threads.submit(read, message()).result(timeout=10)

    assert answer.answer == []
