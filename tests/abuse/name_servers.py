"""Name servers of somebody who claims domains, so that the Hub asks them."""

import itertools
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from statistics import median

import requests
from django.db import connection
from django.utils import timezone

from orgs.models import Domain
from tests import build
from tests.abuse.table import NAME_SERVER, attack
from tests.abuse.world import Shipped, World, milliseconds, stands_if

SLOTS = 8  # looks at the DNS at once, of a server as it is shipped
A_SECOND = 16  # datagrams to each question
LONGEST = 4096  # bytes
QUESTION = b"\x04evil\x03dev\x00" + struct.pack("!HH", 16, 1)
SLOW = 1000  # milliseconds, for one report of two
BOUND = 20  # seconds; a look takes 8 at most, and a busy machine may need more


@attack(NAME_SERVER, "stop the Hub")
def a_name_server_that_never_stops(world: World) -> str:
    """Datagrams without end that are no answer, each costly to parse: a look at the DNS did not end."""
    claims = [_claim(f"evil{number}.dev") for number in range(SLOTS)]
    honest = _claim("honest.dev")
    connection.close()
    with _never_stops() as address, world.hub(HUB_DNS_SERVERS=address) as hub:
        looks = [threading.Thread(target=partial(_verify, hub, *each)) for each in claims]
        for each in looks:
            each.start()
        times = [milliseconds(partial(_send, hub, number)) for number in range(20)]
        until = time.monotonic() + BOUND
        for each in looks:
            each.join(max(0.0, until - time.monotonic()))
        going_on = sum(each.is_alive() for each in looks)
        hint = _verify(hub, *honest)
    figures = (
        f"{going_on} of {SLOTS} looks go on after {BOUND} s; somebody else is told: {hint} "
        f"A report took {max(times):.0f} ms at most beside them"
    )
    return stands_if(going_on == 0 and "many domains" not in hint, figures)


@attack(NAME_SERVER, "stop the Hub")
def answers_that_are_costly_to_read(world: World) -> str:
    """Proper ones of 4 KiB, whose names are alike or long: 0.2 and 0.4 s each, for eight accounts that ask again."""
    claims = [_claim(f"evil{number}.dev") for number in range(SLOTS)]
    connection.close()
    over = threading.Event()

    def keep_looking(name: str, token: str) -> None:
        while not over.is_set():
            _verify(hub, name, token)

    with _costly() as address, world.hub(HUB_DNS_SERVERS=address) as hub:
        looks = [threading.Thread(target=keep_looking, args=each) for each in claims]
        for each in looks:
            each.start()
        time.sleep(2)  # until all of them look
        times = [milliseconds(partial(_send, hub, number)) for number in range(20)]
        over.set()
        for each in looks:
            each.join()
    figures = f"20 reports took {median(times):.0f} ms (median), {max(times):.0f} at most"
    return stands_if(median(times) < SLOW, figures)


def _claim(name: str) -> tuple[str, str]:
    """A claim of an organization of its own: its name, and a token of a member."""
    owner = build.organization(name)
    claim = build.domain(owner, name, verified=False)
    Domain.objects.filter(pk=claim.pk).update(expires_at=timezone.now() + timedelta(days=9))
    return name, build.token(build.member(owner, name))


def _verify(hub: Shipped, name: str, token: str) -> str:
    """What is said about the claim after a look at the DNS; empty if the Hub ended before."""
    path = f"{hub.url}/v1/orgs/me/domains/{name}/verify"
    try:
        answer = requests.post(
            path, json={}, headers={"Authorization": f"Bearer {token}"}, timeout=120
        )
    except requests.ConnectionError:
        return ""
    return str(answer.json().get("hint"))


def _send(hub: Shipped, number: int) -> None:
    hub.post(build.report(f"https://docs.example/{number}"))


@contextmanager
def _never_stops() -> Iterator[str]:
    """The address of a server that sends to whoever has asked, until the block ends."""
    costly = b"\xff\xff" + _colliding_names()[2:]
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 0))
    server.settimeout(1 / A_SECOND)
    stop = threading.Event()
    thread = threading.Thread(target=_keep_sending, args=(server, costly, stop.is_set))
    thread.start()
    try:
        yield f"127.0.0.1:{server.getsockname()[1]}"
    finally:
        stop.set()
        thread.join()
        server.close()


def _keep_sending(server: socket.socket, message: bytes, is_over: Callable[[], bool]) -> None:
    asked, again = set(), time.monotonic()
    while not is_over():
        with suppress(OSError):  # nobody asks now, or one has closed its socket
            asked.add(server.recvfrom(LONGEST)[1])
        if time.monotonic() >= again:
            again = time.monotonic() + 1 / A_SECOND
            for each in asked:
                server.sendto(message, each)


@contextmanager
def _costly() -> Iterator[str]:
    """The address of a server whose answers cost as much as they can: one kind, then the other."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 0))

    def serve() -> None:
        for make in itertools.cycle((_colliding_names, _long_names)):
            asked, sender = server.recvfrom(LONGEST)
            if sender == server.getsockname():
                return
            question = asked[12 : asked.index(b"\0", 12) + 5]
            server.sendto(asked[:2] + make(question)[2:], sender)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"127.0.0.1:{server.getsockname()[1]}"
    finally:
        server.sendto(b"", server.getsockname())
        thread.join()
        server.close()


def _long_names(question: bytes) -> bytes:
    """An answer of records whose data name a host of 126 labels: dnspython writes each out in quadratic time."""
    first = b"\x01a" * 126 + b"\0" + struct.pack("!HHIH", 65_280, 1, 60, 0)
    name = struct.pack("!H", 0xC000 | (12 + len(question)))
    each = name + struct.pack("!HHIH", 6, 1, 60, 24) + name * 2 + bytes(20)
    number = (LONGEST - 12 - len(question) - len(first)) // len(each)
    head = struct.pack("!HHHHHH", 1, 0x8400, 1, 1 + number, 0, 0)
    return head + question + first + each * number


def _colliding_names(question: bytes = QUESTION) -> bytes:
    """An answer whose names have the same hash in dnspython, which parses them in quadratic time."""
    records: list[bytes] = []
    names = (bytes([22]) + b"".join(each) for each in itertools.product((b"aj", b"ba"), repeat=11))
    first = next(names)
    rest = 12 + len(question) + len(first)  # where the first name goes on, as all others do
    data = struct.pack("!HHIH", 1, 1, 60, 4) + bytes(4)
    records.append(first + b"\x01a" * 100 + b"\x00" + data)
    for each in names:
        record = each + struct.pack("!H", 0xC000 | rest) + data
        if sum(map(len, records)) + len(record) > LONGEST - 100:
            break
        records.append(record)
    head = struct.pack("!HHHHHH", 1, 0x8400, 1, len(records), 0, 0)
    return head + question + b"".join(records)
