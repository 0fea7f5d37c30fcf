"""Two requests in one, and methods that nobody thought of."""

from collections import Counter

import requests

from tests.abuse.forged import raw, status_of
from tests.abuse.people import Browser, member
from tests.abuse.table import STRANGER, attack
from tests.abuse.world import World, stands_if

REPORT = (
    b'{"protocol_version":"0","doc_url":"https://nobody.dev/","agent":{"name":"x"},'
    b'"report":{"kind":"other","summary":"Smuggled"}}'
)


@attack(STRANGER, "have the Hub read a second request that a proxy did not see")
def two_requests_in_one(world: World) -> str:
    """Both lengths, two lengths, odd encodings, folded lines, spaces, and a body after a GET: twelve kinds."""
    inner = (
        b"POST /v1/reports HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(REPORT), REPORT)
    )
    kinds = [
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n0\r\n\r\n" % len(inner),
        b"Content-Length: 0\r\nContent-Length: %d\r\n\r\n" % len(inner),
        b"Content-Length: 0, %d\r\n\r\n" % len(inner),
        b"Content-Length: +0\r\n\r\n",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 0x0\r\n\r\n",
        b"Content-Length : 0\r\n\r\n",
        b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
        b"X: y\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    ]
    with world.hub() as hub:
        told, taken = [], 0
        for each in kinds:
            head = b"POST /v1/nothing HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % hub.port
            answer = raw(hub, head + each + inner)
            told.append(status_of(answer))
            taken += b"Smuggled" in answer or b"201 Created" in answer
        alive = requests.get(f"{hub.url}/healthz", timeout=10).status_code
    figures = f"{told}; {taken} went on to the second; healthz {alive}"
    return stands_if(max(told) < 500 and alive == 200 and not taken, figures)


@attack(STRANGER, "use methods that nobody thought of")
def strange_methods(world: World) -> str:
    """TRACE, CONNECT, TRACK, PROPFIND, DEBUG and others on eight addresses; and methods that a header asks for."""
    alice, _ = member(world.acme())
    methods = [
        "TRACE",
        "CONNECT",
        "TRACK",
        "PROPFIND",
        "DEBUG",
        "MOVE",
        "PATCH",
        "DELETE",
        "PUT",
        "x" * 200,
    ]
    paths = [
        "/",
        "/healthz",
        "/settings/",
        "/v1/reports",
        "/v1/nothing",
        "/static/x.css",
        "/docs/",
        "/admin/",
    ]
    with world.hub() as hub:
        browser, told, echoed = Browser(hub, alice), Counter[int](), 0
        for path in paths:
            for each in methods:
                answer = browser.request(each, path, headers={"X-Secret": "Echo-7"})
                told[answer.status_code] += 1
                echoed += "Echo-7" in answer.text
            override = {"X-HTTP-Method-Override": "DELETE", "X-Method-Override": "DELETE"}
            told[browser.get(path, headers=override).status_code] += 1
    return stands_if(not echoed and max(told) < 500, f"{dict(told)}; {echoed} echoed")
