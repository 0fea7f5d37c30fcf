"""Requests that Django reads in more than linear time or memory, from anybody."""

import requests

from tests import build
from tests.abuse.table import STRANGER, attack
from tests.abuse.world import Shipped, World, stands_if

MIB = 1024 * 1024
SLOW = 1000  # milliseconds of computing, for one of them and the report after it
GROWTH = 64  # MiB
FORM = {"Cookie": "csrf=" + 32 * "a", "Content-Type": "application/x-www-form-urlencoded"}
NAMED = FORM | {"Content-Type": "multipart/form-data; boundary=b; charset=punycode"}
PART = (
    b'--b\r\nContent-Disposition: form-data; name="a-' + b"b" * 480_000 + b'"\r\n\r\nx\r\n--b--\r\n'
)


@attack(STRANGER, "stop the Hub")
def form_in_a_character_set_of_its_own(world: World) -> str:
    """480 KB that took a thread for over a minute, before any view was asked."""
    return _eight(world, lambda hub: requests.post(f"{hub.url}/", PART, headers=NAMED, timeout=90))


@attack(STRANGER, "stop the Hub")
def form_at_the_callback(world: World) -> str:
    """63 KB where only a browser comes back from GitHub: each took a thread for 0.14 s."""
    wide = ("\U00010000" * 50).encode("punycode")
    part = b'--b\r\nContent-Disposition: form-data; name="csrfmiddlewaretoken"\r\n\r\n'
    body = part + wide.ljust(62_800, b"a") + b"\r\n--b--\r\n"
    with world.hub() as hub:
        url = f"{hub.url}/v1/integrations/github/callback"
        took = hub.cpu_of(
            lambda: [requests.post(url, body, headers=NAMED, timeout=90) for _ in range(20)]
        )
    return stands_if(took < SLOW, f"{took:.0f} ms of computing for twenty")


@attack(STRANGER, "fill the memory")
def form_that_is_large_in_memory(world: World) -> str:
    """2.6 MB that took 460 MiB."""
    body = b"%" * 2_600_000
    return _eight(world, lambda hub: requests.post(f"{hub.url}/", body, headers=FORM, timeout=90))


@attack(STRANGER, "stop the Hub")
def cookie_of_escapes(world: World) -> str:
    """A header that Python before 3.11.10 reads in quadratic time."""
    cookie = {"Cookie": 'a="' + 7_000 * '\\"' + '"'}
    return _eight(world, lambda hub: requests.get(f"{hub.url}/", headers=cookie, timeout=90))


@attack(STRANGER, "stop the Hub")
def content_type_of_semicolons(world: World) -> str:
    """Another one, on every path."""
    kind = {"Content-Type": 'a/b; x="' + 15_000 * ";"}
    return _eight(world, lambda hub: requests.get(f"{hub.url}/nothing", headers=kind, timeout=90))


def _eight(world: World, send) -> str:
    """Eight of them, each with an honest report after it."""
    world.acme("docs.acme.com")
    with world.hub() as hub:
        _report(hub, 0)
        before = hub.resident()
        took = hub.cpu_of(lambda: [(_quietly(send, hub), _report(hub, n)) for n in range(1, 9)])
        grown = (hub.resident() - before) / MIB
    figures = f"{took:.0f} ms of computing for eight and a report after each, {grown:.0f} MiB more"
    return stands_if(took < 8 * SLOW and grown < GROWTH, figures)


def _quietly(send, hub: Shipped) -> None:
    """A connection that is closed on it is an answer, too."""
    try:
        send(hub)
    except requests.ConnectionError:
        return


def _report(hub: Shipped, number: int) -> None:
    hub.post(build.report(f"https://nobody.dev/{number}"))
