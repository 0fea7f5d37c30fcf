"""Many addresses, forged addresses, and what the limits stand on going away."""

import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from io import BufferedReader

import psutil
import requests
from django.db import connection

from tests import build, postgresql, redis_server
from tests.abuse.table import NOBODY, STRANGER, attack
from tests.abuse.world import Shipped, World, milliseconds, stands_if

ADDRESSES = 100_000
MEGABYTE = 1_000_000


@attack(STRANGER, "fill the memory")
def many_addresses(world: World) -> str:
    """A report from each of 100,000 IPv6 networks filled the memory, for good, and kept a thread busy."""
    return _many_addresses(world)


@attack(STRANGER, "fill the memory")
def many_addresses_without_a_total(world: World) -> str:
    """The same where the operator lets in as many as come."""
    return _many_addresses(world, HUB_TOTAL_RATE="100000000/minute")


def _many_addresses(world: World, **environment: str) -> str:
    with world.hub(HUB_TRUSTED_PROXIES="1", **environment) as hub:
        server = _server(hub)
        _from_many_addresses(hub, 2000)
        before, calm = server.memory_info().rss, _cpu_of_fifty_a_second(hub, server)
        _from_many_addresses(hub, ADDRESSES)
        grown, busy = server.memory_info().rss - before, _cpu_of_fifty_a_second(hub, server)
    figures = (
        f"{grown / MEGABYTE:.0f} MB more after {ADDRESSES} addresses; 50 requests a second cost "
        f"{calm:.1%} of a core before and {busy:.1%} after"
    )
    return stands_if(grown < 35 * MEGABYTE and busy < calm + 0.05, figures)


@attack(STRANGER, "get around the limits")
def forged_addresses(world: World) -> str:
    """One caller behind the proxy writes a new X-Forwarded-For, or a new port, each time."""
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub:
        taken = Counter(
            _ask(hub, f"6.6.{number}.1, {own}")
            for number in range(100)
            for own in (f"198.51.100.4:{number + 1024}", f"[2001:db8::1]:{number + 1024}")
        )
        unreadable = {_ask(hub, "unknown") for _ in range(70)}
        honest = _ask(hub, "203.0.113.7:4711")
    figures = f"{taken[400]} of 200 got in from two callers; an honest one gets {honest}"
    return stands_if(taken[400] == 120 and honest == 400 and 429 in unreadable, figures)


@attack(STRANGER, "get around the limits")
def early_data_of_others(world: World) -> str:
    """Reports in the first datagram of HTTP/3, in the name of 200 addresses, and 70 in that of an honest one."""
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub:
        senders = [f"203.0.{number}.7" for number in range(200)] + 70 * ["198.51.100.7"]
        taken = Counter(_ask(hub, sender, **{"Early-Data": "1"}) for sender in senders)
        honest = _ask(hub, "198.51.100.7")
    figures = f"answered {dict(taken)}; the honest one gets {honest}"
    return stands_if(taken == {425: 270} and honest == 400, figures)


@attack(NOBODY, "lose reports")
def first_reports_with_redis(world: World) -> str:
    """32 reports at once to a server that has just begun, three times: some were a 500."""
    answers: Counter[int] = Counter()
    for _ in range(3):
        with redis_server.serving() as redis, world.hub(REDIS_URL=redis.url) as hub:
            answers += _at_once(hub, 32)
    figures = f"{answers[201]} of {answers.total()} taken, {answers[500]} were a 500"
    return stands_if(answers[201] == answers.total(), figures)


@attack(NOBODY, "lose reports")
def redis_goes_away(world: World) -> str:
    """Redis is stopped in the middle of reports."""
    with redis_server.serving() as redis, world.hub(REDIS_URL=redis.url) as hub:
        answers = _at_once(hub, 16)
        calm = milliseconds(lambda: answers.update(_at_once(hub, 16)))
        redis.stop()
        slowest = milliseconds(lambda: answers.update(_at_once(hub, 16)))
        redis.start()
    figures = f"{answers[201]} of {answers.total()} taken; 16 at once took {slowest:.0f} ms then, {calm:.0f} ms before"
    return stands_if(answers[201] == answers.total() and slowest < calm + 3000, figures)


