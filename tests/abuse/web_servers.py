"""Web servers of claimed hosts, which the Hub asks for their public file: where they lead, and what they send."""

import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tests import build
from tests.abuse import _tickets
from tests.abuse.people import Browser, member
from tests.abuse.table import WEB_SERVER, attack
from tests.abuse.world import Shipped, World, milliseconds, stands_if
from tests.dns_server import DNSServer
from tests.web_server import HOST, WebServer, certificate

INSIDE = [
    *("127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
    *("0.0.0.0", "100.64.0.1", "224.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1"),
    *("::1", "::", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "fe80::1"),
    *("fc00::1", "fd00:ec2::254", "2002:7f00:1::", "2001:0:7f00:1::", "ff02::1", "2001:db8::1"),
]
ELSEWHERE = [
    *("https://127.0.0.1/", "https://169.254.169.254/latest/meta-data/", "https://[::1]/"),
    *(f"http://{HOST}/", f"https://{HOST}:8443/", f"https://{HOST}@127.0.0.1/", "//localhost/"),
    *("https://evil.example/", "file:///etc/passwd", "gopher://127.0.0.1:6379/", "https://[/"),
    *(f"https://{HOST}/a b", f"https://{HOST}/\u00e9", f"https://{HOST}/x\u0000", ""),
]
WELL_KNOWN = "/.well-known/docs-feedback.json"
GROWTH = 20  # MiB


@attack(WEB_SERVER, "reach hosts inside of the Hub's network")
def names_that_lead_inside(world: World) -> str:
    """Its host has 24 addresses that are not public (loopback, private, metadata, mapped), alone and all at once."""
    dns, names = DNSServer(), {f"a{n}.evil.dev": [each] for n, each in enumerate(INSIDE)}
    names["all.evil.dev"] = INSIDE
    for name, addresses in names.items():
        dns.address(name, *addresses)
    evil = build.organization("evil")
    claims = [build.domain(evil, name) for name in names]
    charlie, _ = member(evil, "charlie")
    with (
        _listening("127.0.0.1") as reached,
        dns.serving() as address,
        world.hub(HUB_DNS_SERVERS=address, HUB_ASKING_RATE="10000/minute") as hub,
    ):
        browser = Browser(hub, charlie)
        said = [_looked(browser, each.pk) for each in claims]
    refused = sum("has no public address" in each for each in said)
    figures = f"{refused} of {len(said)} names refused, {len(reached)} connections arrived"
    return stands_if(refused == len(said) and not reached, figures)


@attack(WEB_SERVER, "have the Hub ask another host")
def redirects_that_lead_away(world: World) -> str:
    """The file is a redirect to 15 other places: other hosts, ports, schemes, and addresses that are none."""
    with _led(world) as (hub, web, look):
        said = []
        for number, each in enumerate(ELSEWHERE):
            _redirects(web, number, each)
            said.append(look())
        del hub
        asked = {each.split(b" ")[1].decode() for each in web.requests}
    refused = sum("could not read it" in each or "leads" in each for each in said)
    strange = sorted(each for each in asked if each not in (WELL_KNOWN, "/llms.txt", "/"))
    figures = f"{refused} of {len(said)} refused; asked beside the files: {strange}"
    return stands_if(refused == len(said) and not strange, figures)


@attack(WEB_SERVER, "keep the Hub busy for good")
def redirects_without_end(world: World) -> str:
    """The file leads to itself; then to a new address of the same host each time."""
    with _led(world) as (_, web, look):
        web.says(WELL_KNOWN, "", status="302 Found", headers=f"Location: {WELL_KNOWN}\r\n")
        look()
        itself = sum(WELL_KNOWN.encode() in each for each in web.requests)
    return stands_if(itself <= 4, f"asked {itself} times")


@attack(WEB_SERVER, "fill the memory")
def a_file_without_end(world: World) -> str:
    """The file, its headers, and a chunk go on for ever; one says that it has 10 GB; one is 30,000 deep."""

    def endless(start: bytes, piece: bytes) -> Callable[[ssl.SSLSocket], None]:
        def send(one: ssl.SSLSocket) -> None:
            one.sendall(start)
            while True:
                one.sendall(piece)

        return send

    head = b"HTTP/1.1 200 OK\r\n"
    with _led(world) as (hub, web, look):
        look()
        before, said = hub.resident(), []
        for answer in (
            endless(head + b"\r\n", b" " * 65_536),
            endless(head, b"X-A: " + b"a" * 60_000 + b"\r\n"),
            endless(head + b"Transfer-Encoding: chunked\r\n\r\nfffffffff\r\n", b"a" * 65_536),
            head + b"Content-Length: 10000000000\r\n\r\n" + b"a" * 200_000,
            head + b"\r\n" + b"[" * 30_000,
        ):
            web.answers[WELL_KNOWN] = answer
            said.append(look())
        grown = (hub.resident() - before) / 2**20
    refused = sum("could not read it" in each or "cannot read it" in each for each in said)
    return stands_if(
        refused == 5 and grown < GROWTH, f"{refused} of 5 refused, {grown:.0f} MiB more"
    )


@attack(WEB_SERVER, "keep a thread of the Hub")
def a_file_that_drips(world: World) -> str:
    """The answer, and the handshake before it, come byte by byte, while others report."""

    def drip(one: ssl.SSLSocket) -> None:
        one.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n")
        while not threading.Event().wait(0.2):
            one.sendall(b" ")

    with _led(world) as (hub, web, look):
        web.answers[WELL_KNOWN] = drip
        said: list[str] = []
        looking = threading.Thread(target=lambda: said.append(look()))
        took = milliseconds(looking.start)
        sent = [hub.post(build.report(f"https://nobody.dev/{n}")).status_code for n in range(20)]
        took += milliseconds(looking.join)
    figures = f"given up after {took / 1000:.0f} s; {sent.count(201)} of 20 reports taken beside it"
    return stands_if(bool(said) and "no answer in time" in said[0] and took < 60_000, figures)


@attack(WEB_SERVER, "stop what waits to be sent, and keep a thread of the Hub")
def session_tickets_without_end(world: World) -> str:
    """Nothing follows the handshake but what TLS keeps to itself, for 30 s: reading it went on for as long."""
    with (
        _tickets.without_end(certificate(world.folder), world.folder, 30) as port,
        _led(world, port) as (hub, _, look),
    ):
        said: list[str] = []
        spent = hub.cpu()
        took = milliseconds(lambda: said.append(look())) / 1000
        spent = hub.cpu() - spent
    figures = f"given up after {took:.1f} s, {spent:.1f} s of computing"
    return stands_if("could not read it" in said[0] and took < 15, figures)


class Led(Shipped):
    """The Hub, for which every claimed host is on loopback: elsewhere nobody could listen."""

    command = [sys.executable, "-m", "tests.abuse.led", "serve"]


@contextmanager
def _led(world: World, port: int = 0) -> Iterator[tuple[Shipped, WebServer, Callable[[], str]]]:
    """A Hub, the web server of a claimed host, and a look at what it publishes: what the page then says.

    With `port` that of another server is asked.
    """
    evil, web = build.organization("evil"), WebServer()
    claim = build.domain(evil, HOST)
    charlie, _ = member(evil, "charlie")
    with web.serving(world.folder):
        given = {
            "LED_PORT": str(port or web.port),
            "LED_CERTIFICATE": str(certificate(world.folder)),
        }
        with world.hub(kind=Led, HUB_ASKING_RATE="10000/minute", **given) as hub:
            browser = Browser(hub, charlie)
            yield hub, web, lambda: _looked(browser, claim.pk)


def _looked(browser: Browser, claim: Any) -> str:
    """What the page says of the file, after a look."""
    browser.submit(f"/settings/claims/{claim}/kit/")
    return browser.get(f"/settings/claims/{claim}/kit/").text


def _redirects(web: WebServer, number: int, place: str) -> None:
    status = (301, 302, 303, 307, 308)[number % 5]
    location = f"Location: {place}\r\n".encode()
    web.answers[WELL_KNOWN] = b"HTTP/1.1 %d X\r\n%bContent-Length: 0\r\n\r\n" % (status, location)


@contextmanager
def _listening(address: str) -> Iterator[list[Any]]:
    """Who connects to the port of https here; nobody is waited for where only root may listen."""
    reached: list[Any] = []
    with suppress(PermissionError), socket.create_server((address, 443)) as listener:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    reached.append(listener.accept())

        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        yield reached
        listener.shutdown(socket.SHUT_RDWR)
        return
    yield reached
