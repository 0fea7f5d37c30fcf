"""Bodies that are no reports: what crashes parsers, what is too large, and what does not come."""

import gzip
import json
from collections import Counter

import requests
from django.db import connection

from reports.models import Report
from tests import build
from tests.abuse.table import STRANGER, attack
from tests.abuse.world import Shipped, World, stands_if

JSON = {"Content-Type": "application/json"}
GOOD = json.dumps(build.report()).encode()
DETAILS = json.dumps(build.report(report__details="@@")).encode()
HOSTILE = {
    "30,000 deep": b"[" * 30_000,
    "30,000 objects deep": b'{"a":' * 10_000,
    "a number of 5,000 digits": DETAILS.replace(b'"@@"', b"9" * 5_000),
    "a number of 5,000 digits as a key's": b'{"protocol_version":' + b"1" * 5_000 + b"}",
    "1e99999": DETAILS.replace(b'"@@"', b"1e99999"),
    "NaN": DETAILS.replace(b'"@@"', b"NaN"),
    "-Infinity": DETAILS.replace(b'"@@"', b"-Infinity"),
    "keys twice": b'{"doc_url":"https://a.dev/",' + GOOD[1:],
    "keys twice, spelled otherwise": b'{"\\u0064oc_url":"https://a.dev/",' + GOOD[1:],
    "NUL": DETAILS.replace(b"@@", b"a\\u0000b"),
    "NUL as a byte": DETAILS.replace(b"@@", b"a\x00b"),
    "half of a pair": DETAILS.replace(b"@@", b"\\ud800"),
    "halves in the wrong order": DETAILS.replace(b"@@", b"\\udc00\\ud800"),
    "no UTF-8": DETAILS.replace(b"@@", b"\xff\xfe"),
    "UTF-8 that is too long": DETAILS.replace(b"@@", b"\xc0\xaf"),
    "half of a pair as bytes": DETAILS.replace(b"@@", b"\xed\xa0\x80"),
    "UTF-16": GOOD.decode().encode("utf-16"),
    "two bodies": GOOD + GOOD,
    "half a body": GOOD[:-1],
    "nothing": b"",
    "white space": b" " * 60_000,
    "null": b"null",
    "a list": b"[" + GOOD + b"]",
    "Python's words": b"{'a': True}",
    "a field that is unknown": GOOD[:-1] + b',"admin":true}',
    "__proto__": GOOD[:-1] + b',"__proto__":{"a":1}}',
    "10,000 fields": GOOD[:-1] + b"".join(b',"k%d":1' % n for n in range(5_000)) + b"}",
    "a commentary": b"/* x */" + GOOD,
}
TYPES = {
    "a form": {"Content-Type": "application/x-www-form-urlencoded"},
    "text": {"Content-Type": "text/plain"},
    "none": {"Content-Type": ""},
    "another charset": {"Content-Type": "application/json; charset=utf-7"},
    "compressed": {**JSON, "Content-Encoding": "gzip"},
    "in brotli": {**JSON, "Content-Encoding": "br"},
    "another version": {**JSON, "X-Docs-Feedback-Protocol-Version": "99"},
}


@attack(STRANGER, "have the Hub crash, or store what no other part can read")
def bodies_that_crash_parsers(world: World) -> str:
    """28 bodies: depth, numbers, keys twice, NUL, half characters, other encodings; seven types and encodings."""
    with world.hub() as hub:
        told = {name: _status(hub, body, JSON) for name, body in HOSTILE.items()}
        told |= {
            name: _status(hub, GOOD, headers)
            for name, headers in TYPES.items()
            if name != "compressed"
        }
        told["compressed"] = _status(hub, gzip.compress(GOOD), TYPES["compressed"])
        alive = hub.post(build.report()).status_code
    stored = Report.objects.count()
    connection.close()
    odd = {name: status for name, status in told.items() if status not in (400, 415)}
    figures = f"{dict(Counter(told.values()))}, others: {odd or 'none'}; then a report {alive}, {stored} stored"
    return stands_if(not odd and stored == 1, figures)


@attack(STRANGER, "fill the memory")
def bodies_that_are_too_large(world: World) -> str:
    """65,537 bytes, 50 MB, 50 MB in chunks, and a length of 10 TB, to five addresses."""
    paths = ["/v1/reports", "/v1/webhooks/github", "/oauth/token", "/login/github/", "/report/"]
    with world.hub() as hub:
        before, told = hub.resident(), Counter[object]()
        for path in paths:
            for body in (b"x" * 65_537, b"x" * 50_000_000, iter([b"x" * 1_000_000] * 50)):
                told[_status(hub, body, JSON, path)] += 1
            told[_status(hub, b"x", {**JSON, "Content-Length": str(10**13)}, path)] += 1
        grown = (hub.resident() - before) / 2**20
        alive = hub.post(build.report()).status_code
    figures = f"{dict(told)}; {grown:.0f} MiB more; then a report {alive}"
    stands = not any(isinstance(each, int) and (each < 300 or each >= 500) for each in told)
    return stands_if(stands and grown < 40, figures)


@attack(STRANGER, "have many reports stored that are one")
def one_report_in_many_spellings(world: World) -> str:
    """40 spellings of one address and of the keys of a stranger: 40 reports, or one; and two strangers with one key."""
    urls = [
        *(
            "https://docs.acme.com/install",
            "HTTPS://DOCS.ACME.COM/install",
            "https://docs.acme.com:443/install",
        ),
        *(
            "https://docs.acme.com/a/../install",
            "https://docs.acme.com/%69nstall",
            "https://docs.acme.com./install",
        ),
        *(
            "https://docs.acme.com/install/",
            "https://docs.acme.com/install#x",
            "https://docs.acme.com/./install",
        ),
        *(f"https://docs.acme.com/install?utm_{n}={n}" for n in range(31)),
    ]
    world.acme()
    with world.hub() as hub:
        ids = {hub.post(build.report(each)).json()["id"] for each in urls}
        keys = [
            hub.post(
                build.report(agent__name=name, report__summary=name), **{"Idempotency-Key": "1"}
            ).json()["id"]
            for name in ("one", "two")
        ]
    issues = len(world.host.issues("acme/docs"))
    two = f"{len(set(keys))} of two strangers with one key"
    figures = f"{len(ids)} report of {len(urls)} spellings, {two}; {issues} issues"
    return stands_if(len(ids) == 1 and len(set(keys)) == 2 and issues == 3, figures)


def _status(
    hub: Shipped, body: object, headers: dict[str, str], path: str = "/v1/reports"
) -> object:
    """The status, or that the connection was closed, or left alone."""
    try:
        return requests.post(hub.url + path, body, headers=headers, timeout=15).status_code  # type: ignore[arg-type]
    except requests.Timeout:
        return "no answer"
    except requests.ConnectionError:
        return "closed"