@attack(NOBODY, "lose reports")
def postgresql_is_restarted(world: World) -> str:
    """A short restart while nobody asks: afterwards everybody got 503 for up to 45 s."""
    if connection.vendor != "postgresql":
        return "there is no server to restart"
    found = []
    with world.hub() as hub:
        for mode in ("fast", "immediate"):
            for full in (64, 8):
                _at_once(hub, full)
                connection.close()
                postgresql.restart(mode)
                found.append(_after_a_restart(hub, f"{mode}, {full} asked before"))
    figures = "; ".join(
        f"{how}: {failed} failed, ok after {ms:.0f} ms" for how, failed, ms in found
    )
    return stands_if(all(failed <= 1 and ms < 10_000 for _, failed, ms in found), figures)


def _after_a_restart(hub: Shipped, how: str) -> tuple[str, int, float]:
    """How many requests failed, and how long until one went well."""
    began, failed = time.perf_counter(), 0
    while requests.get(f"{hub.url}/readyz", timeout=30).status_code != 200:
        failed += 1
    took = (time.perf_counter() - began) * 1000
    failed += _at_once(hub, 16)[503]
    return how, failed, took


def _at_once(hub: Shipped, number: int) -> Counter[int]:
    """The answers to so many reports that all begin together."""
    together = threading.Barrier(number)

    def report(one: int) -> int:
        together.wait()
        body = build.report(report__summary=f"{one} {time.monotonic_ns()}")
        headers = {"X-Forwarded-For": f"198.51.100.{one}"}
        return requests.post(
            f"{hub.url}/v1/reports", json=body, headers=headers, timeout=60
        ).status_code

    with ThreadPoolExecutor(number) as threads:
        return Counter(threads.map(report, range(number)))


def _ask(hub: Shipped, forwarded: str, **others: str) -> int:
    """400, for a report that is none, where the limits let it in."""
    headers = {"X-Forwarded-For": forwarded, **others}
    return requests.post(f"{hub.url}/v1/reports", json={}, headers=headers, timeout=60).status_code


def _server(hub: Shipped) -> psutil.Process:
    """The process that serves."""
    return max(
        psutil.Process(hub.process.pid).children(recursive=True),
        key=lambda each: each.memory_info().rss,
    )


def _cpu_of_fifty_a_second(hub: Shipped, server: psutil.Process, seconds: int = 4) -> float:
    """As part of a core."""
    before = sum(server.cpu_times()[:2])
    for number in range(50 * seconds):
        _ask(hub, f"198.51.100.{number % 250}")
        time.sleep(1 / 50)
    return (sum(server.cpu_times()[:2]) - before) / seconds


def _from_many_addresses(hub: Shipped, number: int) -> None:
    """A report that is none from each, over four connections that are kept."""
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda first: _send(hub, range(first, number, 4)), range(4)))


def _send(hub: Shipped, numbers: range, *, together: int = 50) -> None:
    with socket.create_connection(("127.0.0.1", hub.port)) as line, line.makefile("rb") as answers:
        for at in range(0, len(numbers), together):
            batch = numbers[at : at + together]
            line.sendall(b"".join(_request(hub, number) for number in batch))
            for _ in batch:
                _read(answers)


def _request(hub: Shipped, number: int) -> bytes:
    return (
        f"POST /v1/reports HTTP/1.1\r\nHost: 127.0.0.1:{hub.port}\r\n"
        f"X-Forwarded-For: 2001:{number >> 16:x}:{number & 0xFFFF:x}::1\r\n"
        "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    ).encode()


def _read(answers: BufferedReader) -> None:
    """One answer, thrown away."""
    length = 0
    while (line := answers.readline()) not in (b"\r\n", b""):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    answers.read(length)
