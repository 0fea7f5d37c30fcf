"""Requests that say what is not so: hosts, addresses, paths and line ends."""

import re
import socket
from collections import Counter
from urllib.parse import urlsplit

import requests

from tests import build
from tests.abuse.people import Browser, member
from tests.abuse.table import STRANGER, attack
from tests.abuse.world import Shipped, World, stands_if

HOSTS = [
    *(
        "evil.example",
        "127.0.0.1.evil.example",
        "evil.example:80",
        "localhost.evil.example",
        "",
        "a b",
    ),
    *("evil.example/", "127.0.0.1@evil.example", "[::1].evil.example", "é.example", "x" * 4000),
]
AROUND = [
    *(
        "../hub/settings.py",
        "..%2fhub/settings.py",
        "%2e%2e/hub/settings.py",
        "..\\hub\\settings.py",
    ),
    *(
        "....//hub/settings.py",
        "%252e%252e%252fhub/settings.py",
        "..%c0%afhub/settings.py",
        "/etc/passwd",
    ),
    *(
        "../../../../../../etc/passwd",
        "..%00/hub/settings.py",
        "../var/hub.sqlite3",
        "../.git/config",
        ".env",
    ),
]
BREAKS = ["%0d%0aX-Evil:%201", "%0aX-Evil:%201", "%E5%98%8D%E5%98%8AX-Evil:%201", "%u000aX-Evil:1"]


@attack(STRANGER, "have links of the Hub lead to their host")
def forged_hosts(world: World) -> str:
    """Eleven names in Host, and evil.example in ten headers of proxies, on five pages."""
    world.acme()
    names = ["Host", "Server", "For", "Proto", "Port", "Prefix", "Scheme"]
    proxied = {f"X-Forwarded-{each}": "evil.example" for each in names}
    proxied |= {
        "Forwarded": "host=evil.example",
        "X-Original-URL": "/admin/",
        "X-Rewrite-URL": "/admin/",
    }
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub:
        report = hub.post(build.report()).json()["id"]
        pages = [
            "/",
            "/login/",
            f"/r/{report}/",
            f"/v1/reports/{report}",
            "/.well-known/openid-configuration",
        ]
        told, links = Counter[int](), 0
        for page in pages:
            for each in HOSTS:
                answer = raw(
                    hub,
                    b"GET %b HTTP/1.1\r\nHost: %b\r\nConnection: close\r\n\r\n"
                    % (page.encode(), each.encode()),
                )
                told[status_of(answer)] += 1
                links += b"evil.example" in answer
            answer = requests.get(
                hub.url + page, headers=proxied, timeout=60, allow_redirects=False
            )
            links += "evil.example" in f"{answer.text}{answer.headers}"
            sent = requests.post(
                f"{hub.url}/v1/reports", json=build.report(), headers=proxied, timeout=60
            )
            links += "evil.example" in sent.text
    figures = f"{dict(told)}; {links} answers name the other host"
    return stands_if(not links and told[200] == 0 and max(told) < 500, figures)


@attack(STRANGER, "get around the limits")
def forwarded_without_a_proxy(world: World) -> str:
    """200 requests of one caller, each of which says in seven headers that it comes from another address."""
    with world.hub() as hub:

        def send(number: int) -> int:
            address = f"198.51.{number}.7"
            names = (
                "X-Forwarded-For",
                "X-Real-IP",
                "Client-IP",
                "True-Client-IP",
                "CF-Connecting-IP",
                "X-Client-IP",
            )
            headers = {**dict.fromkeys(names, address), "Forwarded": f"for={address}"}
            return requests.post(
                f"{hub.url}/v1/reports", json={}, headers=headers, timeout=60
            ).status_code

        told = Counter(send(number) for number in range(200))
    return stands_if(told == {400: 60, 429: 140}, f"{dict(told)}")


@attack(STRANGER, "read files of the server")
def paths_around_the_static_files(world: World) -> str:
    """Thirteen ways out of the folders of static files, the docs, the kit and the badge, as raw requests."""
    with world.hub() as hub:
        told, leaks = Counter[int](), 0
        for start in ("static/", "docs/", "docs/v0/", "badge/", "r/", "", "static/admin/"):
            for each in AROUND:
                path = f"/{start}{each}".encode()
                answer = raw(
                    hub,
                    b"GET %b HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n"
                    % (path, hub.port),
                )
                told[status_of(answer)] += 1
                leaks += any(
                    word in answer
                    for word in (b"root:x:", b"HUB_SECRET", b"SQLite format", b"[core]")
                )
    return stands_if(
        not leaks and told[200] == 0 and max(told) < 500, f"{dict(told)}; {leaks} files read"
    )


@attack(STRANGER, "write headers of an answer")
def line_ends_in_addresses(world: World) -> str:
    """Line ends in paths, queries, `next`, themes, names of files and a report's address, for visitors and a member."""
    alice, _ = member(world.acme())
    with world.hub() as hub:
        split, asked = 0, 0
        for browser in (Browser(hub), Browser(hub, alice)):
            for each in BREAKS:
                answers = [
                    *(
                        browser.get(f"{path}{each}")
                        for path in (
                            "/login/?next=/settings/",
                            "/docs/",
                            "/r/",
                            "/settings/reports/?q=",
                            "/report/?page=",
                        )
                    ),
                    browser.submit("/login/github/?next=/x" + each, next=f"/{each}"),
                    browser.submit("/settings/account/theme/", theme=requests.compat.unquote(each)),
                    browser.get(f"/settings{each}"),
                ]
                asked += len(answers)
                split += sum("X-Evil" in each.headers for each in answers)
                split += sum(each.status_code >= 500 for each in answers)
    return stands_if(not split, f"{split} of {asked} answers with a header of theirs")


def raw(hub: Shipped, request: bytes) -> bytes:
    """What the Hub sends on a connection until it ends it, or is silent."""
    with socket.create_connection(("127.0.0.1", urlsplit(hub.url).port), timeout=10) as line:
        line.settimeout(2)
        line.sendall(request)
        received = b""
        try:
            while piece := line.recv(65_536):
                received += piece
        except OSError:
            pass
        return received


def status_of(answer: bytes) -> int:
    """Of the first answer; 0 where the connection was closed without one."""
    found = re.match(rb"HTTP/1\.[01] (\d{3})", answer)
    return int(found[1]) if found else 0
